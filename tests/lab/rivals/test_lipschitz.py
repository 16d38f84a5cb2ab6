from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.errors import InvalidParameter, Mismatch
from gramlink.lab.datasets import cities, sample, surnames
from gramlink.lab.rivals.kernels.lipschitz import distances, masks
from gramlink.lab.rivals.lipschitz import NOWHERE, Mapped, References, draw, embed, references
from gramlink.records.fields import ALPHABET, CATCH_ALL
from gramlink.records.strings import LONGEST, Strings
from reference import lipschitz
from reference.edits import levenshtein
from strategies import AB, ABC, lists, texts

SYMBOLS = ALPHABET + CATCH_ALL
SEEDS = st.integers(0, 2**32)


def sets_of(chosen: References) -> list[list[str]]:
    members = list(chosen.members)
    begins = chosen.begins.tolist()
    return [members[a:b] for a, b in pairwise(begins)]


def edits(one: list[str], other: list[str], symbols: str) -> list[list[int]]:
    pool, text = Strings.of(one, symbols), Strings.of(other, symbols)
    mask = masks(pool.codes, pool.offsets, len(symbols))
    return distances(pool.codes, pool.offsets, mask, text.codes, text.offsets).tolist()


@settings(deadline=None, max_examples=40)
@given(pool=st.lists(texts(ABC).filter(bool), max_size=4), column=lists(ABC))
def test_distances_by_bits_are_edit_distances(pool, column):
    expected = [[levenshtein(one, other) for other in column] for one in pool]
    assert edits(pool, column, ABC) == expected


@settings(deadline=None, max_examples=20)
@given(data=st.data(), size=st.integers(61, 68), much=st.integers(0, LONGEST - 67))
def test_strings_around_a_word_and_longer_ones_have_their_edit_distances(data, size, much):
    one = data.draw(st.text(ABC, min_size=size, max_size=size))
    other = one[much % 7 : much % 61] + "A" * much + one[much % 61 + 1 :]
    assert edits([one], [other], ABC) == [[levenshtein(one, other)]]


@settings(deadline=None, max_examples=15)
@given(column=lists(ABC), seed=SEEDS, sigma=st.integers(1, 5), size=st.integers(1, 5))
def test_sets_and_coordinates_agree_with_the_definition(column, seed, sigma, size):
    settings = {"candidates": 9, "length": 3, "largest": 4}
    strings = Strings.of(column, ABC)
    chosen = references(strings, size, seed=seed, sigma=sigma, **settings)
    pool, members, begins = draw(ABC, **settings, seed=seed)
    candidates = [
        [pool[member] for member in members[begins[c] : begins[c + 1]]]
        for c in range(len(begins) - 1)
    ]
    assert sets_of(chosen) == lipschitz.choose(column, candidates, size, sigma)
    expected = [
        lipschitz.coordinates(text, sets_of(chosen), sigma) if text else [0] * size
        for text in column
    ]
    assert embed(strings, chosen).vectors.tolist() == expected


@settings(deadline=None, max_examples=20)
@given(seed=SEEDS, sigma=st.integers(1, 4), k=st.integers(1, 20))
def test_a_smaller_choice_is_the_first_of_a_larger_one(seed, sigma, k):
    names = Strings.of(cities()[:60], SYMBOLS)
    small, large = (
        references(names, size, candidates=40, seed=seed, sigma=sigma) for size in (k, 20)
    )
    assert sets_of(small) == sets_of(large)[:k]
    assert np.array_equal(embed(names, small).vectors, embed(names, large).vectors[:, :k])


@settings(deadline=None, max_examples=6)
@given(seed=SEEDS, sigma=st.integers(1, 8))
def test_reference_strings_lie_where_any_string_would(seed, sigma):
    names = Strings.of(surnames()[:50], SYMBOLS)
    # all 77 candidate sets, so that there are some of more than sigma members
    chosen = references(names, 77, candidates=40, seed=seed, sigma=sigma)
    assert max(map(len, sets_of(chosen))) > sigma
    assert np.array_equal(embed(chosen.members, chosen).vectors, chosen.mapped)


@settings(deadline=None, max_examples=20)
@given(one=texts(ABC).filter(bool), other=texts(ABC).filter(bool), seed=SEEDS)
def test_no_coordinate_changes_by_more_than_the_edits_if_all_members_are_compared(one, other, seed):
    names = Strings.of([one, other], ABC)
    chosen = references(names, 12, candidates=12, length=5, seed=seed, largest=8, sigma=8)
    vectors = embed(names, chosen).vectors.astype(int)
    assert np.abs(vectors[0] - vectors[1]).max() <= levenshtein(one, other)


VECTORS = st.lists(st.lists(st.integers(0, 4), min_size=9, max_size=9), max_size=40)


@settings(deadline=None, max_examples=60)
@given(data=st.data(), within=st.integers(-1, 30), size=st.integers(1, 9))
def test_near_pairs_agree_with_the_definition(data, within, size):
    left, right = (mapped(data.draw(VECTORS), data.draw(st.integers(2, 9)), size) for _ in "lr")
    expected = [
        (i, j, apart)
        for i in range(len(left))
        for j in range(len(right))
        if not left.missing[i] and not right.missing[j]
        and (apart := lipschitz.squared(left.vectors[i].tolist(), right.vectors[j].tolist()))
        <= within
    ]  # fmt: skip
    assert listing(left.near(right, within, 10_000)) == by_match(expected)


