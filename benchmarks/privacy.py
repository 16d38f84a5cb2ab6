"""Whether the miners keep their epsilon: audits of what they release of tiny data sets.

The figures for the miners as they are come from `Owner.mine`, with the noise of production. Mutants
draw too little noise. They are run below the owner, where another source of noise can be given;
theirs is the noise of production, too, but drawn many at a time.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from fractions import Fraction
from functools import cache
from time import perf_counter
from types import MappingProxyType
from unittest.mock import patch

import numpy as np
import polars as pl

import gramlink as gl
from benchmarks.canaries import CASES, Case
from benchmarks.common import markdown
from benchmarks.guessing import Loss, Runs, added, loss
from gramlink.mining import fpm
from gramlink.mining.estimates import Estimates
from gramlink.privacy.noise import SYSTEM, Counts, Draw
from gramlink.records.reading import Records

Miner = Callable[[Records], Mapping[str, Estimates]]

WRONG = 0.001  # the chance that any lower bound of the table is


class Cheap(Draw):
    """Noise that is too small by a factor, wherever a miner draws."""

    def __init__(self, factor: Fraction, source: Draw) -> None:
        self.factor, self.source, self.random = factor, source, source.random

    def __call__(self, values: Counts, scale: Fraction) -> Counts:
        """The values with noise of a smaller scale."""
        return self.source(values, scale / self.factor)

    def largest(self, count: int, of: int, scale: Fraction) -> Counts:
        """The largest noises of a smaller scale."""
        return self.source.largest(count, of, scale / self.factor)


class Batched(Draw):
    """The noise of production, of each scale so many at a time and each handed out once."""

    def __init__(self) -> None:
        self.drawn: dict[Fraction, Counts] = {}

    def __call__(self, values: Counts, scale: Fraction) -> Counts:
        """The values, each with noise that no other has had."""
        noise = self.drawn.get(scale, np.zeros(0, np.int64))
        if len(noise) < len(values):
            noise = SYSTEM(np.zeros(20_000, np.int64), scale)
        self.drawn[scale] = noise[len(values) :]
        return values + noise[: len(values)]


def owner(case: Case) -> Miner:
    """What an owner mines, as any owner does."""
    return lambda records: gl.Owner("owner", records, case.schema, b"key").mine(None).fields


def drawing(case: Case, draw: Draw) -> Miner:
    """What the miners below the owner find, with noise from elsewhere."""
    costs, fields = case.schema.costs, case.schema.fields
    return lambda records: {
        field.name: gl.mine_field(records[field.name], field, gl.Budget(costs[field.name], draw))
        for field in fields
    }


def observed(case: Case, miner: Miner, runs: int, seed: int = 1) -> Runs:
    """What is released in so many runs."""
    texts = [*case.records, *case.canaries]
    frame = {field.name: texts for field in case.schema.fields}
    ids = {"id": [str(row) for row in range(len(texts))]}
    every = gl.read_records(pl.DataFrame(ids | frame), case.schema)

    @cache
    def records(coins: bytes) -> Records:
        always = np.ones(len(case.records), np.bool_)
        kept = np.flatnonzero(np.append(always, np.frombuffer(coins, np.bool_)))
        columns = {name: column.take(kept) for name, column in every.columns.items()}
        own = tuple(every.ids[row] for row in kept.tolist())
        return replace(every, ids=own, columns=MappingProxyType(columns))

    coins = np.random.default_rng(seed).random((runs, len(case.canaries))) < 0.5
    numbers = np.full((*coins.shape, len(case.watched[0])), np.nan)
    with _universe(case):
        for run in range(runs):
            found = released(miner(records(coins[run].tobytes())))
            numbers[run] = [[found.get(key, np.nan) for key in keys] for keys in case.watched]
    return Runs(coins, numbers)


def released(mined: Mapping[str, Estimates]) -> dict[str, float]:
    """All numbers of what was mined: by field, the counts of grams or else those of a tree.

    The grams of a tree follow from its prefixes.
    """
    numbers: dict[str, float] = {}
    for name, found in mined.items():
        grams = dict(zip(found.grams, found.counts, strict=True))
        counts = found.tree.counts if found.tree else grams
        numbers |= {f"{name}:{text}": float(count) for text, count in counts.items()}
    return numbers


def _universe(case: Case) -> AbstractContextManager[object]:
    return patch.object(fpm, "UNIVERSE", 0) if case.hidden else nullcontext()


def table() -> str:
    """A row for each pair of neighbouring data sets, and one for losses that are added up."""
    started = perf_counter()
    rows = [row for case in CASES for row in audited(case, WRONG / (4 * len(CASES)))]
    header = ["miner", "one record, or none, with", "ε", "N", "guesses", "estimate", "at least"]
    header += ["mutant: N", "guesses", "estimate", "at least"]
    text = TEXT.format(seconds=perf_counter() - started, confidence=1 - WRONG)
    return text + "\n" + markdown(header, rows)


def audited(case: Case, alpha: float) -> list[list[str]]:
    """The rows of one pair: each of up to four lower bounds is too high with a chance of alpha."""
    epsilon = str(case.schema.epsilon)
    found = [observed(case, owner(case), case.runs)]
    if case.mutants:
        mutant = drawing(case, Cheap(case.excess, Batched()))
        found.append(observed(case, mutant, case.mutants, seed=2))
    rows = [[case.name, case.pair, epsilon, *_cells([loss(runs, alpha) for runs in found])]]
    if case.parts:
        cells = _cells([added(runs, case.parts, alpha) for runs in found])
        rows.append([case.name, "the same, number by number", epsilon, *cells])
    return rows


def _cells(found: list[Loss]) -> list[str]:
    cells = []
    for one in found:
        cells += [f"{one.trials:,}", f"{one.guesses:,}", f"{one.point:.2f}", f"{one.at_least:.2f}"]
    return cells + ["–"] * (8 - len(cells))


TEXT = """\
## Audit of ε

A coin decides whether a record is in the data of an owner, who mines (`Owner.mine`, with the noise
of production). An adversary who knows everything else learns from half of N trials, by likelihood
ratio, when to say which way the coin fell, and when to say nothing. In the other half its guesses
are counted. If ε is kept, they are right at most exp(ε) times as often as wrong: the logarithm of
that ratio is the estimate, and the loss is at least the lower bound of Clopper and Pearson. All
bounds of the table hold together with {confidence:.1%} confidence. Mutants lose 1.25 ε, because
they draw too little noise wherever they draw; they run below `Owner.mine`, on the noise of
production. One is caught where its bound lies above ε. Number by number, an adversary guesses from
each number by itself and the losses are added up, which takes for granted that all noise is drawn
afresh: where a record moves many counts, what shows the whole loss at once is too rare to be seen.
Where no gram is hidden, fpm loses at most 3/4 of the ε that it pays, so the noise of its mutant is
too small by 5/3. {seconds:.0f} seconds.
"""
