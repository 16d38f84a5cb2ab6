"""Comparison: two files of records, ready to be compared in all their fields."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gramlink.embedding.vectors import Encoded, Vectors
from gramlink.engines.local import in_order
from gramlink.errors import InvalidParameter, Mismatch
from gramlink.records.levels import Levels

if TYPE_CHECKING:
    from gramlink.kernels.comparison import Values

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
LevelCodes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.integer]

CHUNK = 16  # counts come in multiples of this, so that loops over them have no rest


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Two files by the numbers of their values; or one file, compared with itself.

    `left[i, f]` is the number of record i's value in field f, -1 if it is missing; equal
    vectors have equal numbers on both sides. `limits[i, f, e]` is how far, squared, a right
    value may lie within e edits.

    Privacy: the linkage unit's; as sensitive as the bundles.
    """

    names: tuple[str, ...]
    levels: tuple[Levels, ...]
    left: Numbers
    right: Numbers
    limits: Numbers
    values: "Values"
    lengths: tuple[tuple[int, ...], ...]  # of the grams of each field
    same: bool = False

    @classmethod
    def of(cls, left: Mapping[str, Encoded], right: Mapping[str, Encoded]) -> "Comparison":
        """Compare records of the left owner, who sends thresholds, with those of another."""
        from gramlink.kernels.comparison import Values

        names = tuple(left)
        fields = list(in_order(lambda name: _Numbered.of(left[name], right[name]), names))
        return cls(
            names,
            tuple(Levels(field.limits.shape[1] - 1) for field in fields),
            np.stack([field.left for field in fields], axis=1),
            np.stack([field.right for field in fields], axis=1),
            _stacked([field.limits for field in fields]),
            Values(
                counts=np.concatenate([field.counts.ravel() for field in fields]),
                starts=_starts([field.counts.size for field in fields]),
                widths=np.array([field.counts.shape[1] for field in fields]),
                squares=np.concatenate([field.squares for field in fields]),
                offsets=_starts([len(field.squares) for field in fields]),
                glances=np.concatenate([field.glances for field in fields]),
                firsts=_starts([len(field.glances) for field in fields]),
                glance_weights=np.stack([field.least for field in fields]),
            ),
            tuple(left[name].vectors.lengths for name in names),
        )

    @property
    def within_left(self) -> "Comparison":
        """The left file compared with itself; each pair of its records counts once."""
        return replace(self, right=self.left, same=True)

    @property
    def pairs(self) -> int:
        """How many pairs of records there are."""
        if self.same:
            return len(self.left) * (len(self.left) - 1) // 2
        return len(self.left) * len(self.right)

    def sampled(self, most: int, seed: int) -> "Comparison":
        """At most `most` records of each file, chosen at random."""
        source = np.random.default_rng(seed)
        rows = _some(source, len(self.left), most)
        others = rows if self.same else _some(source, len(self.right), most)
        return replace(
            self, left=self.left[rows], right=self.right[others], limits=self.limits[rows]
        )

    def vectors(self, field: int, numbers: Numbers) -> Vectors:
        """The vectors of values by their numbers."""
        start, width = self.values.starts[field], self.values.widths[field]
        size = len(self.lengths[field])
        end = np.append(self.values.starts, len(self.values.counts))[field + 1]
        different = self.values.counts[start:end].reshape(-1, width)[:, :size]
        # a missing value's vector is not looked at
        return Vectors(different[np.maximum(numbers, 0)], self.lengths[field], numbers < 0)

    def squared(self, left: Rows, right: Rows) -> Numbers:
        """The squared distances of pairs of rows in each field, -1 where a value is missing."""
        from gramlink.kernels.comparison import squared_of

        return squared_of(left, right, self.left, self.right, self.values)

    @property
    def edits(self) -> Numbers:
        """How many edits are told apart in each field."""
        return np.array([levels.edits for levels in self.levels], np.int32)

    def levels_of(self, left: Rows, right: Rows) -> LevelCodes:
        """The level of pairs of rows in each field."""
        from gramlink.kernels.comparison import levels_of

        return levels_of(left, self.squared(left, right), self.limits, self.edits)

    def random_pairs(self, count: int, seed: int) -> tuple[Ints, Ints]:
        """Pairs of rows at random; of a file compared with itself, of two records each."""
        if self.pairs == 0:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        source = np.random.default_rng(seed)
        left = source.integers(0, len(self.left), count)
        if not self.same:
            return left, source.integers(0, len(self.right), count)
        other = source.integers(0, len(self.left) - 1, count)
        return left, other + (other >= left)


@dataclass(frozen=True, slots=True, eq=False)
class _Numbered:
    """One field: the numbers of both sides' values, and what kernels know of each value."""

    left: Numbers
    right: Numbers
    limits: Numbers
    counts: npt.NDArray[np.uint8]
    squares: Numbers
    glances: Words
    least: Ints

    @classmethod
    def of(cls, left: Encoded, right: Encoded) -> "_Numbered":
        from gramlink.kernels.comparison import FARTHEST
        from gramlink.kernels.interning import intern_rows

        x, y = left.vectors, right.vectors
        if x.lengths != y.lengths:
            raise Mismatch("the two sides were embedded with different bases")
        if left.thresholds is None or len(left.thresholds) != len(x):
            raise InvalidParameter("the left records need thresholds in every field")
        both = np.concatenate([x.counts, y.counts])
        kinds, rows = intern_rows(both)
        kinds[np.concatenate([x.missing, y.missing])] = -1
        numbers, different = kinds.astype(np.int32), both[rows]
        weights = (x.scale // np.array(x.lengths)) ** 2
        glances, least = _glances(different, weights)
        padding = -different.shape[1] % CHUNK
        return cls(
            numbers[: len(x)],
            numbers[len(x) :],
            np.minimum(left.thresholds, FARTHEST - 1).astype(np.int32),
            np.pad(different, ((0, 0), (0, padding))),
            np.pad(weights, (0, padding)).astype(np.int32),
            glances,
            least,
        )


def _glances(counts: npt.NDArray[np.uint8], weights: Ints) -> tuple[Words, Ints]:
    """Two words for each value, of the heaviest grams and the next, and their least weights."""
    from gramlink.kernels.comparison import FARTHEST
    from gramlink.kernels.signatures import WORD, signatures

    heaviest = np.flatnonzero(weights == weights.max())
    rest = np.concatenate([heaviest[WORD:], np.flatnonzero(weights < weights.max())])
    rest = rest[np.argsort(-weights[rest], kind="stable")][:WORD]
    words = [heaviest[:WORD], rest[weights[rest] == weights[rest].max(initial=0)]]
    bits = [(gram, 1, word, place) for word, grams in enumerate(words)
            for place, gram in enumerate(grams.tolist())]  # fmt: skip
    least = np.array(
        [weights[grams].min(initial=0 if not len(grams) else FARTHEST) for grams in words]
    )
    return signatures(counts, np.array(bits), len(words)), least


def _stacked(limits: list[Numbers]) -> Numbers:
    """Limits of fields with different numbers of edits, side by side."""
    most = max(one.shape[1] for one in limits)
    padded = [np.pad(one, ((0, 0), (0, most - one.shape[1])), mode="edge") for one in limits]
    return np.ascontiguousarray(np.stack(padded, axis=1))


def _starts(sizes: list[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)


def _some(source: np.random.Generator, count: int, most: int) -> Ints:
    if count <= most:
        return np.arange(count)
    return np.sort(source.choice(count, most, replace=False))
