import math
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.records.levels import Levels
from gramlink.scoring import mixture
from gramlink.scoring.mixture import Belief, Patterns, Sort, fit
from reference import mixture as definition

SIZES = (3, 4, 5)
GAPS = 0.05


def shares(source, sizes=SIZES):
    return tuple(np.append(source.dirichlet(np.ones(size - 1)), 1.0) for size in sizes)


def of_sizes(sizes):
    """Fields that have so many levels each."""
    return tuple(Levels(size - len(Levels(0))) for size in sizes)


def patterns_of(counts, sizes=SIZES):
    levels = np.array(list(counts), np.int64).reshape(len(counts), len(sizes))
    return Patterns(levels, np.array(list(counts.values()), np.int64), of_sizes(sizes))


def drawn(source, sort):
    """As many pairs of a sort as it has, by pattern; a twentieth of the values are missing."""
    columns = [source.choice(len(one) - 1, int(sort.count), p=one[:-1]) for one in sort.shares]
    columns = [
        np.where(source.random(len(column)) < GAPS, len(one) - 1, column)
        for column, one in zip(columns, sort.shares, strict=True)
    ]
    return Counter(zip(*(column.tolist() for column in columns), strict=True))


def fitted(patterns, known, free, rounds=500, unseen=0.0):
    """The sorts of a mixture of which nothing was believed."""
    beliefs = [Belief(sort.shares, 0.0) for sort in free]
    return fit(patterns, known, free, beliefs, rounds, unseen).sorts


def plain(sort):
    return sort.count, [one.tolist() for one in sort.shares]


def as_floats(sorts):
    return [value for count, fields in sorts for value in (count, *(x for f in fields for x in f))]


@st.composite
def problems(draw):
    source = np.random.default_rng(draw(st.integers(0, 2**32)))
    every = list(product(*map(range, SIZES)))
    some = [every[n] for n in source.permutation(len(every))[: draw(st.integers(1, len(every)))]]
    counts = {one: int(source.integers(1, 200)) for one in some}
    known = {one: float(source.exponential(50)) + 1e-6 for one in some}
    free = [
        Sort(float(source.uniform(1, 300)), shares(source)) for _ in range(draw(st.integers(1, 3)))
    ]
    return counts, known, free


def logs(known):
    return np.log(list(known.values()))


@settings(deadline=None, max_examples=40)
@given(problem=problems(), rounds=st.integers(1, 4), unseen=st.sampled_from([0.0, 0.4, 1.0]))
def test_rounds_of_fitting_agree_with_the_definition(problem, rounds, unseen):
    counts, known, free = problem
    if unseen:
        counts.pop((0,) * len(SIZES), None)
        known.pop((0,) * len(SIZES), None)
    expected = [plain(sort) for sort in free]
    for _ in range(rounds):
        expected = definition.step(counts, known, expected, unseen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mixture, "SETTLED", -1.0)
        found = fitted(patterns_of(counts), logs(known), free, rounds, unseen)
    assert as_floats(map(plain, found)) == pytest.approx(as_floats(expected), rel=1e-9, abs=1e-12)


@settings(deadline=None, max_examples=30)
@given(problem=problems())
def test_what_is_maximised_never_falls(problem):
    counts, known, free = problem
    before = definition.log_posterior(counts, known, [plain(sort) for sort in free])
    for _ in range(15):
        free = fitted(patterns_of(counts), logs(known), free, rounds=1)
        now = definition.log_posterior(counts, known, [plain(sort) for sort in free])
        assert now >= before - 1e-6 * abs(before)
        before = now


SEEN = st.lists(st.floats(0.05, 1), min_size=3, max_size=3)


