"""Joint deciding: how likely each pair is a match, given the others and how many matches there are.

A pair's odds say how much likelier its two records are a match than any two records. Whether they
are one also depends on what else they could be matched with, and on how many records have a match
at all: where nearly everybody has one, weak evidence will do, and where hardly anybody has, it
will not. All sets of links that the rule allows are weighed, each as likely as the odds of its
pairs make it; the number of matches is the one that this expects.

Rows are in the order of their ids, which decides between equals.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gramlink.deciding.rules import Rule

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.integer]

SURE = 80.0  # odds beyond its exponential are certain; products of some are still numbers
HAIR = 2.0**-40  # less than certain, so that of two that are equally good none has a half
FAINT = 1e-4  # odds that are too low to matter for others
COARSE = 1e-3  # and that are so while the number of matches is looked for
ROUNDS, SETTLED = 30, 1e-4  # to find the number of matches, and the share of it that may be left
UNIT = 2**40  # probabilities in whole numbers, so that sums of them are exact
LEAST = 0.5  # records without a match, at least


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """How likely each pair is a match, given all others, and how many matches are expected.

    `log_shift` is what the number of matches adds to the log odds of each pair.
    """

    probability: Floats
    matches: float
    log_shift: float


def posterior(
    left: Rows, right: Rows, log_odds: Floats, sizes: tuple[int, int], rule: Rule, expected: float
) -> Posterior:
    """How likely pairs of rows are matches, if the files have these sizes.

    `log_odds` are those of a pair by itself, if `expected` matches are spread over all pairs.
    """
    found = Posterior(np.zeros(len(log_odds)), min(expected, min(sizes) - LEAST), 0.0)
    for _ in range(ROUNDS):
        if found.matches <= 0:
            break
        shift = log_shift(found.matches, expected, sizes, rule)
        probability = marginals(left, right, log_odds + shift, rule, COARSE)
        before, found = found, Posterior(probability, float(probability.sum()), shift)
        if abs(found.matches - before.matches) <= SETTLED * (1 + before.matches):
            probability = marginals(left, right, log_odds + shift, rule)
            return Posterior(probability, float(probability.sum()), shift)
    return found


def log_shift(matches: float, expected: float, sizes: tuple[int, int], rule: Rule) -> float:
    """What is to be added to log odds if there are so many matches and each takes its records.

    M matches that take a record each of N leave N - M for the next, so that odds are N / (N - M)
    times as high as if matches were spread over all.
    """
    shift = np.log(matches / expected)
    for size, exclusive in zip(sizes, (rule.one_per_left, rule.one_per_right), strict=True):
        if exclusive:
            shift += np.log(size / max(size - matches, LEAST))
    return float(shift)


def marginals(
    left: Rows, right: Rows, log_odds: Floats, rule: Rule, faint: float = FAINT
) -> Floats:
    """The probability of each pair, if every set of pairs that the rule allows is as likely as the
    product of their odds.

    Pairs of fainter odds than `faint` stand against others, and these not against them.
    """
    odds = np.exp(np.clip(log_odds, -700.0, SURE))
    if rule.one_per_left and rule.one_per_right:
        return _one_to_one(left, right, odds, faint) * (1 - HAIR)
    against = odds
    for records, exclusive in ((left, rule.one_per_left), (right, rule.one_per_right)):
        if exclusive and len(odds):
            against = np.bincount(records, odds)[records]
    return np.asarray(odds / (1 + against) * (1 - HAIR))


def _one_to_one(left: Rows, right: Rows, odds: Floats, faint: float) -> Floats:
    from gramlink.kernels.matchings import one_to_one

    notable = np.flatnonzero(odds > faint)
    order, starts, sizes = _by_component(left[notable], right[notable])
    chosen = notable[order]
    ours, theirs = left[chosen].astype(np.int64), right[chosen].astype(np.int64)
    result = odds.copy()
    result[chosen] = one_to_one(ours, theirs, odds[chosen], starts, *sizes)
    # what is faint stands against the chance that both of its records are free
    rest = np.flatnonzero(odds <= faint)
    for records, taken in ((left, ours), (right, theirs)):
        free = 1 - np.bincount(taken, result[chosen], 1 + int(records.max(initial=-1)))
        result[rest] *= np.maximum(free, 0)[records[rest]]
    return result


class Learner:
    """Probabilities that come nearer the joint ones from one call to the next.

    While odds are being learnt, and change little from one time to the next, it would be a waste
    to find joint probabilities anew each time.
    """

    def __init__(self, left: Rows, right: Rows, sizes: tuple[int, int], rule: Rule) -> None:
        self._pairs = left.astype(np.int64), right.astype(np.int64)
        self._sizes, self._rule = sizes, rule
        self._free = [np.ones(len(left)), np.ones(len(left))]

    def nearer(self, log_odds: Floats) -> Floats:
        """The probability of each pair, as near as one more step leads."""
        if not (self._rule.one_per_left and self._rule.one_per_right):
            return marginals(*self._pairs, log_odds, self._rule)
        from gramlink.kernels.matchings import swept

        odds = np.exp(np.clip(log_odds, -700.0, SURE))
        probability, *self._free = swept(*self._pairs, odds, *self._sizes, *self._free)
        return np.asarray(probability)


def best_set(left: Rows, right: Rows, probability: Floats, rule: Rule, accept: float) -> Ints:
    """The places of the pairs to link: the set that the rule allows with most right links.

    Each pair is at least as likely as `accept`, and counts for how much likelier it is. From a
    half on all such pairs are in the set, since no record can have two.
    """
    good = np.flatnonzero(probability >= accept)
    gains = 1 + np.rint((probability[good] - accept) * UNIT).astype(np.int64)
    left, right = left[good], right[good]
    if rule.one_per_left and rule.one_per_right:
        from gramlink.kernels.matchings import heaviest

        order, starts, sizes = _by_component(left, right)
        ours, theirs = left[order].astype(np.int64), right[order].astype(np.int64)
        chosen = order[heaviest(ours, theirs, gains[order], starts, *sizes)]
        return np.asarray(good[np.sort(chosen)])
    for records, others, exclusive in (
        (left, right, rule.one_per_left),
        (right, left, rule.one_per_right),
    ):
        if exclusive:
            order = np.lexsort((others, -gains, records))
            first = np.diff(records[order], prepend=-1) != 0
            return np.asarray(good[np.sort(order[first])])
    return good


def _by_component(left: Rows, right: Rows) -> tuple[Ints, Ints, tuple[int, int]]:
    """Pairs in the order of their components, where each begins, and how many rows there are."""
    from gramlink.kernels.matchings import components

    sizes = (1 + int(left.max(initial=-1)), 1 + int(right.max(initial=-1)))
    number = components(left.astype(np.int64), right.astype(np.int64), *sizes)
    order = np.argsort(number, kind="stable")
    starts = np.flatnonzero(np.diff(number[order], prepend=-1, append=-1))
    return order, starts, sizes
