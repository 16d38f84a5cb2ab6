"""What an experiment is: what it varies, what it measures, and how that is shown."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal

import polars as pl

from gramlink.errors import GramlinkError

Setting = str | int | float
Point = dict[str, Setting]  # one value for each setting
Row = dict[str, Setting | None]  # what was measured there
Grid = Mapping[str, Sequence[Setting]]  # all combinations of these values
Scale = Literal["full", "quick", "tiny"]

DRAW = "draw"  # the setting that tells repetitions apart, and the seed of their data


class NotMeasured(GramlinkError):
    """A small run lacks what a claim is about."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The rows of an experiment: its settings and what was measured; and on which days."""

    frame: pl.DataFrame
    dates: frozenset[str] = frozenset()

    def where(self, **settings: Setting) -> "Measured":
        """Only the rows with these settings."""
        conditions = [pl.col(name) == value for name, value in settings.items()]
        return Measured(self.frame.filter(*conditions)) if conditions else self

    def mean(self, what: str, **settings: Setting) -> float:
        """The mean of a column over the draws."""
        values = self.where(**settings).frame[what].drop_nulls()
        if not len(values):
            raise NotMeasured("not measured in this run")
        return float(values.cast(pl.Float64).sum() / len(values))

    def measured(self, what: str) -> bool:
        """Whether any row has this value."""
        return what in self.frame.columns and self.frame[what].is_not_null().any()

    def values(self, setting: str, **settings: Setting) -> list[Any]:
        """The different values of a setting, ascending."""
        return self.where(**settings).frame[setting].unique().sort().to_list()

    def curve(self, x: str, y: str, **settings: Setting) -> dict[Any, float]:
        """The mean of y at each x."""
        rows = self.where(**settings)
        return {at: rows.mean(y, **{x: at}) for at in rows.values(x)}

    def means(self, by: Sequence[str], what: Sequence[str]) -> pl.DataFrame:
        """Means and standard deviations (`f1`, `f1_sd`) over the draws, in order of appearance."""
        return self.frame.group_by(by, maintain_order=True).agg(
            *(pl.col(name).mean() for name in what),
            *(pl.col(name).std().alias(f"{name}_sd") for name in what),
            pl.len().alias("draws"),
        )


def typos(edits: int) -> str:
    """A number of edits in words.

    >>> typos(1), typos(2)
    ('1 edit', '2 edits')
    """
    return f"{edits} edit" + "s" * (edits != 1)


def agreement(verdicts: Iterable[bool]) -> bool | None:
    """True if all agree, False if none does, None if only some do."""
    found = set(verdicts)
    if not found:
        raise NotMeasured("not measured in this run")
    return None if len(found) > 1 else found == {True}


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines of y over x: one for each value of `series`, a panel for each of `panels`."""

    x: str
    y: str
    series: str
    x_label: str
    y_label: str
    panels: tuple[str, ...] = ()
    x_log: bool = False
    y_range: tuple[float, float] | None = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Table:
    """A row for each combination of `rows`; `values` get a column for each value of `across`.

    Columns of `once` are at the end, and are means over what varies across.
    """

    rows: tuple[str, ...]
    values: tuple[str, ...]
    across: tuple[str, ...] = ()
    once: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """What the paper says, and what we find: whether it holds (None: partly), and figures.

    Where the paper says nothing, it is our own finding, with nothing to agree with.
    """

    name: str
    paper: str
    ours: Callable[[Measured], tuple[bool | None, str]]
    why: str = ""


@dataclass(frozen=True, slots=True)
class Experiment:
    """One figure or table.

    `measure` gets the settings of a point by name and returns rows. Points are measured in
    parallel processes, or one after the other on all cores if time is of interest.
    """

    name: str
    where: str  # in the paper, or "ours"
    title: str
    about: str
    measure: Callable[..., list[Row]]
    shown: tuple[Plot | Table, ...]
    full: Sequence[Grid]
    quick: Sequence[Grid]
    tiny: Sequence[Grid]
    claims: tuple[Claim, ...] = ()
    alone: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)

    def points(self, scale: Scale) -> Iterator[Point]:
        """All points, in order."""
        grids: Sequence[Grid] = getattr(self, scale)
        for grid in grids:
            for values in product(*grid.values()):
                yield dict(zip(grid, values, strict=True))
