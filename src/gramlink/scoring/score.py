"""Scoring: how likely each candidate pair is a match, learnt without labels.

The model is that of Fellegi and Sunter: a field's level (equal, within 1 edit, ..., farther,
missing) says how much more often matches have it than other pairs. Where real files differ
from the textbook, so does the model:

- Pairs that do not match are not all alike. Two members of a household share a surname, an
  address and a telephone; with independent fields they would look like matches, and
  expectation maximisation would take them for matches. If the left owner says that nobody is in
  its file twice, the pairs within that file show what pairs that do not match look like:
  sorts of `related` pairs are learnt there, and are known before any match is looked for.
- Matches are not all alike. People who move change street, place and postcode at once. There
  are two sorts of matches.
- The number of pairs is known, and what chance alone makes of them follows from random pairs.
  So the number of matches is what is left over, whatever the start.
- A rare value that is equal says more than a common one. The linkage unit sees equal vectors
  and their counts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gramlink.encodings.encoding import Compared, LevelCodes
from gramlink.matching.chance import Frequencies, Gaps
from gramlink.matching.passes import Candidates
from gramlink.records.levels import EQUAL
from gramlink.scoring.mixture import PRIOR, Patterns, Sort, fit, shared
from gramlink.scoring.model import Model, Within

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int32]

SEED = 2013
ENOUGH_RECORDS = 250_000  # of the left file, to learn from what no match looks like
SORTS = 6  # of related pairs, learnt within the left file
LEAST = 1e-9  # a share
BELIEVED = 100.0, 20.0  # matches that what one would guess of each sort is worth
TURNS, STEADY = 20, 1e-3  # of learning matches and what else has changed
NOTABLE = 0.1  # related pairs, learnt beside matches, must be so many beside them


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Candidate pairs with the natural logarithm of their odds to match."""

    candidates: Candidates
    log_odds: Floats
    model: Model

    @property
    def weights(self) -> Floats:
        """The match weight of each pair: log2 of how many times likelier a match is than before."""
        return np.asarray((self.log_odds - self.model.log_prior_odds) / np.log(2))


def score(compared: Compared, found: Candidates, *, unique: bool) -> Scored:
    """Learn a model from candidate pairs, with no labels, and weigh each pair by it.

    `unique` says that nobody is in the left file twice.

    Privacy: what the linkage unit computes, from what it has.
    """
    patterns, place = Patterns.of(found.levels, compared.levels)
    model = learn(compared, found, patterns, unique=unique and not compared.same)
    odds = _log_odds(compared.frequencies(), found.left, found.levels, patterns, place, model)
    return Scored(found, odds, model)


def score_again(
    compared: Compared, model: Model, left: Numbers, right: Numbers
) -> tuple[LevelCodes, Floats]:
    """The levels and the log odds of any pairs of rows under a model."""
    levels = compared.levels_of(left, right)
    patterns, place = Patterns.of(levels, compared.levels)
    return levels, _log_odds(compared.frequencies(), left, levels, patterns, place, model)


def learn(compared: Compared, found: Candidates, patterns: Patterns, *, unique: bool) -> Model:
    """The sorts of pairs that explain the patterns of the candidates."""
    matches = tuple(
        _start(patterns, compared.smaller * share, equal)
        for share, equal in ((0.2, 0.95), (0.1, 0.6))
    )
    empty = Model(
        compared.names,
        compared.levels,
        compared.pairs,
        compared.gaps(),
        matches,
        random_pairs(compared),
        (),
        found.passes,
    )
    if unique:
        return _fitted(_with_related(empty, compared), patterns)
    return _beside_related(empty, patterns)


def _fitted(model: Model, patterns: Patterns) -> Model:
    """The model with the matches that explain the patterns best.

    Between the files, related pairs have changed as matches have: the household that moved took
    everybody with it. What changes is learnt from matches, and which related pairs are then to
    be expected, in turns.
    """
    still = model.related
    believed = [
        replace(match, count=count) for match, count in zip(model.matches, BELIEVED, strict=True)
    ]
    for _ in range(TURNS):
        before = model.matches
        model = replace(model, related=(*still, *changed(still, before, model.random)))
        known = np.logaddexp(*model.log_others(patterns.levels))
        model = replace(model, matches=fit(patterns, known, before, believed))
        if all(
            abs(one.count - other.count) <= STEADY * (1 + one.count)
            for one, other in zip(model.matches, before, strict=True)
        ):
            break
    return model


def changed(related: Sequence[Sort], matches: Sequence[Sort], random: Sort) -> Iterator[Sort]:
    """Related pairs of which one record has changed as the matches of each sort have.

    A field that is farther apart in this sort of matches than in the nearest one has changed in
    the others, and then is as near as in any two records.
    """
    total = sum(sort.count for sort in matches)
    nearest = max(matches, key=lambda sort: sum(share[EQUAL] for share in sort.shares))
    for match in matches:
        if match is nearest or not total:
            continue
        changes = [
            max(0.0, float((share[-2] - usual[-2]) / max(1 - usual[-2], LEAST)))
            for share, usual in zip(match.shares, nearest.shares, strict=True)
        ]
        for sort in related:
            shares = tuple(
                (1 - change) * here + change * anywhere
                for change, here, anywhere in zip(changes, sort.shares, random.shares, strict=True)
            )
            yield Sort(sort.count * match.count / total, shares)


