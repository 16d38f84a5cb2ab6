"""Records: an owner's ids and normalised columns, from a file or a frame.

Whatever is wrong with a file is said with its row and column, and never with what a cell
holds. What is only odd, such as a letter outside the alphabet, is a `Problem`, which the
owner sees before any budget is spent.
"""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import polars as pl

from gramlink.errors import InvalidRecords
from gramlink.io.steps import logged
from gramlink.records.dates import read_dates, recognise
from gramlink.records.fields import Field
from gramlink.records.schema import Schema
from gramlink.records.strings import Strings
from gramlink.records.tables import SHOWN, Table, frame_table, read_table

_LOWER = dict(zip("øłđðħŧŋəɓɗƙƴǥ", "olddhtnebdkyg", strict=True))
_LOWER |= {"æ": "ae", "œ": "oe", "þ": "th"}
_PLAIN = (
    _LOWER
    | {letter.upper(): plain.upper() for letter, plain in _LOWER.items()}
    | {"ß": "ss", "ẞ": "SS", "ı": "i", "ȷ": "j", "ĸ": "q"}
    | dict.fromkeys("ʹʺʻʼʽʾʿˈ", "'")  # letters to Unicode, apostrophes to those who type them
)


# What a problem is, or how its description begins.
UNREADABLE = "not a date, so missing"
IMPOSSIBLE = "no day of the calendar, compared by its digits"
NOTHING_LEFT = "nothing left after normalising"
OUTSIDE = "symbols outside the alphabet"
MOSTLY_OUTSIDE = "more than half outside the alphabet"
CUT = "longer than"


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
    field: str = dataclasses.field(default="", compare=False)
    places: npt.NDArray[np.int64] = dataclasses.field(  # all records concerned, the first being 0
        default_factory=lambda: np.empty(0, np.int64), compare=False, repr=False
    )

    def __str__(self) -> str:
        rows = "1 row" if self.count == 1 else f"{self.count:,} rows"
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
    rows: Sequence[int] = ()  # of the file, one for each record; none: numbered from 1

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, field: str) -> Strings:
        return self.columns[field]


@logged("read", lambda read: {"records": len(read), "fields": len(read.columns)})
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
    columns_of = [column for field in schema.fields for column in field.columns]
    needed = list(dict.fromkeys([schema.id, *columns_of]))
    if isinstance(source, str | os.PathLike):
        table = read_table(Path(source), columns=needed, separator=separator, encoding=encoding)
    else:
        table = frame_table(source, needed, "records")
    ids = _ids(table, schema.id)
    columns, problems = {}, []
    for field in schema.fields:
        columns[field.name], found = _coded(table, field)
        problems += found
    return Records(table.name, ids, MappingProxyType(columns), tuple(problems), table.rows)


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
    ids = table.columns[column].fill_null("").str.strip_chars()
    if (ids == "").any():
        index = int((ids == "").arg_true()[0])
        raise InvalidRecords(
            f"{table.place(column, index)}: the id is missing",
            hint="give every record an id of its own",
        )
    if ids.n_unique() < len(ids):
        index = int((~ids.is_first_distinct()).arg_true()[0])
        earlier = int((ids == ids[index]).arg_true()[0])
        raise InvalidRecords(
            f"{table.place(column, index)}: row {table.rows[earlier]} has the same id",
            hint="give every record an id of its own",
        )
    return tuple(ids.to_list())


def _coded(table: Table, field: Field) -> tuple[Strings, list[Problem]]:
    """A column as symbols, and what was found on the way."""
    # most cells are like another
    cells, place = _distinct([table.columns[name].fill_null("") for name in field.columns])
    known = _joined(cells, field)
    seen = {"missing": (known == "").to_numpy()}
    if field.kind == "date":
        dates = read_dates(known, field.format or _recognised(table, field, known.gather(place)))
        seen[UNREADABLE] = dates.unreadable.to_numpy()
        seen[IMPOSSIBLE] = dates.impossible.to_numpy()
        texts = dates.digits
    else:
        if field.codes:
            codes = {_folded(code): meant for code, meant in field.codes.items()}
            folded = known.str.strip_chars().str.to_lowercase()
            known = folded.replace_strict(codes, default=known, return_dtype=pl.String)
        texts = normalise(known, field).str.replace(r"\A\s+\z", "")
    strings = Strings.of(texts.str.head(field.length).to_list(), field.spelling)
    if field.kind != "date":
        seen |= _oddities(texts, strings, field, seen["missing"])
    if field.placed:
        strings = strings.placed(field.symbols)
    found = {what: rows[place] for what, rows in seen.items() if rows.any()}
    return strings.take(place), [_problem(table, field, what, rows) for what, rows in found.items()]


def _distinct(columns: list[pl.Series]) -> tuple[pl.DataFrame, npt.NDArray[np.int64]]:
    """The different cells, or rows of cells, and the place of each row among them."""
    frame = pl.DataFrame([column.alias(str(n)) for n, column in enumerate(columns)])
    different = frame.unique(maintain_order=True)
    numbered = different.with_row_index("place")
    places = frame.join(numbered, on=frame.columns, how="left", maintain_order="left")["place"]
    return different, places.cast(pl.Int64).to_numpy()


def _joined(cells: pl.DataFrame, field: Field) -> pl.Series:
    """The known cells of a row as one text, with a blank between them; empty if there is none.

    Not known is what is blank, or what stands for "not known" in this file.
    """
    tokens = ["", *map(_folded, field.missing)]
    parts = [
        pl.when(~pl.col(name).str.strip_chars().str.to_lowercase().is_in(tokens)).then(name)
        for name in cells.columns
    ]
    return cells.select(pl.concat_str(*parts, separator=" ", ignore_nulls=True)).to_series()


def _folded(text: str) -> str:
    return text.strip().lower()


def _recognised(table: Table, field: Field, cells: pl.Series) -> str:
    """The format of the dates in a column."""
    try:
        return recognise(cells)
    except InvalidRecords as error:
        raise InvalidRecords(
            f"{table.name}, column {field.source}: {error}", hint=error.hint
        ) from error


def _oddities(
    texts: pl.Series, strings: Strings, field: Field, missing: npt.NDArray[np.bool_]
) -> dict[str, npt.NDArray[np.bool_]]:
    outside = np.append(0, np.cumsum(strings.codes == len(field.alphabet)))[strings.offsets]
    strange = np.diff(outside)
    return {
        NOTHING_LEFT: strings.missing & ~missing,
        f"{CUT} {field.length} symbols, cut": ((texts.str.len_chars() > field.length).to_numpy()),
        OUTSIDE: strange > 0,
        MOSTLY_OUTSIDE: 2 * strange > strings.lengths,
    }


def _problem(table: Table, field: Field, what: str, found: npt.NDArray[np.bool_]) -> Problem:
    places = np.flatnonzero(found)
    rows = tuple(table.rows[index] for index in places[:SHOWN].tolist())
    return Problem(field.source, what, len(places), rows, field.name, places)
