import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.errors import InvalidParameter, Mismatch
from gramlink.lab.datasets import sample, surnames
from gramlink.lab.rivals.rival import ONE
from gramlink.lab.rivals.tfidf import BEYOND, UNIT, encode
from gramlink.records.fields import ALPHABET, CATCH_ALL
from gramlink.records.strings import Strings
from reference.similarity import PAD, all_near, cosines, padded
from strategies import ABC, lists

SYMBOLS = ALPHABET + CATCH_ALL
WITHIN = st.sampled_from([-9, -1, 0, ONE // 4, ONE // 2, ONE * 9 // 10, ONE - 1, ONE, 2**70])


def weighed(left, right, symbols=ABC, q=2):
    return encode(Strings.of(left, symbols), Strings.of(right, symbols), q=q)


def listed(pairs):
    columns = (pairs.left.tolist(), pairs.right.tolist(), pairs.squared.tolist())
    return list(zip(*columns, strict=True))


def apart(one, other):
    """The distance of every pair of values."""
    return {(i, j): far for i, j, far in listed(one.near(other, ONE, 10**6))}


def rounding(*texts, q=2):
    """How far rounding can move a distance: what it cuts off a weight is less than 1 / UNIT."""
    cut = sum(math.sqrt(len(set(padded(text, q)))) for text in texts) / UNIT
    return math.sqrt(2) * cut + cut**2 / 2 + 1 / ONE


@settings(deadline=None, max_examples=60)
@given(left=lists(ABC), right=lists(ABC), q=st.integers(1, 4))
def test_distances_agree_with_the_definition(left, right, q):
    found, expected = apart(*weighed(left, right, q=q)), cosines(left, right, q)
    assert len(found) == sum(map(bool, left)) * sum(map(bool, right))
    for (i, j), far in found.items():
        assert 0 <= far <= ONE
        assert abs(far / ONE - (1 - expected[i][j])) <= rounding(left[i], right[j], q=q)


@settings(deadline=None, max_examples=60)
@given(rows=st.lists(st.tuples(*[st.text(ABC, max_size=6)] * 2), max_size=8))
def test_row_by_row_distances_are_those_of_the_pairs(rows):
    one, other = weighed([x for x, _ in rows], [y for _, y in rows])
    found = apart(one, other)
    expected = [found.get((row, row), BEYOND) for row in range(len(rows))]
    assert one.between(other).tolist() == expected


@settings(deadline=None, max_examples=60)
@given(left=lists(ABC), right=lists(ABC), within=WITHIN)
def test_near_pairs_are_those_within_the_distance(left, right, within):
    one, other = weighed(left, right)
    found = apart(one, other)
    expected = all_near(left, right, within, lambda i, j: found[i, j])
    assert listed(one.near(other, within, 100)) == expected


def test_near_names_are_those_within_the_distance():
    left = sample(surnames(), 60, seed=1)
    right = [*surnames()[:300], "", *(name[1:] for name in left)]
    one, other = weighed(left, right, SYMBOLS)
    found = apart(one, other)
    for within in (ONE * 2 // 5, *sorted(found.values())[40:50]):
        expected = all_near(left, right, within, lambda i, j: found[i, j])
        assert len(expected) > 20
        assert listed(one.near(other, within, 10**6)) == expected


def test_cosines_are_those_of_scikit_learn():
    text = pytest.importorskip("sklearn.feature_extraction.text")
    left, right = sample(surnames(), 60, seed=1), surnames()[:200]
    for q in (2, 3):
        pads = PAD * (q - 1)
        vectors = text.TfidfVectorizer(analyzer="char", ngram_range=(q, q), lowercase=False)
        table = vectors.fit_transform([pads + name + pads for name in (*left, *right)]).toarray()
        expected = table[: len(left)] @ table[len(left) :].T
        for (i, j), far in apart(*weighed(left, right, SYMBOLS, q)).items():
            assert abs(far / ONE - (1 - expected[i, j])) <= rounding(left[i], right[j], q=q)


@settings(deadline=None, max_examples=30)
@given(texts=st.lists(st.text(ABC, min_size=1, max_size=9), max_size=8))
def test_equal_texts_are_at_distance_0(texts):
    one, other = weighed(texts, texts)
    assert not one.between(other).any()


def test_a_record_takes_8_bytes_a_gram():
    one, other = weighed(["AA", "", "AAA"], [])
    assert one.bytes_each == 8 * (3 + 3) / 3
    assert (len(one), len(other), other.bytes_each) == (3, 0, 0)


def test_more_pairs_than_allowed_fail():
    one, other = weighed(["A"] * 30, ["A"] * 50)
    assert len(one.near(other, 0, 1500)) == 1500
    with pytest.raises(InvalidParameter, match="more than 1,499 pairs"):
        one.near(other, 0, 1499)


def test_both_sides_have_the_same_alphabet():
    with pytest.raises(Mismatch, match="alphabets"):
        encode(Strings.of(["A"], ABC), Strings.of(["A"], SYMBOLS))
