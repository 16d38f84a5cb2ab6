"""Edit distance on plain text: what linkage with nothing to hide would use."""

import numba
import numpy as np
import numpy.typing as npt

from gramlink.kernels.jit import Int, parallel, serial
from gramlink.kernels.signatures import popcount

Codes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]


@serial
def distance(x: Codes, y: Codes, row: Ints) -> Int:
    """The Levenshtein distance; `row` has room for len(y) + 1 numbers."""
    for j in range(len(y) + 1):
        row[j] = j
    for i in range(len(x)):
        diagonal = row[0]
        row[0] = i + 1
        for j in range(len(y)):
            above = row[j + 1]
            cost = diagonal if x[i] == y[j] else diagonal + 1
            row[j + 1] = min(cost, above + 1, row[j] + 1)
            diagonal = above
    return row[len(y)]


@serial
def _presence(codes: Codes) -> Int:
    """A set of the symbols that occur, as bits; symbols 64 apart share one."""
    bits = np.uint64(0)
    for code in codes:
        bits |= np.uint64(1) << np.uint64(code & 63)
    return bits


@parallel
def near(
    left: Codes, left_offsets: Ints, right: Codes, right_offsets: Ints, edits: Int,
    begins: Ints, listing: bool,
) -> tuple[Ints, Ints, Ints]:  # fmt: skip
    """For each left text, the number of right texts within `edits` edits and, if listing,
    which they are and how far, from `begins[i]` on. Empty texts are near to nothing.
    """
    n, m = len(left_offsets) - 1, len(right_offsets) - 1
    counts = np.zeros(n, np.int64)
    places = np.empty(begins[-1] if listing else 0, np.int64)
    distances = np.empty(begins[-1] if listing else 0, np.int64)
    presence = np.empty(m, np.uint64)
    for j in numba.prange(m):
        presence[j] = _presence(right[right_offsets[j] : right_offsets[j + 1]])
    for i in numba.prange(n):
        x = left[left_offsets[i] : left_offsets[i + 1]]
        own = _presence(x)
        row = np.empty(256 + 8, np.int64)
        if len(x) == 0:
            continue
        for j in range(m):
            size = right_offsets[j + 1] - right_offsets[j]
            # an edit changes the length by at most 1 and the set of symbols by at most 2
            if abs(size - len(x)) > edits or size == 0:
                continue
            if popcount(own ^ presence[j]) > np.uint64(2 * edits):
                continue
            far = distance(x, right[right_offsets[j] : right_offsets[j + 1]], row)
            if far <= edits:
                if listing:
                    places[begins[i] + counts[i]] = j
                    distances[begins[i] + counts[i]] = far
                counts[i] += 1
    return counts, places, distances
