from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
import pytest

from comparisons import numbered
from gramlink.deciding.joint import posterior
from gramlink.deciding.rules import rule_named
from gramlink.encodings.vectors import ComparedVectors
from gramlink.kernels.score import log_odds
from gramlink.matching.passes import Pass
from gramlink.scoring import learning
from gramlink.scoring.learning import learn, random_pairs
from gramlink.scoring.mixture import Belief, Patterns, Sort, fit
from gramlink.scoring.model import Model
from gramlink.scoring.score import log_frequencies, misfit, score, score_again

# given name, surname, date of birth, street
SIZES = (400, 2000, 12_000, 6000)
EQUAL, NEAR, OTHER, MISSING = 0.86, 0.05, 0.05, 0.04  # of matches
PASSES = [
    Pass({"first": 1, "second": 1}),
    Pass({"second": 1, "third": 0}),
    Pass({"first": 0, "third": 1}),
    Pass({"fourth": 0, "third": 1}),
    Pass({"fourth": 0, "second": 0}),
    Pass({"fourth": 0, "first": 0}),
]


@dataclass(frozen=True, eq=False)
class Simulated:
    """Two files, and which rows are of one person."""

    left: np.ndarray
    right: np.ndarray
    truth: set

    @cached_property
    def compared(self):
        return compared(self.left.T, self.right.T)

    @cached_property
    def found(self):
        return self.compared.candidates(PASSES)

    @cached_property
    def scored(self):
        return score(self.compared, self.found)


def compared(left, right):
    return ComparedVectors(numbered(left, right))


def within_left(files):
    """The left file compared with itself, all of it."""
    return files.within_left(10**6)


def population(source, count, members):
    """Persons, so many to a household, who share surname and street and nothing else."""

    def drawn(size, number):
        weights = 1 / np.arange(5, size + 5)  # some values are frequent
        return source.choice(source.permutation(size), number, p=weights / weights.sum())

    homes = np.arange(count) // members
    given, surname = drawn(SIZES[0], count), drawn(SIZES[1], count)[homes]
    born, street = source.integers(0, SIZES[2], count), source.integers(0, SIZES[3], count)[homes]
    return np.stack([given, surname, born, street], axis=1)


def recorded(source, people):
    """Some values as a neighbour, which is near, some as another value, some not at all.

    Half of what is wrong with matches is so in each file.
    """
    people = people.copy()
    for field, size in enumerate(SIZES):
        luck = source.random(len(people))
        people[luck < NEAR / 2, field] += 1
        other = (luck >= NEAR / 2) & (luck < (NEAR + OTHER) / 2)
        people[other, field] = source.integers(0, size, other.sum())
        people[source.random(len(people)) < MISSING / 2, field] = -1
    return people


@cache
def simulated(both=1000, members=1, count=2000, seed=1):
    source = np.random.default_rng(seed)
    people = population(source, 2 * count - both, members)
    lot = source.permutation(len(people))
    left, right = lot[:count], source.permutation(lot[count - both :])
    place = {person: row for row, person in enumerate(right.tolist())}
    truth = {(row, place[p]) for row, p in enumerate(left.tolist()) if p in place}
    return Simulated(recorded(source, people[left]), recorded(source, people[right]), truth)


def linked(scored, least=0.5):
    """Pairs that are likelier matches than not, given the others."""
    found = scored.candidates
    expected = sum(sort.count for sort in scored.model.matches)
    rows = [int(side.max(initial=-1)) + 1 for side in (found.left, found.right)]
    sizes = max(rows[0], 1), max(rows[1], 1)
    rule = rule_named("one-to-one")
    joint = posterior(found.left, found.right, scored.log_odds, sizes, rule, expected)
    good = joint.probability >= least
    return set(zip(found.left[good].tolist(), found.right[good].tolist(), strict=True))


def f1(links, truth):
    return 2 * len(links & truth) / (len(links) + len(truth))


def brute_equal_share(ours, theirs, same):
    pairs = [
        (a, b)
        for i, a in enumerate(ours.tolist())
        for j, b in enumerate(theirs.tolist())
        if not same or i < j
    ]
    known = [(a, b) for a, b in pairs if a >= 0 and b >= 0]
    return sum(a == b for a, b in known) / len(known)


