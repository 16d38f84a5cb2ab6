import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.deciding.joint import best_set, log_shift, marginals, posterior
from gramlink.deciding.rules import rule_named
from gramlink.kernels import matchings
from gramlink.records.choices import RULES
from reference import deciding as definition

ODDS = st.sampled_from([1e-12, 1e-3, 0.2, 0.5, 1.0, 2.0, 9.0, 1e6])
PAIRS = st.dictionaries(st.tuples(*[st.integers(0, 3)] * 2), ODDS).map(
    lambda found: sorted((i, j, odds) for (i, j), odds in found.items())
)
ONE_TO_ONE = rule_named("one-to-one")


def arrays(pairs):
    left, right = (np.array([pair[n] for pair in pairs], np.int64) for n in range(2))
    return left, right, np.log(np.array([pair[2] for pair in pairs], float))


def probabilities(pairs, rule="one-to-one"):
    return marginals(*arrays(pairs), rule_named(rule))


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=100)
@given(pairs=PAIRS)
def test_probabilities_are_those_of_all_sets_of_pairs(rule, pairs):
    found = probabilities(pairs, rule)
    assert found == pytest.approx(definition.probabilities(pairs, rule), rel=1e-6, abs=1e-9)


@settings(max_examples=60)
@given(pairs=PAIRS)
def test_where_pairs_form_a_tree_propagation_is_exact(pairs):
    tree, seen = [], {}
    for i, j, odds in pairs:  # leave out what would close a circle
        one, other = seen.setdefault(("l", i), {("l", i)}), seen.setdefault(("r", j), {("r", j)})
        if one is other:
            continue
        one |= other
        seen.update(dict.fromkeys(other, one))
        tree.append((i, j, min(odds, 100.0)))
    left, right, logs = arrays(tree)
    found = matchings._propagated(left, right, np.exp(logs), 4, 4) if tree else []
    assert list(found) == pytest.approx(definition.probabilities(tree, "one-to-one"), abs=1e-6)


@pytest.mark.parametrize("size", [9, 30])
def test_large_circles_are_nearly_exact(size):
    pairs = [(i, j, 3.0) for i in range(size) for j in (i, (i + 1) % size)]
    found = probabilities(pairs)
    assert found == pytest.approx(found[0])  # a ring, in which all pairs are alike
    # of a ring of 2n pairs, from the two eigenvalues that add one record each
    root = np.sqrt(1 + 4 * 3.0)
    assert found[0] == pytest.approx((1 - 1 / root) / 2, abs=1e-3)


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=60)
@given(pairs=PAIRS)
def test_no_record_has_more_than_one_match_on_average(rule, pairs):
    left, right, _ = arrays(pairs)
    found, kind = probabilities(pairs, rule), rule_named(rule)
    assert ((found >= 0) & (found <= 1)).all()
    for rows, exclusive in ((left, kind.one_per_left), (right, kind.one_per_right)):
        if exclusive and len(pairs):
            assert np.bincount(rows, found).max() <= 1 + 1e-12


@settings(max_examples=60)
@given(pairs=PAIRS, seed=st.integers(0, 2**32))
def test_other_numbers_for_the_records_change_nothing(pairs, seed):
    source = np.random.default_rng(seed)
    one, other = source.permutation(50), source.permutation(50)
    renamed = sorted((int(one[i]), int(other[j]), odds) for i, j, odds in pairs)
    order = {(int(one[i]), int(other[j])): k for k, (i, j, _) in enumerate(pairs)}
    again = probabilities(renamed)
    found = probabilities(pairs)
    for (i, j, _), chance in zip(renamed, again, strict=True):
        assert chance == pytest.approx(found[order[i, j]], rel=1e-9, abs=1e-15)


@settings(max_examples=60)
@given(pairs=PAIRS)
def test_a_pair_of_two_other_records_changes_nothing(pairs):
    found = probabilities([*pairs, (7, 7, 1e-12)])
    assert np.array_equal(found[:-1], probabilities(pairs))


