"""Preparing and planning the join: how each left vector finds the right ones near it.

Equal vectors are joined only once. An index serves small limits and a scan of signatures large
ones; a few rows of each class of limits are tried to choose between them. See `kernels.join`
for how each works.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import numpy as np
import numpy.typing as npt

from gramlink.embedding.vectors import Vectors
from gramlink.engines.local import in_order
from gramlink.kernels.index import MOST_STEPS, Index, hash_table, keys_of
from gramlink.kernels.join import CHUNK, EQUAL, SCAN, Left, Right, join_rows
from gramlink.kernels.signatures import FUSED, WORD, hashes, ones_in, signatures

Counts = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

FIRST_BLOCK, LAST_BLOCK = 128, 16384  # left rows; blocks grow as long as pairs stay few
TARGET_PAIRS = 2**21  # in a block
MOST_CLASSES = 256  # of limits, planned separately
SAMPLED = 48  # rows of a class that a plan is tried on
# Rough costs in nanoseconds: of a key or a glance, a computed distance, a scanned word of a
# signature, and, per row, finding out which rows of a block are equal.
LOOK_UP, DISTANCE, WORD_SCANNED, COMPARED = 8.0, 80.0, 0.12, 500.0
GLANCED = 3  # from this many steps on, most candidates are too far away, and glances save time
CHEAP = 3000.0  # a row this cheap needs no better plan


NO_GRAMS, NO_KEYS = np.empty(0, np.int64), np.empty(0, np.uint64)


def _indexed(
    keys: Words, grams: Ints = NO_GRAMS, weight: int = 1, multipliers: Words = NO_KEYS
) -> Index:
    rows = np.argsort(keys, kind="stable")
    return Index(grams, multipliers, weight, keys[rows], rows, *hash_table(keys[rows]))


NOTHING = _indexed(NO_KEYS)


class Full(Exception):
    """More pairs than there is room for."""


@dataclass(frozen=True, slots=True, eq=False)
class Distinct:
    """The distinct rows, and for every row the place of its equal among them."""

    rows: Ints
    place: Ints
    hashes: Words  # of the distinct rows

    @classmethod
    def of(cls, counts: Counts, limits: Ints) -> "Distinct":
        """The distinct pairs of a vector and a limit."""
        hashed = hashes(counts, limits)
        _, rows, place = np.unique(hashed, return_index=True, return_inverse=True)
        like = rows[place]
        same = (counts == counts[like]).all(axis=1) & (limits == limits[like])
        # of two different vectors with the same hash, the second stands for itself
        other = np.flatnonzero(~same)
        place[other] = len(rows) + np.arange(len(other))
        rows = np.concatenate([rows, other])
        return cls(rows, place, hashed[rows])

    @classmethod
    def all(cls, count: int) -> "Distinct":
        """All rows, as if distinct, since checking would cost more than it saves."""
        rows = np.arange(count)
        return cls(rows, rows, NO_KEYS)

    def ordered(self, order: Ints) -> "Distinct":
        """The same rows in another order."""
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        return Distinct(self.rows[order], places[self.place], self.hashes[order])


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Pairs of left rows, ascending, with the numbers d * records + j that kernels make."""

    left: Ints
    found: Ints
    start: int  # the first left row of the block
    stop: int  # and the one after its last

    @classmethod
    def of(cls, start: int, counts: Ints, found: Ints, place: Ints) -> "Block":
        """The pairs of distinct rows, `counts` for each, copied to all rows equal to them."""
        begins = np.cumsum(counts) - counts
        each = counts[place]
        ends = np.cumsum(each)
        source = np.repeat(begins[place] - (ends - each), each) + np.arange(ends[-1])
        stop = start + len(place)
        return cls(np.repeat(np.arange(start, stop), each), found[source], start, stop)


