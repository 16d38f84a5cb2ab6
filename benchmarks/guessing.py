"""How well an adversary can guess from what was released whether a record is in the data.

A coin decides whether a record, the canary, is in. The adversary knows all other records, sees
what is released, and says "in", "out" or nothing. If epsilon is kept, what it says is right at most
exp(epsilon) times as often as wrong, whatever it sees. So the number of right guesses among m is at
most that of m throws of a coin with the odds exp(epsilon), also where one data set has several
canaries with coins of their own (Steinke, Nasr, Jagielski 2023, for pure epsilon). How often the
guesses are right thus bounds epsilon from below, with the confidence of Clopper and Pearson.

The adversary learns from the first half of the runs, by likelihood ratio, when to say what. It is
judged on the other half, which is why nothing needs correcting for what it tried.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

LEVELS = np.unique(np.concatenate([np.linspace(0, 1, 201), [0.001, 0.002, 0.998, 0.999]]))


@dataclass(frozen=True)
class Runs:
    """The coins of each run's canaries, and the numbers released that may tell how they fell."""

    coins: Bools  # by run and canary
    numbers: Floats  # by run, canary and what is watched; NaN where nothing was released

    def halves(self) -> "tuple[Runs, Runs]":
        """The runs to learn from, and those to be judged on."""
        half = len(self.coins) // 2
        first, second = slice(half), slice(half, None)
        return tuple(Runs(self.coins[s], self.numbers[s]) for s in (first, second))

    def each(self, watched: slice) -> "Runs":
        """The same, as if each number stood for a canary of its own."""
        numbers = self.numbers[:, :, watched]
        coins = np.repeat(self.coins, numbers.shape[2], axis=1)
        return Runs(coins, numbers.reshape(len(coins), -1, 1))


@dataclass(frozen=True)
class Loss:
    """The privacy loss that guesses show: an estimate, and what it is at least."""

    trials: int  # half of them to learn from
    guesses: int
    right: int
    point: float
    at_least: float


def loss(runs: Runs, alpha: float) -> Loss:
    """What the guesses of the best adversary show.

    The lower bound is wrong, that is, above the true loss, with a probability below alpha.
    """
    learnt, judged = runs.halves()
    low, high = _medians(learnt)
    ours, coins = _features(learnt.numbers, low, high), learnt.coins.ravel()
    weights = _weights(ours, coins)
    out, into = _thresholds(ours @ weights, coins, alpha)
    scores = _features(judged.numbers, low, high) @ weights
    return _judged(runs, scores >= into, scores <= out, alpha)


def added(runs: Runs, parts: Sequence[slice], alpha: float) -> Loss:
    """What guesses show that are made from one number at a time; the losses added up.

    Where one record moves many counts, the events that show the whole loss are too rare to be
    seen. But if the noise of every number is drawn afresh, the losses of numbers add up. A part has
    numbers of the same scale: the adversary says "in" above the median with the canary, "out" below
    the median without it. As this treats both alike, its guesses are right independently.
    """
    every = []
    for part in parts:
        learnt, judged = runs.each(part).halves()
        low, high = _medians(learnt)
        numbers = np.nan_to_num(judged.numbers, nan=-np.inf)[:, :, 0].ravel()
        found = _judged(runs.each(part), numbers >= high, numbers <= low, alpha / len(parts))
        every.append((part.stop - part.start, found))
    return Loss(
        runs.coins.size,
        sum(found.guesses for _, found in every),
        sum(found.right for _, found in every),
        sum(times * found.point for times, found in every),
        sum(times * found.at_least for times, found in every),
    )


def _medians(runs: Runs) -> tuple[Floats, Floats]:
    """Of each number that is watched, the medians without the canary and with it."""
    kinds = [runs.numbers[~runs.coins], runs.numbers[runs.coins]]
    found = [
        [np.median(some[~np.isnan(some)]) if not np.isnan(some).all() else 0.0 for some in kind.T]
        for kind in kinds
    ]
    return np.min(found, axis=0), np.max(found, axis=0)


