import hmac

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.errors import InvalidParameter
from gramlink.lab.datasets import sample, surnames
from gramlink.lab.rivals.gram_sets import BEYOND, GramSets, encode
from gramlink.lab.rivals.rival import ONE
from gramlink.records.fields import ALPHABET, CATCH_ALL
from gramlink.records.strings import Strings
from reference.similarity import all_near, jaccard_distance, padded
from strategies import ABC, WIDE, lists

SYMBOLS = ALPHABET + CATCH_ALL
WITHIN = st.sampled_from([-9, -1, 0, ONE // 4, ONE // 2 - 1, ONE // 2, ONE - 1, ONE, 2**70])


def sets(texts, symbols=ABC, q=2, secret=b"secret"):
    return encode(Strings.of(texts, symbols), secret, q=q)


def listed(pairs):
    columns = (pairs.left.tolist(), pairs.right.tolist(), pairs.squared.tolist())
    return list(zip(*columns, strict=True))


@settings(deadline=None, max_examples=60)
@given(left=lists(ABC), right=lists(ABC), q=st.integers(1, 4), within=WITHIN)
def test_near_pairs_agree_with_the_definition(left, right, q, within):
    found = sets(left, q=q).near(sets(right, q=q), within, 100)
    assert listed(found) == all_near(
        left, right, within, lambda i, j: jaccard_distance(left[i], right[j], q)
    )


@settings(deadline=None, max_examples=60)
@given(rows=st.lists(st.tuples(*[st.text(ABC, max_size=6)] * 2), max_size=8), q=st.integers(1, 7))
def test_distances_agree_with_the_definition(rows, q):
    left, right = [one for one, _ in rows], [other for _, other in rows]
    assert sets(left, q=q).between(sets(right, q=q)).tolist() == [
        jaccard_distance(one, other, q) if one and other else BEYOND for one, other in rows
    ]


@pytest.mark.parametrize("within", [ONE // 2, ONE * 2 // 3])
def test_near_names_agree_with_the_definition(within):
    left = sample(surnames(), 60, seed=1)
    right = [*surnames()[:300], "", *(name[1:] for name in left)]
    found = sets(left, SYMBOLS).near(sets(right, SYMBOLS), within, 10**6)
    expected = all_near(left, right, within, lambda i, j: jaccard_distance(left[i], right[j], 2))
    assert len(expected) > 20
    assert listed(found) == expected


def test_texts_have_the_hashes_of_their_padded_grams_ascending():
    last, other = WIDE[253], WIDE[0]
    texts = [last + other + last, "", other * 4, last * 9 + CATCH_ALL]
    for q in (1, 2, 7):
        found = sets(texts, WIDE, q)
        for row, text in enumerate(texts):
            expected = sorted(
                int.from_bytes(hmac.digest(b"secret", gram.encode(), "sha256")[:8])
                for gram in set(padded(text, q))
            )
            assert found.ids[found.offsets[row] : found.offsets[row + 1]].tolist() == expected


def test_another_secret_has_other_hashes_and_is_near_to_nothing():
    one, other = sets(["ABBA"], secret=b"one"), sets(["ABBA"], secret=b"other")
    assert not set(one.ids.tolist()) & set(other.ids.tolist())
    assert one.between(other).tolist() == [ONE]
    assert len(one.near(other, ONE - 1, 9)) == 0


def test_the_order_of_symbols_does_not_matter():
    one, other = sets(["ABC"], "ABC" + CATCH_ALL), sets(["ABC"], "CXBA" + CATCH_ALL)
    assert one.between(other).tolist() == [0]


def test_a_record_takes_8_bytes_a_gram():
    assert sets(["AB", ""]).bytes_each == 8 * 3 / 2
    assert sets([]).bytes_each == 0
    assert len(sets(["AB", ""])) == 2


def test_as_many_pairs_as_allowed_are_listed_and_no_more():
    one, other = sets(["A"] * 30), sets(["A"] * 50)
    assert len(one.near(other, 0, 1500)) == 1500
    with pytest.raises(InvalidParameter, match="more than 1,499 pairs"):
        one.near(other, 0, 1499)


@pytest.mark.parametrize("within", [ONE, 2**70])
def test_sets_need_no_grams_in_common_to_be_listed_if_all_are_near(within):
    one = GramSets(np.array([0, 1, 1]), np.array([7], np.uint64))
    other = GramSets(np.array([0, 0, 1]), np.array([8], np.uint64))
    assert listed(one.near(other, within, 9)) == [(0, 1, ONE)]


@pytest.mark.parametrize("q", [-1, 0, 8])
def test_grams_have_1_to_7_symbols(q):
    with pytest.raises(InvalidParameter, match=f"not {q}"):
        sets(["A"], q=q)
