"""Scoring: how likely each candidate pair is a match, learnt without labels.

The model is that of Fellegi and Sunter: a field's level (equal, within 1 edit, ..., farther,
missing) says how much more often matches have it than other pairs. Where real files differ
from the textbook, so does the model:

- Pairs that are no matches are not all alike. Two members of a household share a surname, an
  address and a telephone; with independent fields they would look like matches, and
  expectation maximisation would take them for such. If the left owner says that nobody is in
  its file twice, the pairs within that file show what pairs look like that are no matches:
  sorts of `related` pairs are learnt there, and are known before any match is looked for.
- Matches are not all alike. Who moves changes street, place and postcode at once. There are
  two sorts of matches.
- The number of pairs is known, and what chance alone makes of them follows from random pairs.
  So the number of matches is what is left over, whatever the start.
- A rare value that is equal says more than a common one. The linkage unit sees equal vectors
  and their counts.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gramlink.matching.comparison import Comparison, Levels, Numbers
from gramlink.matching.passes import Candidates, candidates
from gramlink.scoring.mixture import PRIOR, Patterns, Sort, fit
from gramlink.scoring.model import Model, Within

Floats = npt.NDArray[np.float64]

RANDOM_PAIRS = 1_000_000
SEED = 2013
ENOUGH_RECORDS = 250_000  # of the left file, to learn from what no match looks like
SORTS = 3  # of related pairs, learnt within the left file
LEAST = 1e-9  # a share
NOTABLE = 0.1  # related pairs, learnt beside matches, must be so many beside them


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Candidate pairs with their levels and the natural logarithm of their odds to match."""

    candidates: Candidates
    levels: Levels
    log_odds: Floats
    model: Model

    @property
    def weights(self) -> Floats:
        """The match weight of each pair: log2 of how many times likelier a match is than before."""
        return np.asarray((self.log_odds - self.model.log_prior_odds) / np.log(2))


def score(comparison: Comparison, found: Candidates, *, unique: bool) -> Scored:
    """Learn a model from candidate pairs, with no labels, and weigh each pair by it.

    `unique` says that nobody is in the left file twice.

    Privacy: what the linkage unit computes, from what it has.
    """
    levels = comparison.levels(found.left, found.squared)
    patterns, place = Patterns.of(levels, _sizes(comparison))
    model = learn(comparison, found, patterns, unique=unique and not comparison.same)
    odds = _log_odds(comparison, found.left, levels, patterns, place, model)
    return Scored(found, levels, odds, model)


def score_again(
    comparison: Comparison, model: Model, left: Numbers, right: Numbers
) -> tuple[Levels, Floats]:
    """The levels and the log odds of any pairs of rows under a model."""
    levels = comparison.levels(left, comparison.squared(left, right))
    patterns, place = Patterns.of(levels, _sizes(comparison))
    return levels, _log_odds(comparison, left, levels, patterns, place, model)


def learn(comparison: Comparison, found: Candidates, patterns: Patterns, *, unique: bool) -> Model:
    """The sorts of pairs that explain the patterns of the candidates."""
    records = min(len(comparison.left), len(comparison.right))
    matches = tuple(
        _start(patterns, records * share, equal) for share, equal in ((0.2, 0.95), (0.1, 0.6))
    )
    empty = Model(
        comparison.names,
        comparison.edits,
        comparison.pairs,
        matches,
        random_pairs(comparison),
        (),
        found.passes,
    )
    if unique:
        others = _with_related(empty, comparison)
        known = np.logaddexp(*others.log_others(patterns.levels))
        return replace(others, matches=fit(patterns, known, matches))
    return _beside_related(empty, patterns)


def _with_related(model: Model, comparison: Comparison) -> Model:
    """The model with what is learnt within the left file, where no pair is a match."""
    within = comparison.within_left.sampled(ENOUGH_RECORDS, SEED)
    if within.pairs == 0:
        return model
    pairs = candidates(within, model.passes)
    patterns, _ = Patterns.of(within.levels(pairs.left, pairs.squared), _sizes(within))
    random = random_pairs(within)
    known = random.log_expected(patterns.levels)
    sorts = fit(patterns, known, _beginnings(patterns, known, SORTS)) if len(pairs) else ()
    factor = comparison.pairs / within.pairs
    related = tuple(
        Sort(
            sort.count * factor, tuple(map(_moved, sort.shares, random.shares, model.random.shares))
        )
        for sort in sorts
    )
    return replace(model, related=related, within=Within(patterns, random, sorts))


def _moved(shares: Floats, here: Floats, there: Floats) -> Floats:
    """Shares of related pairs as they are between the files, from those within the left one.

    The other file may lack a field or write it otherwise. A level that random pairs have less
    often there is as much rarer for related ones, and what is lost goes to the levels that
    random pairs have more often.
    """
    kept = shares * np.minimum(1, there / here)
    more = np.maximum(there - here, 0)
    if more.sum() <= 0:
        return shares
    moved = np.maximum(kept + (1 - kept.sum()) * more / more.sum(), LEAST)
    return np.asarray(moved / moved.sum())


