"""What all rivals share: records as they are sent, and pairs that are near."""

from collections.abc import Callable
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from gramlink.engines.local import in_order
from gramlink.errors import InvalidParameter
from gramlink.matching.pairs import Pairs

Ints = npt.NDArray[np.int64]
# Takes left rows from start to stop, and room for pairs; returns how many right rows are near
# each, which, and how far. Pairs beyond the room may be cut off.
Block = Callable[[int, int, int], tuple[Ints, Ints, Ints]]

ONE = 2**30  # a distance of 1 where similarities are fractions: 1 - similarity in these units
ROWS = 256  # left rows of a block


class Rival(Protocol):
    """One side's records as a rival sends them, to compare with the other side's.

    Distances are whole numbers, squared where the rival's are Euclidean. A missing value is
    near nothing.
    """

    def __len__(self) -> int: ...

    @property
    def bytes_each(self) -> float:
        """How many bytes a record takes, on average."""

    def between(self, other: Self) -> Ints:
        """The distance of each record to the other side's record in the same row."""

    def near(self, other: Self, within: int, most: int) -> Pairs:
        """All pairs at most `within` apart, in the order of `match`; more than `most` fail."""


def listed(block: Block, rows: int, most: int) -> Pairs:
    """All pairs that a kernel finds, block by block on all cores, in the order of `match`."""
    parts: list[tuple[Ints, Ints, Ints]] = []
    room = most
    starts = range(0, rows, ROWS)
    found = in_order(lambda start: block(start, min(start + ROWS, rows), most), starts)
    for start, (counts, places, squared) in zip(starts, found, strict=True):
        room -= int(counts.sum())
        if room < 0:
            raise InvalidParameter(f"more than {most:,} pairs are near")
        left = np.repeat(np.arange(start, start + len(counts)), counts)
        order = np.lexsort((places, squared, left))
        parts.append((left, places[order], squared[order]))
    nothing = (np.empty(0, np.int64),) * 3
    left, right, squared = map(np.concatenate, zip(nothing, *parts, strict=True))
    return Pairs(left, right, squared)
