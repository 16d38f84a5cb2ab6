from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.matching import chance
from gramlink.matching.chance import UNSEEN, Gaps
from gramlink.records.levels import Levels

FIELDS = 3
ROWS = st.lists(st.tuples(*[st.booleans()] * FIELDS), min_size=1, max_size=12)
LEVELS = (Levels(0), Levels(1), Levels(2))


def slowly(left, right):
    """Which fields each pair misses, pair by pair."""
    counts = Counter()
    for i, one in enumerate(left):
        for j, other in enumerate(left if right is None else right):
            if right is not None or i != j:
                counts[tuple(a or b for a, b in zip(one, other, strict=True))] += 1
    return counts


@settings(max_examples=100)
@given(left=ROWS, right=st.none() | ROWS)
def test_gaps_are_those_of_all_pairs(left, right):
    gaps = Gaps.of(np.array(left), None if right is None else np.array(right))
    counts = slowly(left, right)
    found = dict(zip(map(tuple, gaps.missing.tolist()), gaps.shares.tolist(), strict=True))
    whole = sum(counts.values())
    if not whole:  # one record has no pair
        assert found == {(False,) * FIELDS: 1.0}
        return
    assert found == pytest.approx({way: count / whole for way, count in counts.items()})
    for field in range(FIELDS):
        missing = sum(count for way, count in counts.items() if way[field])
        assert gaps.of_field(field) == pytest.approx(missing / whole)


@settings(max_examples=50)
@given(missing=st.lists(st.tuples(*[st.booleans()] * FIELDS), max_size=12))
def test_gaps_of_pairs_that_are_seen_are_counted(missing):
    gaps = Gaps.seen(np.array(missing, bool).reshape(len(missing), FIELDS))
    found = dict(zip(map(tuple, gaps.missing.tolist()), gaps.shares.tolist(), strict=True))
    counts = Counter(missing) or Counter([(False,) * FIELDS])
    whole = sum(counts.values())
    assert found == pytest.approx({way: count / whole for way, count in counts.items()})


def test_a_pattern_has_the_share_of_pairs_that_miss_the_same():
    gaps = Gaps(np.array([[False, False, False], [True, False, True]]), np.array([0.75, 0.25]))
    levels = np.array([[0, 1, 2], [1, 0, 0], [2, 0, 4], [2, 3, 4]])
    expected = [0.75, 0.75, 0.25, UNSEEN]
    assert np.exp(gaps.log_shares(levels, LEVELS)) == pytest.approx(expected)


def test_pairs_drawn_miss_what_pairs_miss():
    gaps = Gaps(np.array([[False, False, False], [True, False, True]]), np.array([0.75, 0.25]))
    drawn = gaps.draw(20_000, np.random.default_rng(1))
    assert drawn.mean(axis=0) == pytest.approx([0.25, 0, 0.25], abs=0.02)


def test_of_very_many_ways_the_most_frequent_count(monkeypatch):
    monkeypatch.setattr(chance, "MOST_GAPS", 2)
    left = np.array([[True, False]] * 5 + [[False, False]] * 9 + [[True, True]])
    gaps = Gaps.of(left, np.array([[False, False]]))
    assert gaps.missing.tolist() == [[False, False], [True, False]]
    assert gaps.shares == pytest.approx([9 / 14, 5 / 14])
