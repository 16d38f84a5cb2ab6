"""Matching: all pairs of vectors within the left one's threshold."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gramlink.embedding import Vectors
from gramlink.errors import InvalidParameter, Mismatch

Ints = npt.NDArray[np.int64]
Progress = Callable[[int, int], None]  # records done, of how many

BLOCK = 4096
MOST_PAIRS = 10**9  # 24 GB of results; a threshold that asks for more is a mistake


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of rows with their squared distance, ordered by left, then distance, then right."""

    left: Ints
    right: Ints
    squared: Ints

    def __len__(self) -> int:
        return len(self.left)


def match(
    left: Vectors, thresholds: Ints, right: Vectors, progress: Progress | None = None
) -> Pairs:
    """All pairs whose squared distance is at most the left record's threshold, exactly.

    A missing value is near to nothing, not even to another missing value.

    Privacy: what the linkage unit computes; it needs vectors and thresholds, no base.
    """
    from gramlink.kernels.join import count_within, list_within

    if left.lengths != right.lengths:
        raise Mismatch("the two sides were embedded with different bases")
    if len(thresholds) != len(left) or (len(thresholds) and thresholds.min() < 0):
        raise InvalidParameter("there is one threshold of at least 0 for each left record")
    rows, columns = np.flatnonzero(~left.missing), np.flatnonzero(~right.missing)
    x, y, limits = left.coordinates[rows], right.coordinates[columns], thresholds[rows]
    parts: list[tuple[Ints, Ints, Ints]] = []
    total = 0
    for start in range(0, len(x), BLOCK):
        block = slice(start, start + BLOCK)
        counts = count_within(x[block], limits[block], y)
        total += int(counts.sum())
        if total > MOST_PAIRS:
            raise InvalidParameter(
                f"more than {MOST_PAIRS:,} pairs lie within the thresholds",
                hint="allow fewer edits, or link on a longer field",
            )
        begins = np.concatenate([[0], np.cumsum(counts)])
        places, squared = list_within(x[block], limits[block], y, begins)
        owner = np.repeat(np.arange(start, start + len(counts)), counts)
        order = np.lexsort((places, squared, owner))
        parts.append((rows[owner], columns[places[order]], squared[order]))
        if progress:
            progress(min(start + BLOCK, len(x)), len(x))
    if not parts:
        nothing = np.empty(0, np.int64)
        return Pairs(nothing, nothing, nothing)
    return Pairs(*(np.concatenate(column) for column in zip(*parts, strict=True)))
