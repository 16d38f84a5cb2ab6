"""Every way of the join finds the pairs that trying all finds, each once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.embedding.base import Base
from gramlink.embedding.vectors import Vectors, embed
from gramlink.kernels.index import MOST_STEPS
from gramlink.kernels.join import EQUAL, SCAN
from gramlink.lab.datasets import corrupt, sample, surnames
from gramlink.matching import join as joining
from gramlink.matching.pairs import match
from gramlink.records.fields import ALPHABET
from gramlink.records.strings import Strings
from strategies import frequent_grams


def brute_force(left, limits, right):
    """All pairs by the definition of a squared distance, in the stated order."""
    x, y = (v.coordinates.astype(np.int64) for v in (left, right))
    found = []
    for i in np.flatnonzero(~left.missing):
        squared = ((x[i] - y) ** 2).sum(axis=1)
        near = np.flatnonzero((squared <= limits[i]) & ~right.missing)
        order = np.lexsort((near, squared[near]))
        found += ((i, j, squared[j]) for j in near[order])
    return found


def listed(pairs):
    return list(zip(pairs.left, pairs.right, pairs.squared, strict=True))


def forced(monkeypatch, way):
    """Let every row that can go a way go it, whatever it costs."""

    def cheapest(self, rows, limit):  # noqa: ARG001
        if limit < self._least:
            return EQUAL, 0.0
        reach = limit // self._main.weight
        if way == SCAN:
            return SCAN, np.inf
        steps = min(way, reach)
        if steps < reach:
            self._prepare_side()
            rest = (limit - self._main.weight * (steps + 1)) // self._side.weight
            if self._side is joining.NOTHING or rest > MOST_STEPS:
                return SCAN, np.inf
        return steps, np.inf

    monkeypatch.setattr(joining.Join, "_cheapest", cheapest)


@st.composite
def cases(draw):
    """Two sides of vectors near to each other, and limits from 0 to huge."""
    source = np.random.default_rng(draw(st.integers(0, 2**32)))
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3, unique=True))
    size = draw(st.sampled_from([1, 2, 15, 16, 17, 40, 90, 200]))
    lengths = tuple(source.choice(lengths, size).tolist())
    top = draw(st.sampled_from([1, 2, 5, 255]))
    n, m = draw(st.integers(1, 12)), draw(st.integers(1, 30))
    share = draw(st.sampled_from([0.0, 0.05, 0.5, 1.0]))
    first = source.integers(0, top + 1, size) * (source.random(size) < share)

    def side(count):
        counts = np.tile(first, (count, 1))
        for row in counts:
            for _ in range(source.integers(0, 5)):
                place = source.integers(size)
                row[place] = np.clip(row[place] + source.choice([-2, -1, 1, 2]), 0, 255)
        return Vectors(counts.astype(np.uint8), lengths, source.random(count) < 0.1)

    left, right = side(n), side(m)
    unit = left.scale**2
    choices = [0, 1, unit // 4, unit, 2 * unit, 3 * unit, 5 * unit, 2**62]
    limits = source.choice(choices, n) + source.integers(0, unit // 4 + 1, n)
    return left, limits, right


@pytest.mark.parametrize("way", [None, SCAN, 0, 1, 2, 3])
@settings(deadline=None, max_examples=60)
@given(case=cases())
def test_every_way_agrees_with_trying_all_pairs(way, case):
    left, limits, right = case
    with pytest.MonkeyPatch.context() as patch:
        if way is not None:
            forced(patch, way)
        assert listed(match(left, limits, right)) == brute_force(left, limits, right)


def vectors(counts, lengths):
    counts = np.array(counts, np.uint8)
    return Vectors(counts, lengths, np.zeros(len(counts), bool))


@pytest.mark.parametrize("limit", [0, 36, 100, 2**62])
@pytest.mark.parametrize("kind", ["equal", "empty", "cluster"])
def test_data_that_is_all_alike_is_joined(kind, limit):
    source = np.random.default_rng(5)
    lengths = (*(1,) * 20, *(2,) * 30, *(3,) * 25)
    counts = np.zeros((300, 75)) if kind == "empty" else np.ones((300, 75))
    if kind == "cluster":
        counts[source.random(counts.shape) < 0.02] = 2
    one = vectors(counts, lengths)
    limits = np.full(300, limit)
    assert listed(match(one, limits, one)) == brute_force(one, limits, one)


def test_a_base_of_1000_grams_and_counts_up_to_255_is_joined(monkeypatch):
    source = np.random.default_rng(6)
    lengths = tuple(np.sort(source.integers(1, 7, 1000)).tolist())
    counts = source.integers(0, 256, (40, 1000)) * (source.random((40, 1000)) < 0.01)
    left = vectors(counts, lengths)
    right = vectors(np.clip(counts + (source.random(counts.shape) < 0.002), 0, 255), lengths)
    limits = source.integers(0, 4 * 60**2, 40)
    expected = brute_force(left, limits, right)
    assert len(expected) > 20
    assert listed(match(left, limits, right)) == expected
    forced(monkeypatch, SCAN)
    assert listed(match(left, limits, right)) == expected


@pytest.mark.parametrize("limit", [0, 53, 90, 150])
def test_surnames_are_joined_as_by_trying_all_pairs(limit):
    names = sample(surnames(), 1500, seed=2)
    left = Strings.of(names, ALPHABET + "*")
    base = Base(frequent_grams(names))
    one, other = embed(left, base), embed(corrupt(left, 2, seed=3), base)
    limits = limit + np.random.default_rng(4).integers(0, 20, 1500)
    expected = brute_force(one, limits, other)
    found = match(one, limits, other)
    assert np.array_equal(np.array(expected), np.array([found.left, found.right, found.squared]).T)


def test_vectors_with_the_same_hash_are_not_taken_for_equal(monkeypatch):
    monkeypatch.setattr(joining, "hashes", lambda counts, _: np.zeros(len(counts), np.uint64))
    one = vectors(np.eye(5), (1, 1, 2, 2, 3))
    limits = np.array([0, 0, 20, 80, 200])
    assert listed(match(one, limits, one)) == brute_force(one, limits, one)


def test_equal_vectors_are_joined_once_and_all_their_records_listed(monkeypatch):
    joined = []
    rows = joining.join_rows
    monkeypatch.setattr(
        joining,
        "join_rows",
        lambda left, *rest: joined.append(len(left.limits)) or rows(left, *rest),
    )
    monkeypatch.setattr(joining, "COMPARED", 0.0)
    one = vectors([[1, 0]] * 500 + [[0, 1]] * 500, (1, 1))
    pairs = match(one, np.zeros(1000, np.int64), one)
    assert len(pairs) == 500_000
    assert max(joined) <= 2


@pytest.mark.parametrize("grams", [100, 300, 900])
def test_many_grams_of_one_length_are_joined(grams):
    source = np.random.default_rng(grams)
    counts = (source.random((80, grams)) < 0.02).astype(np.uint8)
    left = vectors(counts, (2,) * grams)
    right = vectors(counts ^ (source.random(counts.shape) < 0.002), (2,) * grams)
    limits = source.integers(0, 4, 80)
    expected = brute_force(left, limits, right)
    assert len(expected) > 20
    assert listed(match(left, limits, right)) == expected


@pytest.mark.parametrize("multiplier", [0, 1])
def test_keys_that_collide_give_no_pair_twice(monkeypatch, multiplier):
    def index(self, length, counts):
        made = np.flatnonzero(self._lengths == length)
        multipliers = np.full(len(made), multiplier, np.uint64)
        keys = joining.keys_of(counts, made, multipliers)
        weight = int(self._scale // length) ** 2
        return joining._indexed(keys, made, weight, multipliers)

    monkeypatch.setattr(joining.Join, "_index", index)
    source = np.random.default_rng(9)
    one = vectors(source.integers(0, 2, (30, 12)), (*(1,) * 6, *(2,) * 6))
    limits = source.integers(0, 14, 30)
    for way in (1, 2, 3):
        forced(monkeypatch, way)
        assert listed(match(one, limits, one)) == brute_force(one, limits, one)
