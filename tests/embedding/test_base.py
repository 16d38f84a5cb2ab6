from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.embedding.base import Base, merge
from gramlink.errors import InvalidBase
from gramlink.mining.estimates import Estimates
from gramlink.records.fields import MARKS
from strategies import AB, bases

COUNTS = st.integers(1, 4000).map(lambda n: Fraction(n, 1024))
ESTIMATES = st.dictionaries(st.text("ABC", min_size=1, max_size=3), COUNTS, max_size=12).map(
    lambda found: Estimates(tuple(found), tuple(found.values()))
)


def estimates(**counts):
    return Estimates(tuple(counts), tuple(map(Fraction, counts.values())))


@given(owners=st.lists(ESTIMATES, min_size=1, max_size=4), size=st.integers(1, 20), data=st.data())
def test_merging_agrees_with_the_definition_and_is_the_same_for_all_owners(owners, size, data):
    sums = {
        gram: sum(
            count
            for side in owners
            for its, count in zip(side.grams, side.counts, strict=True)
            if its == gram
        )
        for gram in {gram for side in owners for gram in side.grams}
    }
    expected = sorted(sums, key=lambda gram: (-sums[gram], len(gram), gram))[:size]
    if not expected:
        with pytest.raises(InvalidBase, match="at least one gram"):
            merge(owners, size)
        return
    turned = data.draw(st.permutations(owners))
    assert merge(owners, size) == merge(iter(turned), size) == Base(tuple(expected))


def test_ties_go_to_the_shorter_gram_and_then_by_the_alphabet():
    one, other = estimates(BB=1, B=2, AAA=3), estimates(BB=2, B=1, A=3)
    assert merge((one, other), 10).grams == ("A", "B", "BB", "AAA")


def test_sums_are_exact():
    # in floats 2**53 + 1/1024 is 2**53
    one = Estimates(("A", "B"), (Fraction(2**53), Fraction(2**53)))
    other = Estimates(("B",), (Fraction(1, 1024),))
    assert merge((one, other), 1).grams == ("B",)


def test_a_gram_that_one_owner_did_not_report_counts_0_there():
    assert merge((estimates(A=5, B=3), estimates(B=3, C=4)), 2).grams == ("B", "A")


def test_three_owners_together_outweigh_one():
    sides = (estimates(A=5, B=2), estimates(B=2, C=4), estimates(B=2, C=1))
    assert merge(sides, 3).grams == ("B", "A", "C")


def test_a_sum_that_is_not_above_0_is_left_out():
    assert merge((estimates(A=1, B=2), estimates(B=-2)), 5).grams == ("A",)


@pytest.mark.parametrize(
    ("grams", "complaint"),
    [
        ((), "at least one gram"),
        (("A", "B", "A"), "each gram once"),
        (("",), "1 to 6 symbols"),
        (("ABABABA",), "1 to 6 symbols"),
    ],
)
def test_grams_that_cannot_be_a_base_are_refused(grams, complaint):
    with pytest.raises(InvalidBase, match=complaint):
        Base(grams)


@pytest.mark.parametrize(
    ("grams", "scale"),
    [(("A",), 1), (("AA",), 2), (("A", "AA", "AAA"), 6), (("AAAA", "AAAAAA"), 12)],
)
def test_the_scale_is_the_least_common_multiple_of_the_lengths_in_use(grams, scale):
    assert Base(grams).scale == scale


@settings(deadline=None)
@given(grams=bases(AB))
def test_a_coded_base_weighs_each_gram_by_its_length(grams):
    coded = Base(grams).coded(AB + MARKS)
    assert coded.symbols == 5
    assert coded.lengths.tolist() == sorted(set(map(len, grams)))
    assert (coded.weights * np.array(Base(grams).lengths) == Base(grams).scale).all()


@settings(deadline=None)
@given(grams=bases(AB))
def test_a_coded_base_holds_the_keys_of_its_grams(grams):
    from gramlink.kernels.lookup import find

    symbols = AB + MARKS
    table = Base(grams).coded(symbols).table
    for coordinate, gram in enumerate(grams):
        number = sum(symbols.index(s) * 5**i for i, s in enumerate(reversed(gram)))
        assert find(table, number * 8 + len(gram)) == coordinate


def test_a_gram_outside_the_alphabet_is_named():
    with pytest.raises(InvalidBase, match="'XA'"):
        Base(("A", "XA")).coded(AB)
