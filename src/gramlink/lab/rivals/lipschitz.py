"""Edit distances to reference strings: Scannapieco and others, SIGMOD 2007.

A string's coordinate is its edit distance to the nearest member of a set of random strings:
a Lipschitz embedding, since an edit changes it by at most 1. SparseMap (Hristescu and
Farach-Colton 1999) adds two heuristics. *Approximate distances*: of a set's members only the
`sigma` that are nearest in the coordinates so far are compared, and an edit can change which
these are. *Greedy resampling*: of many sets, those that tell most strings apart are kept.

How strings make sets is our choice: the candidates, in a random order, are cut into sets of
1, of 2, of 4 and so on up to `largest`, so each string is in one set of each size. How sets are
rated is our choice too: not by stress on pairs of strings, as in SparseMap, but by the pairs of
a sample that no set tells apart yet; once there are none, all count again. With 12 sets this
tells more of the bundled names apart than stress does, and all numbers are whole.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gramlink.errors import InvalidParameter, Mismatch
from gramlink.lab.rivals.rival import listed
from gramlink.matching.pairs import Pairs
from gramlink.records.strings import LONGEST, Strings, distinct

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

NOWHERE = 2**62  # the distance to a missing value
DEEPEST = 6  # coordinates of the tree that near vectors are looked up in
WORDS = 4  # of bits, at most, that rule out most vectors without a look at them


@dataclass(frozen=True, slots=True, eq=False)
class References:
    """Sets of reference strings, in the order of their coordinates.

    Set i is the members from `begins[i]` to `begins[i + 1]`; `mapped` has the members' own
    coordinates.
    """

    members: Strings
    begins: Ints
    mapped: Bytes
    sigma: int

    def __len__(self) -> int:
        return len(self.begins) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Mapped:
    """One side's coordinates, a row for each record."""

    vectors: Bytes
    missing: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def bytes_each(self) -> float:
        """A byte for each coordinate."""
        return float(self.vectors.shape[1])

    def between(self, other: "Mapped") -> Ints:
        """The squared distance of each record to the other side's in the same row.

        It is `NOWHERE`, larger than any, where a value is missing.
        """
        self._check(other)
        apart = ((self.vectors.astype(np.int64) - other.vectors) ** 2).sum(axis=1)
        return np.where(self.missing | other.missing, NOWHERE, apart)

    def near(self, other: "Mapped", within: int, most: int) -> Pairs:
        """All pairs at most a squared distance of `within` apart, in the order of `match`."""
        from gramlink.lab.rivals.kernels.lipschitz import near, tree

        self._check(other)
        order = np.flatnonzero(~other.missing)
        order = order[np.lexsort(other.vectors[order, :DEEPEST].T[::-1])]
        right = other.vectors[order]
        levels = _levels(right)
        signs = _signs(self.vectors, levels), _signs(right, levels)
        nodes = tree(right, min(DEEPEST, right.shape[1]))

        def block(start: int, stop: int, room: int) -> tuple[Ints, Ints, Ints]:
            return near(
                self.vectors, signs[0], self.missing, right, signs[1], order, nodes,
                within, start, stop, room,
            )  # fmt: skip

        return listed(block, len(self), most)

    def _check(self, other: "Mapped") -> None:
        if self.vectors.shape[1] != other.vectors.shape[1]:
            raise Mismatch("the two sides have different reference sets")


def _levels(vectors: Bytes) -> tuple[Ints, Bytes]:
    """Coordinates below the tree, each with a value: those that split the vectors best."""
    values = np.arange(1, 256, dtype=np.uint8)
    counts = [np.bincount(column, minlength=256) for column in vectors.T[DEEPEST:]]
    below = np.cumsum(np.array(counts, np.int64).reshape(-1, 256), axis=1)[:, :-1]
    power = below * (len(vectors) - below)
    best = np.argsort(-power, axis=None, kind="stable")[: 64 * WORDS]
    best = best[power.flat[best] > 0]
    return DEEPEST + best // len(values), values[best % len(values)]


