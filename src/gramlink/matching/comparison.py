"""Comparison: two files of records, ready to be compared in all their fields."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gramlink.embedding.vectors import Encoded, Vectors
from gramlink.engines.local import in_order
from gramlink.errors import InvalidParameter, Mismatch
from gramlink.records.levels import EQUAL, Levels

if TYPE_CHECKING:
    from gramlink.kernels.comparison import Values

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
LevelCodes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.integer]

ALONE = -1  # the number of a record that is swapped with none
CHUNK = 16  # counts come in multiples of this, so that loops over them have no rest


@dataclass(frozen=True, slots=True, eq=False)
class Swap:
    """Two fields whose values people swap, and which records have the same two values in which way.

    Records with the same two values have numbers 2n and 2n + 1, one for either way round; those
    that miss one have `ALONE`.
    """

    fields: tuple[int, int]
    left: Ints
    right: Ints

    @classmethod
    def of(
        cls, fields: tuple[int, int], tags: tuple[Words, Words], first: tuple[Numbers, Numbers]
    ) -> "Swap":
        """From a tag of each record's two values, 0 if one is missing, and the number of the first."""  # noqa: E501
        from gramlink.kernels.interning import intern_rows

        both, values = np.concatenate(tags), np.concatenate(first)
        numbers, rows = intern_rows(both[:, None].view(np.uint8))
        found = np.where(both == 0, ALONE, 2 * numbers + (values != values[rows][numbers]))
        return cls(fields, found[: len(tags[0])], found[len(tags[0]) :])

    @property
    def reversed(self) -> Ints:
        """The numbers of what right records would be swapped with."""
        return np.where(self.right == ALONE, ALONE, self.right ^ 1)

    def of_rows(self, left: Rows, right: Rows) -> "Swap":
        """The same of some records of each side."""
        return Swap(self.fields, self.left[left], self.right[right])

    def swapped(self, left: Rows, right: Rows) -> npt.NDArray[np.bool_]:
        """Which pairs of rows have the same two values, the other way round."""
        ours = self.left[left]
        return np.asarray((ours != ALONE) & (ours == self.right[right] ^ 1))

    @property
    def pairs(self) -> int:
        """How many pairs of rows have."""
        ours, counts = np.unique(self.left[self.left != ALONE], return_counts=True)
        theirs, others = np.unique(self.reversed, return_counts=True)
        _, i, j = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
        return int(counts[i] @ others[j])


@dataclass(frozen=True, slots=True, eq=False)
class Nicknames:
    """A field of names, and the group of names that one person may go by, `ALONE` for none."""

    field: int
    left: Ints
    right: Ints

    @classmethod
    def of(cls, field: int, tags: tuple[Words, Words]) -> "Nicknames":
        """From a tag of each record's group, 0 if it has none."""
        from gramlink.kernels.interning import intern_rows

        both = np.concatenate(tags)
        numbers, _ = intern_rows(both[:, None].view(np.uint8))
        found = np.where(both == 0, ALONE, numbers)
        return cls(field, found[: len(tags[0])], found[len(tags[0]) :])

    def of_rows(self, left: Rows, right: Rows) -> "Nicknames":
        """The same of some records of each side."""
        return Nicknames(self.field, self.left[left], self.right[right])

    def alike(self, left: Rows, right: Rows) -> npt.NDArray[np.bool_]:
        """Which pairs of rows have names of one group."""
        ours = self.left[left]
        return np.asarray((ours != ALONE) & (ours == self.right[right]))


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
    swaps: tuple[Swap, ...] = ()
    nicknames: tuple[Nicknames, ...] = ()

    @classmethod
    def of(
        cls,
        left: Mapping[str, Encoded],
        right: Mapping[str, Encoded],
        tags: Mapping[tuple[str, str], tuple[Words, Words]] | None = None,
        groups: Mapping[str, tuple[Words, Words]] | None = None,
    ) -> "Comparison":
        """Compare records of the left owner, who sends thresholds, with those of another.

        `tags` are those of each side's records for two fields whose values people swap, the same
        for the same two values and 0 where one is missing; `groups` are tags of the nicknames of a
        field, 0 for a name of no group.
        """
        from gramlink.kernels.comparison import Values

        names, tags, groups = tuple(left), tags or {}, groups or {}
        partners = {one: Levels(0, other) for one, other in tags}
        partners |= {other: Levels(0, one, leads=False) for one, other in tags}
        fields = list(in_order(lambda name: _Numbered.of(left[name], right[name]), names))
        by_name = dict(zip(names, fields, strict=True))
        return cls(
            names,
            tuple(
                replace(
                    partners.get(name, Levels(0)),
                    edits=field.limits.shape[1] - 1,
                    nicknames=name in groups,
                )
                for name, field in by_name.items()
            ),
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
            swaps=tuple(
                Swap.of(
                    (names.index(one), names.index(other)),
                    both,
                    (by_name[one].left, by_name[one].right),
                )
                for (one, other), both in tags.items()
            ),
            nicknames=tuple(Nicknames.of(names.index(name), both) for name, both in groups.items()),
        )

    @property
    def within_left(self) -> "Comparison":
        """The left file compared with itself; each pair of its records counts once."""
        swaps = tuple(replace(swap, right=swap.left) for swap in self.swaps)
        nicknames = tuple(replace(one, right=one.left) for one in self.nicknames)
        return replace(self, right=self.left, same=True, swaps=swaps, nicknames=nicknames)

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
            self,
            left=self.left[rows],
            right=self.right[others],
            limits=self.limits[rows],
            swaps=tuple(swap.of_rows(rows, others) for swap in self.swaps),
            nicknames=tuple(one.of_rows(rows, others) for one in self.nicknames),
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
        return self.with_swaps(self.levels_by_distance(left, right), left, right)

    def levels_by_distance(self, left: Rows, right: Rows) -> LevelCodes:
        """The same if no fields could be swapped."""
        from gramlink.kernels.comparison import levels_of

        return levels_of(left, self.squared(left, right), self.limits, self.edits)

    def with_swaps(self, by_distance: LevelCodes, left: Rows, right: Rows) -> LevelCodes:
        """The levels of pairs by distance, but for those whose fields are swapped and not equal."""
        if not (self.swaps or self.nicknames):
            return by_distance
        farther, missing = (
            np.array(codes, np.uint8)
            for codes in zip(*((one.farther, one.missing) for one in self.levels), strict=True)
        )
        # by distance, missing values have the code after farther
        levels = np.where(by_distance > farther, missing, by_distance)
        for names in self.nicknames:
            column, code = levels[:, names.field], self.levels[names.field].nickname
            column[(column != EQUAL) & names.alike(left, right)] = code
        for swap in self.swaps:
            swapped = (levels[:, swap.fields] != EQUAL).all(axis=1) & swap.swapped(left, right)
            levels[np.ix_(swapped, swap.fields)] = [self.levels[f].swapped for f in swap.fields]
        return levels

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
