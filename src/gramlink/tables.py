"""Tables: columns of text from a CSV or Parquet file, or from any frame.

Whatever is wrong with a file is said with its row and column, and never with what a cell
holds.
"""

import codecs
import csv
import difflib
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import polars as pl

from gramlink.errors import InvalidParameter, InvalidRecords

SEPARATORS = ",;\t|"
LONGEST = 4096  # symbols of a cell; a longer one is a quote that was never closed
SHOWN = 10

_Rows = Generator[tuple[int, list[str]], None, None]

_UNDECODED = re.compile("[\ud800-\udfff]")
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
    if _is_parquet(path):
        with _frame_errors(path.name):
            return tuple(name.strip() for name in _parquet(path).collect_schema().names())
    with closing(_csv_rows(path, separator, encoding)) as rows:
        return _csv_header(path.name, rows)


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
    if _is_parquet(path):
        frame = _parquet(path)
        return frame_table(frame if limit is None else frame.head(limit), columns, path.name)
    numbers: list[int] = []
    with closing(_csv_rows(path, separator, encoding)) as rows:
        names = _csv_header(path.name, rows)
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


def _csv_header(name: str, rows: _Rows) -> tuple[str, ...]:
    number, names = next(rows, (1, []))
    if not names:
        raise InvalidRecords(f"{name} is empty", hint="its first row has to name the columns")
    if any("\0" in cell for cell in names):
        raise InvalidRecords(
            f"{name}, row {number} holds NUL bytes",
            hint="if it is a text file at all, try --encoding utf-16-le",
        )
    return tuple(cell.strip() for cell in names)


def _csv_rows(path: Path, separator: str | None, encoding: str | None) -> _Rows:
    """The rows that are not blank, and their numbers; the header comes first."""
    _check_options(separator, encoding)
    declared = _declared_encoding(path)
    encoding = encoding or declared
    record: list[str] = []
    names: list[str] = []
    number = 0
    with path.open(encoding=encoding, errors="surrogateescape", newline="") as file:
        try:
            separator = separator or _separator(file)
            _skip_bom(file)
            lines = _lines(file, record)
            reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
            for number, row in enumerate(reader, 1):
                record.clear()
                if len(row) > 1 or (row and row[0].strip()):
                    names = names or row
                    yield number, row
        except OSError as error:
            raise _lost(path, error) from error
        except UnicodeDecodeError as error:  # of a whole block of lines, not of this one alone
            raise _undecodable(f"{path.name}, row {number + 1} or later", encoding) from error
        except UnicodeError as error:
            place = _UNDECODED.search("".join(record))
            cell = _cell(record, separator or ",", place.start() if place else 0)
            where = _where(path.name, number + 1, names, cell)
            raise _undecodable(where, encoding) from error
        except csv.Error as error:
            cell = _cell(record, separator or ",", sum(map(len, record)))
            raise _malformed(_where(path.name, number + 1, names, cell), error) from error


def _lines(file: IO[str], record: list[str]) -> Iterator[str]:
    """The lines of a file; `record` keeps those that the reader is still at."""
    keep = record.append
    for line in file:
        keep(line)
        if not line.isascii() and _UNDECODED.search(line):
            raise UnicodeError
        yield line


def _cell(record: list[str], separator: str, end: int) -> int:
    """The index of the cell of a record that reaches `end`, or of the first that is malformed."""
    text, stops = "".join(record), re.escape(separator) + "\r\n"
    cell = re.compile(rf' *+(?:"(?:[^"]|"")*+"|(?!")[^{stops}]*+)(?=[{stops}]|\Z)')
    index = start = 0
    while (match := cell.match(text, start)) and match.end() < end:
        if match.end() - start > csv.field_size_limit():
            break
        index, start = index + 1, match.end() + 1
    return index


def _where(name: str, row: int, names: Sequence[str], cell: int) -> str:
    column = _short(names[cell].strip()) if cell < len(names) else cell + 1
    return f"{name}, row {row}, column {column}"


def _undecodable(where: str, encoding: str) -> InvalidRecords:
    return InvalidRecords(
        f"{where}: this is not {encoding.upper()} text",
        hint="say what it is: --encoding cp1252 (Windows), --encoding latin-1 or another",
    )


