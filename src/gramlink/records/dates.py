"""Dates: the days of any owner's file, as the eight digits YYYYMMDD.

An owner writes a format as data managers do: "DD/MM/YYYY", "YYYYMMDD", "DD MMM YYYY". The
year is YYYY or YY, the month M, MM or MMM, which is its English name or that name's
abbreviation in any case, and the day D or DD. What stands between them matters only in
whether it is there: any run of characters that are neither letters nor digits is one
separator, so "1/2/1980", "01-02-1980" and "01.02.1980" read alike. A number beside a
separator or a month's name may have one digit or two; one that touches another number has
exactly the digits of the format. A month's name needs no separator: "01JAN1980" is a
"DD MMM YYYY". A time of day after the date is ignored.
"""

import re
import unicodedata
from dataclasses import dataclass

import polars as pl

from gramlink.errors import InvalidRecords

# What `recognise` chooses from. YYYY-DD-MM is left out: nobody writes it, and it would make
# every column in the format of ISO 8601 ambiguous.
FORMATS = (
    "YYYY-MM-DD",
    "YYYYMMDD",
    "DD/MM/YYYY",
    "MM/DD/YYYY",
    "DDMMYYYY",
    "MMDDYYYY",
    "DD MMM YYYY",
    "MMM DD YYYY",
    "YYYY MMM DD",
    "DD/MM/YY",
    "MM/DD/YY",
    "YY-MM-DD",
    "DDMMYY",
    "MMDDYY",
    "YYMMDD",
    "DD MMM YY",
)

# Eight digits that are YYYYMMDD are at times a DDMMYYYY, too, but in a year up to 1231. No
# column is taken for one of days before the first full year of the Gregorian calendar.
_FIRST_YEAR = "1583"

_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_NUMBERS = {name[:3]: f"{number:02}" for number, name in enumerate(_NAMES, 1)}
_NAME = "|".join([*_NAMES, "sept", *_NUMBERS])
_ORDERS = {"D": "day first", "M": "month first", "Y": "year first"}

_ALLOWED = {"year": ("YYYY", "YY"), "month": ("M", "MM", "MMM"), "day": ("D", "DD")}
_BREAK = r"[^\p{L}\p{N}]"
_TIME = (
    rf"(?:{_BREAK}+|[Tt])[0-9]{{1,2}}[:.][0-9]{{2}}(?:[:.][0-9]{{2}}(?:[.,][0-9]+)?)?"
    rf"(?:{_BREAK}*(?i:am|pm|z|utc|gmt))?(?:{_BREAK}*[+-][0-9]{{2}}(?::?[0-9]{{2}})?)?"
)


@dataclass(frozen=True, slots=True, eq=False)
class Dates:
    """A column of dates, and which of its cells are not dates.

    `digits` is YYYYMMDD, or "" for a cell that is missing or `unreadable`: one that is not
    empty and not in the format. A cell that is `impossible` is in the format but is no day
    of the calendar, as 31 February is. It keeps its digits, since a typo leaves the others
    right. Where the format has a year of two digits, "--" stands for the century, which
    is unknown.

    Privacy: the records themselves; they stay with their owner.
    """

    digits: pl.Series
    unreadable: pl.Series
    impossible: pl.Series


def check_format(date_format: str) -> str:
    """The format in capitals and with nothing around it, or a `ValueError` that says what is wrong.

    >>> check_format(" dd.mm.yyyy")
    'DD.MM.YYYY'
    """
    pieces = _pieces(date_format)
    wrong = f"{date_format[:20]!r} is not a date format: "
    if any(character.isalnum() and character not in "YMD" for character in "".join(pieces)):
        raise ValueError(wrong + 'use only Y, M and D, as in "DD/MM/YYYY"')
    for name, allowed in _ALLOWED.items():
        found = [piece for piece in pieces if piece[0] == allowed[0][0]]
        if len(found) != 1 or found[0] not in allowed:
            raise ValueError(f"{wrong}it needs the {name} exactly once, as {' or '.join(allowed)}")
    if any(piece in ("M", "D") and _touches(pieces, place) for place, piece in enumerate(pieces)):
        raise ValueError(wrong + "a number of one or two digits cannot touch another number")
    return "".join(pieces)


