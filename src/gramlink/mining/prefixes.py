"""Tree: noisy counts of prefixes, level by level, and the grams to be read off it."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gramlink.errors import InvalidFile

DEEPEST = 32  # the largest height of a schema


@dataclass(frozen=True, slots=True)
class Tree:
    """The kept prefixes with their noisy counts, level by level, siblings side by side.

    >>> Tree({"M": 9, "MA": 8, "MO": 2}).parents.tolist()
    [-1, 0, 0]

    Privacy: its cost was charged when it was grown; reading it again costs nothing.
    """

    counts: dict[str, int]

    def __post_init__(self) -> None:
        place = {prefix: i for i, prefix in enumerate(self.counts)}
        previous = (0, -1)
        for prefix in self.counts:
            at = (len(prefix), place.get(prefix[:-1], -1))
            if len(prefix) > DEEPEST:
                raise InvalidFile(f"the prefix tree is more than {DEEPEST} levels high")
            if not prefix or (len(prefix) > 1 and at[1] < 0):
                raise InvalidFile(f"the prefix tree lacks the parent of {prefix!r}")
            if at < previous:
                raise InvalidFile("the prefix tree is out of order")
            previous = at

    @property
    def parents(self) -> npt.NDArray[np.int64]:
        """The place of each prefix's parent, -1 for the first level."""
        place = {prefix: i for i, prefix in enumerate(self.counts)}
        return np.array([place.get(prefix[:-1], -1) for prefix in self.counts], np.int64)

    def grams(self, q_min: int, q_max: int, grid: int) -> Iterator[tuple[str, Fraction]]:
        """Each gram with the sum of the counts of the prefixes that end in it.

        The counts are made consistent first (section 4.2): none above its parent's, nor
        the sum of siblings above their parent's. The root's count is private and unused.
        """
        from gramlink.kernels.tree import consistent

        noisy = np.fromiter(self.counts.values(), np.float64, len(self.counts))
        smooth = consistent(noisy, self.parents) if len(noisy) else noisy
        sums: dict[str, float] = {}
        for prefix, count in zip(self.counts, smooth.tolist(), strict=True):
            for q in range(q_min, min(q_max, len(prefix)) + 1):
                sums[prefix[-q:]] = sums.get(prefix[-q:], 0.0) + count
        return ((gram, Fraction(round(count * grid), grid)) for gram, count in sums.items())
