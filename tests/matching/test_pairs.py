import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.embedding.base import Base
from gramlink.embedding.vectors import Vectors, embed
from gramlink.errors import InvalidParameter, Mismatch
from gramlink.lab.datasets import sample, surnames
from gramlink.matching import join as joining
from gramlink.matching.pairs import match, match_batches, match_to_parquet
from gramlink.records.fields import ALPHABET
from gramlink.records.strings import Strings
from reference import matching as definition
from strategies import AB, bases, frequent_grams, lists

HUGE = 2**62


def vectors(texts, grams=("A", "B", "AB")):
    return embed(Strings.of(texts, AB), Base(grams))


def listed(pairs):
    return list(zip(*(c.tolist() for c in (pairs.left, pairs.right, pairs.squared)), strict=True))


def check(left, limits, right, grams):
    found = match(vectors(left, grams), np.array(limits, np.int64), vectors(right, grams))
    assert listed(found) == definition.match(left, limits, right, grams)
    assert {c.dtype for c in (found.left, found.right, found.squared)} == {np.dtype(np.int64)}
    return found


@settings(deadline=None, max_examples=50)
@given(left=lists(), right=lists(), grams=bases(), data=st.data())
def test_matching_agrees_with_trying_all_pairs(left, right, grams, data):
    limit = st.one_of(st.just(0), st.integers(0, 300), st.just(HUGE))
    limits = data.draw(st.lists(limit, min_size=len(left), max_size=len(left)))
    check(left, limits, right, grams)


def test_a_pair_at_exactly_the_threshold_is_within_it():
    assert len(check(["A"], [2], ["B"], ("A", "B"))) == 1
    assert len(check(["A"], [1], ["B"], ("A", "B"))) == 0


def test_threshold_0_finds_equal_vectors_only():
    assert listed(check(["AB", "BA"], [0, 0], ["BA", "AB", "A"], ("A", "B", "AB"))) == [
        (0, 1, 0),
        (1, 0, 0),
    ]


def test_equal_data_matches_all_with_all():
    assert len(check(["AB"] * 7, [0] * 7, ["AB"] * 5, ("A", "AB"))) == 35


def test_a_missing_value_matches_nothing_and_not_another_missing_value():
    pairs = check(["", "A", ""], [HUGE] * 3, ["", "A"], ("B", "AB"))
    assert listed(pairs) == [(1, 1, 0)]


@pytest.mark.parametrize(("left", "right"), [([], []), (["A"], []), ([], ["A"]), ([""], ["A"])])
def test_without_records_or_values_there_are_no_pairs(left, right):
    assert len(check(left, [HUGE] * len(left), right, ("A",))) == 0


@settings(deadline=None, max_examples=20)
@given(left=lists(), right=lists())
def test_blocks_do_not_change_the_pairs(left, right):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joining, "FIRST_BLOCK", 3)
        patch.setattr(joining, "LAST_BLOCK", 3)
        check(left, [20] * len(left), right, ("A", "B", "AB"))


def test_progress_is_told_block_by_block_up_to_the_end(monkeypatch):
    monkeypatch.setattr(joining, "FIRST_BLOCK", 2)
    monkeypatch.setattr(joining, "LAST_BLOCK", 2)
    told = []
    one = vectors(["A", "", "B", "AB", "BB", "A"])
    match(one, np.zeros(6, np.int64), one, lambda *done: told.append(done))
    assert told == [(2, 5), (4, 5), (5, 5)]


def test_vectors_of_different_bases_are_refused():
    with pytest.raises(Mismatch, match="different bases"):
        match(vectors(["A"], ("A", "B")), np.zeros(1, np.int64), vectors(["A"], ("A", "AB")))


@pytest.mark.parametrize("limits", [[], [0, 0], [-1]])
def test_there_must_be_one_threshold_of_at_least_0_for_each_left_record(limits):
    with pytest.raises(InvalidParameter, match="one threshold"):
        match(vectors(["A"]), np.array(limits, np.int64), vectors(["A"]))


def test_too_many_pairs_are_refused():
    nine = np.zeros(3, np.int64)
    with pytest.raises(InvalidParameter, match="more than 8 pairs"):
        match(vectors(["A"] * 3), nine, vectors(["A"] * 3), most=8)
    assert len(match(vectors(["A"] * 2), nine[:2], vectors(["A"] * 4), most=8)) == 8


