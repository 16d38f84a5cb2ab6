"""Levels: how near two values of a field may be, the nearest first."""

from dataclasses import dataclass
from typing import Any

EQUAL = 0
NICKNAME, SWAPPED = "nickname", "swapped"


@dataclass(frozen=True, slots=True)
class Levels:
    """The levels of a field that tells apart up to `edits` edits, and `nicknames` if it does.

    Each has a code: "within e edits" has code e, and equal values have the code `EQUAL`. If people
    swap its values with those of a `partner`, both are *swapped* at once; so one of the two
    `leads`, and the other's level says nothing more.

    >>> levels = Levels(edits=2)
    >>> levels.names
    ('equal', 'within 1', 'within 2', 'farther', 'missing')
    >>> levels.names[levels.farther], len(levels)
    ('farther', 5)
    >>> Levels(edits=0, partner="surname").names
    ('equal', 'farther', 'swapped', 'missing')
    """

    edits: int
    partner: str = ""
    leads: bool = True
    nicknames: bool = False

    @classmethod
    def named(cls, names: Any, partner: str = "", *, leads: bool = True) -> "Levels":
        """The levels that have these names."""
        nicknames = NICKNAME in names
        least = cls(0, partner, leads, nicknames)
        levels = cls(len(names) - len(least), partner, leads, nicknames)
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
    def nickname(self) -> int | None:
        """The code of pairs of a name and a nickname."""
        return self.farther + 1 if self.nicknames else None

    @property
    def swapped(self) -> int | None:
        """The code of pairs that have this value and the partner's the other way round."""
        return self.missing - 1 if self.partner else None

    @property
    def missing(self) -> int:
        """The code of pairs in which one value or both are missing."""
        return self.farther + 1 + self.nicknames + bool(self.partner)

    @property
    def speaking(self) -> int:
        """How many levels say something of whether a pair is a match: all of the first ones."""
        return self.missing if self.leads else self.missing - 1

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the levels, in order of their codes."""
        within = (f"within {e}" for e in range(1, self.edits + 1))
        told = [NICKNAME] * self.nicknames + [SWAPPED] * bool(self.partner)
        return ("equal", *within, "farther", *told, "missing")
