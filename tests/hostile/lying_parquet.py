"""Parquet files that say of themselves what is not so: their footer, read and written by hand.

The footer is a struct in Thrift's compact protocol. Of that, what Parquet uses is here.
"""

import io
import struct

import pyarrow as pa
import pyarrow.parquet as pq

_TRUE, _FALSE, _BYTE, _NUMBERS, _DOUBLE, _BYTES, _LIST, _STRUCT = 1, 2, 3, (4, 5, 6), 7, 8, 9, 12
MAGIC = b"PAR1"


def _varint(file):
    value = shift = 0
    while True:
        (byte,) = file.read(1)
        value |= (byte & 127) << shift
        if byte < 128:
            return value
        shift += 7


def _as_varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _read(file, kind):
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE
    if kind == _BYTE:
        return file.read(1)
    if kind in _NUMBERS:
        value = _varint(file)
        return (value >> 1) ^ -(value & 1)
    if kind == _DOUBLE:
        return file.read(8)
    if kind == _BYTES:
        return file.read(_varint(file))
    if kind == _LIST:
        (first,) = file.read(1)
        size = first >> 4 if first >> 4 < 15 else _varint(file)
        return (first & 15, [_read(file, first & 15) for _ in range(size)])
    fields, number = {}, 0
    while (first := file.read(1)[0]) != 0:
        number = number + (first >> 4) if first >> 4 else _read(file, 4)
        fields[number] = (first & 15, _read(file, first & 15))
    return fields


def _write(kind, value):
    if kind in (_BYTE, _DOUBLE):
        return value
    if kind in _NUMBERS:
        return _as_varint(value << 1 if value >= 0 else (-value << 1) - 1)
    if kind == _BYTES:
        return _as_varint(len(value)) + value
    if kind == _LIST:
        inner, items = value
        start = bytes([min(len(items), 15) << 4 | inner])
        start += _as_varint(len(items)) if len(items) >= 15 else b""
        return start + b"".join(_write(inner, one) for one in items)
    out, last = b"", 0
    for number, (inner, one) in sorted(value.items()):
        told = (_TRUE if one else _FALSE) if inner in (_TRUE, _FALSE) else inner
        out += bytes([number - last << 4 | told])
        out += b"" if inner in (_TRUE, _FALSE) else _write(inner, one)
        last = number
    return out + b"\0"


def relabelled(data, change):
    """A Parquet file with another footer."""
    footer, (size,) = footer_of(data), struct.unpack("<I", data[-8:-4])
    change(footer)
    written = _write(_STRUCT, footer)
    return data[: -8 - size] + written + struct.pack("<I", len(written)) + MAGIC


def claiming(data, rows):
    """A file that claims to have so many rows, in its footer and of each column."""

    def change(footer):
        footer[3] = (6, rows)
        for group in footer[4][1][1]:
            group[3] = (6, rows)
            for column in group[1][1][1]:
                meta = column[3][1]
                meta[5] = (6, rows * (meta[5][1] // max(1, _true_rows(data))))

    return relabelled(data, change)


def _true_rows(data):
    return pq.read_metadata(io.BytesIO(data)).num_rows


def footer_of(data):
    """What a file says of itself."""
    (size,) = struct.unpack("<I", data[-8:-4])
    return _read(io.BytesIO(data[-8 - size : -8]), _STRUCT)


def repeated(data, column, names, width):
    """A file whose last column is there under many names, all of them the same bytes on disk."""
    arrays = pa.list_(pa.uint8(), width)
    empty = io.BytesIO()
    kinds = [("id", pa.large_string()), *((name, arrays) for name in names)]
    pq.write_table(pa.schema(kinds).empty_table(), empty)

    def change(footer):
        kind, schema = footer[2][1]
        start = next(n for n, one in enumerate(schema) if one[4][1] == column.encode())
        elements = schema[start:]
        group = footer[4][1][1][0]
        chunks = group[1][1][1]
        chunk = chunks[-1]
        schema, chunks = schema[:start], chunks[:-1]
        for name in names:
            schema += [{**elements[0], 4: (_BYTES, name.encode())}, *elements[1:]]
            meta = chunk[3][1]
            path = (_LIST, (_BYTES, [name.encode(), *meta[3][1][1][1:]]))
            chunks.append({**chunk, 3: (_STRUCT, {**meta, 3: path})})
        schema[0] = {**schema[0], 5: (5, 1 + len(names))}
        footer[2] = (_LIST, (kind, schema))
        group[1] = (_LIST, (_STRUCT, chunks))
        footer[5] = footer_of(empty.getvalue())[5]  # the types, as pyarrow has them
        footer.pop(7, None)  # the orders of the columns

    return relabelled(data, change)


def run_lengths(ids, column, width, value=1):
    """Ids and a column of arrays that are all the same, in a few bytes whatever their number."""
    counts = pa.FixedSizeListArray.from_arrays(
        pa.repeat(pa.scalar(value, pa.uint8()), len(ids) * width), width
    )
    table = pa.table({"id": pa.array(ids, pa.large_string()), column: counts})
    written = io.BytesIO()
    pq.write_table(
        table, written, compression="zstd", use_dictionary=[f"{column}.list.element"],
        row_group_size=len(ids), write_statistics=False, data_page_size=2**30,
    )  # fmt: skip
    return written.getvalue()


def one_text(rows, symbols, column="surname"):
    """Ids, and a text of so many symbols that is the same in each row, in a few kilobytes."""
    text = pa.DictionaryArray.from_arrays(
        pa.repeat(pa.scalar(0, pa.int32()), rows), pa.array(["A" * symbols])
    )
    ids = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), rows), pa.array(["1"]))
    written = io.BytesIO()
    pq.write_table(
        pa.table({"id": ids, column: text}), written, compression="zstd", row_group_size=rows,
        write_statistics=False, store_schema=False,
    )  # fmt: skip
    return written.getvalue()


def unknown_time_zone():
    """A sound file with a column whose time zone a library cannot take without breaking off."""
    times = pa.array([0, 1], pa.timestamp("ms", tz="-02:15"))
    written = io.BytesIO()
    pq.write_table(pa.table({"id": ["1", "2"], "surname": times}), written)
    return written.getvalue()
