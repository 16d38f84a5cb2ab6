"""Mixtures: pairs of several sorts, told apart by how near they are in each field.

Within one sort the fields are independent. A pair's pattern is its level in each field; what
is fitted are the numbers of pairs of each pattern, so the size of a file does not matter.

Missing values are conditioned on. A sort says how near values are where both are known; which
are known is the same for all sorts, so a missing value never speaks for one of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import numpy.typing as npt

from gramlink.records.levels import Levels

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

PRIOR = 0.5  # pairs of each level that a sort is taken to have before any is seen
ROUNDS, SETTLED = 500, 1e-9  # of the likelihood, a pair


@dataclass(frozen=True, slots=True, eq=False)
class Patterns:
    """The patterns that occur: the levels of each, and how many pairs have it."""

    levels: Ints
    counts: Ints
    of_fields: tuple[Levels, ...]

    @classmethod
    def of(
        cls, levels: npt.NDArray[np.uint8], of_fields: Sequence[Levels]
    ) -> tuple["Patterns", npt.NDArray[np.int32]]:
        """The patterns of pairs, and which of them each pair has."""
        from gramlink.kernels.interning import intern_rows

        place, first = intern_rows(levels)
        counts = np.bincount(place, minlength=len(first))
        found = cls(levels[first].astype(np.int64), counts, tuple(of_fields))
        return found, place.astype(np.int32)

    def counts_of(self, levels: Ints) -> Floats:
        """How many pairs have each of other patterns."""
        known = dict(zip(map(bytes, self._rows(self.levels)), self.counts.tolist(), strict=True))
        return np.array([known.get(bytes(row), 0) for row in self._rows(levels)], float)

    @staticmethod
    def _rows(levels: Ints) -> npt.NDArray[np.uint8]:
        return levels.astype(np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class Sort:
    """Pairs of one sort: how many there are, and the share of each level in each field.

    Shares are of the pairs in which both values are known; that of *missing* is 1, since a
    missing value speaks for no sort.
    """

    count: float
    shares: tuple[Floats, ...]

    def log_expected(self, levels: Ints) -> Floats:
        """The logarithm of how many pairs of each pattern it should have, given what is missing."""
        total = np.full(len(levels), np.log(max(self.count, 1e-300)))
        for field, shares in enumerate(self.shares):
            total += np.log(shares)[levels[:, field]]
        return total


def fit(
    patterns: Patterns, known: Floats, free: Sequence[Sort], believed: Sequence[Sort] = ()
) -> tuple[Sort, ...]:
    """The sorts that explain the patterns best, beside what is known of others.

    `known` is the logarithm of how many pairs of each pattern are of no sort to be found, given
    what is missing; `free` is where expectation maximisation starts. What is `believed` of each
    counts as so many pairs with these shares, beside those that are seen.
    """
    before = -np.inf
    for _ in range(ROUNDS):
        parts = np.stack([known, *(sort.log_expected(patterns.levels) for sort in free)])
        whole = np.logaddexp.reduce(parts, axis=0)
        belong = np.exp(parts - whole) * patterns.counts
        likelihood = float(patterns.counts @ whole) - sum(sort.count for sort in free)
        free = [
            _refitted(patterns, weights, belief)
            for weights, belief in zip_longest(belong[1:], believed)
        ]
        if abs(likelihood - before) <= SETTLED * float(patterns.counts.sum()):
            break
        before = likelihood
    return tuple(free)


def _refitted(patterns: Patterns, weights: Floats, belief: Sort | None) -> Sort:
    """The sort of pairs that belong to it with these weights."""
    shares = []
    for field, of in enumerate(patterns.of_fields):
        sums = np.bincount(patterns.levels[:, field], weights, minlength=len(of))
        if belief:
            sums = sums + belief.count * belief.shares[field]
        shares.append(shared(sums, PRIOR / of.missing))
    return Sort(float(weights.sum()), tuple(shares))


def shared(sums: Floats, more: float) -> Floats:
    """The shares of the levels, by how many pairs have each, and some more."""
    shares = np.ones(len(sums))
    known = sums[:-1] + more  # all but missing, which is the last
    shares[:-1] = known / known.sum()
    return shares
