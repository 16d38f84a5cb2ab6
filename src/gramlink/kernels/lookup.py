"""Gram -> coordinate: an open-addressing hash table of the base's keys."""

import numpy as np
import numpy.typing as npt

from gramlink.kernels.jit import Int, serial

ABSENT = -1
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio


@serial
def place(key: Int, size: Int) -> Int:
    """Where the search for a key begins; `size` is a power of two."""
    mixed = np.uint64(key) * _MIX
    return np.int64((mixed >> np.uint64(32)) & np.uint64(size - 1))


@serial
def make_table(keys: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """A table of (key, coordinate) rows, at most a quarter full; coordinate -1 marks a free row."""
    size = 16
    while size < 4 * len(keys):
        size *= 2
    table = np.full((size, 2), ABSENT, np.int64)
    for coordinate in range(len(keys)):
        slot = place(keys[coordinate], size)
        while table[slot, 1] != ABSENT:
            slot = (slot + 1) & (size - 1)
        table[slot, 0] = keys[coordinate]
        table[slot, 1] = coordinate
    return table


@serial
def find(table: npt.NDArray[np.int64], key: Int) -> Int:
    """The coordinate of a key, or -1."""
    size = len(table)
    slot = place(key, size)
    while table[slot, 1] != ABSENT:
        if table[slot, 0] == key:
            return table[slot, 1]
        slot = (slot + 1) & (size - 1)
    return ABSENT
