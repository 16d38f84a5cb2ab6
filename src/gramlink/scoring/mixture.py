"""Mixtures: pairs of several sorts, told apart by how near they are in each field.

Within one sort the fields are independent. A pair's pattern is its level in each field; what
is fitted are the numbers of pairs of each pattern, so the size of a file does not matter.

Missing values are conditioned on. A sort says how near values are where both are known; which
are known is the same for all sorts, so a missing value never speaks for one of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gramlink.records.levels import EQUAL, Levels

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

PRIOR = 0.5  # pairs of each level that a sort is taken to have before any is seen
SETTLED = 1e-8  # of the likelihood, a pair


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
        kinds = levels[first].astype(np.int64)
        # in an order of their own, so that sums over them do not depend on that of the pairs
        order = np.lexsort(kinds.T[::-1])
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        place = rank[place]
        counts = np.bincount(place, minlength=len(first))
        return cls(kinds[order], counts, tuple(of_fields)), place.astype(np.int32)

    @property
    def unlike(self) -> "Patterns":
        """The patterns of pairs that differ in some field, or miss one."""
        some = (self.levels != EQUAL).any(axis=1)
        return Patterns(self.levels[some], self.counts[some], self.of_fields)

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
    missing value speaks for no sort, and so is that of any other level that does not speak. Only
    the part `seen` of its pairs has patterns that are among those of the candidates.
    """

    count: float
    shares: tuple[Floats, ...]
    seen: float = 1.0

    def log_expected(self, levels: Ints) -> Floats:
        """The logarithm of how many pairs of each pattern it should have, given what is missing."""
        total = np.full(len(levels), np.log(max(self.count, 1e-300)))
        for field, shares in enumerate(self.shares):
            total += np.log(shares)[levels[:, field]]
        return total


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """What is thought of a sort before any pair is seen: shares that count as so many pairs."""

    shares: tuple[Floats, ...]
    count: float


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """Sorts, what was believed of each, and how well they explain the patterns.

    `log_posterior` is comparable between mixtures for the same patterns and the same known pairs.
    A mixture is `steady` if more rounds would hardly change it.
    """

    sorts: tuple[Sort, ...]
    beliefs: tuple[Belief, ...]
    log_posterior: float
    steady: bool = True


def fit(
    patterns: Patterns,
    known: Floats,
    free: Sequence[Sort],
    beliefs: Sequence[Belief],
    rounds: int,
    unseen: float = 0.0,
) -> Mixture:
    """The sorts that explain the patterns best, beside what is known of others.

    `known` is the logarithm of how many pairs of each pattern are of no sort to be found, given
    what is missing; `free` is where expectation maximisation starts. Where pairs that are equal in
    every field are not among the patterns, `unseen` is the share of pairs that miss nothing: as
    many of these are taken to be equal in every field, and of the first sort, as it expects.
    """
    from gramlink.kernels.mixture import shared_out

    most = max(map(len, patterns.of_fields))
    believed = np.stack([_table(belief.shares, most) * belief.count for belief in beliefs])
    thought = np.stack([_table(belief.shares, most) for belief in beliefs])
    real = np.stack([np.arange(most) < of.speaking for of in patterns.of_fields])
    more = PRIOR * real / real.sum(axis=1, keepdims=True)
    counts = np.array([sort.count for sort in free])
    seen = np.array([sort.seen for sort in free])
    shares = np.stack([_table(sort.shares, most) for sort in free])
    before = now = -np.inf
    for _ in range(rounds):
        logs = np.log(shares)
        explained, found, sums = shared_out(
            patterns.levels, patterns.counts, known, np.log(np.maximum(counts, 1e-300)), logs
        )
        alike = unseen * float(counts[0] * np.exp(logs[0, :, EQUAL].sum()))
        agreeing = ((believed + more) * np.where(real, logs - np.log(thought), 0)).sum()
        now = explained - (float((counts * seen).sum()) - alike) + float(agreeing)
        found[0] += alike
        sums[0, :, EQUAL] += alike
        if abs(now - before) <= SETTLED * float(patterns.counts.sum()):
            break
        before, counts = now, found / seen
        sums = np.where(real, sums + believed + more, 0)
        shares = np.where(real, sums / sums.sum(axis=2, keepdims=True), 1.0)
    sizes = list(map(len, patterns.of_fields))
    sorts = (
        Sort(float(count), tuple(row[:size] for row, size in zip(table, sizes, strict=True)), part)
        for count, table, part in zip(counts, shares, seen.tolist(), strict=True)
    )
    return Mixture(tuple(sorts), tuple(beliefs), float(now))


def _table(shares: Sequence[Floats], most: int) -> Floats:
    """The shares of each field as a row, filled up with ones."""
    return np.stack([np.pad(one, (0, most - len(one)), constant_values=1.0) for one in shares])


def shared(sums: Floats, more: float, levels: Levels) -> Floats:
    """The shares of the levels, by how many pairs have each, and some more; 1 if one is silent."""
    shares = np.ones(len(levels))
    known = sums[: levels.speaking] + more
    shares[: levels.speaking] = known / known.sum()
    return shares
