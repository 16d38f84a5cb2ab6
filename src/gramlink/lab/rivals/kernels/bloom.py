"""Bloom filters: made from those of their grams, and all pairs that are near.

Two filters with a and b ones that differ in h bits have a Dice similarity of 1 - h / (a + b).
Most pairs are ruled out by `folds`: words of a filter combined by exclusive or. Folding is
linear, so the folds of two filters differ where the fold of their difference has a one, and
that has at most h. Folded to a quarter, filters with nothing in common still differ in nearly
half of their bits, while a quarter of each filter would differ in far fewer.
"""

import numpy as np
import numpy.typing as npt

from gramlink.kernels.jit import Int, inlined, serial
from gramlink.kernels.signatures import popcount

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]

TILE = 1024  # right filters compared with all left ones of a block while they are in the cache
GROUP = 64  # of these, the number ruled out together


@serial
def union(table: Words, grams: Ints, begins: Ints) -> Words:
    """The filter of each text: all bits of its grams, which are rows of the table."""
    result = np.zeros((len(begins) - 1, table.shape[1]), np.uint64)
    for i in range(len(result)):
        for place in range(begins[i], begins[i + 1]):
            for word in range(table.shape[1]):
                result[i, word] |= table[grams[place], word]
    return result


@serial
def bounds(x: Words, columns: Words, low: Int, high: Int, out: Words) -> None:
    """In how many bits the fold x differs from the right ones low..high."""
    size = high - low
    p, column = x[0], columns[0, low:high]
    for j in range(size):
        out[j] = popcount(p ^ column[j])
    for word in range(1, len(x)):
        p, column = x[word], columns[word, low:high]
        for j in range(size):
            out[j] += popcount(p ^ column[j])


@serial
def smallest_of(numbers: Words) -> Int:
    """The smallest number."""
    smallest = numbers[0]
    for j in range(len(numbers)):
        smallest = min(smallest, numbers[j])
    return smallest


@inlined
def differing(x: Words, y: Words) -> Int:
    """In how many bits two filters differ."""
    total = np.uint64(0)
    for word in range(len(x)):
        total += popcount(x[word] ^ y[word])
    return np.int64(total)


@serial
def near(
    left: Words, left_folds: Words, left_ones: Ints, right: Words, columns: Words,
    right_ones: Ints, low: Ints, high: Ints, limits: Ints, one: Int, start: Int, stop: Int,
    room: Int,
) -> tuple[Ints, Ints, Ints]:  # fmt: skip
    """For left rows start..stop: how many right ones are near each, which, and how far.

    Right filters are sorted by their ones, and `columns[w]` is word w of all their folds. Only
    low[i]..high[i] can be near left row i; two filters with s ones in total are near if they
    differ in at most limits[s] bits. The search ends when there are more pairs than room.
    """
    counts = np.zeros(stop - start, np.int64)
    found = np.empty((1024, 3), np.int64)
    out = np.empty(TILE, np.uint64)
    size = 0
    for tile in range(low[start:stop].min(), high[start:stop].max(), TILE):
        for i in range(start, stop):
            begin, end = max(tile, low[i]), min(tile + TILE, high[i])
            if begin >= end or size > room:
                continue
            own = left_ones[i]
            bounds(left_folds[i], columns, begin, end, out)
            if size + TILE > len(found):
                found = np.concatenate((found, np.empty((size + TILE, 3), np.int64)))
            for group in range(begin, end, GROUP):
                after = min(group + GROUP, end)
                most = np.uint64(limits[own + right_ones[after - 1]])
                if smallest_of(out[group - begin : after - begin]) > most:
                    continue
                for j in range(group, after):
                    if out[j - begin] > most:
                        continue
                    ones = own + right_ones[j]
                    bits = differing(left[i], right[j])
                    if bits <= limits[ones]:
                        found[size, 0], found[size, 1] = i - start, j
                        found[size, 2] = bits * one // ones
                        size += 1
                        counts[i - start] += 1
    places, distances = by_owner(found[:size], counts)
    return counts, places, distances


@serial
def by_owner(found: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """The places and distances of what was found, one left row's after the other's."""
    ends = np.cumsum(counts)
    places = np.empty(len(found), np.int64)
    distances = np.empty(len(found), np.int64)
    for row in range(len(found)):
        ends[found[row, 0]] -= 1
        places[ends[found[row, 0]]] = found[row, 1]
        distances[ends[found[row, 0]]] = found[row, 2]
    return places, distances
