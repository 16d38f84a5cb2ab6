import hmac

import pytest
from hypothesis import given, settings

from gramlink.errors import InvalidParameter
from gramlink.lab.rivals.keyed_hash import BEYOND, encode
from gramlink.lab.rivals.rival import ONE
from gramlink.records.strings import Strings
from reference.similarity import all_near
from strategies import AB, lists


def hashed(texts, secret=b"secret"):
    return encode(Strings.of(texts, AB), secret)


@settings(deadline=None, max_examples=80)
@given(left=lists(AB), right=lists(AB))
def test_near_pairs_are_those_of_equal_values(left, right):
    pairs = hashed(left).near(hashed(right), 0, 100)
    found = zip(pairs.left.tolist(), pairs.right.tolist(), pairs.squared.tolist(), strict=True)
    expected = all_near(left, right, 0, lambda i, j: 0 if left[i] == right[j] else ONE)
    assert list(found) == expected


def test_distances_are_0_or_1_or_beyond():
    left, right = hashed(["A", "AB", "", "A", ""]), hashed(["A", "BA", "A", "", ""])
    assert left.between(right).tolist() == [0, ONE, BEYOND, BEYOND, BEYOND]
    assert ONE < BEYOND


def test_a_hash_is_the_whole_hmac_of_the_value():
    assert hashed(["AB"]).hashes.tobytes() == hmac.digest(b"secret", b"AB", "sha256")
    assert hashed(["AB", ""]).bytes_each == 32


def test_the_same_value_under_another_secret_is_not_near():
    assert len(hashed(["A"], b"one").near(hashed(["A"], b"other"), ONE - 1, 9)) == 0


def test_nothing_is_nearer_than_0():
    assert len(hashed(["A"]).near(hashed(["A"]), -1, 9)) == 0


def test_more_pairs_than_allowed_fail():
    assert len(hashed(["A"] * 3).near(hashed(["A"] * 4), 0, 12)) == 12
    with pytest.raises(InvalidParameter, match="more than 11 pairs"):
        hashed(["A"] * 3).near(hashed(["A"] * 4), 0, 11)


def test_a_distance_that_takes_in_all_pairs_is_refused():
    with pytest.raises(InvalidParameter, match="all pairs"):
        hashed(["A"]).near(hashed(["A"]), ONE, 9)
