"""Repeats: columns that say what other columns say already.

A name that is there whole, in halves and in parts would count several times for one agreement,
and would split epsilon between its copies. So some columns are left out: copies, whatever their
case, punctuation or order of words; columns made of others; and parts of others. Parts are kept
where they are well filled, as they tell more than the whole.

The cells show what repeats what, beyond chance. Headings help: a full name with a title is made
of a given name and a surname, too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from statistics import fmean

import polars as pl

from gramlink.records.dates import read_dates
from gramlink.records.fields import Field
from gramlink.records.proposal.guess import Guess
from gramlink.records.proposal.headings import Heading
from gramlink.records.proposal.placeholders import folded
from gramlink.records.reading import normalise

COPY = "it says the same as {}"
MADE = "it is made of {}"
PART = "it is part of {}"
AGE = "it follows from {}"

MOST = 0.9  # of the cells
HALF = 0.5  # if the headings say the same
FILLED = 0.75  # of a column's records have a value in the columns that repeat it
COVERED = 0.8  # of the words of the whole
RECORDS = 2000  # to look at
FIRST, FEW = 25, 0.25  # records to look at first, and how many of them repeat at least
FEWEST = 3  # records that show anything
SYMBOLS = 3  # of a word that is looked for inside others

# What a whole is made of; if text, what it tells in their place; and what suffices in its place.
PARTS = {
    "name": {"given_name", "middle_name", "surname"},
    "address": {"street", "street_number", "city", "place", "postcode", "state", "country"},
}
TOLD = {"given_name", "middle_name", "surname", "street"}
SUFFICE = {"name": {"given_name", "surname"}}

Measure = Callable[[str, str], float]


@dataclass(frozen=True, slots=True)
class Repeat:
    """Why a column is left out, and the places of the columns that say the same."""

    why: str
    of: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Look:
    """A column's cells in words, or as eight digits if they are dates; "" if not known.

    Privacy: raw records; they stay with their owner.
    """

    place: int
    heading: Heading
    guess: Guess
    cells: list[str]

    @property
    def meaning(self) -> str:
        """What its heading means."""
        return self.heading.meaning

    @property
    def of_dates(self) -> bool:
        """Whether its cells are dates."""
        return self.guess.kind == "date"

    @cached_property
    def filled(self) -> float:
        """The share of cells that are known."""
        return _mean(map(bool, self.cells))

    @cached_property
    def size(self) -> float:
        """How long its values are."""
        return _mean(len(_squeezed(cell)) for cell in self.cells if cell)


def repeats(found: Sequence[tuple[Heading, Guess, Sequence[pl.Series]]]) -> dict[int, Repeat]:
    """Which of these columns repeat others, by their places.

    >>> from gramlink.records.proposal.headings import heading_of
    >>> columns = {"name": ["Ng, Ann", "Li, Bo", "Orr, Ida"], "first": ["ANN", "BO", "IDA"],
    ...            "last": ["NG", "LI", "ORR"]}
    >>> repeats([(heading_of(name), Guess("text"), [pl.Series(cells)])
    ...          for name, cells in columns.items()])
    {0: Repeat(why='it is made of {}', of=(1, 2))}

    Privacy: reads raw records; that a column repeats others is fit to be public.
    """
    looks = [
        Look(place, heading, guess, _cells(guess, columns))
        for place, (heading, guess, columns) in enumerate(found)
    ]
    out: dict[int, Repeat] = {}
    for step in (_of_dates, _copies, _wholes, _pieces):
        out |= step([look for look in looks if look.place not in out])
    return resolved(out)


def resolved(out: Mapping[int, Repeat]) -> dict[int, Repeat]:
    """The same, said by columns that are kept.

    >>> resolved({0: Repeat(MADE, (1, 2)), 2: Repeat(COPY, (3,))})[0].of
    (1, 3)
    """

    def kept(places: Iterable[int]) -> set[int]:
        return set().union(*(kept(out[one].of) if one in out else {one} for one in places))

    return {place: replace(one, of=tuple(sorted(kept(one.of)))) for place, one in out.items()}


def _cells(guess: Guess, columns: Sequence[pl.Series]) -> list[str]:
    """The cells of records all over the file, as they are compared here."""
    missing = [text.lower() for text in guess.missing]
    every = max(1, len(columns[0]) // RECORDS)
    frame = pl.DataFrame(
        [cells.gather_every(every).fill_null("").alias(str(n)) for n, cells in enumerate(columns)]
    )
    texts = frame.select(pl.concat_str(pl.all(), separator=" ")).to_series()
    texts = texts.set(folded(texts).is_in(missing), "")
    if guess.kind == "date":
        return read_dates(texts, guess.format).digits.to_list()
    return normalise(texts, Field(name="look", punctuation="space")).to_list()


# steps, which find the columns to leave out


def _of_dates(looks: Sequence[Look]) -> dict[int, Repeat]:
    """Years, months, days and ages beside a date."""
    out = {}
    for date in (look for look in looks if look.of_dates):
        for look in (look for look in looks if not look.of_dates and look.place not in out):
            if _is_part_of_date(look, date):
                why = AGE if look.heading.of_ages else PART
                out[look.place] = Repeat(why, (date.place,))
    return out


def _is_part_of_date(look: Look, date: Look) -> bool:
    if _known(date, look) < FILLED:
        return False
    called_part = look.heading.of_ages or look.heading.of_birth
    if called_part and date.heading.canonical == "date_of_birth":
        return True
    return any(_repeated(part, look, date) >= MOST for part in (_is_year, _is_month, _is_day))


def _copies(looks: Sequence[Look]) -> dict[int, Repeat]:
    """All but the best of columns that say the same: the fullest, or the one with a known name."""
    ranked = sorted(looks, key=lambda one: (-round(10 * one.filled), not one.meaning, one.place))
    kept: list[Look] = []
    out = {}
    for look in ranked:
        same = [one for one in kept if _known(one, look) >= FILLED]
        same = [one for one in same if _repeated(_is_copy, look, one) >= MOST]
        if same:
            out[look.place] = Repeat(COPY, (same[0].place,))
        else:
            kept.append(look)
    return out


def _wholes(looks: Sequence[Look]) -> dict[int, Repeat]:
    """What is made of other columns; or these, if they do not make all of it."""
    kept = [look for look in looks if not look.of_dates]
    out = {}
    for whole in sorted(kept, key=lambda one: -one.size):
        parts = [part for part in kept if part.size < whole.size and _is_within(part, whole)]
        if parts and whole in kept and _is_made_of(whole, parts):
            out[whole.place] = Repeat(MADE, tuple(part.place for part in parts))
            kept.remove(whole)
        elif whole in kept:
            told = [part for part in parts if _is_told(part, whole)]
            out |= {part.place: Repeat(PART, (whole.place,)) for part in told}
            kept = [look for look in kept if look not in told]
    return out


def _is_within(part: Look, whole: Look) -> bool:
    least = HALF if part.meaning in PARTS.get(whole.meaning, ()) else MOST
    return _repeated(_words_within, part, whole) >= least


def _is_made_of(whole: Look, parts: Sequence[Look]) -> bool:
    full = {part.meaning for part in parts if _known(part, whole) >= FILLED}
    if whole.meaning in SUFFICE and SUFFICE[whole.meaning] <= full:
        return True
    rows = zip(whole.cells, *(one.cells for one in parts), strict=False)
    rests = [(row[0].split(), _rest(row[0], row[1:])) for row in rows if row[0]]
    covered = 1 - _mean(len(rest) / len(words) for words, rest in rests)
    numbers = _mean(any(map(str.isdigit, "".join(rest))) for _, rest in rests)
    return covered >= COVERED and numbers < HALF


def _is_told(part: Look, whole: Look) -> bool:
    """Whether the whole has to do for a part that it contains."""
    same = part.heading.canonical == whole.heading.canonical != ""
    named = part.meaning in TOLD & PARTS.get(whole.meaning, set())
    return part.guess.kind == "text" and (same or named) and _known(whole, part) >= FILLED


def _pieces(looks: Sequence[Look]) -> dict[int, Repeat]:
    """What begins or ends the values of another column: initials, the last digits of a number."""
    out = {}
    for look in looks:
        longer = [one for one in looks if one.size > look.size and not one.of_dates]
        for whole in (one for one in longer if _may_replace(one, look)):
            if _repeated(_is_piece, look, whole) >= MOST:
                out[look.place] = Repeat(PART, (whole.place,))
                break
    return out


def _may_replace(whole: Look, piece: Look) -> bool:
    known = piece.heading.canonical  # a surname is not given up for a user name that ends with it
    return known in ("", whole.heading.canonical) and _known(whole, piece) >= FILLED


# measures of two cells


def _is_copy(one: str, other: str) -> bool:
    same = _squeezed(one) == _squeezed(other)
    return same or sorted(one.split()) == sorted(other.split())


def _words_within(part: str, whole: str) -> float:
    """The share of words that are among the others, or inside them."""
    words, squeezed = whole.split(), _squeezed(whole)
    return _mean(
        word in words or (len(word) >= SYMBOLS and word in squeezed) for word in part.split()
    )


def _is_piece(one: str, other: str) -> bool:
    if one == other:
        return True
    if other.startswith(f"{one} ") or other.endswith(f" {one}"):
        return False  # whole words
    squeezed = _squeezed(other)
    return squeezed.startswith(_squeezed(one)) or squeezed.endswith(_squeezed(one))


def _is_year(cell: str, date: str) -> bool:
    return cell == date[:4] or cell == date[2:4]


def _is_month(cell: str, date: str) -> bool:
    return cell.zfill(2) == date[4:6]


def _is_day(cell: str, date: str) -> bool:
    return cell.zfill(2) == date[6:]


def _rest(whole: str, parts: Iterable[str]) -> list[str]:
    """The words, or what is left of them, that are in no part."""
    left = whole.split()
    for word in sorted(" ".join(parts).split(), key=len, reverse=True):
        if word in left:
            left[left.index(word)] = ""
        elif len(word) >= SYMBOLS:
            inside = next((place for place, one in enumerate(left) if word in one), None)
            if inside is not None:
                left[inside] = left[inside].replace(word, "", 1)
    return list(filter(None, left))


# shares


def _repeated(measure: Measure, one: Look, other: Look) -> float:
    """How much of one column's cells the other repeats, beyond what other records' cells do."""
    both = ((a, b) for a, b in zip(one.cells, other.cells, strict=False) if a and b)
    first = list(islice(both, FIRST))
    if len(first) < FEWEST or _mean(measure(a, b) for a, b in first) < FEW:
        return 0
    rows = [*first, *both]
    others = [rows[place - len(rows) // 2][1] for place in range(len(rows))]
    by_chance = _mean(measure(a, b) for (a, _), b in zip(rows, others, strict=True))
    repeated = _mean(measure(a, b) for a, b in rows)
    return (repeated - by_chance) / (1 - by_chance) if by_chance < 1 else 0


def _known(one: Look, other: Look) -> float:
    """The share of the other's values beside which one has a value."""
    return _mean(a != "" for a, b in zip(one.cells, other.cells, strict=False) if b)


def _squeezed(cell: str) -> str:
    return cell.replace(" ", "")


def _mean(numbers: Iterable[float]) -> float:
    listed = list(numbers)
    return fmean(listed) if listed else 0