def recognise(values: pl.Series) -> str:
    """The format of `FORMATS` that reads most of the cells as days of the calendar.

    A number of 13 or more shows whether the day or the month comes first. If no cell has one,
    or if fewer than half are dates, an `InvalidRecords` says so; its caller knows the file and
    the column. A column with no values at all counts as YYYY-MM-DD.

    >>> recognise(pl.Series(["1.2.1980", "31.12.1980"]))
    'DD/MM/YYYY'

    Privacy: reads raw records; neither the format nor an error holds anything of a cell.
    """
    counts = _texts(values).alias("text").value_counts().filter(pl.col("text") != "")
    texts, times = counts["text"], counts["count"]
    real = {name: int(times.filter(_likely(read_dates(texts, name))).sum()) for name in FORMATS}
    most = max(real.values())
    if 2 * most < times.sum():
        raise InvalidRecords(
            "fewer than half of the values are dates",
            hint='state the format of the field, such as `format = "DD/MM/YYYY"`',
        )
    first, *others = (name for name in FORMATS if real[name] == most)
    digits = read_dates(texts, first).digits
    rivals = [name for name in others if _differ(digits, read_dates(texts, name).digits)]
    if rivals:
        readings = [first, *rivals]
        orders = " or ".join(_ORDERS[name[0]] for name in readings)
        stated = " or ".join(f'"{name}"' for name in readings)
        raise InvalidRecords(
            f"the dates could be {orders}", hint=f"state `format = {stated}` for the field"
        )
    return first


def read_dates(values: pl.Series, date_format: str) -> Dates:
    """Each cell's digits, read in this format.

    >>> cells = pl.Series(["1 Feb 1980", "30 Feb 1980", "unknown"])
    >>> read_dates(cells, "DD MMM YYYY").digits.to_list()
    ['19800201', '19800230', '']

    Privacy: reads raw records; all of what comes back stays with their owner.
    """
    pieces = _pieces(check_format(date_format))
    texts = _texts(values)
    parts = texts.str.extract_groups(_pattern(pieces)).struct.unnest()
    if "MMM" in pieces:
        name = pl.col("M").str.head(3).str.to_lowercase()
        parts = parts.with_columns(name.replace_strict(_NUMBERS, return_dtype=pl.String))
    parts = parts.with_columns(pl.col("M", "D").str.zfill(2))
    number = {part: pl.col(part).cast(pl.Int16) for part in "YMD"}
    century = pl.lit("--" if "YY" in pieces else "")
    read = parts.select(
        digits=pl.concat_str(century, "Y", "M", "D").fill_null(""),
        possible=_possible(number["Y"], number["M"], number["D"], century="YYYY" in pieces),
    )
    missing = read["digits"] == ""
    return Dates(read["digits"], missing & (texts != ""), ~missing & ~read["possible"])


def _pieces(date_format: str) -> list[str]:
    """The parts of a format and the separators between them, in capitals."""
    text = unicodedata.normalize("NFKC", date_format).upper()
    return re.findall(r"Y+|M+|D+|[^YMD]+", re.sub(r"\A[\W_]+|[\W_]+\Z", "", text))


def _touches(pieces: list[str], place: int) -> bool:
    """Whether there is a number right beside this part."""
    beside = pieces[max(place - 1, 0) : place] + pieces[place + 1 : place + 2]
    return any(piece[0] in "YMD" and piece != "MMM" for piece in beside)


def _pattern(pieces: list[str]) -> str:
    """A regular expression for a date in this format, as the groups Y, M and D."""
    pattern = ""
    for place, piece in enumerate(pieces):
        if piece == "MMM":
            pattern += rf"(?P<M>(?i:{_NAME}))"
        elif piece[0] == "Y":
            pattern += rf"(?P<Y>[0-9]{{{len(piece)}}})"
        elif piece[0] in "MD":
            least = 2 if _touches(pieces, place) else 1
            pattern += rf"(?P<{piece[0]}>[0-9]{{{least},2}})"
        elif "MMM" not in pieces[place - 1 : place + 2]:
            pattern += rf"{_BREAK}+"
        if "MMM" in pieces[place : place + 2] and place + 1 < len(pieces):
            pattern += rf"{_BREAK}*"
    return rf"\A{_BREAK}*{pattern}(?:{_TIME})?{_BREAK}*\z"


def _texts(values: pl.Series) -> pl.Series:
    """The cells with plain digits and blanks, and "" for a missing one."""
    return values.cast(pl.String).fill_null("").str.normalize("NFKC").str.strip_chars()


def _possible(year: pl.Expr, month: pl.Expr, day: pl.Expr, *, century: bool) -> pl.Expr:
    """Whether the Gregorian calendar has this day; without a century, whether it may have."""
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))  # 00 may have been 2000
    length = (
        pl.when(month == 2)
        .then(pl.when(leap).then(29).otherwise(28))
        .when(month.is_in([4, 6, 9, 11]))
        .then(30)
        .otherwise(31)
    )
    known = year > 0 if century else pl.lit(value=True)
    return known & month.is_between(1, 12) & day.is_between(1, length)


def _likely(dates: Dates) -> pl.Series:
    """Which cells are plausible calendar days."""
    recent = (dates.digits >= _FIRST_YEAR) | dates.digits.str.starts_with("--")
    return recent & ~dates.impossible


def _differ(left: pl.Series, right: pl.Series) -> bool:
    """Whether the formats read some cell as different days."""
    return bool(((left != "") & (right != "") & (left != right)).any())