def test_pairs_beyond_the_cap_are_not_even_listed(monkeypatch):
    monkeypatch.setattr(joining, "FIRST_BLOCK", 1000)
    many = vectors(["A"] * 1000)
    room = []
    block = joining.Block.of
    monkeypatch.setattr(joining.Block, "of", lambda *args: room.append(1) or block(*args))
    with pytest.raises(InvalidParameter, match="more than 2,000 pairs"):
        match(many, np.zeros(1000, np.int64), many, most=2000)
    assert not room


def test_the_largest_distance_that_can_be_does_not_overflow():
    lengths = (*(1,) * 997, 3, 4, 5)
    full = Vectors(np.full((1, 1000), 255, np.uint8), lengths, np.zeros(1, bool))
    none = Vectors(np.zeros((1, 1000), np.uint8), lengths, np.zeros(1, bool))
    assert full.scale == 60
    far = sum((255 * (60 // q)) ** 2 for q in lengths)
    for one, other in [(full, none), (none, full)]:
        assert match(one, np.array([far]), other).squared.tolist() == [far]
        assert len(match(one, np.array([far - 1]), other)) == 0
    assert (255 * 60) ** 2 < 2**31  # a coordinate's part of the sum


@settings(deadline=None, max_examples=50)
@given(
    counts=st.lists(st.tuples(st.integers(0, 255), st.integers(0, 255)), min_size=1, max_size=40),
    seed=st.integers(0, 2**32),
)
def test_distances_are_exact_for_any_counts_and_number_of_coordinates(counts, seed):
    lengths = tuple(np.random.default_rng(seed).integers(1, 7, len(counts)).tolist())
    x, y = np.array(counts, np.uint8).T
    one = Vectors(x[None].copy(), lengths, np.zeros(1, bool))
    other = Vectors(y[None].copy(), lengths, np.zeros(1, bool))
    far = sum(((a - b) * (one.scale // q)) ** 2 for (a, b), q in zip(counts, lengths, strict=True))
    assert match(one, np.array([HUGE]), other).squared.tolist() == [far]
    assert len(match(one, np.array([far]), other)) == 1
    if far:
        assert len(match(one, np.array([far - 1]), other)) == 0


def names(count, seed=1):
    listed = sample(surnames(), count, seed)
    return Strings.of(listed, ALPHABET + "*"), Base(frequent_grams(listed))


def test_batches_are_the_pairs_in_their_order_and_small():
    strings, base = names(3000)
    one, limits = embed(strings, base), np.full(3000, 80, np.int64)
    batches = list(match_batches(one, limits, one))
    assert len(batches) > 1
    whole = match(one, limits, one)
    for column in ("left", "right", "squared"):
        joined = np.concatenate([getattr(batch, column) for batch in batches])
        assert np.array_equal(joined, getattr(whole, column))


def test_pairs_go_straight_to_parquet(tmp_path):
    strings, base = names(2000)
    one, limits = embed(strings, base), np.full(2000, 50, np.int64)
    path = tmp_path / "pairs.parquet"
    count = match_to_parquet(path, one, limits, one)
    whole = match(one, limits, one)
    assert count == len(whole) > 2000
    assert pl.read_parquet(path).equals(whole.to_polars())


def test_a_parquet_file_of_too_many_pairs_is_not_written_at_all(tmp_path):
    one = vectors(["A"] * 100)
    path = tmp_path / "pairs.parquet"
    with pytest.raises(InvalidParameter, match="more than 50 pairs"):
        match_to_parquet(path, one, np.zeros(100, np.int64), one, most=50)
    assert not list(tmp_path.iterdir())


def test_an_interrupted_parquet_file_is_not_written_at_all(tmp_path):
    def interrupt(*_):
        raise KeyboardInterrupt

    one = vectors(["A"] * 100)
    with pytest.raises(KeyboardInterrupt):
        match_to_parquet(tmp_path / "x.parquet", one, np.zeros(100, np.int64), one, interrupt)
    assert not list(tmp_path.iterdir())
