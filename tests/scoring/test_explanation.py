from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from comparisons import numbered
from gramlink.matching.passes import Pass, candidates
from gramlink.scoring.explanation import explain
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
    comparison = numbered(left, right)
    return comparison, score(comparison, candidates(comparison, PASSES), unique=True)


def test_the_reasons_sum_to_the_match_weight_of_every_candidate():
    comparison, scored = linked()
    found = scored.candidates
    for row in range(0, len(found), 7):
        told = explain(comparison, scored.model, found.left[row], found.right[row])
        total = told.together + sum(reason.weight + reason.rarity for reason in told.reasons)
        assert total == pytest.approx(told.weight)
        assert told.weight == pytest.approx(scored.weights[row])
        assert told.probability == pytest.approx(1 / (1 + np.exp(-scored.log_odds[row])))


def test_each_field_is_told_with_its_level_and_what_that_weighs():
    comparison, scored = linked()
    told = explain(comparison, scored.model, 150, 50)  # one person
    assert [reason.field for reason in told.reasons] == list(comparison.names)
    for reason in told.reasons:
        assert reason.weight == scored.model.weights[reason.field][reason.level]
    assert told.probability > 0.5


def test_a_pair_that_no_pass_finds_is_explained_too():
    comparison, scored = linked()
    told = explain(comparison, scored.model, 0, 299)
    assert {reason.level for reason in told.reasons} <= {"within 1", "farther", "missing"}
    assert all(reason.rarity == 0 for reason in told.reasons)
    assert told.probability < 0.01
    assert np.isfinite([told.weight, told.together]).all()


def test_a_rare_value_adds_and_a_common_one_takes_away():
    comparison, scored = linked()
    rarity = {}
    for row in range(100, 300):
        reason = explain(comparison, scored.model, row, row - 100).reasons[0]
        if reason.level == "equal":
            rarity[int(comparison.left[row, 0])] = reason.rarity
    common = np.bincount(comparison.left[:, 0][comparison.left[:, 0] >= 0]).argmax()
    assert rarity[common] < 0 < max(rarity.values())
    assert min(rarity.values()) == rarity[common]


def test_a_missing_value_has_no_rarity():
    comparison, scored = linked()
    row = int(np.flatnonzero(comparison.left[:, 0] < 0)[0])
    reason = explain(comparison, scored.model, row, 0).reasons[0]
    assert (reason.level, reason.rarity) == ("missing", 0.0)


def test_a_pair_is_explained_even_if_the_model_has_no_matches():
    comparison, scored = linked()
    none = tuple(Sort(0.0, sort.shares) for sort in scored.model.matches)
    told = explain(comparison, replace(scored.model, matches=none), 150, 50)
    assert told.probability == pytest.approx(0)
    assert np.isfinite(told.weight)
