"""The grams of each string."""

import numba
import numpy as np
import numpy.typing as npt

from gramlink.kernels.jit import Int, parallel, serial
from gramlink.kernels.lookup import find

Codes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]


@serial
def gram_at(codes: Codes, start: Int, q: Int, base: Int) -> Int:
    """The number that q symbols spell."""
    gram = np.int64(0)
    for place in range(start, start + q):
        gram = gram * base + codes[place]
    return gram


@serial
def distinct_grams(codes: Codes, offsets: Ints, q: Int, base: Int) -> tuple[Ints, Ints]:
    """Each string's distinct grams of length q, ascending, and where those of each string begin."""
    n = len(offsets) - 1
    begins = np.zeros(n + 1, np.int64)
    for i in range(n):
        begins[i + 1] = begins[i] + max(0, offsets[i + 1] - offsets[i] - q + 1)
    grams = np.empty(begins[n], np.int64)
    filled = 0
    for i in range(n):
        begins[i] = filled
        for start in range(offsets[i], offsets[i + 1] - q + 1):
            gram = gram_at(codes, start, q, base)
            spot = filled  # strings are short: insertion sort
            while spot > begins[i] and grams[spot - 1] > gram:
                spot -= 1
            if spot > begins[i] and grams[spot - 1] == gram:
                continue
            for moved in range(filled, spot, -1):
                grams[moved] = grams[moved - 1]
            grams[spot] = gram
            filled += 1
    begins[n] = filled
    return grams[:filled], begins


@serial
def bounded_counts(
    grams: Ints, begins: Ints, times: Ints, candidates: Ints, contribution: Int, unit: Int
) -> Ints:
    """How many strings contain each candidate, in units of 1/unit of a string.

    String i occurs times[i] times. A string with m of the candidates gives each of them
    min(unit, contribution*unit // m), so it gives at most contribution*unit in total.
    Candidates are ascending.
    """
    counts = np.zeros(len(candidates), np.int64)
    found = np.empty(256, np.int64)
    for i in range(len(begins) - 1):
        m = 0
        for gram in grams[begins[i] : begins[i + 1]]:
            spot = np.searchsorted(candidates, gram)
            if spot < len(candidates) and candidates[spot] == gram:
                found[m] = spot
                m += 1
        if m:
            share = min(unit, (contribution * unit) // m)
            for spot in found[:m]:
                counts[spot] += share * times[i]
    return counts


@parallel
def count_grams(
    codes: Codes, offsets: Ints, base: Int, table: Ints, lengths: Ints, size: Int
) -> npt.NDArray[np.uint8]:
    """How often each base gram occurs in each string, overlapping occurrences included."""
    n = len(offsets) - 1
    counts = np.zeros((n, size), np.uint8)
    for i in numba.prange(n):
        for q in lengths:
            for start in range(offsets[i], offsets[i + 1] - q + 1):
                coordinate = find(table, gram_at(codes, start, q, base) * 8 + q)
                if coordinate >= 0:
                    counts[i, coordinate] += 1
    return counts
