"""What a Parquet file says of itself, checked before a library reads it.

A few bytes can stand for gigabytes, and counts, sizes and places that contradict each other crash
readers. The footer, which says how many values there are and where, is a struct in Thrift's
compact protocol; what Parquet uses of that is here. Pages may lie too, so a file that passes is
still read in a confined process, which is given memory for what its footer says, and no more.
"""

import atexit
import io
import struct
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias

import polars as pl

from gramlink.io.confined import THREADS, Confined
from gramlink.io.limits import Limits, three_quarters_of_memory

MAGIC = b"PAR1"
LONGEST_FOOTER = 2**25
MOST_COLUMNS, MOST_GROUPS, MOST_ROWS = 10_000, 50_000, 10**10
TEXT = 64  # times its size; honest files of text hold up to about 20 times theirs
_ROOM = 2**28  # bytes that a file may hold, however small it is
_LIBRARY = 2**30  # bytes that reading takes besides the values
_SLOWEST = 10**7  # bytes a second

_WIDTHS = {0: 1, 1: 4, 2: 8, 3: 12, 4: 4, 5: 8, 6: 32, 7: 32}  # bytes of a value, by its type
READER = Confined(threads=THREADS)  # one for all that this process reads
atexit.register(READER.end)

_TRUE, _FALSE, _BYTE, _DOUBLE, _BYTES, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_NUMBERS = (4, 5, 6)
_DEEPEST = 20

# the numbers that Parquet gives to what we look at
_SCHEMA, _ROWS, _GROUPS = 2, 3, 4
_TYPE, _NAME, _CHILDREN = 1, 4, 5
_CHUNKS, _GROUP_ROWS = 1, 3
_META, _PATH, _VALUES, _PLAIN, _PACKED, _DATA, _DICTIONARY = 3, 3, 5, 6, 7, 9, 11


_Leaf: TypeAlias = tuple[int, int, bool]


class Damaged(ValueError):
    """What is wrong with a file; it quotes nothing of it."""


@dataclass(frozen=True, slots=True)
class Footer:
    """The columns of a file, how many rows it has, and how many bytes they take when read."""

    size: int
    names: tuple[str, ...]
    rows: int
    bytes_of: tuple[int, ...]  # for each column

    def room(self, expansion: int = TEXT) -> int:
        """The most bytes that a file of this size may hold."""
        return _ROOM + expansion * self.size

    def limits(
        self, columns: Collection[int], expansion: int = TEXT, rows: int | None = None
    ) -> Limits:
        """What reading these columns may take; a file that claims too much is refused."""
        needed = sum(self.bytes_of[column] for column in columns)
        if rows is not None and rows < self.rows:
            needed = needed * rows // self.rows
        available = three_quarters_of_memory()
        if needed > self.room(expansion) or (available and needed > available):
            raise Damaged(f"it has {self.size:,} bytes and claims to hold {needed:,}")
        memory = _LIBRARY + 4 * needed
        return Limits(min(memory, available or memory), 60 + needed / _SLOWEST)


def check_text(frame: pl.DataFrame, room: int) -> None:
    """Refuse columns of text that is much longer than the file: one text can stand in every row."""
    texts = [series for series in frame if series.dtype == pl.String]
    held = sum(int(series.str.len_bytes().sum()) for series in texts)
    if held > room:
        raise Damaged(f"it holds {held:,} bytes of text, {room:,} at most for its size")


def to_bytes(frame: pl.DataFrame) -> bytes:
    """A frame as it travels between our processes."""
    written = io.BytesIO()
    frame.write_ipc_stream(written)
    return written.getvalue()


def from_bytes(data: bytes) -> pl.DataFrame:
    """What `to_bytes` wrote, in a process of ours."""
    return pl.read_ipc_stream(io.BytesIO(data))


def footer_of(source: Path | bytes) -> Footer:
    """What a file says of itself, or `Damaged`."""
    if isinstance(source, bytes):
        return _footer(io.BytesIO(source))
    with source.open("rb") as file:
        return _footer(file)


def _footer(file: IO[bytes]) -> Footer:
    size = file.seek(0, io.SEEK_END)
    if size < 12:
        raise Damaged("it is too short")
    file.seek(size - 8)
    length, magic = struct.unpack("<I4s", file.read(8))
    if magic != MAGIC:
        raise Damaged("it does not end as a Parquet file does")
    if not 0 < length <= min(size - 12, LONGEST_FOOTER):
        raise Damaged("its footer is longer than it can be")
    file.seek(size - 8 - length)
    try:
        content = _Thrift(file.read(length)).struct(0)
        return _checked(content, size)
    except (IndexError, KeyError, TypeError, AttributeError, UnicodeDecodeError) as error:
        raise Damaged("its footer cannot be read") from error


