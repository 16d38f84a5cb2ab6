"""Names and how many people hold each, to draw them as often."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
import numpy.typing as npt
import polars as pl

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Frequencies:
    """Names, and for each the number of holders up to and including it.

    Whole numbers only: sums of fractions may differ in their last bit between machines, and
    then so would the names that a seed draws.

    >>> eyes = Frequencies.of(["BROWN", "GREEN", "RED"], [3, 1, 0])
    >>> eyes.names[eyes.draw(5, np.random.default_rng(1))].to_list()
    ['BROWN', 'BROWN', 'GREEN', 'GREEN', 'BROWN']
    """

    names: pl.Series
    totals: Ints

    @classmethod
    def of(cls, names: Sequence[str], counts: Iterable[int]) -> "Frequencies":
        """Each name with its number of holders."""
        return cls(pl.Series(names, dtype=pl.String), np.cumsum(np.fromiter(counts, np.int64)))

    @property
    def counts(self) -> Ints:
        """The number of holders of each name."""
        return np.diff(self.totals, prepend=0)

    def draw(self, count: int, random: np.random.Generator) -> Ints:
        """The places of `count` names, each drawn as often as it is held."""
        holders = random.integers(0, self.totals[-1], count)
        return np.searchsorted(self.totals, holders, side="right")


@cache
def bundled(file: str) -> Frequencies:
    """A bundled list: a column of names, and one of how many hold them.

    >>> bundled("surnames.csv.gz").names[0], bundled("surnames.csv.gz").counts[0].item()
    ('SMITH', 2376206)
    """
    packed = (resources.files(__package__) / "data" / file).read_bytes()
    names, counts = pl.read_csv(packed, schema_overrides=[pl.String, pl.Int64]).get_columns()
    return Frequencies(names, counts.cum_sum().to_numpy())