def test_two_equally_good_candidates_have_less_than_half_each():
    twice = [(0, 0, 50.0), (0, 1, 50.0)]
    for rule, chance in (("one-to-one", 50 / 101), ("best-per-left", 50 / 101), ("all", 50 / 51),
                         ("best-per-right", 50 / 51)):  # fmt: skip
        assert probabilities(twice, rule) == pytest.approx([chance] * 2)
    certain = probabilities([(0, 0, 1e30), (0, 1, 1e30)])
    assert (certain < 0.5).all()


def test_what_a_rival_takes_away_comes_back_to_whom_it_leaves():
    alone, _ = probabilities([(0, 0, 1.0), (0, 1, 1.0)])
    rescued, _, _ = probabilities([(0, 0, 1.0), (0, 1, 1.0), (1, 1, 1e6)])
    assert rescued > alone


# the number of matches


def matched(source, count, both, noise):
    """Pairs of files of `count` records, `both` in each; weak odds for the others' pairs."""
    true = [(i, i, float(np.exp(source.normal(2, 2)))) for i in range(both)]
    false = {
        (int(i), int(j)): float(np.exp(source.normal(-9, 2)))
        for i, j in source.integers(0, count, (noise, 2))
        if i != j
    }
    return sorted([*true, *((i, j, odds) for (i, j), odds in false.items())])


@pytest.mark.parametrize("both", [10, 200, 390])
def test_the_number_of_matches_is_the_one_that_is_expected(both):
    pairs = matched(np.random.default_rng(both), 400, both, 2000)
    found = posterior(*arrays(pairs), (400, 400), ONE_TO_ONE, both / 2)
    assert found.matches == pytest.approx(found.probability.sum())
    shift = log_shift(found.matches, both / 2, (400, 400), ONE_TO_ONE)
    left, right, logs = arrays(pairs)
    again = marginals(left, right, logs + shift, ONE_TO_ONE).sum()
    assert again == pytest.approx(found.matches, rel=0.01)


def test_where_nearly_everybody_has_a_match_weak_evidence_will_do():
    sizes = (1000, 1000)
    assert log_shift(990, 990, sizes, ONE_TO_ONE) > 9
    assert log_shift(10, 10, sizes, ONE_TO_ONE) == pytest.approx(0.02, abs=0.001)
    assert log_shift(10, 10, sizes, rule_named("all")) == 0
    assert log_shift(5, 10, sizes, rule_named("all")) == pytest.approx(np.log(0.5))


def test_no_pairs_and_no_matches_are_no_trouble():
    none = posterior(*arrays([]), (3, 3), ONE_TO_ONE, 2.0)
    assert (len(none.probability), none.matches) == (0, 0)
    nothing = posterior(*arrays([(0, 0, 1e-9)]), (3, 3), ONE_TO_ONE, 0.0)
    assert nothing.probability.tolist() == [0]


# the best set


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=100)
@given(pairs=PAIRS, accept=st.sampled_from([0.0, 0.01, 0.2, 0.5, 0.9]))
def test_the_best_set_is_allowed_and_none_gains_more(rule, pairs, accept):
    left, right, _ = arrays(pairs)
    chances = definition.probabilities(pairs, rule)
    chosen = best_set(left, right, np.array(chances), rule_named(rule), accept)
    some = [pairs[place] for place in chosen.tolist()]
    assert not any(
        definition.competes(one, other, rule) for one in some for other in some if one != other
    )
    gain = sum(chances[place] - accept for place in chosen.tolist())
    assert gain == pytest.approx(definition.most_gain(pairs, chances, rule, accept), abs=1e-9)


def test_two_good_links_are_better_than_the_best_one():
    left, right = np.array([0, 0, 1]), np.array([0, 1, 0])
    chances = np.array([0.45, 0.4, 0.4])
    assert best_set(left, right, chances, ONE_TO_ONE, 0.1).tolist() == [1, 2]


def test_of_very_many_records_that_hang_together_the_best_pairs_come_first():
    size = matchings.MANY + 10
    left = np.repeat(np.arange(size), 2)
    right = np.stack([np.arange(size), (np.arange(size) + 1) % size], axis=1).ravel()
    chances = np.where(np.arange(2 * size) % 2, 0.3, 0.4)
    chosen = best_set(left, right, chances, ONE_TO_ONE, 0.1)
    assert chosen.tolist() == list(range(0, 2 * size, 2))