def _malformed(where: str, error: csv.Error) -> InvalidRecords:
    what = "text follows a closing quote"
    if "limit" in str(error):
        what = f"the cell is longer than {csv.field_size_limit():,} symbols"
    elif "end of data" in str(error):
        what = "a quote is opened and never closed"
    return InvalidRecords(
        f"{where}: {what}", hint="close every quote, and write one within a value twice"
    )


def _check_options(separator: str | None, encoding: str | None) -> None:
    if separator is not None and (len(separator) != 1 or separator in '"\r\n \0'):
        raise InvalidParameter(
            f"{separator!r} is not a separator",
            hint="give one character; a comma, semicolon, tab or | is found without",
        )
    try:
        "".encode(encoding or "utf-8")
    except (LookupError, ValueError) as error:
        raise InvalidParameter(
            f"there is no text encoding {encoding!r}", hint="try utf-8, cp1252 or latin-1"
        ) from error


def _declared_encoding(path: Path) -> str:
    """UTF-16 if the first bytes of a file say so, and UTF-8 otherwise."""
    utf_16 = _first_bytes(path) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return "utf-16" if utf_16 else "utf-8"


def _first_bytes(path: Path) -> bytes:
    if path.exists() and not path.is_file():  # a pipe could be read only once
        raise InvalidRecords(f"{path} cannot be read: it is not a file")
    try:
        with path.open("rb") as file:
            return file.read(2)
    except (OSError, ValueError) as error:
        raise _lost(path, error) from error


def _lost(path: Path, error: Exception) -> InvalidRecords:
    reason = getattr(error, "strerror", None) or "its name is not one of a file"
    return InvalidRecords(f"{path} cannot be read: {reason}")


def _skip_bom(file: IO[str]) -> None:
    if file.read(1) != "\N{ZERO WIDTH NO-BREAK SPACE}":
        file.seek(0)


def _separator(file: IO[str]) -> str:
    """The separator that the header has most of outside quotes, or a comma."""
    start = re.sub('"[^"]*"', "", file.read(1 << 16)).lstrip("\r\n ")
    file.seek(0)
    line = re.split("[\r\n]", start, maxsplit=1)[0]
    return max(SEPARATORS, key=line.count)


def _places(name: str, names: Sequence[str], needed: Sequence[str] | None) -> list[int]:
    """Where each needed column is; if none is named, each that has a name."""
    wanted = [column for column in names if column] if needed is None else needed
    if not wanted:
        raise InvalidRecords(f"{name} has no column that has a name")
    for column in wanted:
        if column not in names:
            raise _no_column(name, column, names)
        if names.count(column) > 1:
            raise InvalidRecords(
                f"{name} has {names.count(column)} columns named {_short(column)}",
                hint="rename all but the one that is meant",
            )
    return [names.index(column) for column in wanted]


def _no_column(name: str, column: str, names: Sequence[str]) -> InvalidRecords:
    alike = {other.casefold(): other for other in names if other}
    close = difflib.get_close_matches(column.casefold(), alike, n=1)
    meant = f"did you mean {_short(alike[close[0]])}? " if close else ""
    listed = ", ".join(map(_short, names[:SHOWN])) + (", ..." if len(names) > SHOWN else "")
    return InvalidRecords(
        f"{name} has no column {column}; it has {listed or 'none'}",
        hint=f"{meant}set `id`, or `column` of the field, in linkage.toml",
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else line[:37] + "..."


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def _parquet(path: Path) -> pl.LazyFrame:
    _first_bytes(path)
    return pl.scan_parquet(path, glob=False)


@contextmanager
def _frame_errors(name: str) -> Iterator[None]:
    try:
        yield
    except _FRAME_ERRORS as error:
        # polars' own words are left out, as they may quote a cell
        raise InvalidRecords(
            f"{name} is damaged, or not a table",
            hint="give a CSV file, a Parquet file, or a polars, pandas or Arrow frame",
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
    columns = frame.select(found[p] for p in places).collect().get_columns()
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
        raise InvalidRecords(f"{table.name} has no records", hint="it may be a header only")
    for column, series in table.columns.items():
        for what, wrong in (
            (f"is longer than {LONGEST:,} symbols", series.str.len_chars() > LONGEST),
            ("holds a NUL byte", series.str.contains("\0", literal=True)),
        ):
            if wrong.any():
                index = int(wrong.arg_true()[0])
                raise InvalidRecords(
                    f"{table.place(column, index)}: the cell {what}",
                    hint="look there for a quote that is never closed, or for a damaged export",
                )
    return table
