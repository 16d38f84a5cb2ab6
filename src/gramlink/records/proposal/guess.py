"""Guessing a field's kind and settings from the name of a column and a look at its cells.

A schema is public, so a guess may say little about the cells. It is made of things that are
the same for everybody: a kind, a date format, the alphabet of a script, placeholders from a
public list, and lengths that depend on the column's kind and meaning. No count, value or part
of a value from the cells gets into it. A guess does say that a column holds dates, digits or
words, because everyone who agrees on the schema has to know that.

A category has one of three standard lengths, so a guess says whether it is written in letters,
abbreviations or words: what values a sex or a state can have is public knowledge. Which length
holds is up to nearly all cells, so that a rare value does not show. For sexes in words the guess
has a whole public list of `codes`, whichever of them occur.
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
LENGTHS = {"text": 32, "digits": 16}
SHORT = 4  # symbols of an abbreviation
# What sexes are called, and the letters that they are shortened to.
SEX_WORDS = (
    {"male": "M", "female": "F", "other": "O", "intersex": "I", "indeterminate": "I"},
    {"männlich": "M", "weiblich": "W", "divers": "D"},
    {"masculin": "M", "féminin": "F", "homme": "M", "femme": "F"},
)

MOST = 0.9  # of the cells, for a column to be of a kind
HALF = 0.5
SOME = 0.01
EMPTIEST = 0.1  # of the cells, for a column to be of use
FEW = 60  # different values of a category
FEW_WORDS = 12  # and if they are words
ENOUGH = 20  # records, for "all different" to mean anything
LONG = 80  # symbols
MANY_WORDS = 6

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
NEARLY_EMPTY = "it is nearly empty"
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
    codes: tuple[tuple[str, str], ...] = ()
    checks: tuple[str, ...] = ()
    unfit: str = ""
    share: float = 1  # of epsilon, if it is text; it follows from the heading alone


def guess(heading: Heading, cells: pl.Series) -> Guess:
    """What a column is, from its name and some of its cells.

    >>> from gramlink.records.proposal.headings import heading_of
    >>> guess(heading_of("born"), pl.Series(["31.12.1980", "1.2.1999"]))
    Guess(kind='date', alphabet='', length=0, format='DD/MM/YYYY', missing=(), codes=(), \
checks=(), unfit='', share=1)

    Privacy: reads raw records; a guess is fit to be public.
    """
    sex = heading.meaning == "sex"
    found = present(cells, placeholders(cells, nameless=True, sex=sex))
    texts = normalise(found, Field(name="look"))
    guessed = (
        _as_date(heading, found)
        or _as_sex_in_words(heading, found)
        or _as_category(heading, texts)
        or _by_texts(texts, addresses=heading.of_addresses)
    )
    missing = placeholders(cells, nameless=guessed.kind in ("digits", "date"), sex=sex)
    checks = guessed.checks
    if heading.of_dates and guessed.kind != "date" and len(found):
        checks += (NOT_DATES,)
    if missing:
        checks += (PLACEHOLDERS,)
    unfit = _unfit(heading, found, len(cells), guessed.kind)
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


def _as_sex_in_words(heading: Heading, found: pl.Series) -> Guess | None:
    """A sex whose words become letters, so that it equals a sex in letters."""
    if heading.meaning != "sex":
        return None
    cells = found.str.to_lowercase()
    for words in SEX_WORDS:
        in_words = cells.is_in(list(words))
        if _share(in_words) > SOME and _share(in_words | (cells.str.len_chars() == 1)) >= MOST:
            return Guess("category", LETTERS + DIGITS, 1, codes=tuple(words.items()))
    return None


def _as_category(heading: Heading, texts: pl.Series) -> Guess | None:
    sex, texts = heading.meaning == "sex", texts.str.replace_all(" ", "")
    alphabet, length, checks = _spelling(texts, (1, SHORT) if sex else (SHORT,))
    if not (sex or _is_category(heading, texts, length)):
        return None
    if sex and _share(texts.is_in(["1", "2"])) > HALF:
        checks += (SEX_CODES,)
    return Guess("category", alphabet, length, checks=checks)


def _spelling(texts: pl.Series, lengths: tuple[int, ...]) -> tuple[str, int, tuple[str, ...]]:
    """A category's alphabet and standard length: one of these, or that of words."""
    alphabet, checks = _alphabet(texts, LETTERS + DIGITS, DIGITS)
    for length in lengths:
        if _holds(length, texts):
            return alphabet, length, checks
    digits = DIGITS if _numbered(texts) else ""  # without them, words may be longer
    alphabet, checks = _alphabet(texts, LETTERS + digits, digits)
    return alphabet, MOST_SYMBOLS // len(alphabet), checks


def _is_category(heading: Heading, texts: pl.Series, length: int) -> bool:
    values, count = texts.n_unique(), len(texts)
    if not _holds(length, texts):
        return False
    if heading.of_groups:
        return values <= FEW or 10 * values <= count
    few = FEW if length == SHORT else FEW_WORDS
    if heading.meaning or 10 * values > count or values > few:
        return False
    # or house numbers of a short street would be one
    return _share(_are_digits(texts)) < MOST or _share(texts.str.len_chars() <= 1) >= MOST


def _holds(length: int, texts: pl.Series) -> bool:
    """Whether nearly all texts are up to this long."""
    return _share(texts.str.len_chars() > length) <= SOME


def _numbered(texts: pl.Series) -> bool:
    return _share(texts.str.contains("[0-9]")) > SOME


def _by_texts(texts: pl.Series, *, addresses: bool) -> Guess:
    """A guess for a column that is neither a date nor a category, from texts as compared."""
    if _share(_are_digits(texts)) >= MOST:
        return Guess("digits", length=LENGTHS["digits"])
    digits = DIGITS if addresses or _numbered(texts) else ""
    alphabet, checks = _alphabet(texts, ALPHABET + digits, " " + digits)
    return Guess("text", alphabet, LENGTHS["text"], checks=checks)


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


def _unfit(heading: Heading, found: pl.Series, records: int, kind: Kind) -> str:
    """Why a column is not fit to be a field, or ""."""
    values, count = found.n_unique(), len(found)
    if not count:
        return EMPTY
    if count <= EMPTIEST * records:
        return NEARLY_EMPTY
    if count > 1 and found.str.to_lowercase().n_unique() == 1:
        return CONSTANT
    if heading.of_free_text or _is_free_text(heading, found):
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


def _is_free_text(heading: Heading, found: pl.Series) -> bool:
    """Whether many cells are very long, or most are long, of many words, and differ."""
    if _share(found.str.len_chars() > LONG) > 1 - MOST:
        return True
    if heading.meaning or heading.of_addresses or _share(found.str.contains("[0-9]")) > HALF:
        return False  # an address may be as long
    words = found.str.count_matches(r"\S+")
    sentences = (found.str.len_chars() > LENGTHS["text"]) & (words >= MANY_WORDS)
    return _share(sentences) > HALF and found.n_unique() > HALF * len(found)


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
