"""Tables: columns of text from a CSV or Parquet file, or from any frame.

Errors name the row and column, and never say what a cell
holds.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from gramlink.errors import Ended, InvalidRecords
from gramlink.io.limits import Limits
from gramlink.io.parquet import READER, Damaged, Footer, check_text, footer_of, from_bytes, to_bytes
from gramlink.records.csv import csv_header, csv_rows, first_bytes, short

LONGEST = 4096  # symbols of a cell; a longer one is a quote that was never closed
SHOWN = 10

_GIVE = "give a CSV file, a Parquet file, or a polars, pandas or Arrow frame"
_EXPORT = "export it again, or as CSV"

_FRAME_ERRORS = (
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
    TypeError,
    ValueError,
    OverflowError,
    OSError,
)
_SPELT = (pl.String, pl.Categorical, pl.Enum, pl.Date)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of text as they were found, and the number of each record's row.

    Privacy: the records themselves; they stay with their owner.
    """

    name: str
    rows: Sequence[int]
    columns: Mapping[str, pl.Series]

    def place(self, column: str, index: int) -> str:
        """Where a cell is, for an error."""
        return f"{self.name}, row {self.rows[index]}, column {column}"


def header(
    path: Path, separator: str | None = None, encoding: str | None = None
) -> tuple[str, ...]:
    """The names of a file's columns, without the blanks around them."""
    if is_parquet(path):
        return tuple(name.strip() for name in _footer(path).names)
    with closing(csv_rows(path, separator, encoding)) as rows:
        return csv_header(path.name, rows)


def read_table(
    path: Path,
    *,
    columns: Sequence[str] | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    limit: int | None = None,
) -> Table:
    """The named columns of a CSV or Parquet file, or all; of the first `limit` records, or all.

    Blanks that follow a separator in a CSV file are not part of the cell. Its blank lines
    are skipped, and count as rows.

    Privacy: reads raw records; all of what comes back stays with their owner.
    """
    if is_parquet(path):
        return _read_parquet(path, columns, limit)
    numbers: list[int] = []
    with closing(csv_rows(path, separator, encoding)) as rows:
        names = csv_header(path.name, rows)
        places = _places(path.name, names, columns)
        cells: list[list[str]] = [[] for _ in places]
        keep = [(column.append, place) for column, place in zip(cells, places, strict=True)]
        for number, row in rows:
            if len(numbers) == limit:
                break
            if len(row) != len(names):
                raise InvalidRecords(
                    f"{path.name}, row {number}: {len(row)} instead of {len(names)} cells",
                    hint="a cell that holds the separator must be in quotes",
                )
            numbers.append(number)
            for append, place in keep:
                append(row[place])
    texts = {names[p]: pl.Series(c, dtype=pl.String) for p, c in zip(places, cells, strict=True)}
    return _checked(Table(path.name, numbers, texts))


def _places(name: str, names: Sequence[str], needed: Sequence[str] | None) -> list[int]:
    """Where each needed column is; if none is named, each that has a name."""
    wanted = [column for column in names if column] if needed is None else needed
    if not wanted:
        raise InvalidRecords(f"{name} has no column with a name")
    for column in wanted:
        if column not in names:
            raise _no_column(name, column, names)
        if names.count(column) > 1:
            raise InvalidRecords(
                f"{name} has {names.count(column)} columns named {short(column)}",
                hint="rename all but the one you mean",
            )
    return [names.index(column) for column in wanted]


def _no_column(name: str, column: str, names: Sequence[str]) -> InvalidRecords:
    alike = {other.casefold(): other for other in names if other}
    close = difflib.get_close_matches(column.casefold(), alike, n=1)
    meant = f"did you mean {short(alike[close[0]])}? " if close else ""
    listed = ", ".join(map(short, names[:SHOWN])) + (", ..." if len(names) > SHOWN else "")
    return InvalidRecords(
        f"{name} has no column {column}; it has {listed or 'none'}",
        hint=f"{meant}set `id`, or the field's `column`, in linkage.toml",
    )


def is_parquet(path: Path) -> bool:
    """Whether a file is called as Parquet files are."""
    return path.suffix.lower() in (".parquet", ".pq")


def parquet_limits(path: Path, columns: Sequence[str] | None, limit: int | None) -> Limits:
    """What reading these columns of a Parquet file may take."""
    footer = _footer(path)
    names = [name.strip() for name in footer.names]
    places = _places(path.name, names, columns)
    with _damage(path.name):
        return footer.limits(places, rows=limit)


