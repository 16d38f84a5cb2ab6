"""Two owners' rows side by side, as scoring sees them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gramlink.encodings.encoding import LevelCodes, Rows
from gramlink.encodings.veil.chance import SWAPPED, by_chance, passes_of
from gramlink.encodings.veil.keys import EITHER
from gramlink.encodings.veil.relatives import kin_of
from gramlink.encodings.veil.shared import Shared
from gramlink.matching.chance import Chance, Frequencies, Gaps, Kin
from gramlink.matching.pairs import Progress
from gramlink.matching.passes import Candidates, Pass
from gramlink.records.levels import EQUAL, Levels

if TYPE_CHECKING:
    from gramlink.encodings.veil.veiled import VeiledRecords

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ComparedRows:
    """Two owners' rows, as scoring sees them."""

    ours: "VeiledRecords"
    theirs: "VeiledRecords"
    same: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields."""
        return self.ours.layout.names

    @property
    def levels(self) -> tuple[Levels, ...]:
        """The levels that each field tells apart."""
        partners = {one: (other, True) for one, other in self._swaps}
        partners |= {other: (one, False) for one, other in self._swaps}
        roles = (partners.get(name, ("", True)) for name in self.names)
        return tuple(
            Levels(len(cuts) - 1, partner, leads=leads)
            for cuts, (partner, leads) in zip(self.ours.cut_offs, roles, strict=True)
        )

    @property
    def _swaps(self) -> dict[tuple[str, ...], list[int]]:
        """Two fields that keys have either way round, and these keys; no field twice."""
        found: dict[tuple[str, ...], list[int]] = {}
        for place, key in enumerate(self.ours.layout.keys):
            for one in key.components:
                taken = {name for fields in found for name in fields}
                if one.part == EITHER and (one.fields in found or taken.isdisjoint(one.fields)):
                    found.setdefault(one.fields, []).append(place)
        return found

    @cached_property
    def _told(self) -> LevelCodes:
        """The levels of the pairs that share a key.

        Two fields that differ, and are the same either way round, are swapped.
        """
        levels = self.shared.levels.copy()
        for fields, keys in self._swaps.items():
            both = [self.names.index(name) for name in fields]
            codes = np.array([(of.farther, of.missing) for of in (self.levels[f] for f in both)]).T
            found = levels[:, both]
            unlike = ((found != EQUAL) & (found <= codes[0])).all(axis=1)
            swapped = self.shared.keys[:, keys].any(axis=1) & unlike
            # in a row, missing values have the code after farther
            found = np.where(found > codes[0], codes[1], found)
            found[swapped] = codes[1] - 1
            levels[:, both] = found
        return levels

    @property
    def pairs(self) -> int:
        """How many pairs of records there are."""
        return len(self.ours) * len(self.theirs)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many records the left and the right file have."""
        return len(self.ours), len(self.theirs)

    @cached_property
    def shared(self) -> Shared:
        """The pairs that share a key."""
        edits = np.array([of.edits for of in self.levels])
        cut_offs = np.zeros((len(edits), int(edits.max()) + 1), np.int64)
        for row, one in zip(cut_offs, self.ours.cut_offs, strict=True):
            row[: len(one)] = one
        return Shared.of(self.ours.rows, self.theirs.rows, self.ours.layout, cut_offs, edits)

    def suited_passes(self) -> tuple[Pass, ...]:
        """One for each key: the owners have chosen them."""
        return passes_of(self.ours.layout.keys, self.shared, self.names, self.levels)

    def candidates(
        self,
        passes: Sequence[Pass],  # noqa: ARG002
        progress: Progress | None = None,
    ) -> Candidates:
        """All pairs that share a key."""
        shared = self.shared
        if progress:
            progress(1, 1)
        first = np.bincount(shared.keys.argmax(axis=1), minlength=len(self.ours.layout.keys))
        return Candidates(
            shared.left,
            shared.right,
            self._told,
            self.suited_passes(),
            tuple(shared.keys.sum(axis=0).tolist()),
            tuple(first.tolist()),
        )

    def tells(self, left: int, right: int) -> bool:
        """Only records that share a key can be compared."""
        return bool(self.shared.place(np.array([left]), np.array([right]))[0] >= 0)

    def levels_of(self, left: Rows, right: Rows) -> LevelCodes:
        """The levels of any pairs of rows; all missing where they share no key."""
        found = np.tile(np.array([of.missing for of in self.levels], np.uint8), (len(left), 1))
        place = self.shared.place(left.astype(np.int64), right.astype(np.int64))
        known = np.flatnonzero(place >= 0)
        found[known] = self._told[place[known]]
        return found

    def by_chance(self) -> tuple[Chance, ...]:
        """What everybody knows of such fields."""
        found = by_chance(self.ours.fields, self.ours.cut_offs, self.gaps())
        return tuple(
            Chance(chance.equal, np.insert(chance.counts, of.swapped, 0), SWAPPED)
            if of.swapped is not None
            else chance
            for chance, of in zip(found, self.levels, strict=True)
        )

    def gaps(self) -> Gaps:
        """Which fields pairs miss, of those that share a key."""
        missing = np.array([of.missing for of in self.levels])
        return Gaps.seen(self._told == missing)

    def frequencies(self) -> Frequencies:
        """The same for all values: the unit sees none."""
        known = [chance.equal for chance in self.by_chance()]
        return Frequencies(
            np.zeros((len(self.ours), len(known)), np.int32),
            np.array(known),
            np.arange(len(known)),
        )

    def within_left(self, most: int) -> "ComparedRows":  # noqa: ARG002
        """Nothing: no two records of one owner share a row."""
        none = replace(self.ours, rows=self.ours.rows[:0])
        return ComparedRows(none, none, same=True)

    def kin(self) -> tuple[Kin, ...]:
        """What everybody knows of households and neighbours."""
        fields = tuple((field.name, field.kind) for field in self.ours.fields)
        return kin_of(fields, self.ours.layout.keys, self.sizes)
