from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from gramlink.kernels.occurrences import bounded_counts, distinct_grams
from gramlink.mining.estimates import GRID
from gramlink.mining.levelgram import contribution, extended, shares
from gramlink.mining.miners import mine_field
from gramlink.privacy.budget import Budget
from gramlink.records.fields import CATCH_ALL, Field
from gramlink.records.strings import Strings
from noise import Seeded, seeded, silent
from reference import mining as definition
from reference.grams import distinct, every
from reference.mining import Recording

FEW = "BA "  # out of alphabetical order, as the default alphabet is
MANY = "HGFEDCBA "
EPSILONS = st.builds(Fraction, st.integers(1, 400), st.integers(1, 20))
SEEDS = st.integers(0, 2**32)


def field(alphabet=FEW, **settings):
    return Field(name="name", alphabet=alphabet, **settings)


def texts(alphabet=FEW, max_size=12):
    one = st.text(alphabet + CATCH_ALL, max_size=12)
    several = st.tuples(one, st.sampled_from([1, 1, 2, 30]))
    return st.lists(several, max_size=max_size).map(
        lambda drawn: [text for text, times in drawn for _ in range(times)]
    )


def mined(records, given_field, epsilon=Fraction(1), noise=silent):
    budget = Budget(epsilon, draw=noise)
    found = mine_field(Strings.of(records, given_field.spelling), given_field, budget)
    return dict(zip(found.grams, found.counts, strict=True))


class Blind(Seeded):
    """Noisy values that have nothing to do with the true ones."""

    def __call__(self, values, scale):
        return super().__call__(np.zeros_like(values), 3 * scale)


@settings(deadline=None)
@given(st.data(), st.sampled_from([FEW, MANY]), st.integers(1, 30), EPSILONS, SEEDS)
def test_levelgram_agrees_with_its_definition(data, alphabet, size, epsilon, seed):
    records = data.draw(texts(alphabet))
    q_max = data.draw(st.integers(1, 5 if alphabet == FEW else 3))
    q_min = data.draw(st.integers(1, q_max))
    marks = data.draw(st.booleans())
    ours = field(alphabet, size=size, q_min=q_min, q_max=q_max, marks=marks)
    expected = definition.levelgram(
        records, ours.spelling, epsilon, size, q_min, q_max, seeded(seed), marks=ours.marks
    )
    found = mined(records, ours, epsilon, seeded(seed))
    assert list(found.items()) == list(expected.items())


def test_without_noise_levelgram_finds_the_true_counts():
    records = ["AB"] * 900 + ["BA"] * 500 + ["C"] * 300
    found = mined(records, field("ABC", q_max=2, marks=False))
    assert found == {"A": 1400, "B": 1400, "AB": 900, "BA": 500, "C": 300}
    assert list(found) == ["A", "B", "AB", "BA", "C"]


def test_texts_start_and_end_with_a_symbol_that_is_not_counted_by_itself():
    found = mined(["AB"] * 900 + ["BA"] * 500, field("ABC", q_max=2, q_min=2))
    assert found == {"AB": 900, "BA": 500, "⊢A": 900, "B⊣": 900, "⊢B": 500, "A⊣": 500}


def test_no_gram_stands_outside_the_marks():
    source = Recording(seeded(1))
    found = mined(["A"] * 500, field("AB", q_max=3), Fraction(1, 100), source)
    assert all("⊢" not in gram[1:] and "⊣" not in gram[:-1] for gram in found)
    assert found.keys().isdisjoint({"⊢", "⊣", "⊢⊣"})


def test_a_gram_that_no_record_holds_may_be_released():
    records = ["AB"] * 5
    released = [mined(records, field(), Fraction(1, 10), seeded(seed)) for seed in range(20)]
    assert any(gram not in "AB" for found in released for gram in found if len(gram) == 1)
    assert any(gram != "AB" for found in released for gram in found if len(gram) == 2)


@settings(deadline=None)
@given(SEEDS)
def test_every_candidate_is_asked_even_if_no_record_holds_it(seed):
    source = Recording(seeded(seed))
    mined([], field(q_max=3), noise=source)
    assert source.lengths[0] == len(FEW) + 1
    assert len(source.calls) == 3


@pytest.mark.parametrize("q_max", range(1, 7))
def test_the_stages_share_the_whole_budget_and_no_more(q_max):
    assert sum(shares(q_max)) == 1
    assert len(shares(q_max)) == q_max
    assert min(shares(q_max)) > 0


def test_the_stages_of_the_default_have_a_quarter_a_half_and_a_quarter():
    assert shares(3) == (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))
    assert [contribution(q) for q in (1, 2, 3)] == [6, 6, 3]


@settings(deadline=None)
@given(texts(), st.integers(1, 6), st.integers(1, 9), EPSILONS, SEEDS)
def test_what_levelgram_draws_costs_exactly_epsilon(records, q_max, size, epsilon, seed):
    source = Recording(seeded(seed))
    ours = field(q_max=q_max, size=size)
    budget = Budget(epsilon, draw=source)
    mine_field(Strings.of(records, ours.spelling), ours, budget)
    sensitivities = [contribution(q) * GRID for q in range(1, q_max + 1)]
    costs = [s / scale for s, (_, scale) in zip(sensitivities, source.calls, strict=True)]
    assert sum(costs) == budget.spent == epsilon


