"""Base: the grams all owners project their records on."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gramlink.errors import InvalidBase
from gramlink.mining.estimates import Estimates, top
from gramlink.records.fields import MARKS
from gramlink.records.strings import Strings

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Base:
    """The grams all owners project their records on, in a fixed order.

    >>> Base(("A", "MA")).lengths
    (1, 2)

    Privacy: mined under differential privacy; known to the owners, and never sent to the
    linkage unit, which could name most records with it.
    """

    grams: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.grams:
            raise InvalidBase(
                "a base needs at least one gram, and none was found frequent",
                hint="spend more epsilon, or link larger files",
            )
        if len(set(self.grams)) < len(self.grams):
            raise InvalidBase("a base holds each gram once")
        if not all(1 <= len(gram) <= 6 for gram in self.grams):
            raise InvalidBase("the grams of a base have 1 to 6 symbols")

    @property
    def lengths(self) -> tuple[int, ...]:
        """The length of each gram."""
        return tuple(map(len, self.grams))

    @property
    def scale(self) -> int:
        """The least common multiple of the lengths: scaled by it, every coordinate is whole."""
        return math.lcm(*self.lengths)

    @property
    def marked(self) -> bool:
        """Whether a gram says where texts start or end."""
        return not set(MARKS).isdisjoint("".join(self.grams))

    def ready(self, strings: Strings) -> Strings:
        """The texts as the grams are looked for in them: between marks if a gram has one."""
        return strings.marked(MARKS) if self.marked else strings

    def coded(self, symbols: str) -> "CodedBase":
        """The base as kernels read it."""
        from gramlink.kernels.lookup import make_table

        place = {symbol: code for code, symbol in enumerate(symbols)}
        keys = np.empty(len(self.grams), np.int64)
        for i, gram in enumerate(self.grams):
            if not place.keys() >= set(gram):
                raise InvalidBase(f"gram {gram!r} has a symbol outside the alphabet")
            number = 0
            for symbol in gram:
                number = number * len(symbols) + place[symbol]
            keys[i] = number * 8 + len(gram)
        lengths = np.array(self.lengths)
        return CodedBase(
            symbols=len(symbols),
            table=make_table(keys),
            lengths=np.unique(lengths),
            weights=self.scale // lengths,
        )


@dataclass(frozen=True, slots=True, eq=False)
class CodedBase:
    """A base as kernels read it: a table from keys to coordinates, and their weights."""

    symbols: int
    table: Ints
    lengths: Ints
    weights: Ints


def merge(mined: Iterable[Estimates], size: int) -> Base:
    """The grams with the largest summed counts; the same whoever computes it.

    A gram that one owner did not report counts 0 there: it is never looked up in records,
    which would leak. Each owner merges for itself, and they compare digests, so that all
    know that the base follows from the files they exchanged.

    >>> one = Estimates(("A", "B"), (Fraction(5), Fraction(2)))
    >>> two = Estimates(("C", "B"), (Fraction(4), Fraction(4)))
    >>> merge((one, two), 2).grams
    ('B', 'A')

    Privacy: reads released counts only, so it costs nothing.
    """
    sums: dict[str, Fraction] = {}
    for estimates in mined:
        for gram, count in zip(estimates.grams, estimates.counts, strict=True):
            sums[gram] = sums.get(gram, Fraction(0)) + count
    return Base(top(sums.items(), size).grams)
