"""A tiny version of each experiment, and that a run goes on where it was stopped."""

import json
import os
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from gramlink.deciding.links import decide
from gramlink.errors import GramlinkError
from gramlink.lab.experiments import EXPERIMENTS, linkage
from gramlink.lab.experiments import runs as running
from gramlink.lab.experiments.data import Copies, copies
from gramlink.lab.experiments.experiment import Measured, NotMeasured, Plot
from gramlink.lab.experiments.people import files
from gramlink.lab.experiments.printed import printed_exponential, printed_hybrid, printed_path
from gramlink.lab.experiments.rivals import METHODS, best_cut
from gramlink.lab.experiments.runs import Kept, machine, run
from gramlink.lab.scores import score
from gramlink.matching.pairs import Pairs
from gramlink.mining.estimates import Estimates
from reference.edits import levenshtein


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=list(EXPERIMENTS))
def test_a_tiny_version_measures_all_that_is_shown_and_claimed(experiment):
    rows = [
        {**point, **row}
        for point in experiment.points("tiny")
        for row in experiment.measure(**point)
    ]
    measured = Measured(pl.DataFrame(rows, infer_schema_length=None))
    for one in experiment.shown:
        columns = (
            (one.x, one.y, one.series, *one.panels)
            if isinstance(one, Plot)
            else (*one.rows, *one.across, *one.values, *one.once)
        )
        for name in columns:
            assert measured.frame[name].is_not_null().any(), name
    for name in {"f1", "precision", "recall", "found"} & set(measured.frame.columns):
        assert measured.frame[name].drop_nulls().is_between(0, 1).all()
    for claim in experiment.claims:
        try:
            agrees, sentence = claim.ours(measured)
        except NotMeasured:
            continue
        assert agrees in (True, False, None)
        assert sentence.endswith(".")


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=list(EXPERIMENTS))
def test_every_scale_sets_the_same_things_and_no_point_twice(experiment):
    for scale in ("full", "quick", "tiny"):
        points = list(experiment.points(scale))
        assert len({json.dumps(point) for point in points}) == len(points)
        assert {frozenset(point) for point in points} == {frozenset(experiment.full[0])}


def test_every_table_and_figure_of_the_papers_section_6_is_there():
    where = " ".join(one.where for one in EXPERIMENTS.values())
    for place in ("Table 2", *(f"Figure {number} " for number in range(4, 11))):
        assert place in where


def test_a_copy_is_a_shuffled_list_with_up_to_so_many_edits():
    both = copies("CITIES", 50, 2, draw=3)
    left, right = list(both.left), list(both.right)
    assert len(set(left)) == 50
    distances = [levenshtein(left[i], text) for i, text in zip(both.order, right, strict=True)]
    assert max(distances) == 2
    assert 0 in distances
    assert list(copies("CITIES", 50, 2, draw=4).left) != left


def test_some_of_the_copies_are_still_copies_of_each_other():
    both = copies("NAMES", 200, 1, draw=5)
    some = both.some(40, draw=6)
    assert len(some.left) == len(some.right) == len(set(some.order)) == 40
    left, right = list(both.left), list(both.right)
    copy_of = dict(zip((left[i] for i in both.order), right, strict=True))
    for place, text in enumerate(some.right):
        assert copy_of[some.left[int(some.order[place])]] == text


def _pairs(rows):
    return Pairs(*(np.array(column, np.int64) for column in zip(*rows, strict=True)))


def test_scores_are_those_of_the_links_by_their_ids():
    both = Copies(*[None] * 2, order=np.array([1, 0, 2]))
    pairs = _pairs([(0, 1, 0), (0, 2, 0), (1, 0, 4), (2, 0, 1)])
    ids = ["0", "1", "2"]
    truth = [("1", "0"), ("0", "1"), ("2", "2")]
    for rule in ("all", "one-to-one"):
        links = decide(pairs, ids, ids, rule)
        expected = score(zip(links.left, links.right, strict=True), truth)
        assert both.scores(pairs, rule) == expected
    batches = [_pairs([row]) for row in zip(pairs.left, pairs.right, pairs.squared, strict=True)]
    assert both.scores_of_all(batches) == both.scores(pairs, "all")


