from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from gramlink.errors import BudgetExceeded, InvalidParameter
from gramlink.privacy.budget import Budget, shown
from noise import seeded, silent

THIRD = Fraction(1, 3)
EPSILONS = st.builds(Fraction, st.integers(1, 10**9), st.integers(1, 10**9))


def never(*_):
    raise AssertionError("noise was drawn")


def test_three_thirds_are_a_whole_and_the_least_bit_more_is_refused():
    budget = Budget(Fraction(1), draw=silent)
    for _ in range(3):
        budget.laplace([1], sensitivity=1, epsilon=THIRD)
    assert budget.left == 0
    with pytest.raises(BudgetExceeded, match="only 0 is left"):
        budget.laplace([1], sensitivity=1, epsilon=Fraction(1, 10**9))
    assert budget.spent == 1


def test_ten_tenths_are_a_whole():
    budget = Budget(Fraction(1), draw=silent)
    for _ in range(10):
        budget.laplace([1], sensitivity=1, epsilon=Fraction(1, 10))
    assert budget.left == 0


def test_an_excess_too_small_for_a_float_is_refused():
    budget = Budget(Fraction(1), draw=silent)
    with pytest.raises(BudgetExceeded):
        budget.laplace([1], sensitivity=1, epsilon=1 + Fraction(1, 10**30))


def test_nothing_is_drawn_without_the_budget_for_it():
    budget = Budget(Fraction(0), draw=never)
    with pytest.raises(BudgetExceeded):
        budget.laplace([1], sensitivity=1, epsilon=Fraction(1))
    with pytest.raises(BudgetExceeded):
        budget.top([1], 1, epsilon=Fraction(1), hidden=5)
    assert budget.spent == 0


def test_the_cost_is_spent_even_if_the_draw_fails():
    budget = Budget(Fraction(1), draw=never)
    with pytest.raises(AssertionError):
        budget.laplace([1], sensitivity=1, epsilon=THIRD)
    assert budget.spent == THIRD


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(-1), Fraction(1, 10**30)])
def test_an_epsilon_that_no_noise_can_have_is_refused(epsilon):
    budget = Budget(Fraction(1), draw=never)
    with pytest.raises(InvalidParameter, match="epsilon"):
        budget.laplace([1], sensitivity=1, epsilon=epsilon)
    assert budget.spent == 0


def test_a_budget_below_zero_is_refused():
    with pytest.raises(InvalidParameter):
        Budget(Fraction(-1))


@pytest.mark.parametrize(
    "values", [[2**52 + 1], [-(2**52) - 1], [2**63 - 1], [-(2**63)], [2**64 - 1], [0.5], [[1]]]
)
def test_values_that_noise_could_push_out_of_64_bits_are_refused(values):
    budget = Budget(Fraction(1), draw=never)
    with pytest.raises(InvalidParameter):
        budget.laplace(values, sensitivity=1, epsilon=Fraction(1))
    with pytest.raises(InvalidParameter):
        budget.top(values, 1, epsilon=Fraction(1))
    assert budget.spent == 0


@pytest.mark.parametrize(
    "wrong", [{"k": 0}, {"k": 1, "hidden": -1}, {"k": 1, "hidden": 1, "hidden_value": 2**53}]
)
def test_a_selection_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(InvalidParameter):
        Budget(Fraction(1), draw=never).top([1], epsilon=Fraction(1), **wrong)


def test_a_sensitivity_below_one_is_refused():
    with pytest.raises(InvalidParameter, match="sensitivity"):
        Budget(Fraction(1), draw=never).laplace([1], sensitivity=0, epsilon=Fraction(1))


def test_no_values_need_no_noise_but_cost_the_same():
    budget = Budget(Fraction(1))
    assert len(budget.laplace([], sensitivity=1, epsilon=THIRD)) == 0
    assert budget.spent == THIRD


def test_branches_spend_side_by_side_and_start_with_what_was_spent():
    budget = Budget(Fraction(1), draw=silent)
    budget.laplace([1], sensitivity=1, epsilon=THIRD)
    left, right = budget.branch(), budget.branch()
    left.laplace([1], sensitivity=1, epsilon=2 * THIRD)
    assert (left.left, right.left, budget.left) == (0, 2 * THIRD, 2 * THIRD)
    with pytest.raises(BudgetExceeded):
        left.branch().laplace([1], sensitivity=1, epsilon=Fraction(1, 10**9))
    right.laplace([1], sensitivity=1, epsilon=2 * THIRD)
    assert right.left == 0


SHARES = st.builds(Fraction, st.integers(1, 1000), st.integers(1, 1000))
PORTIONS = st.lists(EPSILONS | st.just(Fraction(0)), max_size=8)


@settings(deadline=None)
@given(epsilon=EPSILONS, portions=PORTIONS)
def test_portions_never_exceed_the_whole(epsilon, portions):
    budget = Budget(epsilon, draw=never)
    taken = []
    for wanted in portions:
        if sum(taken) + wanted > epsilon:
            before = budget.spent
            with pytest.raises(BudgetExceeded):
                budget.portion(wanted)
            assert budget.spent == before
        else:
            part = budget.portion(wanted)
            assert (part.epsilon, part.spent, part.left) == (wanted, 0, wanted)
            taken.append(wanted)
        assert budget.spent == sum(taken) <= epsilon
        assert budget.left == epsilon - sum(taken)


