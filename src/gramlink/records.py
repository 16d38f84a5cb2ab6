"""Records: an owner's ids and normalised columns, from a file or a frame.

Whatever is wrong with a file is said with its row and column, and never with what a cell
holds. What is only odd, such as a letter outside the alphabet, is a `Problem`, which the
owner sees before any budget is spent.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import polars as pl

from gramlink.errors import InvalidRecords
from gramlink.schema import Field, Schema
from gramlink.strings import Strings
from gramlink.tables import SHOWN, Table, frame_table, read_table

_LOWER = dict(zip("øłđðħŧŋəɓɗƙƴǥ", "olddhtnebdkyg", strict=True))
_LOWER |= {"æ": "ae", "œ": "oe", "þ": "th"}
_PLAIN = (
    _LOWER
    | {letter.upper(): plain.upper() for letter, plain in _LOWER.items()}
    | {"ß": "ss", "ẞ": "SS", "ı": "i", "ȷ": "j", "ĸ": "q"}
    | dict.fromkeys("ʹʺʻʼʽʾʿˈ", "'")  # letters to Unicode, apostrophes to those who type them
)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a column that its owner should know before spending anything.

    `rows` are the first few rows concerned, as a spreadsheet numbers them: the header of a
    CSV file is row 1. The first record of a frame or a Parquet file is row 1.

    >>> print(Problem("surname", "symbols outside the alphabet", 12, (3, 17, 20)))
    column surname: symbols outside the alphabet in 12 rows: 3, 17, 20, ...

    Privacy: names columns and rows and never says what a cell holds.
    """

    column: str
    what: str
    count: int
    rows: tuple[int, ...]

    def __str__(self) -> str:
        rows = "1 row" if self.count == 1 else f"{self.count} rows"
        more = ", ..." if self.count > len(self.rows) else ""
        listed = ", ".join(map(str, self.rows))
        return f"column {self.column}: {self.what} in {rows}: {listed}{more}"


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """Ids as text, and one normalised column for each field.

    Privacy: the records themselves; they stay with their owner.
    """

    name: str
    ids: tuple[str, ...]
    columns: Mapping[str, Strings]
    problems: tuple[Problem, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, field: str) -> Strings:
        return self.columns[field]


def read_records(
    source: object, schema: Schema, *, separator: str | None = None, encoding: str | None = None
) -> Records:
    """The records of a CSV or Parquet file, or of any polars, pandas or Arrow frame.

    >>> schema = Schema(fields=(Field(name="surname"),))
    >>> records = read_records(pl.DataFrame({"id": ["007"], "surname": ["O'Brien-Müller"]}), schema)
    >>> records.ids, list(records["surname"])
    (('007',), ['OBRIENMULLER'])

    Privacy: reads raw records; all of what comes back stays with their owner.
    """
    needed = list(dict.fromkeys([schema.id, *(field.source for field in schema.fields)]))
    if isinstance(source, str | os.PathLike):
        table = read_table(Path(source), columns=needed, separator=separator, encoding=encoding)
    else:
        table = frame_table(source, needed, "records")
    ids = _ids(table, schema.id)
    columns, problems = {}, []
    for field in schema.fields:
        columns[field.name], found = _coded(table, field)
        problems += found
    return Records(table.name, ids, MappingProxyType(columns), tuple(problems))


def normalise(values: pl.Series, field: Field) -> pl.Series:
    """The texts as they are compared, before they are cut to the field's length.

    Letters and accents come apart before accents are dropped, and so do the syllables of
    Hangul, which stay apart. Vowel signs of Indic scripts and voicing marks of kana count
    as accents: such a field is better off with `accents = "keep"`.

    >>> normalise(pl.Series(["  Łukasz  O'Neill ", None]), Field(name="name")).to_list()
    ['LUKASZ ONEILL', None]

    Privacy: reads raw records; what comes back is as sensitive.
    """
    texts = values.str.normalize("NFKC" if field.accents == "keep" else "NFKD")
    if field.accents == "strip":
        texts = texts.str.replace_all(r"\p{M}+", "").str.replace_many(_PLAIN)
    if field.case == "upper":
        texts = texts.str.to_uppercase()
    if field.case == "lower":
        texts = texts.str.to_lowercase()
    if field.punctuation != "keep":
        # a replacement character is a letter that was lost on the way, and stays as a symbol
        other = " " if field.punctuation == "space" else ""
        texts = texts.str.replace_all(r"[\p{P}\p{S}--\x{FFFD}]", other)
    if field.whitespace == "collapse":
        texts = texts.str.replace_all(r"\s+", " ").str.strip_chars(" ")
    if field.whitespace == "strip":
        texts = texts.str.replace_all(r"\s+", "")
    if field.accents == "keep":
        # a change of case or a dropped hyphen leaves letters beside accents they combine with
        texts = texts.str.normalize("NFKC")
    return texts


def _ids(table: Table, column: str) -> tuple[str, ...]:
    ids = table.columns[column].fill_null("").str.strip_chars().to_list()
    first: dict[str, int] = {}
    for index, value in enumerate(ids):
        if not value:
            raise InvalidRecords(
                f"{table.place(column, index)}: the id is missing",
                hint="give every record an id of its own",
            )
        if (earlier := first.setdefault(value, index)) != index:
            raise InvalidRecords(
                f"{table.place(column, index)}: row {table.rows[earlier]} has the same id",
                hint="give every record an id of its own",
            )
    return tuple(ids)


def _coded(table: Table, field: Field) -> tuple[Strings, list[Problem]]:
    """A column as symbols, and what was found on the way."""
    raw = table.columns[field.source].fill_null("")
    texts = normalise(raw, field).str.replace(r"\A\s+\z", "")
    strings = Strings.of(texts.str.head(field.length).to_list(), field.symbols)
    missing = (raw.str.strip_chars() == "").to_numpy()
    outside = np.append(0, np.cumsum(strings.codes == len(field.alphabet)))[strings.offsets]
    strange = np.diff(outside)
    seen = {
        "missing": missing,
        "nothing left after normalising": strings.missing & ~missing,
        f"longer than {field.length} symbols, cut": (
            (texts.str.len_chars() > field.length).to_numpy()
        ),
        "symbols outside the alphabet": strange > 0,
        "more than half outside the alphabet": 2 * strange > strings.lengths,
    }
    return strings, [
        _problem(table, field, what, rows) for what, rows in seen.items() if rows.any()
    ]


def _problem(table: Table, field: Field, what: str, found: npt.NDArray[np.bool_]) -> Problem:
    rows = tuple(table.rows[index] for index in np.flatnonzero(found)[:SHOWN].tolist())
    return Problem(field.source, what, int(found.sum()), rows)
