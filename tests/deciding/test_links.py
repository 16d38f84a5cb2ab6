import random
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.deciding.links import Links, decide, kept
from gramlink.errors import InvalidParameter
from gramlink.matching.pairs import Pairs
from gramlink.records.choices import RULES
from reference import matching as definition

LEFT = ["c", "a", "10", "b", "9"]
RIGHT = ["z", "x", "Y", "w"]
PAIRS = st.dictionaries(
    st.tuples(st.integers(0, len(LEFT) - 1), st.integers(0, len(RIGHT) - 1)), st.integers(0, 3)
).map(lambda found: sorted(((i, j, d) for (i, j), d in found.items()), key=order))


def order(pair):
    return pair[0], pair[2], pair[1]


def as_pairs(listed):
    columns = zip(*listed, strict=True) if listed else ((), (), ())
    return Pairs(*(np.array(column, np.int64) for column in columns))


def linked(listed, rule, left=LEFT, right=RIGHT):
    links = decide(as_pairs(listed), left, right, rule)
    assert links.details.columns == ["distance"]
    # the square of the root of a small whole number is nearly that number
    squared = (links.details["distance"] ** 2).round(6).cast(pl.Int64)
    return list(zip(links.left, links.right, squared, strict=True))


@pytest.mark.parametrize("rule", RULES)
@settings(deadline=None)
@given(listed=PAIRS)
def test_a_rule_agrees_with_its_definition_and_keeps_the_order_of_the_pairs(rule, listed):
    chosen = definition.RULES[rule](listed, LEFT, RIGHT)
    expected = [(LEFT[i], RIGHT[j], d) for i, j, d in listed if (i, j, d) in chosen]
    assert linked(listed, rule) == expected
    rows = kept(as_pairs(listed), LEFT, RIGHT, rule)
    assert [listed[row] for row in rows] == [pair for pair in listed if pair in chosen]


@settings(deadline=None)
@given(listed=PAIRS)
def test_the_best_per_right_is_the_best_per_left_with_the_sides_turned(listed):
    turned = sorted(((j, i, d) for i, j, d in listed), key=order)
    found = linked(turned, "best-per-left", RIGHT, LEFT)
    assert {(i, j, d) for j, i, d in found} == set(linked(listed, "best-per-right"))


def test_there_is_a_definition_of_every_rule():
    assert definition.RULES.keys() == RULES.keys()


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=50, deadline=None)
@given(listed=PAIRS, seed=st.integers(0, 2**32))
def test_the_order_of_the_rows_does_not_matter(rule, listed, seed):
    source = random.Random(seed)
    rows, columns = list(range(len(LEFT))), list(range(len(RIGHT)))
    source.shuffle(rows)
    source.shuffle(columns)
    moved = sorted(((rows[i], columns[j], d) for i, j, d in listed), key=order)
    left = [LEFT[rows.index(place)] for place in range(len(LEFT))]
    right = [RIGHT[columns.index(place)] for place in range(len(RIGHT))]
    assert set(linked(moved, rule, left, right)) == set(linked(listed, rule))


@settings(deadline=None)
@given(listed=PAIRS)
def test_one_to_one_uses_each_record_once_and_leaves_no_pair_of_free_records(listed):
    links = linked(listed, "one-to-one")
    left, right = [link[0] for link in links], [link[1] for link in links]
    assert len(set(left)) == len(left)
    assert len(set(right)) == len(right)
    assert all(LEFT[i] in left or RIGHT[j] in right for i, j, _ in listed)


def test_one_to_one_takes_the_closest_pair_first():
    # a-x is the closest, so b, which has no other, goes without
    assert linked([(1, 1, 1), (1, 0, 2), (3, 1, 2)], "one-to-one") == [("a", "x", 1)]
    # though it would rather have both linked, it is greedy
    assert linked([(1, 1, 1), (1, 0, 1), (3, 1, 2)], "one-to-one") == [("a", "x", 1)]


def test_ties_go_by_the_left_id_and_then_the_right_id_as_text():
    everything = [(i, j, 0) for i in range(len(LEFT)) for j in range(len(RIGHT))]
    assert set(linked(everything, "one-to-one")) == {
        ("10", "Y", 0),
        ("9", "w", 0),
        ("a", "x", 0),
        ("b", "z", 0),
    }
    assert {link[1] for link in linked(everything, "best-per-left")} == {"Y"}
    assert {link[0] for link in linked(everything, "best-per-right")} == {"10"}


def test_a_rule_that_does_not_exist_is_refused():
    for refuse in (decide, kept):
        with pytest.raises(InvalidParameter, match="'best'") as caught:
            refuse(as_pairs([]), [], [], "best")
        assert caught.value.hint == "choose one of one-to-one, best-per-left, best-per-right, all"


def test_a_distance_is_the_root_of_its_square_in_units_of_the_scale():
    links = decide(replace(as_pairs([(0, 0, 0), (1, 1, 72)]), scale=6), LEFT, RIGHT, "all")
    assert links.details["distance"].to_list() == pytest.approx([0, 2**0.5])


def test_details_stand_beside_the_ids_unless_they_are_left_out():
    links = Links(("a", "b"), ("007", "x"), pl.DataFrame({"distance": [0.0, 2**0.5]}))
    assert links.to_polars().columns == ["id_left", "id_right", "distance"]
    assert links.to_polars()["distance"].to_list() == [0, 2**0.5]
    assert links.bare.to_polars().to_dict(as_series=False) == {
        "id_left": ["a", "b"],
        "id_right": ["007", "x"],
    }
    assert len(links.bare) == len(links) == 2
    assert links.details.width == 1  # a bare copy leaves the original alone


def test_details_may_be_of_any_kind():
    details = pl.DataFrame({"match_weight": [1.5], "level_surname": ["equal"]})
    row = Links(("a",), ("b",), details).to_polars().to_dicts()
    assert row == [{"id_left": "a", "id_right": "b", "match_weight": 1.5, "level_surname": "equal"}]


def test_links_need_no_details():
    assert Links(("a",), ("b",)).to_polars().rows() == [("a", "b")]
    assert Links((), ()).to_polars().schema == {"id_left": pl.String, "id_right": pl.String}


@pytest.mark.parametrize("rule", RULES)
def test_no_links_are_an_empty_frame_of_the_same_columns(rule):
    links = decide(as_pairs([]), ["a"], ["b"], rule)
    assert len(links) == 0
    assert links.bare.to_polars().schema == {"id_left": pl.String, "id_right": pl.String}
    assert links.to_polars().schema["distance"] == pl.Float64
