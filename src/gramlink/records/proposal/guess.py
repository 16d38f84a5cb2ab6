"""Guessing a field's kind and settings from the name of a column and a look at its cells.

A schema is public, so a guess may say little about the cells. It is made of things that are
the same for everybody: a kind, a date format, the alphabet of a script, placeholders from a
public list, and lengths that depend on the column's kind and meaning. No count, length, value
or part of a value from the cells gets into it. A guess does say that a column holds dates,
digits or words, because everyone who agrees on the schema has to know that.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import polars as pl

from gramlink.errors import InvalidRecords
from gramlink.records.dates import FORMATS, read_dates, recognise
from gramlink.records.fields import ALPHABET, DIGITS, LETTERS, MOST_SYMBOLS, Field, Kind
from gramlink.records.proposal.headings import Heading
from gramlink.records.proposal.placeholders import placeholders, present
from gramlink.records.reading import normalise

# The capitals left once accents are stripped: Й becomes И, and Ё becomes Е.
CYRILLIC = "АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯІЄҐЂЅЈЉЊЋЏ"
GREEK = "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ"
LENGTHS = {"text": 32, "digits": 16, "category": 4}

MOST = 0.9  # of the cells, for a column to be of a kind
HALF = 0.5
SOME = 0.01
FEW = 60  # different values of a category
ENOUGH = 20  # records, for "all different" to mean anything
LONG = 80  # symbols

AMBIGUOUS = "day first or month first? The dates can be read in more than one way"
NOT_DATES = "its name says date, but most of its values cannot be read as dates"
OTHER_SCRIPT = (
    "most of it is in a script that is not recognised, and letters outside `alphabet` all "
    "count as the same symbol; list that script's letters there"
)
PLACEHOLDERS = (
    "words in `missing` count as not known; remove any that is a real value here, such as a name"
)
SEX_CODES = "if 1 means male and 2 means female, as in ISO 5218, say so in `codes`"
SCRIPT = "most of it is in a script other than A to Z; its alphabet is given below"

EMPTY = "it is empty"
CONSTANT = "it has only one value"
ROWS = "it numbers the rows"
IDS = "it looks like a record id"
STAMP = "it is a time stamp and says nothing about a person"
FREE_TEXT = "it is long free text"


@dataclass(frozen=True, slots=True)
class Guess:
    """How a column could become a field; `unfit` says why it should not.

    Privacy: public; the module's docstring says what it reveals about the cells.
    """

    kind: Kind
    alphabet: str = ""  # of texts and categories
    length: int = 0
    format: str = ""
    missing: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    unfit: str = ""
    share: float = 1  # of epsilon, if it is text; it follows from the heading alone


def guess(heading: Heading, cells: pl.Series) -> Guess:
    """What a column is, from its name and some of its cells.

    >>> from gramlink.records.proposal.headings import heading_of
    >>> guess(heading_of("born"), pl.Series(["31.12.1980", "1.2.1999"]))
    Guess(kind='date', alphabet='', length=0, format='DD/MM/YYYY', missing=(), checks=(), \
unfit='', share=1)

    Privacy: reads raw records; a guess is fit to be public.
    """
    sex = heading.meaning == "sex"
    found = present(cells, placeholders(cells, nameless=True, sex=sex))
    texts = normalise(found, Field(name="look"))
    guessed = _as_date(heading, found) or _by_texts(heading, texts)
    missing = placeholders(cells, nameless=guessed.kind in ("digits", "date"), sex=sex)
    checks = guessed.checks
    if heading.of_dates and guessed.kind != "date" and len(found):
        checks += (NOT_DATES,)
    if missing:
        checks += (PLACEHOLDERS,)
    unfit = _unfit(heading, found, guessed.kind)
    return replace(guessed, missing=missing, checks=checks, unfit=unfit, share=heading.share)


def date_of_parts(parts: list[pl.Series]) -> Guess | None:
    """The date that columns of a year, a month and a day make together."""
    year, month, day = (part.fill_null("").str.strip_chars() for part in parts)
    known = pl.select((year != "") & (month != "") & (day != "")).to_series()
    dates = (year + " " + month + " " + day).filter(known)
    for name in ("YYYY-MM-DD", "YYYY MMM DD", "YY-MM-DD"):
        if _share(_are_dates(dates, name)) > HALF:
            return Guess("date", format=name)
    return None


def _as_date(heading: Heading, found: pl.Series) -> Guess | None:
    if heading.meaning and not heading.of_dates:
        return None
    if not len(found) and heading.of_dates:
        return Guess("date")
    fits = found.str.len_chars().is_between(6, 40) & (found.str.count_matches("[0-9]") >= 3)
    if _share(fits) < HALF:
        return None
    checks: tuple[str, ...] = ()
    try:
        name = recognise(found)
    except InvalidRecords:  # not a date, or its order cannot be told
        best = [_share(_are_dates(found, name)) for name in FORMATS]
        name, checks = FORMATS[best.index(max(best))], (AMBIGUOUS,)
    if _share(_are_dates(found, name)) < (HALF if heading.of_dates else MOST):
        return None
    return Guess("date", format=name, checks=checks)


def _by_texts(heading: Heading, texts: pl.Series) -> Guess:
    """A guess for a column that is not a date, from the texts as they are compared."""
    if _is_category(heading, texts):
        alphabet, checks = _alphabet(texts, LETTERS + DIGITS, DIGITS)
        length = 1 if heading.meaning == "sex" else LENGTHS["category"]
        length = min(length, MOST_SYMBOLS // len(alphabet))
        if heading.meaning == "sex" and _share(texts.is_in(["1", "2"])) > HALF:
            checks += (SEX_CODES,)
        return Guess("category", alphabet, length, checks=checks)
    if _share(_are_digits(texts)) >= MOST:
        return Guess("digits", length=LENGTHS["digits"])
    numbered = heading.of_addresses or _share(texts.str.contains("[0-9]")) > SOME
    digits = DIGITS if numbered else ""
    alphabet, checks = _alphabet(texts, ALPHABET + digits, " " + digits)
    return Guess("text", alphabet, LENGTHS["text"], checks=checks)


def _is_category(heading: Heading, texts: pl.Series) -> bool:
    values, count = texts.n_unique(), len(texts)
    short = _share(texts.str.len_chars() <= LENGTHS["category"]) >= MOST
    if heading.of_groups:
        # the first letters of a sex identify it; those of a state, NORTH or NEW, may not
        few = values <= FEW or 10 * values <= count
        return few and (short or heading.meaning not in ("state", "country"))
    if heading.meaning or 10 * values > count or values > FEW:
        return False
    if _share(_are_digits(texts)) >= MOST:  # or house numbers of a short street would be one
        return _share(texts.str.len_chars() <= 1) >= MOST
    return short


def _alphabet(texts: pl.Series, usual: str, others: str) -> tuple[str, tuple[str, ...]]:
    """The usual alphabet, or that of the script that most of the symbols belong to."""
    counts = {
        script: int(texts.str.count_matches(rf"\p{{{script}}}").sum())
        for script in ("Cyrillic", "Greek")
    }
    total = int(texts.str.len_chars().sum())
    if 2 * counts["Cyrillic"] > total:
        return CYRILLIC + others, (SCRIPT,)
    if 2 * counts["Greek"] > total:
        return GREEK + others, (SCRIPT,)
    strange = int(texts.str.count_matches("[^A-Z0-9 ]").sum())
    return usual, (OTHER_SCRIPT,) if 2 * strange > total else ()


def _unfit(heading: Heading, found: pl.Series, kind: Kind) -> str:
    """Why a column is not fit to be a field, or ""."""
    values, count = found.n_unique(), len(found)
    if not count:
        return EMPTY
    if values == 1 and count > 1:
        return CONSTANT
    if heading.of_free_text or _share(found.str.len_chars() > LONG) > 1 - MOST:
        return FREE_TEXT
    if heading.of_stamps:
        return STAMP
    if kind == "date":
        timed = found.str.contains("[0-9]:[0-9]{2}") & ~found.str.contains(r"\b0?0:00")
        return STAMP if _share(timed) > HALF and not heading.of_dates else ""
    if heading.meaning:
        return ""
    if _are_row_numbers(found):
        return ROWS
    like_ids = found.str.contains("[0-9]") & ~found.str.contains(r"\s")
    all_different = values == count >= ENOUGH and _share(like_ids) >= MOST
    return IDS if heading.of_ids or all_different else ""


def _are_dates(cells: pl.Series, name: str) -> pl.Series:
    dates = read_dates(cells, name)
    return (dates.digits != "") & ~dates.impossible


def _are_digits(texts: pl.Series) -> pl.Series:
    return texts.str.contains(r"\A[0-9 ]*[0-9][0-9 ]*\z")


def _are_row_numbers(found: pl.Series) -> bool:
    if len(found) < 3 or not found.str.contains(r"\A[0-9]{1,15}\z").all():
        return False
    return all(after == before + 1 for before, after in pairwise(map(int, found)))


def _share(which: pl.Series) -> float:
    """The share of cells that are true; 0 if there are no cells."""
    return float(which.sum()) / len(which) if len(which) else 0.0
