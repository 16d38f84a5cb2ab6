from fractions import Fraction
from importlib import import_module

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from gramlink.mining.fpm import absent
from gramlink.mining.miners import mine_field
from gramlink.privacy.budget import Budget
from gramlink.records.fields import CATCH_ALL, Field
from gramlink.records.strings import Strings
from noise import Seeded, seeded, silent
from reference import mining as definition
from reference.mining import Recording

MODULE = import_module("gramlink.mining.fpm")  # the package shows the function of that name
ALPHABET = "BA "
SYMBOLS = 4
EPSILONS = st.builds(Fraction, st.integers(1, 4000), st.integers(1, 20))
SEEDS = st.integers(0, 2**32)
SIZES = st.integers(1, 30)
LENGTHS = st.tuples(st.integers(1, 3), st.integers(1, 3)).map(sorted)
TEXTS = st.lists(
    st.tuples(st.text(ALPHABET + CATCH_ALL, max_size=8), st.sampled_from([1, 1, 2, 30])),
    max_size=12,
).map(lambda drawn: [text for text, times in drawn for _ in range(times)])


def field(**settings):
    settings = {"alphabet": ALPHABET, "q_max": 2} | settings
    return Field(name="name", miner="fpm", **settings)


def mined(records, ours, epsilon=Fraction(1), noise=silent, universe=10**6):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MODULE, "UNIVERSE", universe)
        budget = Budget(epsilon, draw=noise)
        found = mine_field(Strings.of(records, ours.spelling), ours, budget)
    return dict(zip(found.grams, found.counts, strict=True))


class Blind(Seeded):
    """Noisy values that have nothing to do with the true ones."""

    def __call__(self, values, scale):
        return super().__call__(np.zeros_like(values), scale)


@settings(deadline=None)
@given(
    records=TEXTS,
    epsilon=EPSILONS,
    seed=SEEDS,
    size=SIZES,
    lengths=LENGTHS,
    universe=st.sampled_from([0, 4, 20, 10**6]),
)
def test_fpm_agrees_with_its_definition(records, epsilon, seed, size, lengths, universe):
    q_min, q_max = lengths
    ours = field(size=size, q_min=q_min, q_max=q_max)
    found = mined(records, ours, epsilon, seeded(seed), universe)
    expected = definition.fpm(
        records, ours.symbols, epsilon, size, q_min, q_max, seeded(seed), universe
    )
    assert list(found.items()) == list(expected.items())


def test_without_noise_fpm_finds_the_true_counts():
    records = ["AB"] * 900 + ["BA"] * 500 + ["C"] * 300
    found = mined(records, field(alphabet="ABC", size=4))
    assert found == {"A": 1400, "B": 1400, "AB": 900, "BA": 500}


@pytest.mark.parametrize("universe", [0, 10**6], ids=["implicit", "written out"])
def test_a_gram_that_no_record_holds_may_be_released(universe):
    found = [
        mined(["AB"] * 5, field(size=3), Fraction(1), seeded(seed), universe) for seed in range(20)
    ]
    for q in (1, 2):
        assert any(gram not in "AB" for one in found for gram in one if len(gram) == q)


@settings(deadline=None, max_examples=25)
@given(seed=SEEDS, size=st.integers(1, 90), records=TEXTS)
def test_grams_of_an_implicit_universe_are_distinct_and_of_the_right_length(seed, size, records):
    source = Recording(seeded(seed))
    ours = field(size=size, q_min=3, q_max=3)
    found = mined(records, ours, Fraction(1), source, universe=10)
    assert all(len(gram) == 3 and set(gram) <= set(ours.symbols) for gram in found)
    # as many as were asked for, each by a name of its own, get a count
    assert source.lengths[1] == min(size, SYMBOLS**3)
    with pytest.MonkeyPatch.context() as patch:
        names = []
        patch.setattr(MODULE, "top", lambda released, _: names.extend(g for g, _ in released))
        budget = Budget(Fraction(1), draw=seeded(seed))
        patch.setattr(MODULE, "UNIVERSE", 10)
        mine_field(Strings.of(records, ours.spelling), ours, budget)
    assert len(set(names)) == len(names) == min(size, SYMBOLS**3)


