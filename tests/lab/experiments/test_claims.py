"""Every claim of the paper is found to hold where it does, and to fail where it does not."""

import polars as pl
import pytest

from gramlink.lab.experiments import EXPERIMENTS
from gramlink.lab.experiments.experiment import Measured, NotMeasured, agreement
from gramlink.lab.experiments.lipschitz import LIPSCHITZ


def small(point):
    return float(point["epsilon"]) < 0.2


def mining_as_claimed(point):
    shares = {"tree-hybrid": 0.55 if small(point) else 0.45, "fpm": 0.95}
    return {"found": shares.get(point["miner"], 0.5)}


def mining_otherwise(point):
    shares = {"tree-hybrid": 0.45 if small(point) else 0.55, "fpm": 0.1}
    return {"found": shares.get(point["miner"], 0.5)}


def sizes_as_claimed(point):
    shares = {"tree-hybrid": 0.8, "fpm": 0.9}
    return {"found": shares.get(point["miner"], 0.5) - point["size"] / 1000}


def sizes_otherwise(point):
    shares = {"tree-hybrid": 0.2, "fpm": 0.1}
    return {"found": shares.get(point["miner"], 0.5) + point["size"] / 1000}


def thresholds_as_claimed(point):
    best = 0.8 if point["miner"] == "exact" else 0.6
    return [{"threshold": th, "f1": f1} for th, f1 in ((0.0, 0.1), (1.25, best), (6.0, 0.01))]


def thresholds_otherwise(point):  # noqa: ARG001
    return [{"threshold": th, "f1": 0.8} for th in (0.0, 1.25, 6.0)]


def edits_as_claimed(point):
    last = {"NAMES": 0.36, "CITIES": 0.6}[point["data"]]
    return {"f1": (0.99, 0.8, last)[point["edits"]]}


def edits_otherwise(point):
    return {"f1": (0.5, 0.5, 0.9)[point["edits"]] if point["miner"] == "exact" else 0.0}


def time_as_claimed(point):
    seconds = point["count"] * (2 if point["method"] == LIPSCHITZ else 1)
    return {"seconds": seconds, "embedding_seconds": seconds}


def time_otherwise(point):
    seconds = 1 if point["method"] == LIPSCHITZ else 2
    return {"seconds": seconds, "embedding_seconds": point["count"] ** 2}


def lipschitz_as_claimed(point):
    theirs = point["method"] == LIPSCHITZ
    few = point["size"] <= 20
    return {"f1": 0.5 if few and not theirs else 0.9, "seconds": 2 ** (point["size"] / 4)}


def lipschitz_otherwise(point):
    if point["method"] == LIPSCHITZ:
        return {"f1": 0.1 + point["size"] / 1000, "seconds": 1.0}
    return {"f1": 0.9 if point["size"] <= 20 else 0.05, "seconds": 1.0}


def list_as_claimed(point):
    named = point["data"] == "NAMES"
    numbers = (150_000, 15, 4, 7.1) if named else (5000, 23, 3, 8.2)
    return dict(zip(("count", "longest", "shortest", "average"), numbers, strict=True))


WORLDS = {
    "datasets": (
        list_as_claimed,
        lambda _: {"count": 9, "longest": 9, "shortest": 9, "average": 9.0},
    ),
    "mining-epsilon": (mining_as_claimed, mining_otherwise),
    "mining-size": (sizes_as_claimed, sizes_otherwise),
    "global-threshold": (thresholds_as_claimed, thresholds_otherwise),
    "base-size": (
        lambda point: {"f1": 1 - abs(point["size"] - 60) / 1000},
        lambda point: {"f1": point["size"] / 1000},
    ),
    "epsilon": (
        lambda point: {"f1": (0.99, 0.85)[point["edits"]]},
        lambda point: {"f1": ((0.5, 0.1), (0.99, 0.5))[point["miner"] == "exact"][point["edits"]]},
    ),
    "edits": (edits_as_claimed, edits_otherwise),
    "time": (time_as_claimed, time_otherwise),
    "lipschitz": (lipschitz_as_claimed, lipschitz_otherwise),
    "printed": (
        lambda point: {"measured": 0.0 if "share" in point["error"] else 1.0},
        lambda _: {"measured": 1.5},
    ),
}


def verdicts(name, world):
    rows = []
    for point in EXPERIMENTS[name].points("full"):
        found = world(point)
        rows += [{**point, **row} for row in (found if isinstance(found, list) else [found])]
    measured = Measured(pl.DataFrame(rows, infer_schema_length=None))
    claims = [claim for claim in EXPERIMENTS[name].claims if claim.paper]
    return {claim.name: claim.ours(measured)[0] for claim in claims}


def test_there_is_a_world_for_every_experiment_that_claims_something():
    claiming = {name for name, one in EXPERIMENTS.items() if any(c.paper for c in one.claims)}
    assert set(WORLDS) == claiming


@pytest.mark.parametrize("name", WORLDS)
def test_all_claims_agree_where_all_is_as_the_paper_says(name):
    assert set(verdicts(name, WORLDS[name][0]).values()) == {True}


@pytest.mark.parametrize("name", WORLDS)
def test_no_claim_agrees_where_nothing_is_as_the_paper_says(name):
    assert set(verdicts(name, WORLDS[name][1]).values()) == {False}


def test_what_was_not_measured_is_no_verdict():
    assert (agreement([True]), agreement([False]), agreement([True, False])) == (True, False, None)
    with pytest.raises(NotMeasured):
        agreement([])
