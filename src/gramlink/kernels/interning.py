"""Interning: equal rows of bytes get equal numbers, exactly."""

import numpy as np
import numpy.typing as npt

from gramlink.kernels.jit import serial
from gramlink.kernels.signatures import hashes

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


def intern_rows(rows: Bytes) -> tuple[Ints, Ints]:
    """The number of each row's kind, in order of appearance, and the first row of each kind."""
    return _interned(rows, hashes(rows, np.zeros(len(rows), np.int64)))


@serial
def _interned(rows: Bytes, hashed: Words) -> tuple[Ints, Ints]:
    n = len(rows)
    size = 16
    while size < 2 * n:
        size *= 2
    table = np.full(size, -1, np.int64)  # open addressing: a kind, or -1
    mask = np.uint64(size - 1)
    kinds = np.empty(n, np.int64)
    firsts = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        slot = hashed[i] & mask
        while True:
            kind = table[slot]
            if kind < 0:
                table[slot] = kind = count
                firsts[count] = i
                count += 1
                break
            first = firsts[kind]
            if hashed[first] == hashed[i]:
                same = True
                for c in range(rows.shape[1]):
                    same &= rows[first, c] == rows[i, c]
                if same:
                    break
            slot = (slot + np.uint64(1)) & mask
        kinds[i] = kind
    return kinds, firsts[:count].copy()