@given(present=st.sets(st.integers(0, 40)), rank=st.integers(0, 20))
def test_absent_counts_the_numbers_that_are_not_there(present, rank):
    missing = [number for number in range(100) if number not in present]
    assert absent(np.array(sorted(present), np.int64), rank) == missing[rank]


def test_a_universe_of_a_hundred_million_grams_is_no_trouble():
    ours = Field(name="name", miner="fpm", q_min=6, q_max=6, size=5)
    found = mined(["MARTINEZ"] * 1000, ours, Fraction(1))
    assert found == {"MARTIN": 1000, "ARTINE": 1000, "RTINEZ": 1000}


@settings(deadline=None)
@given(records=TEXTS, epsilon=EPSILONS, seed=SEEDS, size=SIZES, lengths=LENGTHS)
def test_what_fpm_draws_costs_exactly_epsilon(records, epsilon, seed, size, lengths):
    source = Recording(seeded(seed))
    ours = field(size=size, q_min=lengths[0], q_max=lengths[1])
    budget = Budget(epsilon, draw=source)
    mine_field(Strings.of(records, ours.spelling), ours, budget)
    cost = Fraction(0)
    for q, choosing, releasing in zip(
        range(lengths[0], lengths[1] + 1), source.calls[::2], source.calls[1::2], strict=True
    ):
        k = min(size, SYMBOLS**q)
        assert len(choosing[0]) == SYMBOLS**q  # every gram takes part
        assert len(releasing[0]) == k
        cost += 2 * k / choosing[1] + k / releasing[1]
    assert cost == budget.spent == epsilon


@settings(deadline=None)
@given(
    records=TEXTS,
    one=st.text(ALPHABET + CATCH_ALL, max_size=8),
    epsilon=EPSILONS,
    seed=SEEDS,
    size=SIZES,
)
def test_one_record_more_raises_each_value_by_0_or_1(records, one, epsilon, seed, size):
    # the noisy values of both runs are the same, so the chosen are, too
    before, after = (Recording(Blind(seed)) for _ in range(2))
    mined(records, field(size=size), epsilon, before)
    mined([*records, one], field(size=size), epsilon, after)
    assert before.lengths == after.lengths
    for (ours, _), (theirs, _) in zip(before.calls, after.calls, strict=True):
        assert set(np.subtract(theirs, ours)) <= {0, 1}


def test_the_noise_that_chose_is_not_released():
    source = Recording(seeded(3))
    found = mined(["AB"] * 5, field(q_max=1, size=4), Fraction(1), source)
    chosen_by = seeded(3)(*source.calls[0])
    assert set(found.values()).isdisjoint(chosen_by[chosen_by > 0].tolist())


def test_the_count_of_a_chosen_gram_is_its_own_and_not_the_cut_off():
    class ChoosesB(Seeded):
        def __call__(self, values, scale):  # noqa: ARG002
            return values if len(values) == 1 else np.array([9, 0, 0, 0])

    source = Recording(ChoosesB(0))
    mined(["A"] * 1000, field(q_max=1, size=1), Fraction(100), source)
    assert source.calls[0][0] == [999, 1000, 999, 999]  # cut off below 1000 - 1
    assert source.calls[1][0] == [0]


@settings(deadline=None)
@given(records=TEXTS, missing=st.integers(0, 5), seed=SEEDS)
def test_missing_values_contribute_nothing(records, missing, seed):
    assert mined(records, field(), Fraction(20), seeded(seed)) == mined(
        [""] * missing + records, field(), Fraction(20), seeded(seed)
    )


@pytest.mark.parametrize("universe", [0, 10**6], ids=["implicit", "written out"])
def test_no_records_at_all_give_no_grams_without_noise(universe):
    assert mined([], field(), universe=universe) == {}
    assert mined(["", ""], field(), universe=universe) == {}