@settings(deadline=None)
@given(texts(MANY), st.text(MANY + CATCH_ALL, max_size=40), st.integers(1, 4), SEEDS)
def test_one_record_more_changes_what_noise_is_added_to_by_no_more_than_is_paid_for(
    records, one, q_max, seed
):
    # the noisy values of both runs are the same, so the candidates are, too
    before, after = (Recording(Blind(seed)) for _ in range(2))
    ours = field(MANY, q_max=q_max, size=9)
    mined(records, ours, Fraction(3), before)
    mined([*records, one], ours, Fraction(3), after)
    assert before.loss(after) <= 3
    for stage, (ours, theirs) in enumerate(zip(before.calls, after.calls, strict=True), start=1):
        change = np.abs(np.subtract(ours[0], theirs[0])).sum()
        assert change <= contribution(stage) * GRID


def test_a_record_of_six_symbols_uses_up_what_is_paid_for():
    before, after = Recording(silent), Recording(silent)
    mined([], field(MANY, q_max=1), Fraction(3), before)
    mined(["ABCDEF"], field(MANY, q_max=1), Fraction(3), after)
    assert before.loss(after) == 3


@settings(deadline=None)
@given(
    texts(MANY),
    st.text(MANY + CATCH_ALL, max_size=60),
    st.integers(1, 3),
    st.integers(1, 8),
    st.sampled_from([1, 7, GRID]),
    st.data(),
)
def test_no_record_counts_for_more_than_the_bound(records, one, q, bound, unit, data):
    symbols = field(MANY).symbols
    universe = len(symbols) ** q
    chosen = data.draw(st.sets(st.integers(0, universe - 1), max_size=60))
    candidates = np.array(sorted(chosen), np.int64)

    def counts(of):
        strings = Strings.of(of, symbols)
        grams, begins = distinct_grams(strings.codes, strings.offsets, q, len(symbols))
        return bounded_counts(
            grams, begins, np.ones(len(begins) - 1, np.int64), candidates, bound, unit
        )

    change = counts([*records, one]) - counts(records)
    assert change.min(initial=0) >= 0
    assert change.sum() <= bound * unit
    assert change.max(initial=0) <= unit


@settings(deadline=None)
@given(texts(MANY), st.integers(1, 3), st.integers(1, 8), st.data())
def test_the_kernel_of_bounded_counts_agrees_with_the_definition(records, q, bound, data):
    symbols = field(MANY).symbols
    names = every(symbols, q)
    chosen = sorted(data.draw(st.sets(st.integers(0, len(names) - 1), max_size=60)))
    strings = Strings.of(records, symbols)
    grams, begins = distinct_grams(strings.codes, strings.offsets, q, len(symbols))
    found = bounded_counts(
        grams, begins, np.ones(len(begins) - 1, np.int64), np.array(chosen, np.int64), bound, GRID
    )
    expected = definition.bounded(records, q, [names[i] for i in chosen], bound)
    assert found.tolist() == list(expected.values())


@settings(deadline=None)
@given(texts(MANY), st.integers(1, 4))
def test_the_kernel_of_distinct_grams_agrees_with_the_definition(records, q):
    symbols = field(MANY).symbols
    names = every(symbols, q) if q < 4 else []
    strings = Strings.of(records, symbols)
    grams, begins = distinct_grams(strings.codes, strings.offsets, q, len(symbols))
    assert len(begins) == len(records) + 1
    for i, text in enumerate(records):
        of_text = grams[begins[i] : begins[i + 1]].tolist()
        assert of_text == sorted(set(of_text))
        assert len(of_text) == len(distinct(text, q))
        if names:
            assert {names[gram] for gram in of_text} == distinct(text, q)


def test_a_record_of_253_different_symbols_fits():
    alphabet = "".join(chr(0x4E00 + i) for i in range(252))
    records = [alphabet + CATCH_ALL] * 3
    source = Recording(silent)
    mined(records, field(alphabet, q_max=2), Fraction(1), source)
    assert source.calls[0][0] == [3 * (6 * GRID // 253)] * 253


@pytest.mark.parametrize("q", [1, 2, 3])
@given(data=st.data())
def test_a_gram_is_a_candidate_if_and_only_if_both_of_its_parts_are_frequent(q, data):
    names, longer = every("BAC", q), every("BAC", q + 1)
    chosen = sorted(data.draw(st.sets(st.integers(0, len(names) - 1))))
    frequent = {names[i] for i in chosen}
    found = extended(np.array(chosen, np.int64), q, 3)
    assert [longer[i] for i in found] == [g for g in longer if {g[:-1], g[1:]} <= frequent]


@settings(deadline=None)
@given(texts(), st.integers(0, 5), SEEDS)
def test_missing_values_contribute_nothing(records, missing, seed):
    assert mined(records, field(), Fraction(20), seeded(seed)) == mined(
        [""] * missing + records, field(), Fraction(20), seeded(seed)
    )


@pytest.mark.parametrize("size", [1, 3, 75])
def test_no_records_at_all_give_no_grams_without_noise(size):
    assert mined([], field(size=size)) == {}
    assert mined(["", ""], field(size=size)) == {}


@given(SEEDS)
def test_symbols_outside_the_alphabet_count_as_the_catch_all(seed):
    strange = mined(["AÅ", "BÖÖ"] * 40, field(), Fraction(20), seeded(seed))
    plain = mined([f"A{CATCH_ALL}", f"B{CATCH_ALL * 2}"] * 40, field(), Fraction(20), seeded(seed))
    assert strange == plain
    assert CATCH_ALL in strange


@settings(deadline=None)
@given(texts(), texts(), SEEDS)
def test_no_rule_of_levelgram_reads_a_true_count(some, others, seed):
    first, second = (
        mined(records, field(q_max=4, size=9), Fraction(1), Blind(seed))
        for records in (some, others)
    )
    assert first == second
