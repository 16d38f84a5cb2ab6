"""The veil's hot loops: parities of values, rows of records, and what shared rows tell.

A value's sketch is 256 parities, as four words; a row draws `DRAWS` of them. Streams and rows are
bytes, laid out as `docs/veil.md` says.
"""

import numba
import numpy as np
import numpy.typing as npt

from gramlink.kernels.cells import CELL, DRAWS, SKETCH, STREAM, TAG
from gramlink.kernels.jit import Int, parallel, serial

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int32]

SKETCH_PAD, EQUAL_PAD, MISSING_PAD = DRAWS, DRAWS + SKETCH, DRAWS + SKETCH + 1  # in a stream


@parallel
def parities_of(counts: Bytes, caps: Ints, starts: Ints, masks: Words) -> Words:
    """The 256 parities of each row of counts.

    Gram g counts up to caps[g] times, in unary: its bits are starts[g], starts[g] + 1 and so on,
    and masks[b] says which parities bit b enters.
    """
    result = np.zeros((len(counts), masks.shape[1]), np.uint64)
    for i in numba.prange(len(counts)):
        for g in range(counts.shape[1]):
            for bit in range(starts[g], starts[g] + min(np.int64(counts[i, g]), caps[g])):
                for word in range(masks.shape[1]):
                    result[i, word] ^= masks[bit, word]
    return result


@serial
def write_rows(
    rows: Bytes, at: Int, sent: Bools, tags: Words, streams: Bytes, equal: Bytes, fields: Ints,
    values: Numbers, parities: Words,
) -> None:  # fmt: skip
    """Write the row of one pass of each record, from byte `at` of what it sends.

    `rows` hold random bytes, which stay where a row is not `sent`, and in the cells of missing
    values. `fields` are those that the pass does not fix; record i has value values[i, f] of field
    f, or -1.
    """
    for i in range(len(rows)):
        if not sent[i]:
            continue
        for byte in range(TAG):
            rows[i, at + byte] = (tags[i] >> np.uint64(8 * byte)) & np.uint64(255)
        for n in range(len(fields)):
            cell, stream = at + TAG + n * CELL, n * STREAM
            value = values[i, fields[n]]
            if value < 0:
                continue
            for byte in range(SKETCH):
                bits = np.uint64(0)
                for bit in range(8):
                    draw = streams[i, stream + 8 * byte + bit]
                    word = parities[value, draw >> 6]
                    bits |= ((word >> np.uint64(draw & 63)) & np.uint64(1)) << np.uint64(bit)
                rows[i, cell + byte] = np.uint8(bits) ^ streams[i, stream + SKETCH_PAD + byte]
            rows[i, cell + SKETCH] = equal[i, n] ^ streams[i, stream + EQUAL_PAD]
            rows[i, cell + SKETCH + 1] = streams[i, stream + MISSING_PAD]


@serial
def _set_bits(byte: Int) -> int:
    count = 0
    while byte:
        byte &= byte - 1
        count += 1
    return count


@parallel
def levels_of_shared(
    left: Bytes, right: Bytes, lefts: Ints, rights: Ints, keys: Ints, starts: Ints, at: Ints,
    cells: Ints, cut_offs: Ints, edits: Ints,
) -> Bytes:  # fmt: skip
    """The level of each pair in each field, from the rows that its two records share.

    Pair p shares rows starts[p] to starts[p + 1]: row r is of records lefts[r] and rights[r], of
    key keys[r], and begins at byte at[keys[r]] of what both sent. cells[k, n] is the n-th field
    that key k does not fix, and -1 after the last; a field that a shared key fixes is equal. A
    field is within e edits if at most cut_offs[f, e] in 65,536 of its drawn parities differ.
    """
    fields = len(edits)
    result = np.zeros((len(starts) - 1, fields), np.uint8)
    for p in numba.prange(len(starts) - 1):
        seen, apart = np.zeros(fields, np.int64), np.zeros(fields, np.int64)
        missing, unequal = np.zeros(fields, np.bool_), np.zeros(fields, np.bool_)
        rows = starts[p + 1] - starts[p]
        for r in range(starts[p], starts[p + 1]):
            i, j, key = lefts[r], rights[r], keys[r]
            for n in range(cells.shape[1]):
                f = cells[key, n]
                if f < 0:
                    break
                cell = at[key] + TAG + n * CELL
                seen[f] += 1
                for byte in range(cell, cell + SKETCH):
                    apart[f] += _set_bits(np.int64(left[i, byte] ^ right[j, byte]))
                unequal[f] |= left[i, cell + SKETCH] != right[j, cell + SKETCH]
                missing[f] |= left[i, cell + SKETCH + 1] != right[j, cell + SKETCH + 1]
        for f in range(fields):
            if seen[f] < rows or (apart[f] == 0 and not unequal[f] and not missing[f]):
                continue  # equal
            if missing[f]:
                result[p, f] = edits[f] + 2
                continue
            level = 1
            while level <= edits[f] and (apart[f] << 16 > cut_offs[f, level] * DRAWS * seen[f]):
                level += 1
            result[p, f] = level
    return result
