from fractions import Fraction

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from gramlink.errors import BudgetExceeded, InvalidParameter
from gramlink.mining.estimates import Estimates, top
from gramlink.mining.miners import mine_field, price, read_again
from gramlink.mining.unaccounted import random_grams
from gramlink.privacy.budget import Budget
from gramlink.privacy.noise import Draw
from gramlink.records.choices import MINERS
from gramlink.records.fields import CATCH_ALL, MARKS, Field
from gramlink.records.schema import Schema
from gramlink.records.strings import Strings
from reference import mining as definition
from reference.grams import ranked

ALPHABET = "BA "
TEXTS = st.lists(st.text(ALPHABET + CATCH_ALL, max_size=8), max_size=12)
UNACCOUNTED = ["exact", "random", "public"]


class Never(Draw):
    def __call__(self, values, scale):
        raise AssertionError(f"noise of scale {scale} was drawn for {len(values)} values")


def field(miner, **settings):
    if miner == "public":
        settings.setdefault("grams", ("BA", "B", "A"))
    return Field(name="name", miner=miner, **{"alphabet": ALPHABET, "q_max": 2} | settings)


def mined(records, ours):
    budget = Budget(Fraction(0), draw=Never())
    found = mine_field(Strings.of(records, ours.spelling), ours, budget)
    assert budget.spent == 0
    return found


@settings(deadline=None)
@given(
    records=TEXTS,
    size=st.integers(1, 30),
    lengths=st.tuples(st.integers(1, 4), st.integers(1, 4)).map(sorted),
    marks=st.booleans(),
)
def test_exact_gives_the_true_top(records, size, lengths, marks):
    ours = field("exact", size=size, q_min=lengths[0], q_max=lengths[1], marks=marks)
    found = mined(records, ours)
    symbols = ALPHABET + CATCH_ALL, size
    expected = definition.exact(records, *symbols, *lengths, MARKS if marks else "")
    assert (found.grams, found.counts) == (tuple(expected), tuple(expected.values()))


def test_a_record_counts_once_for_a_gram_it_holds_many_times():
    found = mined(["AAAA", "A"], field("exact", marks=False))
    assert dict(zip(found.grams, found.counts, strict=True)) == {"A": 2, "AA": 1}


@settings(deadline=None)
@given(some=TEXTS, others=TEXTS, size=st.integers(1, 60), q_min=st.integers(1, 3))
def test_random_grams_are_the_same_for_both_owners(some, others, size, q_min):
    ours = field("random", size=size, q_min=q_min, q_max=3)
    found = mined(some, ours)
    assert found == mined(others, ours)
    assert len(set(found.grams)) == len(found.grams)
    assert len(found.grams) == min(size, sum(3**q for q in range(q_min, 4)))
    assert all(q_min <= len(gram) <= 3 and set(gram) <= set(ALPHABET) for gram in found.grams)
    assert set(found.counts) == {1}


def test_another_seed_gives_other_random_grams():
    ours = Field(name="name", miner="random")
    empty, budget = Strings.of([], ours.spelling), Budget(Fraction(0), draw=Never())
    first, second = (set(random_grams(empty, ours, budget, seed).grams) for seed in (1, 2))
    assert first != second


@given(records=TEXTS)
def test_public_gives_the_grams_of_the_schema(records):
    found = mined(records, field("public", grams=("AB", "B", " ", "AAA")))
    assert found == Estimates((" ", "B", "AB", "AAA"), (Fraction(1),) * 4)


@pytest.mark.parametrize("miner", UNACCOUNTED)
def test_no_records_at_all_are_no_trouble(miner):
    found = mined([], field(miner))
    assert (found.grams == ()) is (miner == "exact")
    assert mined(["", ""], field(miner)) == found


@pytest.mark.parametrize("miner", sorted(set(MINERS) - set(UNACCOUNTED)))
def test_a_private_miner_does_nothing_without_a_budget(miner):
    ours = field(miner)
    with pytest.raises(BudgetExceeded):
        mine_field(Strings.of(["AB"], ours.spelling), ours, Budget(Fraction(0), draw=Never()))


@pytest.mark.parametrize("miner", sorted(MINERS))
def test_the_price_is_epsilon_unless_no_record_is_read_or_there_is_no_privacy(miner):
    expected = {"exact": None, "random": 0, "public": 0}.get(miner, Fraction(1, 3))
    assert price(Schema(fields=(field(miner),), epsilon=Fraction(1, 3))) == expected


FREE = [Field(name="born", kind="date"), Field(name="sex", kind="category"),
        Field(name="phone", kind="digits"), Field(name="hair", miner="public", grams=("A",)),
        Field(name="dice", miner="random")]  # fmt: skip


@pytest.mark.parametrize("miner", sorted(set(MINERS) - set(UNACCOUNTED)))
def test_several_fields_cost_epsilon_together_whatever_stands_beside_them(miner):
    mined = (Field(name="given", miner=miner), Field(name="surname", share="1/7"))
    assert price(Schema(fields=(*mined, *FREE), epsilon=Fraction(1, 3))) == Fraction(1, 3)


def test_fields_whose_bases_are_public_cost_nothing_together():
    assert price(Schema(fields=tuple(FREE), epsilon=Fraction(1, 3))) == 0


def test_one_field_without_privacy_leaves_none():
    fields = (Field(name="given"), Field(name="surname", miner="exact"), *FREE)
    assert price(Schema(fields=fields)) is None


@pytest.mark.parametrize("miner", UNACCOUNTED)
def test_grams_without_a_tree_cannot_be_read_again(miner):
    with pytest.raises(InvalidParameter, match="prefix tree"):
        read_again(mined(["AB"], field(miner)), field("tree-linear"))


@given(
    st.dictionaries(st.text("ABC", min_size=1, max_size=3), st.integers(-2, 3)), st.integers(1, 9)
)
def test_ties_go_to_the_shorter_gram_then_by_the_alphabet(estimates, size):
    counts = {gram: Fraction(count) for gram, count in estimates.items()}
    best = ranked(counts, size)
    found = top(counts.items(), size)
    assert (found.grams, found.counts) == (tuple(best), tuple(best.values()))
