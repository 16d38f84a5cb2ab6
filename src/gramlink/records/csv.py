"""CSV files of any separator, quoting and encoding, row by row.

Python's own reader in strict mode is fast enough, and knows at which row and cell a file
goes wrong.
"""

import codecs
import csv
import re
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import IO

from gramlink.errors import InvalidParameter, InvalidRecords

SEPARATORS = ",;\t|"

Rows = Generator[tuple[int, list[str]], None, None]

_UNDECODED = re.compile("[\ud800-\udfff]")


def csv_header(name: str, rows: Rows) -> tuple[str, ...]:
    """The names of the columns, without the blanks around them."""
    number, names = next(rows, (1, []))
    if not names:
        raise InvalidRecords(f"{name} is empty", hint="its first row must name the columns")
    if any("\0" in cell for cell in names):
        raise InvalidRecords(
            f"{name}, row {number} contains NUL bytes",
            hint="if it is a text file, try --encoding utf-16-le",
        )
    return tuple(cell.strip() for cell in names)


def csv_rows(path: Path, separator: str | None, encoding: str | None) -> Rows:
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
        except UnicodeDecodeError as error:  # raised for a block of lines, not only this one
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
    """The lines of a file; `record` keeps those of the record being read."""
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
    column = short(names[cell].strip()) if cell < len(names) else cell + 1
    return f"{name}, row {row}, column {column}"


def _undecodable(where: str, encoding: str) -> InvalidRecords:
    return InvalidRecords(
        f"{where}: this is not {encoding.upper()} text",
        hint="name its encoding: --encoding cp1252 (Windows), --encoding latin-1 or another",
    )


def _malformed(where: str, error: csv.Error) -> InvalidRecords:
    what = "text follows a closing quote"
    if "limit" in str(error):
        what = f"the cell is longer than {csv.field_size_limit():,} symbols"
    elif "end of data" in str(error):
        what = "a quote is opened and never closed"
    return InvalidRecords(
        f"{where}: {what}", hint="close every quote, and double each quote inside a value"
    )


def _check_options(separator: str | None, encoding: str | None) -> None:
    if separator is not None and (len(separator) != 1 or separator in '"\r\n \0'):
        raise InvalidParameter(
            f"{separator!r} is not a separator",
            hint="give one character; comma, semicolon, tab and | are detected without it",
        )
    try:
        "".encode(encoding or "utf-8")
    except (LookupError, ValueError) as error:
        raise InvalidParameter(
            f"{encoding!r} is not a known text encoding", hint="try utf-8, cp1252 or latin-1"
        ) from error


def _declared_encoding(path: Path) -> str:
    """UTF-16 if the first bytes of a file say so, and UTF-8 otherwise."""
    utf_16 = first_bytes(path) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return "utf-16" if utf_16 else "utf-8"


def first_bytes(path: Path) -> bytes:
    """The first two bytes of a file, which must be a regular file, since it is read twice."""
    if path.exists() and not path.is_file():  # a pipe could be read only once
        raise InvalidRecords(f"{path} cannot be read: it is not a file")
    try:
        with path.open("rb") as file:
            return file.read(2)
    except (OSError, ValueError) as error:
        raise _lost(path, error) from error


def _lost(path: Path, error: Exception) -> InvalidRecords:
    reason = getattr(error, "strerror", None) or "this is not a valid file name"
    return InvalidRecords(f"{path} cannot be read: {reason}")


def _skip_bom(file: IO[str]) -> None:
    if file.read(1) != "\N{ZERO WIDTH NO-BREAK SPACE}":
        file.seek(0)


def _separator(file: IO[str]) -> str:
    """The separator that occurs most often in the header outside quotes, or a comma."""
    start = re.sub('"[^"]*"', "", file.read(1 << 16)).lstrip("\r\n ")
    file.seek(0)
    line = re.split("[\r\n]", start, maxsplit=1)[0]
    return max(SEPARATORS, key=line.count)


def short(text: str) -> str:
    """A name shortened to fit on one line."""
    line = " ".join(text.split())
    return line if len(line) <= 40 else line[:37] + "..."