def _read_parquet(path: Path, columns: Sequence[str] | None, limit: int | None) -> Table:
    order = {
        "path": str(path.absolute()),
        "columns": columns and list(columns),
        "limit": limit,
        "room": _footer(path).room(),
    }
    with reading(path.name):
        limits = parquet_limits(path, columns, limit)
        order["room"] = _footer(path).room()
        (found,) = READER.call(_read_here, order, limits=limits)
    frame = from_bytes(found)
    return Table(path.name, range(1, 1 + len(frame)), dict(zip(frame.columns, frame, strict=True)))


def _read_here(order: Mapping[str, Any], *_: object) -> list[bytes]:
    """What `_read_parquet` does in another process: columns of text and nothing else come back."""
    path = Path(order["path"])
    frame = pl.scan_parquet(path, glob=False)
    head = frame if order["limit"] is None else frame.head(order["limit"])
    table = frame_table(head, order["columns"], path.name)
    found = pl.DataFrame(dict(table.columns))
    with _damage(path.name):
        check_text(found, order["room"])
    return [to_bytes(found)]


def _footer(path: Path) -> Footer:
    first_bytes(path)
    with _damage(path.name):
        return footer_of(path)


@contextmanager
def _damage(name: str) -> Iterator[None]:
    try:
        yield
    except (Damaged, OSError) as error:
        why = str(error) if isinstance(error, Damaged) else "it cannot be read"
        raise InvalidRecords(f"{name} is damaged, or not a table: {why}", hint=_GIVE) from error


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Say of which file it was that a process ended, if it does."""
    try:
        yield
    except Ended as error:
        raise InvalidRecords(f"{name} cannot be read: {error}", hint=_EXPORT) from error


@contextmanager
def _frame_errors(name: str) -> Iterator[None]:
    try:
        yield
    except _FRAME_ERRORS as error:
        # polars' own words are left out, as they may quote a cell
        raise InvalidRecords(
            f"{name} is damaged, or not a table",
            hint=_GIVE,
        ) from error


def frame_table(source: Any, needed: Sequence[str] | None, name: str) -> Table:
    """The needed columns of any frame, as text."""
    with _frame_errors(name):
        found = _series(source, needed, name)
    columns = {column: _as_text(series, name, column) for column, series in found.items()}
    return _checked(Table(name, range(1, 1 + len(next(iter(columns.values())))), columns))


def _series(source: Any, needed: Sequence[str] | None, name: str) -> dict[str, pl.Series]:
    if hasattr(source, "iloc"):
        labels = [str(label).strip() for label in source.columns]
        places = _places(name, labels, needed)
        return {labels[p]: _from_pandas(source.iloc[:, p], name, labels[p]) for p in places}
    frame = source.lazy() if isinstance(source, pl.DataFrame) else source
    if not isinstance(frame, pl.LazyFrame):
        frame = pl.DataFrame(frame).lazy()
    found = frame.collect_schema().names()
    names = [column.strip() for column in found]
    places = _places(name, names, needed)
    # by place: a name such as * means more than itself
    columns = frame.select(pl.nth(p) for p in places).collect().get_columns()
    return {names[p]: series for p, series in zip(places, columns, strict=True)}


def _from_pandas(column: Any, name: str, label: str) -> pl.Series:
    # by way of Python, since Arrow's way needs pyarrow and keeps NaN apart from missing
    missing = column.isna().tolist()
    values = [None if m else v for v, m in zip(column.tolist(), missing, strict=True)]
    try:
        return pl.Series(values)
    except TypeError as error:
        raise _not_text(name, label, "a mixture of types") from error


def _as_text(series: pl.Series, name: str, column: str) -> pl.Series:
    """Text, whole numbers and dates as text; other types have no one spelling."""
    if series.dtype.is_float():
        series = series.fill_nan(None)
    if series.null_count() == len(series):
        return pl.Series([None] * len(series), dtype=pl.String)
    if series.dtype.is_integer() or series.dtype in _SPELT:
        return series.cast(pl.String)
    raise _not_text(name, column, str(series.dtype))


def _not_text(name: str, column: str, kind: str) -> InvalidRecords:
    return InvalidRecords(
        f"{name}, column {column} is {kind}, not text",
        hint="read the column as text, so that no digit is lost or added",
    )


def _checked(table: Table) -> Table:
    """The table, if it has records, and cells that a name or an id can fill."""
    if not table.rows:
        raise InvalidRecords(f"{table.name} has no records", hint="it may contain only a header")
    for column, series in table.columns.items():
        for what, wrong in (
            (f"is longer than {LONGEST:,} symbols", series.str.len_chars() > LONGEST),
            ("contains a NUL byte", series.str.contains("\0", literal=True)),
        ):
            if wrong.any():
                index = int(wrong.arg_true()[0])
                raise InvalidRecords(
                    f"{table.place(column, index)}: the cell {what}",
                    hint="look there for a quote that is never closed, or for a damaged export",
                )
    return table