@pytest.mark.parametrize("same", [False, True])
def test_u_of_equal_values_is_counted_and_exact(same):
    source = np.random.default_rng(3)
    left = [source.integers(-1, 6, 60), source.integers(-1, 3, 60)]
    right = [source.integers(-1, 6, 40), source.integers(-1, 3, 40)]
    files = compared(left, right)
    files = within_left(files) if same else files
    u = random_pairs(files, files.gaps())
    assert u.count == files.pairs
    for field in range(2):
        ours, theirs = (side[:, field] for side in (files.comparison.left, files.comparison.right))
        expected = brute_equal_share(ours, theirs, same)
        assert u.shares[field][0] == pytest.approx(expected, rel=1e-3)
        assert u.shares[field][:-1].sum() == pytest.approx(1)


def test_u_of_other_levels_is_near_the_truth():
    files = simulated().compared
    rows, others = (side.ravel() for side in np.indices((2000, 2000)))
    levels = files.levels_of(rows, others)
    for field, shares in enumerate(random_pairs(files, files.gaps()).shares):
        counts = np.bincount(levels[:, field], minlength=4)[:3]
        assert shares[:3] == pytest.approx(counts / counts.sum(), abs=0.001)


def test_two_missing_values_are_not_equal():
    files = compared([[-1] * 50, range(50)], [[-1] * 50, range(50)])
    u = random_pairs(files, files.gaps())
    assert u.shares[0][0] < 1e-3
    assert files.gaps().of_field(0) == 1
    scored = score(files, files.candidates([Pass({"second": 0})]))
    assert (scored.candidates.levels[:, 0] == 3).all()


@pytest.mark.parametrize("members", [1, 3])
def test_m_and_the_number_of_matches_are_recovered_without_labels(members):
    data = simulated(members=members)
    model = data.scored.model
    assert model.prior * model.pairs == pytest.approx(len(data.truth), rel=0.06)
    for shares in model.match_shares:
        known = np.array([EQUAL, NEAR, OTHER]) / (1 - MISSING)
        assert shares[:3] == pytest.approx(known, abs=0.04)


@pytest.mark.parametrize("both", [200, 1000, 2000])
def test_matches_are_told_from_other_pairs(both):
    data = simulated(both=both)
    assert f1(linked(data.scored), data.truth) > 0.97


def test_files_without_a_common_person_have_hardly_a_match():
    data = simulated(both=0)
    assert len(linked(data.scored)) <= 20


# households


def test_members_of_a_household_are_not_taken_for_one_person():
    data = simulated(members=4)
    scored = data.scored
    assert f1(linked(scored), data.truth) > 0.97
    matches = scored.model.prior * scored.model.pairs
    assert matches == pytest.approx(len(data.truth), rel=0.05)
    assert sum(sort.count for sort in scored.model.related) > 1000


def test_with_independent_fields_they_would_be():
    data = simulated(members=4)
    found = data.found
    levels = found.levels
    patterns, _ = Patterns.of(levels, data.compared.levels)
    known = random_pairs(data.compared, data.compared.gaps()).log_expected(patterns.levels)
    start = Sort(300.0, tuple(np.array([0.9, 0.04, 0.06, 1]) for _ in SIZES))
    (match,) = fit(patterns, known, [start], [Belief(start.shares, 0.0)], 500).sorts
    assert match.count > 2 * len(data.truth)


@pytest.mark.parametrize(("seed", "equal"), [(1, 0.6), (2, 0.75), (3, 0.98)])
def test_another_start_leads_to_the_same_matches(seed, equal, monkeypatch):
    data = simulated(members=2, seed=seed)
    good = linked(data.scored)
    monkeypatch.setattr(learning, "MOSTLY_EQUAL", equal)
    monkeypatch.setattr(learning, "WITHIN", (1 - equal) / 2)
    other = linked(score(data.compared, data.found))
    assert f1(good, other) > 0.99


def test_pairs_within_the_left_file_are_counted_once_for_all():
    data = simulated(members=2)
    model = data.scored.model
    within = within_left(data.compared)
    pairs = within.candidates(PASSES)
    assert model.within.patterns.counts.sum() == len(pairs)
    factor = data.compared.pairs / within.pairs
    shared = (pairs.levels[:, [1, 3]] == 0).all(axis=1).sum()
    related = sum(sort.count for sort in model.related)
    assert related == pytest.approx(shared * factor, rel=0.3)
    # of a file with itself, matches are among them
    assert score(within, pairs).model.within is None


