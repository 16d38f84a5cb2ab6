"""Joint deciding: how likely each pair is a match, given the others and how many matches there are.

A pair's odds say how much likelier its two records are a match than any two records. Whether they
are one also depends on what else they could be matched with, and on how many records have a match
at all: where nearly everybody has one, weak evidence will do, and where hardly anybody has, it
will not. All sets of links that the rule allows are weighed, each as likely as the odds of its
pairs make it; the number of matches is the one that this expects.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gramlink.deciding.rules import Rule

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SURE = 30.0  # odds beyond its exponential are certain; sums of them are still precise
FAINT = 1e-9  # odds that are too low to matter for others
ROUNDS, SETTLED = 30, 1e-4  # to find the number of matches, and the share of it that may be left
LEAST = 0.5  # records without a match, at least


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """How likely each pair is a match, given all others, and how many matches are expected."""

    probability: Floats
    matches: float


def posterior(
    left: Ints, right: Ints, log_odds: Floats, sizes: tuple[int, int], rule: Rule, expected: float
) -> Posterior:
    """How likely pairs of rows are matches, if the files have these sizes.

    `log_odds` are those of a pair by itself, if `expected` matches are spread over all pairs.
    """
    problem = _Problem.of(left, right, log_odds, rule)
    matches = min(expected, float(min(sizes)) - LEAST)
    probability = np.zeros(len(log_odds))
    for _ in range(ROUNDS if expected > 0 else 0):
        before = matches
        probability = problem.probabilities(_log_shift(matches, expected, sizes, rule))
        matches = float(probability.sum())
        if abs(matches - before) <= SETTLED * (1 + before) or matches <= 0:
            break
    return Posterior(probability, matches)


def _log_shift(matches: float, expected: float, sizes: tuple[int, int], rule: Rule) -> float:
    """What is to be added to log odds if there are so many matches, and records that are taken.

    A set of M pairs in which each record is once leaves (N - M) (N' - M) pairs to choose from.
    """
    matches = max(matches, 1e-300)
    shift = np.log(matches / expected)
    for size, exclusive in zip(sizes, (rule.one_per_left, rule.one_per_right), strict=True):
        if exclusive:
            shift += np.log(size / max(size - matches, LEAST))
    return float(shift)


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    left: Ints
    right: Ints
    log_odds: Floats
    rule: Rule

    @classmethod
    def of(cls, left: Ints, right: Ints, log_odds: Floats, rule: Rule) -> "_Problem":
        return cls(left.astype(np.int64), right.astype(np.int64), log_odds, rule)

    def probabilities(self, shift: float) -> Floats:
        """The probability of each pair, if so much is added to its log odds."""
        odds = np.exp(np.clip(self.log_odds + shift, -700.0, SURE))
        if not len(odds):
            return odds
        if self.rule.one_per_left and self.rule.one_per_right:
            return self._one_to_one(odds)
        if self.rule.one_per_left:
            return np.asarray(odds / (1 + np.bincount(self.left, odds)[self.left]))
        if self.rule.one_per_right:
            return np.asarray(odds / (1 + np.bincount(self.right, odds)[self.right]))
        return np.asarray(odds / (1 + odds))

    def _one_to_one(self, odds: Floats) -> Floats:
        from gramlink.kernels.matchings import components, one_to_one

        notable = np.flatnonzero(odds > FAINT)
        left, right = self.left[notable], self.right[notable]
        lefts, rights = (1 + int(rows.max(initial=-1)) for rows in (self.left, self.right))
        number = components(left, right, lefts, rights)
        order = np.argsort(number, kind="stable")
        starts = np.flatnonzero(np.diff(number[order], prepend=-1, append=-1))
        chosen = notable[order]
        found = one_to_one(left[order], right[order], odds[chosen], starts, lefts, rights)
        free_left = 1 - np.bincount(left[order], found, lefts)
        free_right = 1 - np.bincount(right[order], found, rights)
        result = np.maximum(free_left[self.left] * free_right[self.right], 0) * odds
        result[chosen] = found
        return np.asarray(result)
