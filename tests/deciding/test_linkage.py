from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.deciding.joint import posterior
from gramlink.deciding.linkage import decide_scored, warnings_of
from gramlink.deciding.rules import rule_named
from gramlink.embedding.projection import agree
from gramlink.errors import InvalidParameter
from gramlink.lab.datasets import persons
from gramlink.lab.scores import score
from gramlink.matching.chance import Gaps
from gramlink.matching.passes import Candidates, Pass
from gramlink.parties.linkage_unit import LinkageUnit
from gramlink.parties.owner import Owner
from gramlink.records.choices import RULES
from gramlink.records.fields import Field
from gramlink.records.levels import Levels
from gramlink.records.reading import read_records
from gramlink.records.schema import Schema
from gramlink.scoring.mixture import Sort
from gramlink.scoring.model import Model
from gramlink.scoring.score import Scored
from reference import deciding as definition

LEFT, RIGHT = ["c", "a", "10", "b"], ["z", "x", "Y", "w"]
MATCH = Sort(10.0, (np.array([0.95, 0.05, 1]), np.array([0.8, 0.12, 0.08, 1])))
RANDOM = Sort(1000.0, (np.array([0.1, 0.9, 1]), np.array([0.01, 0.05, 0.94, 1])))
GAPS = Gaps(np.array([[False, False], [True, False]]), np.array([0.9, 0.1]))
MODEL = Model(
    ("sex", "surname"),
    (Levels(0), Levels(1)),
    1000,
    GAPS,
    (MATCH,),
    RANDOM,
    (),
    (Pass({"sex": 0}), Pass({"surname": 1})),
)
ODDS = st.sampled_from([0.01, 0.2, 1 / 3, 0.5, 1.0, 2.0, 9.0, 1000.0])
PAIRS = st.dictionaries(st.tuples(*[st.integers(0, 3)] * 2), ODDS).map(
    lambda found: sorted((i, j, odds) for (i, j), odds in found.items())
)
SHARES = st.sampled_from([0.0, 0.05, 0.1, 0.25, 0.5, 0.9, 1.0])


def scored(pairs, model=MODEL):
    left, right, odds = (np.array([pair[n] for pair in pairs]) for n in range(3))
    levels = np.stack([left % 3, right % 4], axis=1).astype(np.uint8).reshape(len(pairs), 2)
    found = Candidates(
        left.astype(np.int32), right.astype(np.int32), levels,
        model.passes, (len(pairs), 0), (len(pairs), 0),
    )  # fmt: skip
    return Scored(found, np.log(odds.astype(float)), model)


def decided(pairs, rule, accept, review, left=LEFT, right=RIGHT):
    return decide_scored(scored(pairs), left, right, rule, accept, review)


def named(rows):
    return {(LEFT[i], RIGHT[j]) for i, j in rows}


def pairs_of(links):
    return set(zip(links.left, links.right, strict=True))


def probabilities_of(pairs, rule):
    """What deciding takes for the probability of each pair."""
    one = scored(pairs)
    joint = posterior(
        one.candidates.left, one.candidates.right, one.log_odds, (4, 4), rule_named(rule), 10.0
    )
    return joint.probability.tolist()


@pytest.mark.parametrize("rule", RULES)
@settings(deadline=None, max_examples=100)
@given(pairs=PAIRS, two=st.tuples(SHARES, SHARES))
def test_links_and_possible_links_agree_with_the_definition(rule, pairs, two):
    review, accept = sorted(two)
    linkage = decided(pairs, rule, accept, review)
    chances = probabilities_of(pairs, rule)
    linked = pairs_of(linkage.links)
    chosen = {(i, j) for i, j, _ in pairs if (LEFT[i], RIGHT[j]) in linked}
    assert len(chosen) == len(linkage.links)
    gain = sum(
        chance - accept
        for (i, j, _), chance in zip(pairs, chances, strict=True)
        if (i, j) in chosen
    )
    assert gain == pytest.approx(definition.most_gain(pairs, chances, rule, accept), abs=1e-9)
    others = definition.possible(pairs, chances, chosen, rule, review)
    assert pairs_of(linkage.possible) == named(others)


@settings(deadline=None, max_examples=60)
@given(pairs=PAIRS, two=st.tuples(SHARES, SHARES))
def test_no_record_is_linked_twice_nor_possible_beside_a_link(pairs, two):
    review, accept = sorted(two)
    linkage = decided(pairs, "one-to-one", accept, review)
    for side in ("left", "right"):
        linked = getattr(linkage.links, side)
        assert len(set(linked)) == len(linked)
        assert not set(linked) & set(getattr(linkage.possible, side))


