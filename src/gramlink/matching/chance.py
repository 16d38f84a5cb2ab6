"""Chance: how near pairs of records are by chance alone, and how frequent values are."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gramlink.matching.comparison import Comparison
from gramlink.records.levels import EQUAL

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]

RANDOM_PAIRS = 1_000_000
SEED = 2013


@dataclass(frozen=True, slots=True, eq=False)
class Chance:
    """One field of pairs by chance: the share of equal ones, and others of a sample by level."""

    equal: float
    counts: Ints


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


def by_chance(comparison: Comparison) -> tuple[Chance, ...]:
    """What chance makes of each field: equal pairs are counted, the others sampled."""
    left, right = comparison.random_pairs(RANDOM_PAIRS, SEED)
    codes = comparison.levels_of(left, right)
    found = []
    for field, levels in enumerate(comparison.levels):
        counts = np.bincount(codes[:, field], minlength=len(levels))
        counts[EQUAL] = 0
        found.append(Chance(_equal_share(comparison, field), counts))
    return tuple(found)


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
    if comparison.same:
        theirs = np.zeros(1)
    records = len(comparison.left) + (0 if comparison.same else len(comparison.right))
    return np.asarray(np.maximum(ours + theirs, 1) / records)