@settings(deadline=None, max_examples=30)
@given(problem=problems(), seen=SEEN, rounds=st.integers(1, 3))
def test_sorts_of_which_a_part_is_seen_are_fitted_as_the_definition_says(problem, seen, rounds):
    counts, known, free = problem
    free = [replace(sort, seen=part) for sort, part in zip(free, seen, strict=False)]
    expected = [plain(sort) for sort in free]
    for _ in range(rounds):
        before = definition.log_posterior(counts, known, expected, seen)
        expected = definition.step(counts, known, expected, seen=seen)
        now = definition.log_posterior(counts, known, expected, seen)
        assert now >= before - 1e-6 * abs(before)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mixture, "SETTLED", -1.0)
        found = fitted(patterns_of(counts), logs(known), free, rounds)
    assert as_floats(map(plain, found)) == pytest.approx(as_floats(expected), rel=1e-9, abs=1e-12)
    assert [sort.seen for sort in found] == [sort.seen for sort in free]


def test_relatives_of_whom_few_are_seen_are_as_many_as_those_stand_for():
    """A tenth of them has the only pattern that is counted."""
    shares = (np.array([0.1, 0.9, 1]),)
    patterns = Patterns(np.array([[0]]), np.array([30]), of_sizes((3,)))
    belief = [Belief(shares, 1e9)]
    sort = Sort(1.0, shares, seen=0.1)
    (found,) = fit(patterns, np.array([-700.0]), [sort], belief, 500).sorts
    assert found.count == pytest.approx(300)
    assert np.exp(found.log_expected(np.array([[0]]))) == pytest.approx(30)