# values


def test_a_rare_value_that_is_equal_says_more_than_a_common_one():
    data = simulated()
    scored = data.scored
    same = np.flatnonzero((scored.candidates.levels == [0, 0, 2, 2]).all(axis=1))  # names alone
    places = data.found.left[same]
    values, counts = np.unique(data.left[:, 1], return_counts=True)
    often = counts[np.searchsorted(values, data.left[places, 1])]
    odds = scored.log_odds[same]
    rare, common = odds[often <= np.quantile(often, 0.2)], odds[often >= np.quantile(often, 0.8)]
    assert rare.mean() > common.mean() + 1


def test_the_kernel_of_odds_agrees_with_the_definition():
    source = np.random.default_rng(1)
    levels = source.integers(0, 3, (50, 3)).astype(np.uint8)
    patterns, left = source.integers(0, 5, 50).astype(np.int32), np.arange(50, dtype=np.int32)
    numbers = source.integers(0, 4, (50, 3)).astype(np.int32)
    frequencies, offsets = source.normal(size=12), np.array([0, 4, 8])
    matches, random, related = source.normal(size=(3, 5))
    related[3] = -np.inf
    found = log_odds(
        patterns, levels, left, numbers, frequencies, offsets, matches, random, related
    )
    for k, odds in enumerate(found):
        times = sum(frequencies[4 * f + numbers[k, f]] for f in range(3) if levels[k, f] == 0)
        others = np.exp(random[patterns[k]] + times) + np.exp(related[patterns[k]])
        assert odds == pytest.approx(matches[patterns[k]] - np.log(others))


def test_chance_is_as_many_times_likelier_as_a_value_is_frequent():
    files = compared([[1, 1, 1, 2], [1, 2, 3, -1]], [[1, 2, 2, 5, 5, 5], [1, 2, 3, 4, 5, 6]])
    found = files.candidates([Pass({"first": 0})])
    model = score(files, found).model
    equal = model.random.shares[0][0]
    assert equal == pytest.approx((3 * 1 + 1 * 2) / 24, rel=0.02)  # no level has a share of 0
    times = np.exp(log_frequencies(files.frequencies(), model, 0))
    numbers = files.frequencies().numbers[[0, 3], 0]
    assert times[numbers] == pytest.approx([4 / 10 / equal, 3 / 10 / equal])
    within = within_left(files)
    model = score(within, within.candidates([Pass({"first": 0})])).model
    times = np.exp(log_frequencies(within.frequencies(), model, 0))
    assert times[numbers] == pytest.approx([3 / 4 / (3 / 6), 1 / 4 / (3 / 6)], rel=0.1)


def test_a_field_that_is_missing_everywhere_changes_nothing_else():
    ours, theirs = np.arange(0, 600, 3), np.arange(300, 900, 3)
    plain = compared([ours, ours, ours], [theirs, theirs, theirs])
    none = np.full(200, -1)
    more = compared([ours, ours, ours, none], [theirs, theirs, theirs, none])
    passes = [Pass({"first": 0}), Pass({"second": 1})]
    one, other = (score(c, c.candidates(passes)) for c in (plain, more))
    assert linked(one) == linked(other) == {(n + 100, n) for n in range(100)}


# any pair again


def test_the_misfit_is_what_chance_does_not_explain_of_the_pairs_that_look_like_matches():
    scored = simulated().scored
    assert scored.misfit < 0.1
    patterns, _ = Patterns.of(scored.candidates.levels, scored.model.levels)
    assert misfit(patterns, scored.model) == scored.misfit
    likely = scored.model.log_matches(patterns.levels) > np.logaddexp(
        *scored.model.log_others(patterns.levels)
    )
    twice = replace(patterns, counts=np.where(likely, 3, 1) * patterns.counts)
    assert misfit(twice, scored.model) > 1
    nothing = replace(scored.model, matches=(replace(scored.model.matches[0], count=0.0),))
    assert misfit(patterns, nothing) == 0


