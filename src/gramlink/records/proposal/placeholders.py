"""Placeholders: what stands for "not known" in files, from a public list.

The list is fixed. Whatever a file holds, only words on the list are ever called placeholders,
so naming the ones in a file reveals nothing that a record says.
"""

import polars as pl

WORDS = (
    "N/A", "N.A.", "#N/A", "<NULL>", "UNKNOWN", "UNK", "UNKNWN", "NOT KNOWN", "NOT STATED",
    "NOT AVAILABLE", "NOT APPLICABLE", "NOT RECORDED", "NO DATA", "UNSPECIFIED", "UNDEFINED",
    "UNAVAILABLE", "MISSING", "-", "--", "---", "?", "??", "???", ".", "..", "...", "*", "_", "/",
)  # fmt: skip
NAMES = ("NA", "NAN", "NULL", "NIL", "NONE", "BLANK", "EMPTY")  # which are people's names, too
NUMBERS = (*(digit * length for digit in "09" for length in range(3, 17)), "-1", "-9", "-99")
_DAYS = (("1900", "1"), ("1800", "1"), ("1753", "1"), ("1000", "1"), ("2999", "12"), ("9999", "12"))


def _written(year: str, month: str) -> list[str]:
    """The first of January or the last of December of a year, as files write it."""
    day = "1" if month == "1" else "31"
    written = [year + month.zfill(2) + day.zfill(2), day.zfill(2) + month.zfill(2) + year]
    for width in (1, 2):
        m, d = month.zfill(width), day.zfill(width)
        for separator in "-/.":
            orders = ((year, m, d), (d, m, year), (m, d, year))
            written += [separator.join(order) for order in orders]
    return written


DATES = (
    *dict.fromkeys(text for day in _DAYS for text in _written(*day)),
    "0000-00-00", "00/00/0000", "00.00.0000", "99/99/9999", "99.99.9999", "9999-99-99",
)  # fmt: skip
SEXES = ("U", "9")  # for sex only: unknown, and ISO 5218's "not applicable"
PUBLIC = frozenset((*WORDS, *NAMES, *NUMBERS, *DATES, *SEXES))

# What could be a real value counts as a placeholder only if it recurs again and again.
_AGAIN, _TIMES_AS_OFTEN = 3, 5


def placeholders(cells: pl.Series, *, nameless: bool = False, sex: bool = False) -> tuple[str, ...]:
    """The words of the public list that stand for "not known" among these cells.

    A column is `nameless` if its values are not names but, say, numbers or dates.

    >>> cells = pl.Series(["Miller", "unknown", "Null", "0000"])
    >>> placeholders(cells), placeholders(cells, nameless=True)
    (('UNKNOWN',), ('UNKNOWN', 'NULL'))

    Privacy: reads raw records; what comes back is from the public list.
    """
    counts = folded(cells).alias("cell").value_counts().filter(pl.col("cell") != "")
    listed = {text.lower(): text for text in PUBLIC}
    found = counts.filter(pl.col("cell").is_in(sorted(listed)))
    often = {listed[cell]: count for cell, count in found.iter_rows()}
    sure = {*WORDS, *(NAMES if nameless else ()), *(SEXES if sex else ())}
    least = max(_AGAIN, _TIMES_AS_OFTEN * len(cells) / max(1, len(counts)))
    every = (*WORDS, *NAMES, *SEXES, *NUMBERS, *DATES)
    doubtful = {*NAMES, *NUMBERS, *DATES}
    return tuple(
        text
        for text in every
        if text in often and (text in sure or (text in doubtful and often[text] >= least))
    )


def present(cells: pl.Series, missing: tuple[str, ...]) -> pl.Series:
    """The cells that hold something, without surrounding blanks."""
    known = ~folded(cells).is_in(["", *(text.lower() for text in missing)])
    return cells.fill_null("").str.strip_chars().filter(known)


def folded(cells: pl.Series) -> pl.Series:
    """The cells as placeholders are looked up: without surrounding blanks, in lower case."""
    return cells.fill_null("").str.strip_chars().str.to_lowercase()