def test_the_best_cut_is_the_best_of_all_thresholds():
    draw = np.random.default_rng(1)
    both = Copies(*[None] * 2, order=draw.permutation(12))
    rows = sorted({(int(a), int(b), int(d)) for a, b, d in draw.integers(0, 12, (70, 3))})
    rows += [(int(i), j, j % 3) for j, i in enumerate(both.order)]
    for rule in ("all", "one-to-one"):
        each = [
            both.scores(_pairs([row for row in rows if row[2] <= limit]), rule).f1
            for limit in {row[2] for row in rows}
        ]
        found, limit = best_cut(both, _pairs(rows), rule)
        assert found.f1 == max(each)
        assert both.scores(_pairs([row for row in rows if row[2] <= limit]), rule) == found


def test_the_printed_budgets_are_those_of_the_paper():
    assert printed_path() == Fraction(8, 7)
    assert printed_exponential() == Fraction(127, 255)
    assert printed_hybrid() == Fraction(5, 4)


def test_without_any_frequent_gram_nothing_is_linked(monkeypatch):
    monkeypatch.setattr(linkage, "mine_field", lambda *_: Estimates((), ()))
    settings = {"data": "NAMES", "count": 50, "edits": 0, "size": 75, "threshold": "paper"}
    (row,) = linkage.linked(**settings, miner="fpm", epsilon="0.1", decide="all", draw=0)
    assert row == {"f1": 0, "precision": 0, "recall": 0, "links": 0, "grams": 0}


def test_every_method_of_the_table_finds_all_equal_names():
    compared = EXPERIMENTS["rivals"].measure
    for method in METHODS:
        (row,) = compared(method, "NAMES", 60, "all", 0, 0)
        assert row["recall"] == 1, method
        assert row["bytes"] > 0


def test_the_truth_of_fewer_records_is_about_these():
    people = files("FEBRL 4 with five fields", 100, 0)
    assert people.truth["id_left"].sort().equals(people.left["rec_id"].sort())
    assert set(people.truth["id_right"]) < set(people.right["rec_id"])
    assert len(people.left.columns) == 6


def test_a_run_that_was_stopped_goes_on_and_measures_no_point_again(tmp_path):
    chosen = [EXPERIMENTS["datasets"]]
    first = run(chosen, "tiny", tmp_path)["datasets"].frame
    kept = tmp_path / "points" / "datasets.jsonl"
    lines = kept.read_text("utf-8").splitlines()
    assert len(lines) == len(first) == 2
    # the process was killed as it wrote the second line; the first holds what only it can know
    marked = lines[0].replace('"count": ', '"count": 1')
    kept.write_text(f"{marked}\n{lines[1][:40]}", "utf-8")
    told, done = [], []
    again = run(chosen, "tiny", tmp_path, lambda *at: done.append(at), told.append)["datasets"]
    assert done == [(1, 1)]
    assert [line.split()[0] for line in told] == ["datasets"]
    assert again.frame["data"].to_list() == ["NAMES", "CITIES"]
    assert (again.frame["count"] != first["count"]).sum() == 1
    assert run(chosen, "tiny", tmp_path)["datasets"].frame.equals(again.frame)


def test_a_process_that_ends_while_it_measures_is_an_error_with_a_hint(monkeypatch):
    monkeypatch.setattr(running, "measure", os._exit)
    with pytest.raises(GramlinkError, match="was killed") as raised:
        list(running._measured([(9,)], processes=1, threads=1))
    assert "resume" in raised.value.hint


def test_what_another_version_measured_is_not_used(tmp_path):
    file = tmp_path / "points" / "datasets.jsonl"
    file.parent.mkdir()
    line = {"point": {"data": "NAMES"}, "rows": [{"count": 1}], "date": "2026-01-01",
            "machine": machine(), "gramlink": "0.0.1"}  # fmt: skip
    file.write_text(json.dumps(line) + "\n", "utf-8")
    kept = Kept(file)
    assert {"data": "NAMES"} not in kept
    kept.add({"data": "NAMES"}, [{"count": 2}])
    assert Kept(file)[{"data": "NAMES"}] == [{"count": 2}]


def test_means_are_over_draws_and_a_point_that_is_not_there_is_not_measured():
    rows = [{"x": x, "draw": draw, "f1": x + draw} for x in (1, 2) for draw in (0, 1, 2)]
    measured = Measured(pl.DataFrame(rows))
    assert measured.mean("f1", x=2) == 3
    assert measured.curve("x", "f1") == {1: 2, 2: 3}
    means = measured.means(["x"], ["f1"])
    assert means["f1"].to_list() == [2, 3]
    assert means["f1_sd"].to_list() == [1, 1]
    with pytest.raises(NotMeasured):
        measured.mean("f1", x=3)