def _with_related(model: Model, compared: Compared) -> Model:
    """The model with what is learnt within the left file, where no pair is a match."""
    within = compared.within_left(ENOUGH_RECORDS)
    if within.pairs == 0:
        return model
    pairs = within.candidates(model.passes)
    patterns, _ = Patterns.of(pairs.levels, within.levels)
    random, gaps = random_pairs(within), within.gaps()
    known = random.log_expected(patterns.levels)
    starts = _beginnings(patterns, known, gaps, SORTS)
    sorts = fit(patterns, known, starts) if len(pairs) else ()
    factor = compared.pairs / within.pairs
    related = tuple(
        Sort(
            sort.count * factor, tuple(map(_moved, sort.shares, random.shares, model.random.shares))
        )
        for sort in sorts
    )
    return replace(model, related=related, within=Within(patterns, gaps, random, sorts))


def _moved(shares: Floats, here: Floats, there: Floats) -> Floats:
    """Shares of related pairs as they are between the files, from those within the left one.

    The other file may write a field otherwise. A level that random pairs have less
    often there is as much rarer for related ones, and what is lost goes to the levels that
    random pairs have more often.
    """
    kept = (shares * np.minimum(1, there / here))[:-1]
    more = np.maximum(there - here, 0)[:-1]
    if more.sum() <= 0:
        return shares
    return shared(np.append(kept + (1 - kept.sum()) * more / more.sum(), 0), LEAST)


def _beside_related(model: Model, patterns: Patterns) -> Model:
    """The model when no file is free of matches: a sort of related pairs is learnt beside them.

    What turns out to be hardly ever equal in two fields, such as a given name and a date of
    birth, is no sort of matches but another of related pairs.
    """
    related: tuple[Sort, ...] = ()
    for _ in range(SORTS):
        others = replace(model, related=related)
        known = np.logaddexp(*others.log_others(patterns.levels))
        starts = [model.matches[0], *_beginnings(patterns, known, model.gaps, 1)]
        found = sorted(fit(patterns, known, starts), key=model.nearness)
        if model.could_match(found[1]):
            if model.could_match(found[0]) or found[0].count < NOTABLE * found[1].count:
                return replace(others, matches=fit(patterns, known, model.matches))
            return replace(model, matches=(found[1],), related=(*related, found[0]))
        related = (*related, *found)
    none = replace(model.matches[0], count=0.0)
    return replace(model, matches=(none,), related=related)


def random_pairs(compared: Compared) -> Sort:
    """u: how near pairs are by chance, where both values are known."""
    shares, gaps = [], compared.gaps()
    for field, (levels, chance) in enumerate(
        zip(compared.levels, compared.by_chance(), strict=True)
    ):
        known = 1 - gaps.of_field(field)
        equal = min(chance.equal / known, 1.0) if known > 0 else 0.0
        counts = chance.counts + PRIOR / len(levels)
        counts[[EQUAL, levels.missing]] = 0
        counts *= (1 - equal) / counts.sum()
        counts[EQUAL] = equal
        shares.append(shared(counts, PRIOR / (len(levels) * max(1, compared.pairs))))
    return Sort(float(compared.pairs), tuple(shares))


def _beginnings(patterns: Patterns, known: Floats, gaps: Gaps, count: int) -> list[Sort]:
    """Sorts to start from: each like a few of the patterns that the known sorts leave over."""
    source = np.random.default_rng(SEED)
    expected = np.exp(known + gaps.log_shares(patterns.levels, patterns.of_fields))
    left_over = np.maximum(patterns.counts - expected, 0)
    total = float(left_over.sum())
    sorts = []
    for _ in range(count):
        weights = source.random(len(left_over)) ** 4 * left_over
        shares = []
        for field, of in enumerate(patterns.of_fields):
            sums = np.bincount(patterns.levels[:, field], weights, minlength=len(of))
            shares.append(shared(sums, PRIOR))
        sorts.append(Sort(total / count, tuple(shares)))
    return sorts


def _start(patterns: Patterns, count: float, equal: float) -> Sort:
    """Matches as one would guess: mostly equal, else mostly farther."""
    shares = []
    for levels in patterns.of_fields:
        share = np.full(len(levels), 0.03)
        share[EQUAL], share[levels.farther] = equal, 1 - equal
        shares.append(shared(share, 0))
    return Sort(max(count, 1.0), tuple(shares))


def _log_odds(
    frequencies: Frequencies,
    left: Numbers,
    levels: LevelCodes,
    patterns: Patterns,
    place: Numbers,
    model: Model,
) -> Floats:
    from gramlink.kernels.score import log_odds

    rarer = [log_frequencies(frequencies, model, field) for field in range(len(model.names))]
    return log_odds(
        place,
        levels,
        left,
        frequencies.numbers,
        np.concatenate(rarer),
        frequencies.starts,
        model.log_matches(patterns.levels),
        *model.log_others(patterns.levels),
    )


def log_frequencies(frequencies: Frequencies, model: Model, field: int) -> Floats:
    """For each value the logarithm of how many times more frequent it is than on average."""
    average = model.random.shares[field][EQUAL]
    return np.asarray(np.log(frequencies.of_field(field) / average))
