from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlink.errors import BudgetExceeded, InvalidParameter
from gramlink.mining.allocation import exponential, hybrid, linear
from gramlink.privacy.budget import Budget
from noise import silent
from reference import mining as definition

EPSILONS = st.builds(Fraction, st.integers(1, 10**9), st.integers(1, 10**9))
HEIGHTS = st.integers(1, 32)
LENGTHS = st.integers(1, 6)


def printed_hybrid(epsilon, height, q_max):
    """Section 4.2.1 as it stands, with (i+1)."""
    upper = [epsilon * (i + 1) / (q_max * (q_max + 1)) for i in range(1, q_max + 1)]
    return upper + definition.hybrid(epsilon, height, q_max)[q_max:]


def allowed(allocate, height, q_max):
    return allocate is not hybrid or height > q_max


@pytest.mark.parametrize("allocate", [linear, exponential, hybrid])
@pytest.mark.parametrize("height", range(1, 33))
def test_a_path_spends_the_whole_budget_and_no_more(allocate, height):
    for q_max in range(1, 7):
        if allowed(allocate, height, q_max):
            for epsilon in (Fraction(1), Fraction(1, 10), Fraction(22, 7)):
                levels = allocate(epsilon, height, q_max)
                assert len(levels) == height
                assert min(levels) > 0
                assert sum(levels) == epsilon


@pytest.mark.parametrize("allocate", [linear, exponential, hybrid])
@given(epsilon=EPSILONS, height=HEIGHTS, q_max=LENGTHS)
def test_an_allocation_agrees_with_its_definition(allocate, epsilon, height, q_max):
    if allowed(allocate, height, q_max):
        expected = getattr(definition, allocate.__name__)(epsilon, height, q_max)
        assert list(allocate(epsilon, height, q_max)) == expected


@given(epsilon=EPSILONS, height=HEIGHTS, q_max=LENGTHS)
def test_hybrid_needs_a_height_above_q_max(epsilon, height, q_max):
    if height <= q_max:
        with pytest.raises(InvalidParameter, match="height above q_max"):
            hybrid(epsilon, height, q_max)


def test_hybrid_grows_linearly_then_exponentially():
    assert hybrid(Fraction(84), 6, 3) == (7, 14, 21, 6, 12, 24)


def test_exponential_doubles_from_level_to_level():
    assert exponential(Fraction(7), 3, 3) == (1, 2, 4)


def test_the_shares_that_the_paper_prints_for_hybrid_are_refused():
    levels = printed_hybrid(Fraction(1), 7, 3)
    assert sum(levels) == Fraction(5, 4)
    budget = Budget(Fraction(1), draw=silent)
    for epsilon in levels[:-1]:
        budget.laplace([0], sensitivity=1, epsilon=epsilon)
    with pytest.raises(BudgetExceeded):
        budget.laplace([0], sensitivity=1, epsilon=levels[-1])
