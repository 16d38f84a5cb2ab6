"""All pairs of vectors within the left one's threshold."""

import numba
import numpy as np
import numpy.typing as npt

from gramlink.kernels.jit import Int, parallel, serial

Ints = npt.NDArray[np.int64]
Coordinates = npt.NDArray[np.int16]

CHUNK = 8  # the squares of so many differences of int16 coordinates fit in an int32


@serial
def within(x: Coordinates, y: Coordinates, limit: Int) -> Int:
    """The squared distance of two vectors, or -1 if it is above the limit."""
    total = np.int64(0)
    for start in range(0, len(x), CHUNK):
        part = np.int32(0)
        for c in range(start, min(start + CHUNK, len(x))):
            difference = np.int32(x[c]) - np.int32(y[c])
            part += difference * difference
        total += part
        if total > limit:
            return -1
    return total


@parallel
def count_within(left: Coordinates, limits: Ints, right: Coordinates) -> Ints:
    """How many right vectors lie within each left vector's limit."""
    counts = np.zeros(len(left), np.int64)
    for i in numba.prange(len(left)):
        found = 0
        for j in range(len(right)):
            if within(left[i], right[j], limits[i]) >= 0:
                found += 1
        counts[i] = found
    return counts


@parallel
def list_within(
    left: Coordinates, limits: Ints, right: Coordinates, begins: Ints
) -> tuple[Ints, Ints]:
    """The right vectors within each left vector's limit and their squared distances."""
    places = np.empty(begins[-1], np.int64)
    squares = np.empty(begins[-1], np.int64)
    for i in numba.prange(len(left)):
        spot = begins[i]
        for j in range(len(right)):
            square = within(left[i], right[j], limits[i])
            if square >= 0:
                places[spot] = j
                squares[spot] = square
                spot += 1
    return places, squares