def test_of_two_equally_good_candidates_neither_is_linked():
    twice = [(0, 0, 50.0), (0, 1, 50.0)]
    linkage = decided(twice, "one-to-one", 0.5, 0.1)
    assert len(linkage.links) == 0
    assert len(linkage.possible) == 2


def test_a_pair_at_the_border_is_within_it():
    pairs = [(0, 0, 1.0), (1, 1, 1 / 3)]
    one, other = probabilities_of(pairs, "one-to-one")
    linkage = decided(pairs, "one-to-one", one, other)
    assert pairs_of(linkage.links) == {("c", "z")}
    assert pairs_of(linkage.possible) == {("a", "x")}
    linkage = decided(pairs, "one-to-one", one + 1e-6, other + 1e-6)
    assert len(linkage.links) == 0
    assert pairs_of(linkage.possible) == {("c", "z")}


def test_odds_too_large_for_a_number_are_certain_and_do_not_overflow():
    one = scored([(0, 0, 1.0), (1, 1, 1.0), (1, 2, 1.0)])
    one = replace(one, log_odds=np.array([5000.0, 5000.0, -5000.0]))
    linkage = decide_scored(one, LEFT, RIGHT, "one-to-one", 0.5, 0.1)
    assert linkage.precision == pytest.approx(1)
    assert pairs_of(linkage.links) == {("c", "z"), ("a", "x")}


def test_the_better_of_two_certain_pairs_is_linked():
    one = scored([(0, 0, 1.0), (1, 0, 1.0)])
    one = replace(one, log_odds=np.array([60.0, 61.0]))
    linkage = decide_scored(one, LEFT, RIGHT, "one-to-one", 0.4, 0.1)
    assert pairs_of(linkage.links) == {("a", "z")}


def test_estimates_are_those_of_the_probabilities():
    pairs = [(0, 0, 90.0), (1, 1, 40.0), (2, 2, 0.02)]
    linkage = decided(pairs, "one-to-one", 0.5, 0.1)
    one, other, third = probabilities_of(pairs, "one-to-one")
    assert linkage.precision == pytest.approx((one + other) / 2)
    total = (one + other + third) / MODEL.coverage
    assert linkage.recall == pytest.approx((one + other) / total)
    assert linkage.passes == ((MODEL.passes[0], 3, 3), (MODEL.passes[1], 0, 0))
    assert sum(count for _, count in linkage.histogram) == 3
    weights = linkage.links.details["match_weight"].to_list()
    prior = np.log2(0.01 / 0.99)
    assert weights == pytest.approx([np.log2(90) - prior, np.log2(40) - prior], abs=0.001)


def test_without_candidates_there_are_no_links_and_no_estimates():
    linkage = decided([], "one-to-one", 0.5, 0.1)
    assert (len(linkage.links), len(linkage.possible), linkage.precision) == (0, 0, None)
    assert linkage.histogram == ()
    assert linkage.links.to_polars().columns == [
        "id_left", "id_right", "match_weight", "match_probability", "level_sex", "level_surname",
    ]  # fmt: skip


def test_details_say_how_near_each_field_is():
    linkage = decided([(0, 0, 9.0), (1, 2, 9.0)], "one-to-one", 0.5, 0.1)
    assert linkage.links.details["level_sex"].to_list() == ["equal", "farther"]
    assert linkage.links.details["level_surname"].to_list() == ["equal", "farther"]
    chances = probabilities_of([(0, 0, 9.0), (1, 2, 9.0)], "one-to-one")
    assert linkage.links.details["match_probability"].to_list() == pytest.approx(chances, abs=1e-6)
    assert linkage.links.bare.to_polars().columns == ["id_left", "id_right"]


def test_another_rule_is_refused():
    with pytest.raises(InvalidParameter, match="no rule 'best'"):
        decided([(0, 0, 9.0)], "best", 0.5, 0.1)


# what looks odd


def warned(matches, random, count=100.0, missing=0.04, misfit=0.0, **changes):
    """Warnings about the field surname of a model."""
    gaps = Gaps(np.array([[False, False], [False, True]]), np.array([1 - missing, missing]))
    model = replace(
        MODEL,
        gaps=gaps,
        matches=(Sort(count, (MATCH.shares[0], np.array(matches))),),
        random=Sort(1000.0, (RANDOM.shares[0], np.array(random))),
        **changes,
    )
    return warnings_of(model, misfit)