def _signs(vectors: Bytes, levels: tuple[Ints, Bytes]) -> npt.NDArray[np.uint64]:
    """A bit for each level that a vector reaches; coordinates differ by at least as many."""
    coordinates, values = levels
    words = max(1, -(-len(values) // 64))
    bits = np.zeros((len(vectors), 64 * words), np.bool_)
    bits[:, : len(values)] = vectors[:, coordinates] >= values
    return np.ascontiguousarray(np.packbits(bits, axis=1).view(np.uint64).T)


def references(
    strings: Strings,
    size: int = 12,
    *,
    candidates: int = 1000,
    length: int = 10,
    seed: int,
    largest: int = 16,
    sigma: int = 4,
    sample: int = 5000,
) -> References:
    """Choose, from the sets that `draw` makes, those that tell a sample of strings apart.

    The first set tells the most pairs of different strings apart; each later one, the most of
    the pairs that are left. When none is left, or none can be told apart, all pairs count again.

    >>> names = Strings.of(["MARY", "ANNA", "HANNA"], "AHMNRY*")
    >>> chosen = references(names, 2, candidates=20, length=3, seed=1)
    >>> list(chosen.members), chosen.begins.tolist()
    (['RRR', 'MYR'], [0, 1, 2])

    Privacy: which sets are chosen depends on one owner's strings, without noise, and the
    other owner sees them: a leak that no budget accounts for.
    """
    from gramlink.lab.rivals.kernels.lipschitz import distances, masks

    if min(size, sigma, sample) < 1:
        raise InvalidParameter("size, sigma and sample must be at least 1")
    pool, members, begins = draw(strings.symbols, candidates, length, largest, seed)
    if size >= len(begins):
        raise InvalidParameter(f"{candidates} strings make {len(begins) - 1} sets, not {size}")
    present = np.flatnonzero(~strings.missing)
    rows = np.random.default_rng(seed).permutation(present)[:sample]
    seen, _ = distinct(strings.take(np.sort(rows)))

    # the reference strings are texts too: their coordinates come with those of the sample
    codes = np.append(seen.codes, pool.codes)
    offsets = np.append(seen.offsets[:-1], seen.offsets[-1] + pool.offsets)
    mask = masks(pool.codes, pool.offsets, len(pool.symbols))
    found = distances(pool.codes, pool.offsets, mask, codes, offsets)
    chosen, columns = _choose(found, len(seen), members, begins, size, sigma)

    rows = np.concatenate([members[begins[c] : begins[c + 1]] for c in chosen])
    ends = np.cumsum(np.diff(begins)[chosen])
    mapped = np.stack(columns, axis=1)[len(seen) + rows]
    return References(pool.take(rows), np.append(0, ends), mapped, sigma)


def draw(
    symbols: str, candidates: int, length: int, largest: int, seed: int
) -> tuple[Strings, Ints, Ints]:
    """Random strings without the catch-all, and candidate sets of 1, 2, 4, ... `largest`.

    Set c is the strings whose places are `members[begins[c]:begins[c + 1]]`. For each size all
    strings are cut into sets, in a new order; a remainder that is too small is left out.

    >>> pool, members, begins = draw("AB*", candidates=5, length=3, largest=2, seed=1)
    >>> list(pool), members.tolist(), begins.tolist()
    (['BBA', 'ABB', 'ABA', 'BAB', 'BBA'], [3, 0, 1, 4, 2, 2, 3, 4, 1], [0, 1, 2, 3, 4, 5, 7, 9])

    Privacy: everything is public.
    """
    if min(candidates, length, largest) < 1 or length > LONGEST:
        raise InvalidParameter(
            f"candidates, length and largest must be at least 1, and length at most {LONGEST}"
        )
    random = np.random.default_rng(seed)
    codes = random.integers(len(symbols) - 1, size=candidates * length, dtype=np.uint8)
    members: list[Ints] = []
    sizes: list[int] = []
    size = 1
    while size <= min(largest, candidates):
        members.append(random.permutation(candidates)[: candidates // size * size])
        sizes += [size] * (candidates // size)
        size *= 2
    pool = Strings(codes, np.arange(candidates + 1) * length, symbols)
    return pool, np.concatenate(members), np.append(0, np.cumsum(sizes))


def _choose(
    found: Bytes, texts: int, members: Ints, begins: Ints, size: int, sigma: int
) -> tuple[list[int], list[Bytes]]:
    """The sets that tell most of the first texts apart, in turn, and all texts' coordinates."""
    from gramlink.lab.rivals.kernels.lipschitz import coordinates, draw_apart, undecided

    apart = np.zeros(found.shape, np.int32)
    values = np.empty((len(begins) - 1, found.shape[1]), np.uint8)
    everything = np.arange(found.shape[1])
    coordinates(found, apart, members, begins, sigma, everything, values)
    # sets with more members than are compared come last, and change with each coordinate
    few = int(np.searchsorted(np.diff(begins), sigma, side="right"))
    chosen: list[int] = []
    columns: list[Bytes] = []
    alike = np.zeros(texts, np.int64)  # texts that this round has not told apart share a number
    while len(chosen) < size:
        order, groups = _groups(alike)
        coordinates(found, apart, members, begins[few:], sigma, order, values[few:])
        pairs = undecided(values, order, groups)
        pairs[chosen] = np.iinfo(np.int64).max
        best = int(np.argmin(pairs))
        counts = np.diff(groups)
        if alike.any() and pairs[best] == (counts * (counts - 1) // 2).sum():
            alike = np.zeros(texts, np.int64)
            continue
        one = slice(best, best + 1)
        coordinates(found, apart, members, begins[best : best + 2], sigma, everything, values[one])
        chosen.append(best)
        columns.append(values[best].copy())
        draw_apart(apart, values[best], values[best, texts:])
        _, alike = np.unique(alike * 256 + values[best, :texts], return_inverse=True)
    return chosen, columns


def _groups(alike: Ints) -> tuple[Ints, Ints]:
    """The places of texts that are alike, group by group, and where each group begins."""
    counts = np.bincount(alike)
    order = np.argsort(alike, kind="stable")
    order = order[counts[alike[order]] > 1]
    return order, np.append(0, np.cumsum(counts[counts > 1]))


def embed(strings: Strings, references: References) -> Mapped:
    """Each string's coordinates: equal strings have equal ones, at both owners.

    >>> names = Strings.of(["MARY", "MARIA", "ANNA"], "AIMNRY*")
    >>> mapped = embed(names, references(names, 3, length=4, seed=1))
    >>> mapped.vectors.tolist(), mapped.bytes_each
    ([[4, 2, 4], [3, 3, 3], [2, 4, 2]], 3.0)

    Privacy: nothing is noisy or keyed. Anyone with the coordinates and the references can embed
    a dictionary of names and look the coordinates up. Even without the references, equal names
    are seen to be equal, frequent ones stand out, and near coordinates mean near names.
    """
    from gramlink.lab.rivals.kernels import lipschitz

    members = references.members
    if members.symbols != strings.symbols:
        raise Mismatch("the reference strings have a different alphabet")
    mask = lipschitz.masks(members.codes, members.offsets, len(members.symbols))
    texts = strings.codes, strings.offsets, members.codes, members.offsets
    vectors = lipschitz.embed(*texts, mask, references.begins, references.mapped, references.sigma)
    return Mapped(vectors, strings.missing)
