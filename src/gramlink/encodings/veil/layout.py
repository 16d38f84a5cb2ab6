"""Layout: where in the bytes of a record which row is, and which fields a row shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gramlink.encodings.veil.keys import Key
from gramlink.kernels.cells import CELL, DRAWS, TAG
from gramlink.privacy.exposure import Disclosure

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Layout:
    """The rows of a record, one for each key: a tag, and a cell for each field it does not fix."""

    names: tuple[str, ...]
    keys: tuple[Key, ...]

    @cached_property
    def shown(self) -> tuple[Ints, ...]:
        """For each key, the places of the fields it does not fix, ascending."""
        return tuple(
            np.array([f for f, name in enumerate(self.names) if name not in key.fixed], np.int64)
            for key in self.keys
        )

    @cached_property
    def starts(self) -> Ints:
        """Where each row begins, and last where the record ends."""
        sizes = [TAG + CELL * len(fields) for fields in self.shown]
        return np.concatenate([[0], np.cumsum(sizes)])

    @property
    def width(self) -> int:
        """How many bytes a record has."""
        return int(self.starts[-1])

    @cached_property
    def cells(self) -> Ints:
        """The fields that each key shows, as a table filled up with -1."""
        table = np.full((len(self.keys), len(self.names) + 1), -1)
        for row, fields in zip(table, self.shown, strict=True):
            row[: len(fields)] = fields
        return table

    @property
    def disclosure(self) -> Disclosure:
        """How many rows of a record it shows, and how many draws of each field in all of them."""
        times = np.bincount(np.concatenate(self.shown), minlength=len(self.names)).tolist()
        draws = {name: DRAWS * often for name, often in zip(self.names, times, strict=True)}
        return Disclosure(len(self.keys), draws)

    def tags(self, rows: Bytes, key: int) -> Words:
        """The tags of one key's rows."""
        start = self.starts[key]
        found = np.ascontiguousarray(rows[:, start : start + TAG]).view("<u8")
        return found.ravel().astype(np.uint64)

    def repeated(self, rows: Bytes) -> bool:
        """Whether two records have the same tag, which no owner sends."""
        return any(
            len(np.unique(self.tags(rows, key))) < len(rows) for key in range(len(self.keys))
        )


def spelt(keys: Sequence[Key]) -> list[list[list[str]]]:
    """Keys as they stand in a manifest."""
    return [key.spelt for key in keys]