def _beside_related(model: Model, patterns: Patterns) -> Model:
    """The model where no file is free of matches: a sort of related pairs is learnt beside them.

    What turns out to be hardly ever equal in two fields, such as a given name and a date of
    birth, is no sort of matches but another of related pairs.
    """
    related: tuple[Sort, ...] = ()
    for _ in range(SORTS):
        others = replace(model, related=related)
        known = np.logaddexp(*others.log_others(patterns.levels))
        starts = [model.matches[0], *_beginnings(patterns, known, 1)]
        found = sorted(fit(patterns, known, starts), key=model.nearness)
        if model.could_match(found[1]):
            if model.could_match(found[0]) or found[0].count < NOTABLE * found[1].count:
                return replace(others, matches=fit(patterns, known, model.matches))
            return replace(model, matches=(found[1],), related=(*related, found[0]))
        related = (*related, *found)
    none = replace(model.matches[0], count=0.0)
    return replace(model, matches=(none,), related=related)


def random_pairs(comparison: Comparison) -> Sort:
    """u: how near pairs are by chance. Equal ones are counted, others estimated from a sample."""
    left, right = comparison.random_pairs(RANDOM_PAIRS, SEED)
    levels = comparison.levels(left, comparison.squared(left, right))
    shares = []
    for field, size in enumerate(_sizes(comparison)):
        counts = np.bincount(levels[:, field], minlength=size) + PRIOR / size
        counts[0] = 0
        equal = _equal_share(comparison, field)
        share = (1 - equal) * counts / counts.sum()
        share[0] = equal
        share = np.maximum(share, PRIOR / (size * max(1, comparison.pairs)))
        shares.append(share / share.sum())
    return Sort(float(comparison.pairs), tuple(shares))


def _equal_share(comparison: Comparison, field: int) -> float:
    ours, theirs = _value_counts(comparison, field)
    equal = float(ours @ (ours - 1)) / 2 if comparison.same else float(ours @ theirs)
    return equal / max(1, comparison.pairs)


def _value_counts(comparison: Comparison, field: int) -> tuple[Floats, Floats]:
    """How many records have each value, on both sides."""
    sides = (comparison.left[:, field], comparison.right[:, field])
    size = max(int(numbers.max(initial=-1)) for numbers in sides) + 1
    ours, theirs = (np.bincount(n[n >= 0], minlength=size).astype(float) for n in sides)
    return ours, theirs


def _beginnings(patterns: Patterns, known: Floats, count: int) -> list[Sort]:
    """Sorts to start from: each as a few of the patterns are that what is known leaves over."""
    source = np.random.default_rng(SEED)
    left_over = np.maximum(patterns.counts - np.exp(known), 0)
    total = float(left_over.sum())
    sorts = []
    for _ in range(count):
        weights = source.random(len(left_over)) ** 4 * left_over
        shares = []
        for field, size in enumerate(patterns.sizes):
            sums = np.bincount(patterns.levels[:, field], weights, minlength=size) + PRIOR
            shares.append(sums / sums.sum())
        sorts.append(Sort(total / count, tuple(shares)))
    return sorts


def _start(patterns: Patterns, count: float, equal: float) -> Sort:
    """Matches as one would guess: mostly equal, else mostly farther."""
    shares = []
    for size in patterns.sizes:
        share = np.full(size, 0.03)
        share[0], share[-2] = equal, 1 - equal
        shares.append(share / share.sum())
    return Sort(max(count, 1.0), tuple(shares))


def _sizes(comparison: Comparison) -> list[int]:
    return [edits + 3 for edits in comparison.edits]


def _log_odds(
    comparison: Comparison,
    left: Numbers,
    levels: Levels,
    patterns: Patterns,
    place: Numbers,
    model: Model,
) -> Floats:
    from gramlink.kernels.score import log_odds

    frequencies = [log_frequencies(comparison, model, field) for field in range(len(model.names))]
    return log_odds(
        place,
        levels,
        left,
        comparison.left,
        np.concatenate(frequencies),
        np.concatenate([[0], np.cumsum([len(one) for one in frequencies])[:-1]]),
        model.log_matches(patterns.levels),
        *model.log_others(patterns.levels),
    )


def log_frequencies(comparison: Comparison, model: Model, field: int) -> Floats:
    """For each value the logarithm of how many times more frequent it is than on average."""
    ours, theirs = _value_counts(comparison, field)
    if comparison.same:
        theirs = np.zeros(1)
    records = len(comparison.left) + (0 if comparison.same else len(comparison.right))
    frequency = np.maximum(ours + theirs, 1) / records
    return np.asarray(np.log(frequency / model.random.shares[field][0]))