@settings(deadline=None)
@given(shares=st.lists(SHARES, min_size=1, max_size=8), epsilon=SHARES)
def test_portions_by_exact_shares_use_a_budget_up(shares, epsilon):
    budget = Budget(epsilon, draw=never)
    for share in shares:
        budget.portion(epsilon * share / sum(shares))
    assert budget.left == 0
    with pytest.raises(BudgetExceeded):
        budget.portion(Fraction(1, 10**30))


def test_a_portion_may_be_a_fraction_of_any_size():
    """Epsilon by 40 shares of different denominators is one."""
    shares = [Fraction(1, n) for n in range(101, 181, 2)]
    budget = Budget(Fraction(1), draw=never)
    for share in shares:
        budget.portion(share / sum(shares))
    assert budget.left == 0


def test_a_portion_counts_as_spent_whether_or_not_it_is_used():
    budget = Budget(Fraction(1), draw=silent)
    part = budget.portion(THIRD)
    assert (budget.spent, part.spent) == (THIRD, 0)
    part.laplace([1], sensitivity=1, epsilon=THIRD)
    assert (budget.spent, part.left) == (THIRD, 0)
    with pytest.raises(BudgetExceeded):
        part.laplace([1], sensitivity=1, epsilon=Fraction(1, 10**9))
    assert budget.left == 2 * THIRD


def test_a_portion_of_a_portion_is_spent_there_alone():
    budget = Budget(Fraction(1), draw=silent)
    part = budget.portion(THIRD)
    part.portion(THIRD / 2)
    assert (budget.left, part.left) == (2 * THIRD, THIRD / 2)
    with pytest.raises(BudgetExceeded):
        part.portion(THIRD)


def test_what_is_drawn_from_a_budget_is_missing_for_its_portions():
    budget = Budget(Fraction(1), draw=silent)
    budget.laplace([1], sensitivity=1, epsilon=2 * THIRD)
    with pytest.raises(BudgetExceeded, match="only 1/3 is left"):
        budget.portion(Fraction(1, 2))
    assert budget.portion(THIRD).left == THIRD


def test_a_portion_below_0_is_refused_and_gives_nothing_back():
    budget = Budget(Fraction(1), draw=never)
    budget.portion(THIRD)
    with pytest.raises(InvalidParameter):
        budget.portion(-THIRD)
    assert budget.spent == THIRD


def test_a_portion_draws_from_the_same_source():
    values = np.arange(50)
    whole = Budget(Fraction(1), draw=seeded(3)).laplace(values, sensitivity=1, epsilon=THIRD)
    part = Budget(Fraction(1), draw=seeded(3)).portion(THIRD)
    assert np.array_equal(part.laplace(values, sensitivity=1, epsilon=THIRD), whole)


@settings(deadline=None)
@given(
    values=st.lists(st.integers(-20, 20), max_size=30),
    k=st.integers(1, 12),
    seed=st.integers(0, 2**32),
)
def test_the_top_are_the_largest_noisy_values_and_ties_go_by_place(values, k, seed):
    noisy = seeded(seed)(values, 2 * k / THIRD) if values else []
    definition = sorted(range(len(values)), key=lambda place: (-noisy[place], place))[:k]
    budget = Budget(Fraction(1), draw=seeded(seed))
    places, ranks = budget.top(values, k, epsilon=THIRD)
    assert places.tolist() == sorted(definition)
    assert ranks.tolist() == []
    assert budget.spent == THIRD


@settings(deadline=None)
@given(
    values=st.lists(st.integers(-3, 3), max_size=10),
    k=st.integers(1, 12),
    hidden=st.integers(0, 10),
    hidden_value=st.integers(-3, 3),
)
def test_hidden_values_count_like_written_ones(values, k, hidden, hidden_value):
    budget = Budget(Fraction(1), draw=silent)
    places, ranks = budget.top(values, k, epsilon=THIRD, hidden=hidden, hidden_value=hidden_value)
    written = values + [hidden_value] * hidden
    definition = sorted(range(len(written)), key=lambda place: (-written[place], place))[:k]
    assert places.tolist() == sorted(place for place in definition if place < len(values))
    assert len(places) + len(ranks) == len(definition)
    assert len(set(ranks.tolist())) == len(ranks)
    assert all(0 <= rank < hidden for rank in ranks)


def test_hidden_ranks_are_distinct_and_in_range_in_a_universe_of_2_to_the_62():
    places, ranks = Budget(Fraction(1)).top([10**9, 0], 50, epsilon=Fraction(1), hidden=2**62)
    assert 0 in places
    assert len(places) + len(ranks) == 50
    assert len(set(ranks.tolist())) == len(ranks) >= 48
    assert ranks.min() >= 0
    assert ranks.max() < 2**62


@pytest.mark.parametrize(
    ("epsilon", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(10), "10"),
        (Fraction(1, 10), "0.1"),
        (Fraction(-5, 4), "-1.25"),
        (Fraction(1, 10**9), "0.000000001"),
        (Fraction(1, 10**10), "1/10000000000"),
        (Fraction(22, 7), "22/7"),
    ],
)
def test_an_epsilon_is_shown_as_a_short_decimal_or_a_fraction(epsilon, text):
    assert shown(epsilon) == text
    assert Fraction(text) == epsilon
