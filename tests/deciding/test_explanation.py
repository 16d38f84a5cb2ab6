from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from comparisons import numbered
from gramlink.deciding.explanation import explain
from gramlink.deciding.joint import posterior
from gramlink.deciding.rules import rule_named
from gramlink.encodings.vectors import ComparedVectors
from gramlink.matching.passes import Pass
from gramlink.scoring.mixture import Sort
from gramlink.scoring.score import score

PASSES = [Pass({"first": 0, "second": 1}), Pass({"third": 0})]


@cache
def linked():
    """Files of 300 persons, of whom 200 are in both; name 7 is common."""
    source = np.random.default_rng(1)
    people = np.stack([source.integers(0, size, 400) for size in (50, 400, 4000)])
    people[0, source.random(400) < 0.4] = 7
    left, right = people[:, :300].copy(), people[:, 100:].copy()
    for file in (left, right):
        file[source.random(file.shape) < 0.03] = -1
    right[1, source.random(300) < 0.1] += 1
    compared = ComparedVectors(numbered(left, right))
    return compared, score(compared, compared.candidates(PASSES))


def test_the_reasons_sum_to_the_match_weight_of_every_candidate():
    compared, scored = linked()
    found = scored.candidates
    for row in range(0, len(found), 7):
        told = explain(compared, scored.model, found.left[row], found.right[row])
        total = told.together + told.related
        total += sum(reason.weight + reason.rarity for reason in told.reasons)
        assert total == pytest.approx(told.weight)
        assert told.weight == pytest.approx(scored.weights[row])
        odds = 2 ** (told.weight + told.prior + told.rivals)
        assert told.probability == pytest.approx(odds / (1 + odds), abs=1e-9)


def test_the_probability_is_that_of_deciding():
    compared, scored = linked()
    found = scored.candidates
    expected = sum(sort.count for sort in scored.model.matches)
    rule = rule_named("one-to-one")
    joint = posterior(found.left, found.right, scored.log_odds, compared.sizes, rule, expected)
    for row in range(0, len(found), 31):
        told = explain(compared, scored.model, found.left[row], found.right[row])
        assert told.probability == pytest.approx(joint.probability[row], rel=1e-9)


def test_a_better_candidate_takes_away_and_relatives_never_add():
    compared, scored = linked()
    found = scored.candidates
    told = [
        explain(compared, scored.model, found.left[row], found.right[row])
        for row in range(0, len(found), 11)
    ]
    assert all(one.related <= 1e-9 for one in told)
    assert min(one.rivals for one in told) < -3
    alone = explain(compared, scored.model, 150, 50, rule="all")
    assert alone.rivals == pytest.approx(0, abs=0.01)


def test_each_field_is_told_with_its_level_and_what_that_weighs():
    compared, scored = linked()
    told = explain(compared, scored.model, 150, 50)  # one person
    assert [reason.field for reason in told.reasons] == list(compared.names)
    for reason in told.reasons:
        assert reason.weight == scored.model.weights[reason.field][reason.level]
    assert told.probability > 0.5


def test_a_pair_that_no_pass_finds_is_explained_too():
    compared, scored = linked()
    told = explain(compared, scored.model, 0, 299)
    assert {reason.level for reason in told.reasons} <= {"within 1", "farther", "missing"}
    assert all(reason.rarity == 0 for reason in told.reasons)
    assert told.probability < 0.01
    assert np.isfinite([told.weight, told.together]).all()


def test_a_rare_value_adds_and_a_common_one_takes_away():
    compared, scored = linked()
    rarity = {}
    for row in range(100, 300):
        reason = explain(compared, scored.model, row, row - 100).reasons[0]
        if reason.level == "equal":
            rarity[int(compared.comparison.left[row, 0])] = reason.rarity
    common = np.bincount(
        compared.comparison.left[:, 0][compared.comparison.left[:, 0] >= 0]
    ).argmax()
    assert rarity[common] < 0 < max(rarity.values())
    assert min(rarity.values()) == rarity[common]


def test_a_missing_value_has_no_rarity():
    compared, scored = linked()
    row = int(np.flatnonzero(compared.comparison.left[:, 0] < 0)[0])
    reason = explain(compared, scored.model, row, 0).reasons[0]
    assert (reason.level, reason.rarity) == ("missing", 0.0)


def test_a_pair_is_explained_even_if_the_model_has_no_matches():
    compared, scored = linked()
    none = tuple(Sort(0.0, sort.shares) for sort in scored.model.matches)
    told = explain(compared, replace(scored.model, matches=none), 150, 50)
    assert told.probability == pytest.approx(0)
    assert np.isfinite(told.weight)