def test_a_good_model_has_no_warnings():
    assert warned([0.8, 0.12, 0.08, 1], [0.01, 0.05, 0.94, 1]) == ()


def test_of_few_matches_estimates_are_rough():
    (one,) = warned([0.8, 0.12, 0.08, 1], [0.01, 0.05, 0.94, 1], count=49.0)
    assert one == "fewer than 50 pairs look like matches: the estimates are rough"


def test_of_a_model_that_fits_badly_or_did_not_settle_estimates_are_rough():
    good = ([0.8, 0.12, 0.08, 1], [0.01, 0.05, 0.94, 1])
    (one,) = warned(*good, misfit=0.23)
    assert "a misfit of 23% of the matches" in one
    assert warned(*good, misfit=0.05) == ()
    (one,) = warned(*good, steady=False)
    assert one.startswith("learning what matches look like did not settle")


def test_relatives_whom_only_one_field_tells_apart_make_a_warning():
    levels, gaps = (Levels(0),) * 3, Gaps(np.zeros((1, 3), np.bool_), np.ones(1))

    def sort(count, *equal):
        return Sort(count, tuple(np.array([share, 1 - share, 1]) for share in equal))

    model = replace(
        MODEL, names=("given", "surname", "street"), levels=levels, gaps=gaps,
        matches=(sort(100.0, 0.9, 0.9, 0.9),), random=sort(9000.0, 0.01, 0.01, 0.01),
        related=(sort(200.0, 0.01, 0.9, 0.9),), passes=(),
    )  # fmt: skip
    (one,) = warnings_of(model)
    assert one.startswith("only given tells one person from relatives")


def test_a_field_that_is_seldom_equal_in_matches_is_named():
    (one,) = warned([0.05, 0.02, 0.93, 1], [0.01, 0.05, 0.94, 1])
    assert one.startswith("surname is seldom equal in matches")
    assert warned([0.35, 0.02, 0.63, 1], [0.01, 0.05, 0.94, 1]) == ()


def test_a_field_that_is_missing_or_of_one_value_is_named():
    (one,) = warned([0.9, 0.05, 0.05, 1], [0.01, 0.05, 0.94, 1], missing=0.99)
    assert one == "surname is missing in nearly all pairs: it says nothing"
    (one,) = warned([0.999, 0.0005, 0.0005, 1], [0.99, 0.005, 0.005, 1])
    assert one == "surname is equal in nearly all pairs: it says nothing"
    (one,) = warned([0.99, 0.005, 0.005, 1], [0.99, 0.006, 0.004, 1], missing=0.5)
    assert one == "surname is equal in nearly all pairs: it says nothing"


def test_where_there_is_no_match_that_is_all_that_is_said():
    found = warned([0.05, 0.02, 0.93, 1], [0.01, 0.05, 0.94, 1], count=0.2)
    assert found == ("no pair looks like a match",)


# how good estimates are

PERSON = Schema(
    fields=(
        Field(name="given_name"),
        Field(name="surname"),
        Field(name="sex", kind="category", length=1),
        Field(name="date_of_birth", kind="date"),
        Field(name="street", alphabet="ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789"),
        Field(name="city"),
        Field(name="postcode", kind="digits"),
        Field(name="phone", kind="digits"),
    )
)


@cache
def linkage_of(seed, overlap):
    people = persons(3000, overlap=overlap, seed=seed)
    one = Owner("left", read_records(people.left, PERSON), PERSON, b"left")
    other = Owner("right", read_records(people.right, PERSON), PERSON, b"right")
    projection = agree(one.mine(None), other.mine(None))
    linkage = LinkageUnit.of(one.embed(projection), other.embed(projection)).link()
    links = one.translate(other.translate(linkage.links))
    return linkage, score(zip(links.left, links.right, strict=True), people.truth.rows())


@pytest.mark.parametrize(("seed", "overlap"), [(1, 0.5), (2, 0.1)])
def test_precision_and_recall_are_estimated_well_without_truth(seed, overlap):
    linkage, true = linkage_of(seed, overlap)
    assert true.f1 > 0.98
    assert linkage.precision == pytest.approx(true.precision, abs=0.02)
    assert linkage.recall == pytest.approx(true.recall, abs=0.02)
    assert linkage.warnings == ()