class Join:
    """Left and right vectors, ready to be joined block by block."""

    def __init__(self, left: Vectors, limits: Ints, right: Vectors) -> None:
        self._left, self._limits, self._scale = left.counts, limits, left.scale
        self._lengths = np.array(left.lengths)
        distinct = Distinct.of(right.counts, np.zeros(len(right), np.int64))
        counts = _padded(right.counts[distinct.rows])
        # Only equal vectors are within a limit below the lightest step.
        self._least = int((self._scale // self._lengths.max()) ** 2)
        self._main = self._side = self._equal = NOTHING
        self._bits, self._weights = np.empty((0, 4), np.int64), [0] * FUSED  # of signatures
        if limits.max() >= self._least:
            self._main = self._index(self._lengths.min(), counts)
            # rows with the same main key are adjacent, so memory is read in runs
            order = self._main.rows
            distinct, counts = distinct.ordered(order), counts[order]
            self._main = self._main._replace(rows=np.arange(len(order)))
            if limits.max() // self._main.weight >= GLANCED:
                self._bits, self._weights = self._unary_bits(counts)
        if limits.min() < self._least:
            self._equal = _indexed(distinct.hashes)
        squares = (self._scale // self._lengths) ** 2
        numbers = np.bincount(distinct.place, minlength=len(distinct.rows))
        self._right = Right(
            counts=counts,
            squares=np.pad(squares, (0, counts.shape[1] - len(squares))).astype(np.int32),
            begins=np.concatenate([[0], np.cumsum(numbers)]),
            members=np.argsort(distinct.place, kind="stable"),
            glances=np.ascontiguousarray(self._signed(counts)[:, self._glanced]),
            glance_weights=np.array(self._weights)[self._glanced],
            columns=np.empty((FUSED, 0), np.uint64),
            order=np.empty(0, np.int64),
            starts=np.zeros(1, np.int64),
            weights=np.zeros(FUSED, np.int64),
        )
        self._plan = self._planned()

    def blocks(self, room: int) -> Iterator[Block]:
        """The pairs, one block of left rows at a time; `Full` if a block exceeds `room`."""
        size = FIRST_BLOCK

        def slices() -> Iterator[slice]:
            start = 0
            while start < len(self._left):
                stop = min(start + size, len(self._left))
                yield slice(start, stop)
                start = stop

        for block in in_order(lambda rows: self._block(rows, room), slices()):
            each = max(len(block.found) / (block.stop - block.start), 1.0)
            size = int(min(2 * size, max(TARGET_PAIRS / each, 16), LAST_BLOCK))
            yield block

    def _block(self, rows: slice, room: int) -> Block:
        vectors, limits = self._left[rows], self._limits[rows]
        steps, cost = self._ways(limits)
        distinct = Distinct.all(len(vectors)) if cost < COMPARED else Distinct.of(vectors, limits)
        left = self._prepared(vectors[distinct.rows], limits[distinct.rows])
        begins, found, _ = self._join(left, steps[distinct.rows], room)
        counts = np.diff(begins)
        if len(begins) <= len(distinct.rows) or counts[distinct.place].sum() > room:
            raise Full
        return Block.of(rows.start, counts, found, distinct.place)

    def _join(self, left: Left, steps: Ints, room: int) -> tuple[Ints, Ints, Ints]:
        return join_rows(left, self._right, self._equal, self._main, self._side, steps, room)

    def _prepared(self, counts: Counts, limits: Ints) -> Left:
        words = self._signed(counts)
        return Left(
            counts=_padded(counts),
            limits=limits,
            hashes=hashes(counts, np.zeros(len(counts), np.int64)),
            main_keys=keys_of(counts, self._main.grams, self._main.multipliers),
            side_keys=keys_of(counts, self._side.grams, self._side.multipliers),
            glances=np.ascontiguousarray(words[:, self._glanced]),
            signatures=words,
            ones=ones_in(words, self._main_words),
        )

    def _index(self, length: np.int64, counts: Counts) -> Index:
        """The right vectors by their counts of the grams of one length."""
        grams = np.flatnonzero(self._lengths == length)
        multipliers = np.random.default_rng(2013).integers(2**64, size=len(grams), dtype=np.uint64)
        weight = int(self._scale // length) ** 2
        return _indexed(keys_of(counts, grams, multipliers), grams, weight, multipliers)

    def _classes(self, limits: Ints) -> Ints:
        return np.minimum(limits // self._least, MOST_CLASSES)

    def _ways(self, limits: Ints) -> tuple[Ints, float]:
        """The way for each row, and what a row costs on average."""
        classes, each = np.unique(self._classes(limits), return_inverse=True)
        planned = [self._plan[one] for one in classes.tolist()]
        steps = np.array([steps for steps, _ in planned])[each]
        return steps, float(np.array([cost for _, cost in planned])[each].mean())

    def _planned(self) -> dict[int, tuple[int, float]]:
        """For each class of limits the steps to look up in the main index, or EQUAL or SCAN."""
        classes = self._classes(self._limits)
        plan = {}
        for one in np.unique(classes).tolist():
            members = np.flatnonzero(classes == one)
            rows = members[:: max(1, len(members) // SAMPLED)][:SAMPLED]
            plan[one] = self._cheapest(rows, int(self._limits[members].max()))
        if any(steps == SCAN for steps, _ in plan.values()):
            self._prepare_scan()
        return plan

    def _cheapest(self, rows: Ints, limit: int) -> tuple[int, float]:
        """The cheapest way for rows like these, up to a limit, and what it costs."""
        if limit < self._least:
            return EQUAL, 0.0
        best = SCAN
        words = sum(-(-n // WORD) for n in np.unique(self._lengths, return_counts=True)[1])
        cost = len(self._right.counts) * max(FUSED, int(words)) * WORD_SCANNED
        reach = limit // self._main.weight
        for steps in range(min(reach, MOST_STEPS), -1, -1):
            if cost < CHEAP:
                break
            rest = -1
            if steps < reach:
                self._prepare_side()
                rest = (limit - self._main.weight * (steps + 1)) // self._side.weight
                if rest > MOST_STEPS or self._side is NOTHING:
                    continue
            keys = _keys_within(self._main, steps) + _keys_within(self._side, rest)
            if keys * LOOK_UP > cost:
                continue
            left = self._prepared(self._left[rows], self._limits[rows])
            begins, _, effort = self._join(left, np.full(len(rows), steps), SAMPLED * 10_000)
            estimate = float(effort @ (LOOK_UP, DISTANCE)) / (len(begins) - 1)
            if estimate < cost:
                best, cost = steps, estimate
        return best, cost

    def _prepare_side(self) -> None:
        """Index the grams of the next length, if there are any."""
        longer = self._lengths[self._lengths > self._lengths.min()]
        if self._side is NOTHING and len(longer):
            self._side = self._index(longer.min(), self._right.counts)

    @property
    def _main_words(self) -> int:
        """How many words of a signature belong to the main grams."""
        return -(-len(self._main.grams) // WORD) if len(self._bits) else 0

    @property
    def _glanced(self) -> list[int]:
        """The first words of the main grams and of those of the next length, if there are any."""
        return [0, min(self._main_words, len(self._weights) - 1)]

    def _signed(self, counts: Counts) -> Words:
        return signatures(counts, self._bits, len(self._weights))

    def _prepare_scan(self) -> None:
        """Sort the right vectors' signatures by how many bits are set for the main grams."""
        if not len(self._bits):
            self._bits, self._weights = self._unary_bits(self._right.counts)
        words = self._signed(self._right.counts)
        ones = ones_in(words, self._main_words)
        order = np.argsort(ones, kind="stable")
        self._right = self._right._replace(
            columns=np.ascontiguousarray(words[order].T),
            order=order,
            starts=np.searchsorted(ones[order], np.arange(self._main_words * WORD + 2)),
            weights=np.array(self._weights),
        )

    def _unary_bits(self, counts: Counts) -> tuple[Ints, list[int]]:
        """Which (gram, level) each bit stands for: words for each length, the shortest first.

        Every gram has a bit for "at least 1"; the bits left over in its length's words go to
        the most frequent higher levels.
        """
        bits: list[tuple[int, int, int, int]] = []
        weights: list[int] = []
        for length in np.unique(self._lengths).tolist():
            grams = np.flatnonzero(self._lengths == length).tolist()
            words = -(-len(grams) // WORD)
            higher = [
                (-int((counts[:, gram] >= level).sum()), gram, level)
                for gram in grams
                for level in (2, 3, 4)
            ]
            chosen = [(gram, 1) for gram in grams]
            chosen += [(gram, level) for often, gram, level in sorted(higher) if often]
            for place, (gram, level) in enumerate(chosen[: words * WORD]):
                bits.append((gram, level, len(weights) + place // WORD, place % WORD))
            weights += [(self._scale // length) ** 2] * words
        return np.array(bits), weights + [0] * (FUSED - len(weights))


def _padded(counts: Counts) -> Counts:
    """Counts padded with zeros to a multiple of CHUNK."""
    return np.pad(counts, ((0, 0), (0, -counts.shape[1] % CHUNK)))


def _keys_within(index: Index, steps: int) -> int:
    """About how many keys are within this many steps: every count can go up, some down."""
    return sum(comb(len(index.grams) + 8, taken) for taken in range(steps + 1))
