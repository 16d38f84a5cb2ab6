"""Shared rows: what the linkage unit finds in the rows that two owners have in common."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gramlink.encodings.veil.layout import Layout
from gramlink.kernels.cells import CELL, SKETCH, TAG

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
LevelCodes = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """The pairs of records that share a key, ordered by left, then right, with their levels.

    `keys[p, k]` says whether pair p shares key k.
    """

    left: Numbers
    right: Numbers
    levels: LevelCodes
    keys: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, left: Bytes, right: Bytes, layout: Layout, cut_offs: Ints, edits: Ints) -> "Shared":
        """All pairs that share a tag.

        Privacy: what the linkage unit computes; of records that share none it learns nothing.
        """
        from gramlink.kernels.veil import levels_of_shared

        lefts, rights, keys, new = _rows(left, right, layout)
        starts = np.append(np.flatnonzero(new), len(lefts))
        levels = levels_of_shared(
            left, right, lefts, rights, keys, starts, layout.starts, layout.cells, cut_offs, edits
        )
        which = np.zeros((len(levels), len(layout.keys)), bool)
        which[np.cumsum(new) - 1, keys] = True
        firsts = starts[:-1]
        return cls(lefts[firsts].astype(np.int32), rights[firsts].astype(np.int32), levels, which)

    def __len__(self) -> int:
        return len(self.left)

    def place(self, left: Ints, right: Ints) -> Ints:
        """The place of each pair of rows among these pairs, or -1."""
        width = np.int64(max(self.right.max(initial=0), right.max(initial=0))) + 1
        ours = self.left.astype(np.int64) * width + self.right
        asked = left.astype(np.int64) * width + right
        if not len(ours):
            return np.full(len(asked), -1)
        place = np.minimum(np.searchsorted(ours, asked), len(ours) - 1)
        return np.where(ours[place] == asked, place, -1)


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """All that the pairs which share a key show, pair by pair and field by field.

    `apart` of `drawn` parities differ in a field that no shared key fixes.
    """

    left: Ints
    right: Ints
    keys: Bools
    equal: Bools
    missing: Bools
    apart: Ints
    drawn: Ints


def observed(left: Bytes, right: Bytes, layout: Layout) -> Observed:
    """What two owners' rows show before levels are made of it, for whoever attacks them.

    Privacy: as `Shared.of`.
    """
    lefts, rights, keys, new = _rows(left, right, layout)
    pair = np.cumsum(new) - 1
    shape = (int(new.sum()), len(layout.names))
    apart, drawn = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    unequal, missing, fixed = (np.zeros(shape, bool) for _ in range(3))
    which = np.zeros((len(apart), len(layout.keys)), bool)
    which[pair, keys] = True
    for key, shown in enumerate(layout.shown):
        rows = np.flatnonzero(keys == key)
        pairs = pair[rows]
        fixed[pairs] |= ~np.isin(np.arange(shape[1]), shown)
        for n, field in enumerate(shown.tolist()):
            at = layout.starts[key] + TAG + n * CELL
            cells = left[lefts[rows], at : at + CELL] ^ right[rights[rows], at : at + CELL]
            apart[pairs, field] += np.bitwise_count(cells[:, :SKETCH]).sum(axis=1, dtype=np.int64)
            drawn[pairs, field] += 8 * SKETCH
            unequal[pairs, field] |= cells[:, SKETCH] != 0
            missing[pairs, field] |= cells[:, SKETCH + 1] != 0
    missing &= ~fixed
    equal = fixed | ((apart == 0) & ~unequal & ~missing)
    return Observed(lefts[new], rights[new], which, equal, missing, apart, drawn)


def _rows(left: Bytes, right: Bytes, layout: Layout) -> tuple[Ints, Ints, Ints, Bools]:
    """The rows that two owners share: of which records, of which key, and where a pair begins."""
    found = [_joined(layout.tags(left, k), layout.tags(right, k)) for k in range(len(layout.keys))]
    lefts, rights = (np.concatenate([one[side] for one in found]) for side in (0, 1))
    keys = np.repeat(np.arange(len(found)), [len(one[0]) for one in found])
    order = np.lexsort((keys, rights, lefts))
    lefts, rights, keys = lefts[order], rights[order], keys[order]
    new = (np.diff(lefts, prepend=-1) != 0) | (np.diff(rights, prepend=-1) != 0)
    return lefts, rights, keys, new


def _joined(ours: npt.NDArray[np.uint64], theirs: npt.NDArray[np.uint64]) -> tuple[Ints, Ints]:
    """The places of equal tags, of which no side has any twice."""
    _, left, right = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
    return left, right
