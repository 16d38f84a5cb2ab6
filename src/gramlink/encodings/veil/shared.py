"""Shared rows: what the linkage unit finds in the rows that two owners have in common."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gramlink.encodings.veil.layout import Layout

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
LevelCodes = npt.NDArray[np.uint8]


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

        found = [
            _joined(layout.tags(left, k), layout.tags(right, k)) for k in range(len(layout.keys))
        ]
        lefts, rights = (np.concatenate([one[side] for one in found]) for side in (0, 1))
        keys = np.repeat(np.arange(len(found)), [len(one[0]) for one in found])
        order = np.lexsort((keys, rights, lefts))
        lefts, rights, keys = lefts[order], rights[order], keys[order]
        new = (np.diff(lefts, prepend=-1) != 0) | (np.diff(rights, prepend=-1) != 0)
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


def _joined(ours: npt.NDArray[np.uint64], theirs: npt.NDArray[np.uint64]) -> tuple[Ints, Ints]:
    """The places of equal tags, of which no side has any twice."""
    _, left, right = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
    return left, right