def test_scoring_again_gives_the_same_odds():
    data = simulated(members=2)
    found, scored = data.found, data.scored
    back = Model.from_json(scored.model.to_json(), "model.json")
    levels, odds = score_again(data.compared, back, found.left, found.right)
    assert np.array_equal(levels, scored.candidates.levels)
    assert odds == pytest.approx(scored.log_odds, rel=1e-12, abs=1e-12)
    some = np.array([7, 3, 3])
    _, few = score_again(data.compared, back, found.left[some], found.right[some])
    assert few == pytest.approx(scored.log_odds[some], rel=1e-12, abs=1e-12)


def test_scores_within_one_file_are_the_same_again():
    within = within_left(simulated(members=2).compared)
    found = within.candidates(PASSES)
    scored = score(within, found)
    _, odds = score_again(within, scored.model, found.left, found.right)
    assert odds == pytest.approx(scored.log_odds, rel=1e-12, abs=1e-12)


def test_the_match_weight_is_what_the_odds_are_above_the_prior():
    data = simulated()
    scored = data.scored
    prior = scored.model.prior
    odds = 2**scored.weights * prior / (1 - prior)
    assert np.log(odds) == pytest.approx(scored.log_odds)


def test_the_same_files_have_the_same_model():
    data = simulated(members=2)
    one, other = data.scored, score(data.compared, data.found)
    assert one.model.to_json() == other.model.to_json()
    assert np.array_equal(one.log_odds, other.log_odds)


def test_learning_from_no_candidates_gives_a_model_without_matches():
    files = compared([range(0, 90, 3)] * 2, [range(300, 390, 3)] * 2)
    found = files.candidates([Pass({"first": 0})])
    patterns, _ = Patterns.of(found.levels, files.levels)
    assert learn(files, found, patterns).prior == 0
    scored = score(files, found)
    assert len(scored.log_odds) == len(scored.weights) == 0


# where files differ from each other


def spoilt(change, *, left):
    """Simulated files, one of which is changed."""
    data = simulated(members=2)
    sides = [data.left.copy(), data.right.copy()]
    change(sides[0 if left else 1])
    return Simulated(*sides, data.truth)


def some_streets_are_missing(side):
    side[np.random.default_rng(1).random(len(side)) < 0.8, 3] = -1


def all_streets_are_missing(side):
    side[:, 3] = -1


def all_streets_are_the_same(side):
    side[:, 3] = 7


@pytest.mark.parametrize("change", [some_streets_are_missing, all_streets_are_missing])
def test_a_field_may_be_missing_more_often_in_the_left_file(change):
    data = spoilt(change, left=True)
    assert f1(linked(data.scored), data.truth) > 0.9


@pytest.mark.parametrize("change", [some_streets_are_missing, all_streets_are_missing])
def test_a_field_may_be_missing_more_often_in_the_right_file(change):
    data = spoilt(change, left=False)
    assert f1(linked(data.scored), data.truth) > 0.9


@pytest.mark.parametrize("side", ["left", "right", "both"])
def test_a_field_of_one_value_says_nothing_and_does_no_harm(side):
    data = simulated(members=2)
    ours, theirs = data.left.copy(), data.right.copy()
    for name, file in (("left", ours), ("right", theirs)):
        if side in (name, "both"):
            all_streets_are_the_same(file)
    data = Simulated(ours, theirs, data.truth)
    found = data.compared.candidates(PASSES[:3])
    scored = score(data.compared, found)
    assert f1(linked(scored), data.truth) > 0.9
    for weights in scored.model.weights.values():
        assert np.isfinite(list(weights.values())).all()


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize(("share", "least"), [(0.02, 0.97), (0.1, 0.93)])
def test_people_may_be_in_a_file_twice(left, share, least):
    data = simulated(members=2)
    sides = [data.left.copy(), data.right.copy()]
    place = 0 if left else 1
    source = np.random.default_rng(4)
    again = source.choice(2000, round(2000 * share), replace=False)
    sides[place] = np.concatenate([sides[place], recorded(source, sides[place][again])])
    copies = dict(zip(range(2000, 2000 + len(again)), again.tolist(), strict=True))
    found = linked(Simulated(*sides, data.truth).scored)
    persons = {(copies.get(i, i), j) if left else (i, copies.get(j, j)) for i, j in found}
    # a record and its equal copy compete for one link, and often neither gets it
    assert f1(persons, data.truth) > least