def mapped(rows, every, size):
    """Vectors, of which each `every`th is missing."""
    vectors = np.array(rows, np.uint8).reshape(-1, 9)[:, :size]
    return Mapped(vectors, np.arange(len(vectors)) % every == 1)


def listing(pairs):
    return list(zip(*(c.tolist() for c in (pairs.left, pairs.right, pairs.squared)), strict=True))


def by_match(pairs):
    return sorted(pairs, key=lambda pair: (pair[0], pair[2], pair[1]))


@pytest.mark.parametrize("size", [3, 12, 60])
def test_near_names_are_those_that_all_distances_find(size):
    left, right = (Strings.of(sample(surnames(), n, seed=n), SYMBOLS) for n in (100, 1500))
    chosen = references(left, size, candidates=100, seed=1)
    one, other = embed(left, chosen), embed(right, chosen)
    rows, columns = (grid.ravel() for grid in np.indices((100, 1500)))
    apart = replace(one, vectors=one.vectors[rows], missing=one.missing[rows]).between(
        Mapped(other.vectors[columns], other.missing[columns])
    )
    for within in (0, 2, int(np.quantile(apart, 0.05))):
        found = np.flatnonzero(apart <= within)
        expected = zip(*(c[found].tolist() for c in (rows, columns, apart)), strict=True)
        assert listing(one.near(other, within, 10**6)) == by_match(expected)
    assert len(found) > 5_000


def test_distances_up_to_the_largest_are_exact():
    left = Mapped(np.array([[255] * 70, [0] * 70], np.uint8), np.zeros(2, bool))
    assert left.between(replace(left, vectors=left.vectors[::-1])).tolist() == [70 * 255**2] * 2
    pairs = left.near(left, 70 * 255**2, 4)
    assert pairs.squared.tolist() == [0, 70 * 255**2] * 2


def test_missing_values_are_near_to_nothing():
    names = Strings.of(["ANNA", "", ""], SYMBOLS)
    one = embed(names, references(names, 3, candidates=20, seed=1))
    assert one.between(one).tolist() == [0, NOWHERE, NOWHERE]
    assert listing(one.near(one, NOWHERE, 10)) == [(0, 0, 0)]


@pytest.mark.parametrize(("left", "right"), [([], []), (["A"], []), ([], ["A"]), ([""], [""])])
def test_without_records_or_values_there_are_no_pairs(left, right):
    one, other = (Strings.of(column, AB) for column in (left, right))
    chosen = references(one, 8, candidates=10, seed=1)
    assert listing(embed(one, chosen).near(embed(other, chosen), 100, 10)) == []


def test_more_pairs_than_the_most_fail():
    one = Mapped(np.zeros((40, 8), np.uint8), np.zeros(40, bool))
    assert len(one.near(one, 0, 1600)) == 1600
    with pytest.raises(InvalidParameter, match="more than 1,599 pairs"):
        one.near(one, 0, 1599)


def test_20_coordinates_tell_all_cities_apart():
    names = Strings.of(cities(), SYMBOLS)
    vectors = embed(names, references(names, 20, seed=1)).vectors
    assert len(np.unique(vectors[:, :12], axis=0)) > 0.99 * len(names)
    assert len(np.unique(vectors, axis=0)) == len(names)


def test_strings_that_are_repeated_or_missing_do_not_sway_the_choice():
    names = cities()[:100]
    plain, swayed = (Strings.of(column, SYMBOLS) for column in (names, ("", *names, *names[:50])))
    one, other = (references(column, 8, candidates=50, seed=1) for column in (plain, swayed))
    assert sets_of(one) == sets_of(other)


def test_random_strings_hold_no_catch_all_and_are_in_one_set_of_each_size():
    pool, members, begins = draw(AB, candidates=20, length=7, largest=5, seed=1)
    assert {len(text) for text in pool} == {7}
    assert {symbol for text in pool for symbol in text} == set("AB")
    assert np.diff(begins).tolist() == [1] * 20 + [2] * 10 + [4] * 5
    assert all(sorted(part) == list(range(20)) for part in members.reshape(3, 20).tolist())


@pytest.mark.parametrize(
    "wrong",
    [{"size": 0}, {"size": 500}, {"sigma": 0}, {"sample": 0}, {"largest": 0}, {"length": 256},
     {"length": 0}, {"candidates": 0}],
)  # fmt: skip
def test_numbers_that_make_no_sense_are_refused(wrong):
    with pytest.raises(InvalidParameter):
        references(Strings.of(["A"], AB), **{"candidates": 20, "seed": 1, **wrong})


def test_what_does_not_go_together_is_refused():
    names = Strings.of(["A", "B"], AB)
    chosen = references(names, 5, candidates=20, seed=1)
    with pytest.raises(Mismatch):
        embed(Strings.of(["A"], ABC), chosen)
    fewer = references(names, 4, candidates=20, seed=1)
    with pytest.raises(Mismatch):
        embed(names, chosen).near(embed(names, fewer), 0, 10)
