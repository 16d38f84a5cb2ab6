"""The histogram of match weights: where each part is drawn, and what it shows in words.

`templates/histogram.html` draws it, in the colours of the page around it.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

TICKS = 7
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True, slots=True)
class Bar:
    """The pairs of one weight, as a rectangle."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Mark:
    """A place on an axis, and its label."""

    place: float
    label: str


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many candidate pairs have each weight, in whole bits from the lightest on.

    Bars grow with the logarithm of the count, so that one pair is visible beside a million.
    `line` is a weight to draw a line at, such as that of the lightest link.

    >>> Histogram.of([(8, 40), (7, 1)]).bins
    ((7, 1), (8, 40))
    """

    WIDTH: ClassVar = 480
    HEIGHT: ClassVar = 260
    LEFT: ClassVar = 104
    RIGHT: ClassVar = WIDTH - 14
    TOP: ClassVar = 12
    FLOOR: ClassVar = HEIGHT - 54

    bins: tuple[tuple[int, int], ...]
    line: float | None = None

    @classmethod
    def of(cls, bins: Iterable[Iterable[int]], line: float | None = None) -> "Histogram":
        """The histogram of pairs of a weight and a count, in any order."""
        pairs = (tuple(map(int, one)) for one in bins)
        return cls(tuple(sorted((weight, count) for weight, count in pairs if count > 0)), line)

    @property
    def first(self) -> int:
        """The lower end of the lightest pairs, in bits."""
        return self.bins[0][0]

    @property
    def last(self) -> int:
        """The upper end of the heaviest pairs, in bits."""
        return self.bins[-1][0] + 1

    @property
    def bars(self) -> list[Bar]:
        """A rectangle for each weight that occurs."""
        across = (self.RIGHT - self.LEFT) / (self.last - self.first)
        return [
            Bar(
                self._x(weight) + across * 0.06,
                self._y(count),
                across * 0.88,
                self.FLOOR - self._y(count),
            )
            for weight, count in self.bins
        ]

    @property
    def levels(self) -> list[Mark]:
        """Powers of ten on the axis of counts."""
        step = 1 + self._top // 6
        return [Mark(self._y(10**p), _power(p)) for p in range(0, self._top + 1, step)]

    @property
    def ticks(self) -> list[Mark]:
        """Round numbers on the axis of weights."""
        return [Mark(self._x(weight), bits(weight)) for weight in _ticks(self.first, self.last)]

    @property
    def line_at(self) -> float | None:
        """Where the line is drawn: at the nearest end if its weight lies outside."""
        if self.line is None:
            return None
        return self._x(min(max(self.line, self.first), self.last))

    @property
    def said(self) -> str:
        """What the picture shows, for those who cannot see it.

        >>> Histogram(((7, 1), (8, 40))).said
        '41 pairs from 7 to 9 bits; most, 40, have 8 to 9 bits.'
        """
        total = sum(count for _, count in self.bins)
        text = f"{total:,} pairs from {self.first} to {self.last} bits; {_most(self.bins)}"
        above = tuple(one for one in self.bins if one[0] >= 0)
        if above and self.first < 0:
            text += f"; above 0 bits, {_most(above)}"
        return text + "."

    @property
    def _top(self) -> int:
        return max(1, math.ceil(math.log10(max(count for _, count in self.bins))))

    def _x(self, weight: float) -> float:
        across = (self.RIGHT - self.LEFT) / (self.last - self.first)
        return self.LEFT + (weight - self.first) * across

    def _y(self, count: int) -> float:
        # half a decade below 1, so that one pair has a bar
        share = (math.log10(count) + 0.5) / (self._top + 0.5)
        return self.TOP + (self.FLOOR - self.TOP) * (1 - share)


def bits(weight: float) -> str:
    """A weight with a real minus sign.

    >>> bits(-1200), bits(9.5)
    ('−1,200', '9.5')
    """
    return f"{weight:,}".replace("-", "−")


def _most(bins: tuple[tuple[int, int], ...]) -> str:
    weight, count = max(bins, key=lambda one: one[1])
    return f"most, {count:,}, have {weight} to {weight + 1} bits"


def _ticks(first: int, last: int) -> list[int]:
    """A few round numbers.

    >>> _ticks(-17, 31)
    [-10, 0, 10, 20, 30]
    """
    for step in STEPS:
        marks = list(range(-(-first // step) * step, last + 1, step))
        if len(marks) <= TICKS:
            break
    return marks


def _power(exponent: int) -> str:
    """A power of ten, short enough for an axis.

    >>> _power(4), _power(7)
    ('10,000', '10 million')
    """
    if exponent < 6:
        return f"{10**exponent:,}"
    if exponent < 9:
        return f"{10 ** (exponent - 6)} million"
    return f"{10 ** (exponent - 9):,} billion"
