import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from gramlink.errors import InvalidParameter
from gramlink.lab.datasets import sample, surnames
from gramlink.lab.rivals.edit_distance import BEYOND, Texts, within_edits
from gramlink.records.fields import ALPHABET, CATCH_ALL
from gramlink.records.strings import Strings
from reference.edits import levenshtein
from strategies import AB, WIDE, lists, texts

# symbols 32 apart share a bit of the filter, and 31 and 33 apart do not
SHARED = "".join(WIDE[code] for code in (0, 1, 31, 32, 33, 64, 128, 253)) + CATCH_ALL


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


def texts_of(*texts, symbols=AB):
    return Texts(Strings.of(texts, symbols))


@settings(deadline=None, max_examples=40)
@given(size=st.integers(61, 67), other=st.text(AB, min_size=50, max_size=80), data=st.data())
def test_texts_about_as_long_as_a_word_are_compared(size, other, data):
    text = data.draw(st.text(AB, min_size=size, max_size=size))
    place = data.draw(st.integers(0, size))
    typo = text[:place] + data.draw(st.text(AB, max_size=3)) + text[place + 2 :]
    check([text, typo], [other, typo, text], 255, AB)


@settings(deadline=None, max_examples=40)
@given(rows=st.lists(st.tuples(texts(), texts()), max_size=8))
def test_distances_row_by_row_are_squared_edit_distances(rows):
    one, other = texts_of(*(x for x, _ in rows)), texts_of(*(y for _, y in rows))
    assert one.between(other).tolist() == [
        levenshtein(x, y) ** 2 if x and y else BEYOND for x, y in rows
    ]


@pytest.mark.parametrize(
    ("within", "expected"),
    [(-1, []), (0, [0]), (1, [0, 1]), (3, [0, 1]), (4, [0, 1, 4]), (2**62, [0, 1, 4, 9])],
)
def test_a_squared_distance_that_is_no_square_takes_in_the_squares_below(within, expected):
    one, other = texts_of("AAAA"), texts_of("AAAB", "", "AAAA", "AABB", "ABBB")
    assert one.near(other, within, 9).squared.tolist() == expected


def test_no_distance_is_as_large_as_that_of_a_missing_value():
    assert texts_of("A" * 255).between(texts_of("B" * 255)).tolist() == [255**2]
    assert BEYOND > 255**2


def test_more_pairs_than_allowed_fail():
    one, other = texts_of(*["A"] * 30), texts_of(*["B"] * 50)
    assert len(one.near(other, 1, 1500)) == 1500
    with pytest.raises(InvalidParameter, match="more than 1,499 pairs"):
        one.near(other, 1, 1499)


def test_a_text_takes_a_byte_a_symbol():
    assert texts_of("AB", "").bytes_each == 1
    assert (texts_of().bytes_each, len(texts_of("", "A"))) == (0, 2)


def test_negative_edits_are_refused():
    with pytest.raises(InvalidParameter, match="-1"):
        check(["A"], ["A"], -1, AB)
