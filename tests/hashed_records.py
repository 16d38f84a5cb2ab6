"""An encoding that is not the paper's, to show that nothing else knows which it has.

Gram counts are added up in a few buckets, and how near two values are is what their buckets
differ by. There are no thresholds: cut-offs are public, so every owner can be the left one.
"""

from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

import numpy as np
import polars as pl

from gramlink.encodings.encoding import EncodedRecords
from gramlink.matching.chance import Chance, Frequencies, Gaps
from gramlink.matching.pairs import Pairs
from gramlink.matching.passes import Candidates, Pass
from gramlink.privacy.exposure import Disclosure
from gramlink.records.levels import EQUAL, Levels

BUCKETS = 48
CUT_OFF = 7  # grams that an edit may change
LEVELS = Levels(1)


@dataclass(frozen=True, eq=False)
class HashedRecords(EncodedRecords):
    """Records as sums of gram counts in buckets, field by field; -1 where a value is missing."""

    sums: dict

    name: ClassVar[str] = "hashed"
    shown_as: ClassVar[str] = "sums of gram counts"
    unit_learns: ClassVar[str] = "sums of gram counts"

    @classmethod
    def of(cls, material):
        """Which bucket a gram is added to follows from its place in the base."""
        sums = {}
        for name, field in material.fields.items():
            vectors = field.vectors
            bucket = np.arange(len(vectors.lengths)) * 7919 % BUCKETS
            found = np.stack(
                [vectors.counts[:, bucket == b].sum(axis=1) for b in range(BUCKETS)], 1
            )
            sums[name] = np.where(vectors.missing[:, None], -1, found).astype(np.int16)
        return cls(sums)

    @classmethod
    def disclosure(cls, schema):
        """A sum in each bucket tells a little, and others tell more."""
        return Disclosure(rows=1, draws={field.name: BUCKETS for field in schema.fields})

    @classmethod
    def columns_of(cls, shape, schema, present):  # noqa: ARG003
        """One column a field."""
        if shape != {"buckets": BUCKETS}:
            raise ValueError("it has other buckets")
        kind = pl.Array(pl.Int16, BUCKETS)
        return {f"{field.name}.hashed": kind for field in schema.fields}

    @classmethod
    def check_schema(cls, schema):
        """Any will do."""

    @classmethod
    def size(cls, schema):
        """Two bytes a bucket."""
        return 2 * BUCKETS * len(schema.fields)

    @classmethod
    def read(cls, rows, shape, schema):  # noqa: ARG003
        """The sums as they were sent."""
        return cls({one.name: rows[f"{one.name}.hashed"].to_numpy() for one in schema.fields})

    def __len__(self):
        return len(next(iter(self.sums.values())))

    @property
    def shape(self):
        """The number of buckets."""
        return {"buckets": BUCKETS}

    @property
    def leads(self):
        """Every owner can be the left one."""
        return True

    def columns(self):
        """One column a field."""
        kind = pl.Array(pl.Int16, BUCKETS)
        return {f"{name}.hashed": pl.Series(sums, dtype=kind) for name, sums in self.sums.items()}

    def compare(self, right):
        """By trying all pairs."""
        levels = [_levels(self.sums[name], right.sums[name]) for name in self.sums]
        return ComparedSums(tuple(self.sums), np.stack(levels, axis=2), self, right)

    @property
    def lengths(self):
        """How many grams of the first field each record has."""
        return np.maximum(next(iter(self.sums.values())).sum(axis=1), 0).astype(np.int64)

    def near(self, right, progress=None):  # noqa: ARG002
        """By trying all pairs of the first field."""
        name = next(iter(self.sums))
        apart = _apart(self.sums[name], right.sums[name])
        found = [
            (i, int(apart[i, j]) ** 2, j)
            for i, j in product(range(len(self)), range(len(right)))
            if 0 <= apart[i, j] <= CUT_OFF
        ]
        left, squared, others = (
            np.array(one, np.int64) for one in zip(*sorted(found), strict=True)
        )
        return Pairs(left, others, squared)


