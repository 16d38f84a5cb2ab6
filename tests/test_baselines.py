import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from gramlink.baselines.edit_distance import within_edits
from gramlink.datasets import sample, surnames
from gramlink.fields import ALPHABET, CATCH_ALL
from gramlink.strings import Strings
from reference.edits import levenshtein
from strategies import AB, WIDE, lists, texts

# symbols 64 apart share a bit of the filter, and 63 and 65 apart do not
SHARED = "".join(WIDE[code] for code in (0, 1, 63, 64, 65, 128, 192, 253)) + CATCH_ALL


def check(left, right, edits, symbols):
    pairs = within_edits(Strings.of(left, symbols), Strings.of(right, symbols), edits)
    expected = [
        (i, j, levenshtein(one, other) ** 2)
        for i, one in enumerate(left)
        for j, other in enumerate(right)
        if one and other and levenshtein(one, other) <= edits
    ]
    found = zip(*(c.tolist() for c in (pairs.left, pairs.right, pairs.squared)), strict=True)
    assert list(found) == sorted(expected, key=lambda pair: (pair[0], pair[2], pair[1]))


@settings(deadline=None, max_examples=50)
@given(left=lists(AB), right=lists(AB), edits=st.integers(0, 4))
def test_pairs_within_the_edits_agree_with_the_definition(left, right, edits):
    check(left, right, edits, AB)


@settings(deadline=None, max_examples=50)
@given(data=st.data(), edits=st.integers(0, 3))
def test_symbols_that_share_a_bit_of_the_filter_hide_no_pair(data, edits):
    column = st.lists(st.text(SHARED, max_size=5), max_size=6)
    check(data.draw(column), data.draw(column), edits, WIDE)


@given(one=texts(), other=texts())
def test_the_definition_is_edit_distance(one, other):
    assert levenshtein(one, other) == Levenshtein.distance(one, other)


@settings(deadline=None, max_examples=10)
@given(text=st.text(AB, min_size=250, max_size=255), edits=st.integers(0, 5), data=st.data())
def test_the_longest_texts_are_compared(text, edits, data):
    cut = data.draw(st.integers(0, 5))
    check([text], [text[cut:], text[:-1] + "B"], edits, AB)


def test_names_within_2_edits_are_those_that_rapidfuzz_finds():
    symbols = ALPHABET + CATCH_ALL
    left, right = sample(surnames(), 300, seed=1), surnames()[:600]
    pairs = within_edits(Strings.of(left, symbols), Strings.of(right, symbols), 2)
    expected = {
        (i, j)
        for i, one in enumerate(left)
        for j, other in enumerate(right)
        if Levenshtein.distance(one, other) <= 2
    }
    assert len(expected) > 20
    assert set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)) == expected


@pytest.mark.parametrize(("left", "right"), [([], []), (["A"], []), ([], ["A"]), ([""], [""])])
def test_without_records_or_values_there_are_no_pairs(left, right):
    check(left, right, 2, AB)