def _checked(content: dict[int, Any], size: int) -> Footer:
    names, leaves = _columns(content[_SCHEMA])
    rows, groups = content[_ROWS], content.get(_GROUPS, [])
    if not 0 <= rows <= MOST_ROWS or len(groups) > MOST_GROUPS:
        raise Damaged("it claims an impossible number of rows or of row groups")
    if sum(group[_GROUP_ROWS] for group in groups) != rows:
        raise Damaged("its row groups do not have as many rows as it claims")
    bytes_of, packed = [0] * len(names), 0
    for group in groups:
        chunks = group[_CHUNKS]
        if group[_GROUP_ROWS] < 0 or len(chunks) != len(leaves):
            raise Damaged("a row group does not have all columns")
        for (column, kind, nested), chunk in zip(leaves, chunks, strict=True):
            values, plain, stored = _chunk(chunk[_META], kind, size)
            if not nested and values != group[_GROUP_ROWS]:
                raise Damaged("a column does not have as many values as rows")
            bytes_of[column] += values * _WIDTHS[kind] + plain
            packed += stored
    if packed > size:
        raise Damaged("its columns take more room than the whole file")
    return Footer(size, names, rows, tuple(bytes_of))


def _chunk(meta: dict[int, Any], kind: int, size: int) -> tuple[int, int, int]:
    """How many values a column has in a row group, and their bytes, unpacked and packed."""
    values, plain, packed = meta[_VALUES], meta[_PLAIN], meta[_PACKED]
    first, last = sorted([meta[_DATA], meta.get(_DICTIONARY) or meta[_DATA]])
    inside = 0 <= first <= size - packed and last < size
    if min(values, plain, packed) < 0 or not inside or meta[_TYPE] != kind:
        raise Damaged("a column has an impossible size, place or type")
    return values, plain, packed


def _columns(
    schema: Sequence[dict[int, Any]],
) -> tuple[tuple[str, ...], list[tuple[int, int, bool]]]:
    """The columns' names; and of each leaf the column, its type, and whether it is nested."""
    if not 0 < len(schema) <= 4 * MOST_COLUMNS:
        raise Damaged("it has no columns, or too many")
    names: list[str] = []
    leaves: list[_Leaf] = []
    open_groups = [schema[0][_CHILDREN]]  # how many children each still has to come
    for element in schema[1:]:
        while open_groups and not open_groups[-1]:
            open_groups.pop()
        if not open_groups or len(open_groups) > _DEEPEST:
            raise Damaged("its columns do not form a table")
        open_groups[-1] -= 1
        if len(open_groups) == 1:
            names.append(element[_NAME].decode())
        if children := element.get(_CHILDREN):
            if children < 0:
                raise Damaged("its columns do not form a table")
            open_groups.append(children)
        else:
            leaves.append((len(names) - 1, element[_TYPE], len(open_groups) > 1))
    if any(open_groups) or len(names) > MOST_COLUMNS:
        raise Damaged("its columns do not form a table")
    return tuple(names), leaves


class _Thrift:
    """Thrift's compact protocol: nothing is taken up before its bytes are there."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def byte(self) -> int:
        self.place += 1
        return self.data[self.place - 1]

    def varint(self) -> int:
        value = shift = 0
        while (byte := self.byte()) >= 128:
            value |= (byte & 127) << shift
            shift += 7
            if shift > 63:
                raise Damaged("its footer has a number that is too long")
        return value | byte << shift

    def number(self) -> int:
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def bytes(self, length: int) -> bytes:
        self.place += length
        if self.place > len(self.data):
            raise Damaged("its footer is cut short")
        return self.data[self.place - length : self.place]

    def list(self, depth: int) -> list[Any]:
        head = self.byte()
        kind, length = head & 15, head >> 4
        if length == 15:
            length = self.varint()
        if length > len(self.data) - self.place:  # each item takes a byte at least
            raise Damaged("its footer is cut short")
        return [self.value(kind, depth) for _ in range(length)]

    def struct(self, depth: int) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.number()
            kind = head & 15
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self.value(kind, depth)
        return fields

    def value(self, kind: int, depth: int) -> Any:
        if depth > _DEEPEST:
            raise Damaged("its footer is nested too deeply")
        if kind in _NUMBERS:
            return self.number()
        if kind == _BYTES:
            return self.bytes(self.varint())
        if kind in (_LIST, _SET):
            return self.list(depth + 1)
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_TRUE, _FALSE, _BYTE):  # in a list, a truth takes a byte
            return self.byte()
        if kind == _DOUBLE:
            return self.bytes(8)
        raise Damaged("its footer has a value of an unknown type")