def _features(numbers: Floats, low: Floats, high: Floats) -> Floats:
    """Of each number where it lies between the medians, from -1 to 1, and whether it was released.

    Of Laplace noise, the likelihood ratio changes between the two true values only.
    """
    flat = numbers.reshape(-1, numbers.shape[2])
    there = ~np.isnan(flat)
    width = np.where(high > low, high - low, 1)
    place = np.clip((np.where(there, flat, 0) - low) / width, 0, 1) * 2 - 1
    ones = np.ones((len(flat), 1))
    return np.hstack([np.where(there & (high > low), place, 0), there, ones])


def _weights(features: Floats, coins: Bools) -> Floats:
    """The weights with which features add up to the log likelihood ratio: logistic regression."""
    weights = np.zeros(features.shape[1])
    for _ in range(15):
        chance = 1 / (1 + np.exp(-features @ weights))
        slope = features.T @ (coins - chance) - 1e-3 * weights
        curve = (features * (chance * (1 - chance))[:, None]).T @ features
        weights = weights + np.linalg.solve(curve + 1e-3 * np.eye(len(weights)), slope)
    return weights


def _thresholds(scores: Floats, coins: Bools, alpha: float) -> tuple[float, float]:
    """Up to which score to say "out", and from which on "in", for the largest lower bound."""
    bars = np.unique(np.quantile(scores, LEVELS))
    yes, no = np.sort(scores[coins]), np.sort(scores[~coins])
    right_in, wrong_in = (len(some) - np.searchsorted(some, bars) for some in (yes, no))
    right_out, wrong_out = (np.searchsorted(some, bars, "right") for some in (no, yes))
    # the last row and column: never to say so
    right = np.append(right_in, 0)[:, None] + np.append(right_out, 0)
    wrong = np.append(wrong_in, 0)[:, None] + np.append(wrong_out, 0)
    total, square = right + wrong, -2 * math.log(alpha)
    # of the share that is right, Wilson's bound, which is quicker
    spread = np.sqrt(square * (right * wrong / np.maximum(total, 1) + square / 4))
    bound = (right + square / 2 - spread) / (total + square)
    above = np.append(bars, np.inf)[:, None] > np.append(bars, -np.inf)
    into, out = np.unravel_index(np.where(above, bound, -np.inf).argmax(), bound.shape)
    return np.append(bars, -np.inf)[out], np.append(bars, np.inf)[into]


def _judged(runs: Runs, into: Bools, out: Bools, alpha: float) -> Loss:
    """What it shows to say "in" and "out" so in the second half of the runs."""
    coins = runs.halves()[1].coins.ravel()
    guesses = int(into.sum() + out.sum())
    right = int((into & coins).sum() + (out & ~coins).sum())
    point = math.log((right + 0.5) / (guesses - right + 0.5))
    return Loss(runs.coins.size, guesses, right, point, odds_at_least(right, guesses, alpha))


def odds_at_least(right: int, of: int, alpha: float) -> float:
    """The lower bound of Clopper and Pearson for the logarithm of the odds of being right.

    >>> round(odds_at_least(10, 10, 0.05), 3), odds_at_least(0, 10, 0.05)
    (1.052, -inf)
    """
    if not right:
        return -math.inf
    logs = np.concatenate([[0], np.cumsum(np.log(np.arange(1, of + 1)))])
    times = np.arange(right, of + 1)
    ways = logs[of] - logs[times] - logs[of - times]
    low, high = -50.0, 50.0
    for _ in range(60):
        odds = (low + high) / 2
        # the chance of being right at least so often, if the odds were these
        chance = np.logaddexp.reduce(ways + times * odds) - of * np.logaddexp(0, odds)
        low, high = (odds, high) if chance < math.log(alpha) else (low, odds)
    return low
