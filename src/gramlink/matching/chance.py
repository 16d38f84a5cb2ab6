"""Chance: how near pairs are by chance alone, how frequent values are, and which are missing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gramlink.matching.comparison import Comparison
from gramlink.records.levels import EQUAL, Levels

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

RANDOM_PAIRS = 1_000_000
SEED = 2013
MOST_GAPS = 1024  # ways of missing fields in a file; the rarest beyond them are not told apart
UNSEEN = 1e-9  # the share of pairs that miss other fields than any pair here does


@dataclass(frozen=True, slots=True, eq=False)
class Chance:
    """One field of pairs by chance: the share of equal ones, and others of a sample by level.

    `swapped` is the share of those that are swapped with another field.
    """

    equal: float
    counts: Ints
    swapped: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Kin:
    """Pairs of which everybody knows that they share more than chance makes them share.

    The share `equal[f]` of them have the same value in field f; the others are as far apart as any
    two people who do not. How many relatives there are depends on the files, and of them only the
    share `seen` is among the candidates; how many neighbours there are does not, and `seen` is
    None.
    """

    count: float
    equal: Floats
    seen: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Frequencies:
    """How frequent each left record's value is: value v of field f has shares[starts[f] + v]."""

    numbers: Numbers  # of each left record's value in each field, -1 if it is missing
    shares: Floats
    starts: Ints

    @classmethod
    def of(cls, comparison: Comparison) -> "Frequencies":
        """The shares of the records of both files that have each value."""
        fields = [_shares(comparison, field) for field in range(len(comparison.names))]
        sizes = [len(one) for one in fields]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        return cls(comparison.left, np.concatenate(fields), starts)

    def of_field(self, field: int) -> Floats:
        """The shares of one field's values."""
        ends = np.append(self.starts, len(self.shares))
        return self.shares[self.starts[field] : ends[field + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """Which fields pairs miss, in one record or both, and the share of pairs that miss just these.

    Fields are missing together: a record without a street often has no city either. What a pair
    misses says nothing about whether it is a match, so the model is told it and never learns it.
    """

    missing: Bools  # a row for each way, a column for each field
    shares: Floats

    @classmethod
    def of(cls, left: Bools, right: Bools | None) -> "Gaps":
        """The gaps of the pairs of two files, of which `missing[i, f]` is known; or within one."""
        ours, counts = _ways(left)
        theirs, others = (ours, counts) if right is None else _ways(right)
        pairs = counts[:, None] * others[None]
        if right is None:
            pairs -= np.diag(counts)  # no record makes a pair with itself
        both, place = np.unique(ours[:, None] | theirs[None], return_inverse=True)
        ways = (both[:, None] >> np.arange(left.shape[1])) % 2 == 1
        shares = np.bincount(place.ravel(), pairs.ravel(), minlength=len(ways))
        if not shares.sum():
            return cls(np.zeros((1, left.shape[1]), np.bool_), np.ones(1))
        return cls(ways[shares > 0], shares[shares > 0] / shares.sum())

    @classmethod
    def seen(cls, missing: Bools) -> "Gaps":
        """The gaps of pairs of which `missing[p, f]` is known."""
        ways, counts = _ways(missing)
        if not len(ways):
            ways, counts = np.zeros(1, np.int64), np.ones(1)
        bits = (ways[:, None] >> np.arange(missing.shape[1])) % 2 == 1
        return cls(bits, counts / counts.sum())

    def log_shares(self, levels: Ints, of_fields: Sequence[Levels]) -> Floats:
        """The logarithm of the share of pairs that miss the same fields as each pattern."""
        missing = levels == np.array([of.missing for of in of_fields])
        known = dict(zip(map(bytes, self.missing), np.log(self.shares).tolist(), strict=True))
        unseen = float(np.log(UNSEEN))
        return np.array([known.get(bytes(row), unseen) for row in missing], float)

    @property
    def none(self) -> float:
        """The share of pairs that miss no field."""
        return float(self.shares[~self.missing.any(axis=1)].sum())

    def of_field(self, field: int) -> float:
        """The share of pairs that miss a field."""
        return float(self.shares[self.missing[:, field]].sum())

    def draw(self, count: int, source: np.random.Generator) -> Bools:
        """What a number of pairs miss, at random."""
        return np.asarray(self.missing[source.choice(len(self.shares), count, p=self.shares)])


def _ways(missing: Bools) -> tuple[Ints, Floats]:
    """The ways in which records miss fields, the most frequent first, and how many do.

    A way is a number with a bit for each field, of which there are at most 50.
    """
    numbers = missing @ (1 << np.arange(missing.shape[1], dtype=np.int64))
    ways, counts = np.unique(numbers, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_GAPS]
    return ways[order], counts[order].astype(float)


def by_chance(comparison: Comparison) -> tuple[Chance, ...]:
    """What chance makes of each field: equal pairs are counted, the others sampled."""
    left, right = comparison.random_pairs(RANDOM_PAIRS, SEED)
    codes = comparison.levels_of(left, right)
    swapped = _swapped_shares(comparison)
    found = []
    for field, levels in enumerate(comparison.levels):
        counts = np.bincount(codes[:, field], minlength=len(levels))
        counts[EQUAL] = 0
        equal = _equal_share(comparison, field)
        found.append(Chance(equal, counts, swapped.get(field, 0.0)))
    return tuple(found)


def _swapped_shares(comparison: Comparison) -> dict[int, float]:
    """The share of swapped pairs by chance; between files, not more than within the left one.

    Few people have the names of another the other way round: between the files, most of these
    pairs would be matches.
    """
    shares: dict[int, float] = {}
    for one, other in zip(comparison.swaps, comparison.within_left.swaps, strict=True):
        within = (1 + other.pairs) / max(1, len(comparison.left) * (len(comparison.left) - 1))
        share = min(within, one.pairs / max(1, comparison.pairs * (1 + comparison.same)))
        shares |= dict.fromkeys(one.fields, share)
    return shares


def _equal_share(comparison: Comparison, field: int) -> float:
    ours, theirs = _value_counts(comparison, field)
    equal = float(ours @ (ours - 1)) / 2 if comparison.same else float(ours @ theirs)
    return equal / max(1, comparison.pairs)


def _value_counts(comparison: Comparison, field: int) -> tuple[Floats, Floats]:
    """How many records have each value, on both sides."""
    sides = (comparison.left[:, field], comparison.right[:, field])
    size = max(int(numbers.max(initial=-1)) for numbers in sides) + 1
    ours, theirs = (np.bincount(n[n >= 0], minlength=size).astype(float) for n in sides)
    return ours, theirs


def _shares(comparison: Comparison, field: int) -> Floats:
    ours, theirs = _value_counts(comparison, field)
    both = ours if comparison.same else ours + theirs
    return np.asarray(np.maximum(both, 1) / max(1, both.sum()))