@settings(deadline=None, max_examples=30)
@given(problem=problems())
def test_fitted_shares_are_shares_and_no_more_pairs_than_there_are(problem):
    counts, known, free = problem
    found = fitted(patterns_of(counts), logs(known), free)
    assert sum(sort.count for sort in found) <= sum(counts.values()) * (1 + 1e-9)
    for sort in found:
        assert sort.count >= 0
        for one in sort.shares:
            assert one[:-1].sum() == pytest.approx(1)
            assert one[-1] == 1
            assert (one > 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_pairs_that_are_the_same_are_made_up_where_they_are_sent_once(seed):
    sizes = (4,) * 4
    source = np.random.default_rng(seed)
    twice = Sort(2000, tuple(np.array([0.85, 0.1, 0.05, 1]) for _ in sizes))
    random = Sort(40_000, tuple(np.array([0.03, 0.05, 0.92, 1]) for _ in sizes))
    patterns = patterns_of(drawn(source, twice) + drawn(source, random), sizes).unlike
    assert not (patterns.levels == 0).all(axis=1).any()
    start = Sort(10.0, tuple(np.array([0.9, 0.05, 0.05, 1]) for _ in sizes))
    none_missing = (1 - GAPS) ** len(sizes)
    (found,) = fitted(patterns, random.log_expected(patterns.levels), [start], 500, none_missing)
    assert found.count == pytest.approx(twice.count, rel=0.1)
    (without,) = fitted(patterns, random.log_expected(patterns.levels), [start], 500)
    assert without.count < 0.7 * twice.count


@pytest.mark.parametrize("seed", range(3))
def test_a_known_mixture_is_recovered(seed):
    sizes = (4,) * 5
    source = np.random.default_rng(seed)
    match = Sort(3000, tuple(np.array([0.86, 0.08, 0.06, 1]) for _ in sizes))
    random = Sort(40_000, tuple(np.array([0.03, 0.05, 0.92, 1]) for _ in sizes))
    counts = drawn(source, match) + drawn(source, random)
    patterns = patterns_of(counts, sizes)
    start = Sort(500.0, tuple(np.array([0.7, 0.1, 0.2, 1]) for _ in sizes))
    (found,) = fitted(patterns, random.log_expected(patterns.levels), [start])
    assert found.count == pytest.approx(3000, rel=0.02)
    for one, true in zip(found.shares, match.shares, strict=True):
        assert one == pytest.approx(true, abs=0.02)


def test_the_start_hardly_matters_where_other_pairs_are_known():
    sizes = (4,) * 4
    source = np.random.default_rng(5)
    match = Sort(2000, tuple(np.array([0.86, 0.08, 0.06, 1]) for _ in sizes))
    random = Sort(60_000, tuple(np.array([0.02, 0.05, 0.93, 1]) for _ in sizes))
    patterns = patterns_of(drawn(source, match) + drawn(source, random), sizes)
    known = random.log_expected(patterns.levels)
    for seed in range(10):
        bad = Sort(float(10 ** (seed % 4 + 1)), shares(np.random.default_rng(seed), sizes))
        (found,) = fitted(patterns, known, [bad])
        assert found.count == pytest.approx(2000, rel=0.03), seed


def test_where_all_is_explained_nothing_is_left_over():
    random = Sort(50_000, tuple(np.array([0.2, 0.8, 1]) for _ in range(3)))
    counts = drawn(np.random.default_rng(1), random)
    patterns = patterns_of(counts, (3, 3, 3))
    start = Sort(1000.0, tuple(np.array([0.9, 0.1, 1]) for _ in range(3)))
    (found,) = fitted(patterns, random.log_expected(patterns.levels), [start])
    assert found.count < 300


def test_without_patterns_a_sort_has_no_pairs():
    none = Patterns(np.empty((0, 3), np.int64), np.empty(0, np.int64), of_sizes(SIZES))
    start = Sort(10.0, shares(np.random.default_rng(1)))
    (found,) = fitted(none, np.empty(0), [start])
    assert found.count == 0
    assert np.isfinite(found.log_expected(np.zeros((1, 3), np.int64))).all()


def test_a_sort_expects_the_product_of_its_shares():
    sort = Sort(100.0, (np.array([0.5, 0.5, 1]), np.array([0.9, 0.1, 1])))
    found = np.exp(sort.log_expected(np.array([[0, 1], [1, 0], [2, 1], [2, 2]])))
    assert found == pytest.approx([5, 45, 10, 100])  # given what is missing


def test_what_is_believed_counts_as_pairs_that_were_seen():
    shares = (np.array([0.5, 0.5, 1]),)
    patterns = Patterns(np.array([[0]]), np.array([30]), of_sizes((3,)))
    nothing = np.array([-700.0])
    sort = Sort(1.0, shares)
    (plain_sort,) = fitted(patterns, nothing, [sort])
    assert plain_sort.shares[0][0] > 0.99
    (found,) = fit(patterns, nothing, [sort], [Belief(shares, 60.0)], 500).sorts
    assert found.shares[0][0] == pytest.approx((30 + 30.25) / 90.5)
    assert found.count == pytest.approx(30)


def test_a_missing_value_speaks_for_no_sort():
    source = np.random.default_rng(2)
    one, other = (Sort(100.0, shares(source)) for _ in range(2))
    missing = np.array([[2, 3, 4]])
    assert one.log_expected(missing) == pytest.approx(other.log_expected(missing))


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32), count=st.integers(0, 60), fields=st.integers(1, 5))
def test_patterns_are_the_different_rows_with_their_counts(seed, count, fields):
    source = np.random.default_rng(seed)
    sizes = source.integers(3, 9, fields).tolist()
    levels = np.stack([source.integers(0, size, count) for size in sizes], axis=1).astype(np.uint8)
    patterns, place = Patterns.of(levels, of_sizes(sizes))
    counts = Counter(map(tuple, levels.tolist()))
    rows = list(map(tuple, patterns.levels.tolist()))
    assert rows == sorted(rows)  # whatever the order of the pairs
    assert dict(zip(rows, patterns.counts.tolist(), strict=True)) == counts
    assert len(set(rows)) == len(rows)
    assert np.array_equal(patterns.levels[place], levels)
    others = np.zeros((3, fields), np.int64)
    assert patterns.counts_of(others).tolist() == [counts[(0,) * fields]] * 3
    assert patterns.counts_of(patterns.levels).tolist() == patterns.counts.tolist()


def test_patterns_of_fifty_fields_are_told_apart():
    source = np.random.default_rng(3)
    levels = source.integers(0, 8, (500, 50)).astype(np.uint8)
    levels[250:] = levels[:250]
    levels[499, 0] ^= 1
    levels[498, 49] ^= 1
    patterns, place = Patterns.of(levels, of_sizes([8] * 50))
    assert math.prod([8] * 50) > 2**62
    assert len(patterns.counts) == 252
    assert np.array_equal(patterns.levels[place], levels)
