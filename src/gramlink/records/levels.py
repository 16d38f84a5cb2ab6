"""Levels: how near two values of a field may be, the nearest first."""

from dataclasses import dataclass
from typing import Any

EQUAL = 0


@dataclass(frozen=True, slots=True)
class Levels:
    """The levels of a field in which so many edits are told apart.

    Each has a code: that of "within e edits" is e, so that of equal values is `EQUAL`.

    >>> levels = Levels(edits=2)
    >>> levels.names
    ('equal', 'within 1', 'within 2', 'farther', 'missing')
    >>> levels.names[levels.farther], len(levels)
    ('farther', 5)
    """

    edits: int

    @classmethod
    def named(cls, names: Any) -> "Levels":
        """The levels that have these names."""
        levels = cls(len(names) - len(cls(0)))
        if list(names) != list(levels.names):
            raise ValueError(f"{', '.join(map(str, names))} are not the levels of a field")
        return levels

    def __len__(self) -> int:
        return self.missing + 1

    @property
    def farther(self) -> int:
        """The code of pairs that are farther apart than the most edits."""
        return self.edits + 1

    @property
    def missing(self) -> int:
        """The code of pairs in which one value or both are missing."""
        return self.edits + 2

    @property
    def names(self) -> tuple[str, ...]:
        """What the levels are called, by their codes."""
        return ("equal", *(f"within {e}" for e in range(1, self.edits + 1)), "farther", "missing")
