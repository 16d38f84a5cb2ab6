"""Learning: what sorts of pairs there are, found one after the other as the data ask for them.

A mixture starts from what is sure to be there, such as matches that are mostly equal. What it
leaves unexplained suggests further sorts; the best of them stays if it explains enough to be worth
its parameters. So there are as many sorts as the files need: of movers, of people with a
nickname, of the members of a household.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gramlink.encodings.encoding import Compared
from gramlink.matching.chance import Gaps, Kin
from gramlink.matching.passes import Candidates
from gramlink.records.levels import EQUAL, Levels
from gramlink.scoring.mixture import PRIOR, Belief, Mixture, Patterns, Sort, fit, shared
from gramlink.scoring.model import Model, Within

Floats = npt.NDArray[np.float64]

ENOUGH_RECORDS = 250_000  # of the left file, to learn from what no match looks like
LEAST = 1e-9  # a share
MOSTLY_EQUAL, WITHIN = 0.96, 0.03  # what one would guess of matches: equal, within some edits
SELDOM_CALLED, SELDOM_SWAPPED = 0.01, 0.002  # by a nickname, and swapped
BELIEVED = 100.0  # pairs that this guess is worth
KINDRED = 0.01  # the share of candidates that known relatives may be, to start from
FIRMLY = 10_000.0  # and in a file where relatives may outnumber matches by far, at first
SURELY = 1e9  # what everybody knows of relatives is not learnt anew
MOST_SORTS = 8  # found later
TURNS, STEADY = 20, 1e-3  # of learning matches and what else has changed
ROUNDS = 60  # of expectation maximisation in a turn
TRIED, TRIAL_ROUNDS = 4, 25  # starts for each further sort
UNLIKE = 0.2  # how much a pattern that differs in one field more has to say about a start

Known = Callable[[Sequence[Sort]], Floats]
Reshaped = Callable[[Sequence[Sort]], list[Sort]]


def learn(compared: Compared, found: Candidates, patterns: Patterns) -> Model:
    """The sorts of pairs that explain the patterns of the candidates."""
    gaps = compared.gaps()
    model = Model(
        compared.names,
        compared.levels,
        compared.pairs,
        gaps,
        (Sort(max(1.0, 0.3 * min(compared.sizes)), _guess(compared.levels)),),
        random_pairs(compared, gaps),
        (),
        found.passes,
    )
    if not compared.same:
        model = _with_related(model, compared)
    return _with_matches(model, patterns, () if compared.same else compared.kin())


def _with_related(model: Model, compared: Compared) -> Model:
    """The model with what is learnt within the left file.

    Pairs that are of one person are duplicates there, and no related pairs.
    """
    within = compared.within_left(ENOUGH_RECORDS)
    if within.pairs == 0:
        return model
    pairs = within.candidates(model.passes)
    patterns = Patterns.of(pairs.levels, within.levels)[0].unlike  # the same is sent once
    gaps = within.gaps()
    random = random_pairs(within, gaps)
    if not len(pairs):
        return replace(model, within=Within(patterns, gaps, random, ()))
    known = random.log_expected(patterns.levels)
    start = Sort(1.0, _guess(within.levels))
    found = grown(patterns, gaps, lambda _: known, [start], [FIRMLY], gaps.none)
    factor = compared.pairs / within.pairs
    model = replace(model, related=found.sorts[1:])
    shares = random.shares, model.random.shares, model.levels
    related = tuple(
        Sort(sort.count * factor, tuple(map(_moved, sort.shares, *shares)))
        for sort in found.sorts
        if not model.same_person(sort)
    )
    return replace(model, related=related, within=Within(patterns, gaps, random, found.sorts))


def _with_matches(model: Model, patterns: Patterns, kin: Sequence[Kin]) -> Model:
    """The model with the matches that explain the patterns best, beside what is known of others.

    A sort that could not be matches is of related pairs that nothing within a file has shown.
    """
    if not len(patterns.counts):
        return replace(model, matches=(replace(model.matches[0], count=0.0),))
    start = model.matches[0]
    relatives = [one for one in kin if one.seen is not None]
    usual = model.random, model.levels
    neighbours = [_kindred(one, start, *usual) for one in kin if one.seen is None]
    model = replace(
        model,
        related=(*model.related, *neighbours),
        known=tuple(_kindred(one, start, *usual) for one in relatives),
    )

    def known(sorts: Sequence[Sort]) -> Floats:
        matches, _ = _told_apart(model, sorts)
        related = tuple(changed(model.related, matches, model.random, model.levels))
        return np.logaddexp(*replace(model, related=related).log_others(patterns.levels))

    def reshaped(sorts: Sequence[Sort]) -> list[Sort]:
        """Relatives are recorded with the errors that matches have."""
        after = 1 + len(relatives)
        alike = (_kindred(one, sorts[0], *usual) for one in relatives)
        same = (
            replace(new, count=old.count) for new, old in zip(alike, sorts[1:after], strict=True)
        )
        return [sorts[0], *same, *sorts[after:]]

    if model.within or kin:
        seldom = KINDRED * float(patterns.counts.sum())
        starts = [start, *(replace(sort, count=seldom / sort.seen) for sort in model.known)]
        believed = [BELIEVED, *(SURELY for _ in relatives)]
        found = grown(
            patterns, model.gaps, known, starts, believed, reshaped=reshaped, in_part=bool(kin)
        )
    else:  # relatives must not be taken for matches while they are not known
        found = grown(patterns, model.gaps, known, [start], [FIRMLY])
        beliefs = (Belief(start.shares, BELIEVED), *found.beliefs[1:])
        log_gaps = model.gaps.log_shares(patterns.levels, patterns.of_fields)
        found = _settled(patterns, log_gaps, known, found.sorts, beliefs)
    matches, others = _told_apart(model, found.sorts)
    related = (*changed(model.related, matches, model.random, model.levels), *others)
    return replace(model, matches=matches, related=related, steady=found.steady)


def _told_apart(model: Model, sorts: Sequence[Sort]) -> tuple[tuple[Sort, ...], tuple[Sort, ...]]:
    """Sorts of matches, and of others; if none could be matches, there are no matches.

    After the first come those of known relatives.
    """
    first, known, later = sorts[0], sorts[1 : 1 + len(model.known)], sorts[1 + len(model.known) :]
    for _ in range(2):  # who is related tells what makes a person
        others = (*known, *(sort for sort in (first, *later) if not model.could_match(sort)))
        matches = tuple(sort for sort in (first, *later) if model.could_match(sort))
        if not model.within:
            model = replace(model, related=others)
    return matches or (replace(sorts[0], count=0.0),), others


def grown(
    patterns: Patterns,
    gaps: Gaps,
    known: Known,
    start: Sequence[Sort],
    believed: Sequence[float],
    unseen: float = 0.0,
    reshaped: Reshaped = list,
    in_part: bool = False,
) -> Mixture:
    """A mixture that begins with some sorts and has as many more as are worth it.

    What is believed of each of the first is worth so many pairs. For `unseen` see `fit`, for
    `reshaped` and `in_part` `_settled`.
    """
    log_gaps = gaps.log_shares(patterns.levels, patterns.of_fields)
    beliefs = [Belief(one.shares, worth) for one, worth in zip(start, believed, strict=True)]
    mixture = _settled(patterns, log_gaps, known, start, beliefs, unseen, reshaped, in_part)
    parameters = 1 + sum(of.farther for of in patterns.of_fields)
    worth = 0.5 * parameters * np.log(float(patterns.counts.sum()) + 1)
    for _ in range(MOST_SORTS):
        others = known(mixture.sorts)
        trials = [
            fit(
                patterns,
                others,
                (*mixture.sorts, sort),
                (*mixture.beliefs, Belief(sort.shares, 0.0)),
                TRIAL_ROUNDS,
                unseen,
            )
            for sort in beginnings(patterns, log_gaps, others, mixture.sorts)
        ]
        if not trials:
            break
        best = max(trials, key=lambda one: one.log_posterior)
        best = _settled(
            patterns, log_gaps, known, best.sorts, best.beliefs, unseen, reshaped, in_part
        )
        if best.log_posterior - mixture.log_posterior < worth:
            break
        mixture = best
    return mixture


def _settled(
    patterns: Patterns,
    log_gaps: Floats,
    known: Known,
    sorts: Sequence[Sort],
    beliefs: Sequence[Belief],
    unseen: float = 0.0,
    reshaped: Reshaped = list,
    in_part: bool = False,
) -> Mixture:
    """The mixture that explains the patterns best, where what is known follows from its sorts.

    So may the shapes of sorts of which all is known but their number: they are `reshaped`. Where
    pairs of which all is known are seen only `in_part`, no more are expected than there are.
    """
    for _ in range(TURNS):
        sorts = reshaped(sorts)
        beliefs = [
            replace(belief, shares=sort.shares) if belief.count == SURELY else belief
            for belief, sort in zip(beliefs, sorts, strict=True)
        ]
        others = known(sorts)
        mixture = fit(patterns, others, sorts, beliefs, ROUNDS, unseen)
        steady = all(
            abs(one.count - other.count) <= STEADY * (1 + one.count)
            for one, other in zip(mixture.sorts, sorts, strict=True)
        )
        sorts = mixture.sorts
        if steady:
            break
    expected = np.exp(others + log_gaps)
    if in_part:
        expected = np.minimum(expected, patterns.counts)
    return replace(
        mixture, log_posterior=mixture.log_posterior - float(expected.sum()), steady=steady
    )


def beginnings(
    patterns: Patterns, log_gaps: Floats, known: Floats, sorts: Sequence[Sort]
) -> Iterator[Sort]:
    """Sorts to start from: each like one of the patterns that are left over most, and its like."""
    parts = [known, *(sort.log_expected(patterns.levels) for sort in sorts)]
    expected = np.exp(np.logaddexp.reduce(parts, axis=0) + log_gaps)
    left_over = np.maximum(patterns.counts - expected, 0)
    told = np.log(np.maximum(patterns.counts, 1) / np.maximum(expected, 1e-300))
    surprise = patterns.counts * told - (patterns.counts - expected)
    surprise[left_over <= 0] = 0
    for _ in range(TRIED):
        most = int(np.argmax(surprise))
        if surprise[most] <= 0:
            return
        unlike = (patterns.levels != patterns.levels[most]).sum(axis=1)
        weights = left_over * UNLIKE**unlike
        shares = []
        for field, of in enumerate(patterns.of_fields):
            sums = np.bincount(patterns.levels[:, field], weights, minlength=len(of))
            shares.append(shared(sums.astype(np.float64), PRIOR, of))
        yield Sort(float(weights.sum()), tuple(shares))
        surprise[unlike <= 1] = 0


def changed(
    related: Sequence[Sort], matches: Sequence[Sort], random: Sort, of_fields: Sequence[Levels]
) -> Iterator[Sort]:
    """Related pairs between the files, of which one record has changed as matches have.

    The household that moved took everybody with it. A field that is farther apart in a sort of
    matches than in the nearest one has changed in the others, and then is as near as in any two
    records.
    """
    total = sum(sort.count for sort in matches)
    nearest = max(matches, key=lambda sort: sum(share[EQUAL] for share in sort.shares))
    for match in matches:
        part = match.count / total if total > 0 else float(match is nearest)
        changes = [
            max(0.0, float(share[of.farther] - usual[of.farther]) / (1 - float(usual[of.farther])))
            for share, usual, of in zip(match.shares, nearest.shares, of_fields, strict=True)
        ]
        for sort in related:
            shares = tuple(
                (1 - change) * here + change * anywhere
                for change, here, anywhere in zip(changes, sort.shares, random.shares, strict=True)
            )
            yield Sort(sort.count * part, shares)


def _moved(shares: Floats, here: Floats, there: Floats, levels: Levels) -> Floats:
    """Shares of related pairs as they are between the files, from those within the left one.

    The other file may write a field otherwise. A level that random pairs have less
    often there is as much rarer for related ones, and what is lost goes to the levels that
    random pairs have more often.
    """
    speaking = slice(levels.speaking)
    kept = (shares * np.minimum(1, there / here))[speaking]
    more = np.maximum(there - here, 0)[speaking]
    if more.sum() <= 0:
        return shares
    known: Floats = kept + (1 - kept.sum()) * more / more.sum()
    return shared(known, LEAST, levels)


def random_pairs(compared: Compared, gaps: Gaps) -> Sort:
    """u: how near pairs are by chance, where both values are known."""
    shares = []
    for field, (levels, chance) in enumerate(
        zip(compared.levels, compared.by_chance(), strict=True)
    ):
        known = 1 - gaps.of_field(field)
        equal = min(chance.equal / known, 1.0) if known > 0 else 0.0
        swapped = chance.swapped / known if levels.leads and known > 0 else 0.0
        counts = np.array(chance.counts, np.float64) + PRIOR / len(levels)
        counts[[EQUAL, levels.missing]] = 0
        if levels.swapped is not None:
            counts[levels.swapped] = 0
        counts *= (1 - equal - swapped) / counts.sum()
        counts[EQUAL] = equal
        if levels.swapped is not None:
            counts[levels.swapped] = swapped
        shares.append(shared(counts, PRIOR / (len(levels) * max(1, compared.pairs)), levels))
    return Sort(float(compared.pairs), tuple(shares))


def _kindred(kin: Kin, match: Sort, random: Sort, of_fields: Sequence[Levels]) -> Sort:
    """Relatives: as near as matches where they have the same value, else as others who do not."""
    shares = []
    equal = kin.equal.tolist()
    fields = zip(equal, match.shares, random.shares, of_fields, strict=True)
    for often, same, usual, of in fields:
        unlike = usual / (1 - usual[EQUAL])
        unlike[EQUAL] = 0
        shares.append(shared(often * same + (1 - often) * unlike, LEAST, of))
    return Sort(kin.count, tuple(shares), kin.seen or 1.0)


def _guess(of_fields: Sequence[Levels]) -> tuple[Floats, ...]:
    """Matches as one would guess: mostly equal."""
    shares = []
    for levels in of_fields:
        share = np.full(len(levels), WITHIN / max(1, levels.edits))
        share[EQUAL], share[levels.farther] = MOSTLY_EQUAL, 1 - MOSTLY_EQUAL - WITHIN
        if levels.nickname is not None:
            share[levels.nickname] = SELDOM_CALLED
            share[levels.farther] -= SELDOM_CALLED / 2
            share[EQUAL] -= SELDOM_CALLED / 2
        if levels.swapped is not None:
            share[levels.swapped] = SELDOM_SWAPPED
            share[levels.farther] -= SELDOM_SWAPPED * levels.leads
        shares.append(shared(share, 0, levels))
    return tuple(shares)