@dataclass(frozen=True, eq=False)
class ComparedSums:
    """The levels of all pairs."""

    names: tuple
    codes: np.ndarray
    ours: HashedRecords
    theirs: HashedRecords
    same: bool = False

    @property
    def levels(self):
        """The same in every field."""
        return (LEVELS,) * len(self.names)

    @property
    def pairs(self):
        """How many pairs there are."""
        count = len(self.ours)
        return count * (count - 1) // 2 if self.same else count * len(self.theirs)

    @property
    def sizes(self):
        """How many records the two files have."""
        return self.codes.shape[:2]

    def suited_passes(self):
        """Any two fields that are equal."""
        names = self.names
        return tuple(
            Pass({one: 0, other: 1}) for one, other in product(names, names) if one != other
        )

    def candidates(self, passes, progress=None):  # noqa: ARG002
        """By trying all pairs."""
        left, right = self._all()
        codes = self.codes[left, right]
        meets = np.stack([one.finds(codes, self.names, self.levels) for one in passes])
        some = meets.any(axis=0)
        first = np.bincount(meets.argmax(axis=0)[some], minlength=len(passes))
        return Candidates(
            left[some].astype(np.int32), right[some].astype(np.int32), codes[some],
            tuple(passes), tuple(meets.sum(axis=1).tolist()), tuple(first.tolist()),
        )  # fmt: skip

    def tells(self, left, right):  # noqa: ARG002
        """All records can be compared."""
        return True

    def levels_of(self, left, right):
        """The levels of any pairs of rows."""
        return self.codes[left, right]

    def by_chance(self):
        """All pairs, counted."""
        codes = self.codes[self._all()]
        found = []
        for field in range(len(self.names)):
            counts = np.bincount(codes[:, field], minlength=len(LEVELS))
            found.append(Chance(counts[EQUAL] / max(1, len(codes)), counts))
        return tuple(found)

    def gaps(self):
        """Which values are below 0."""
        ours, theirs = (
            np.stack([side.sums[name][:, 0] < 0 for name in self.names], axis=1)
            for side in (self.ours, self.theirs)
        )
        return Gaps.of(ours, None if self.same else theirs)

    def frequencies(self):
        """How often each value occurs in both files."""
        numbers, shares, starts = [], [], [0]
        for name in self.names:
            ours, theirs = self.ours.sums[name], self.theirs.sums[name]
            both = ours if self.same else np.concatenate([ours, theirs])
            _, place, counts = np.unique(both, axis=0, return_inverse=True, return_counts=True)
            number = place.ravel()[: len(ours)]
            numbers.append(np.where(ours[:, 0] < 0, -1, number).astype(np.int32))
            shares.append(counts / len(both))
            starts.append(starts[-1] + len(counts))
        return Frequencies(np.stack(numbers, 1), np.concatenate(shares), np.array(starts[:-1]))

    def within_left(self, most):
        """The left file with itself."""
        assert len(self.ours) <= most
        return replace(self.ours.compare(self.ours), same=True)

    def kin(self):
        """Nothing: the left file with itself shows them."""
        return ()

    def _all(self):
        left, right = (side.ravel() for side in np.indices(self.codes.shape[:2]))
        return (left[left < right], right[left < right]) if self.same else (left, right)


def _apart(ours, theirs):
    """What the buckets of each two values differ by; -1 where a value is missing."""
    missing = (ours[:, 0] < 0)[:, None] | (theirs[:, 0] < 0)
    return np.where(missing, -1, abs(ours[:, None] - theirs[None]).sum(axis=2))


def _levels(ours, theirs):
    apart = _apart(ours, theirs)
    codes = np.full(apart.shape, LEVELS.farther, np.uint8)
    codes[apart <= CUT_OFF] = 1
    codes[apart == 0] = EQUAL
    codes[apart < 0] = LEVELS.missing
    return codes
