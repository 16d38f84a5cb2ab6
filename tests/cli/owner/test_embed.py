"""`gramlink embed` records in the ledger what a bundle shows, before the bundle is there."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from cli.owners import COUNT, edit
from gramlink.bundles.bundle import Bundle
from gramlink.bundles.sealing import read_recipient, verified
from gramlink.privacy.exposure import UNSEALED
from gramlink.privacy.ledger import Ledger
from gramlink.records.choices import ENCODINGS, Choice


@pytest.fixture
def agreed(folder, run, monkeypatch):
    """A folder with all that embedding needs, under an encoding of which exposures add up."""
    monkeypatch.setitem(ENCODINGS, "hashed", Choice("hashed_records:HashedRecords"))
    edit("linkage.toml", "epsilon = 20\n", 'epsilon = 20\nencoding = "hashed"\n')
    for owner in ("hospital", "registry"):
        run("mine", f"{owner}.csv", "-q")
    run("merge", "hospital.mined.json", "registry.mined.json", "-q")
    for party in ("unit", "hospital"):
        run("keys", "new", party, "-q")
    return folder


def shown(path="hospital.ledger"):
    return Ledger.open(Path(path)).state.exposures


@pytest.mark.usefixtures("agreed")
def test_a_bundle_is_recorded_in_the_ledger_that_mine_keeps(run):
    out = run("embed", "hospital.csv", "--to", "unit.recipient", "--exchange", "stroke").out
    assert "recorded in hospital.ledger: `gramlink ledger hospital.ledger` says what adds up" in out
    assert "is new" not in out
    (one,) = shown()
    unit = read_recipient(Path("unit.recipient"))
    assert (one.exchange, one.unit, one.encoding) == ("stroke", unit.key, "hashed")
    assert one.records == COUNT + 1
    assert f"to the linkage unit with the key {unit.fingerprint}: 1 bundle" in (
        run("ledger", "hospital.ledger").out
    )


@pytest.mark.usefixtures("agreed")
def test_a_bundle_that_is_not_sealed_is_recorded_as_such(run):
    run("embed", "hospital.csv")
    (one,) = shown()
    assert one.unit == UNSEALED
    opened, _ = verified(Path("hospital.bundle").read_bytes(), "x")
    assert one.digest == Bundle.from_bytes(opened, "x").digest


@pytest.mark.usefixtures("agreed")
def test_embedding_again_is_no_new_exposure(run):
    run("embed", "hospital.csv")
    before = Path("hospital.ledger").read_bytes()
    run("embed", "hospital.csv", "-o", "again.bundle")
    assert Path("hospital.ledger").read_bytes() == before


@pytest.mark.usefixtures("agreed")
def test_a_dry_run_shows_nobody_anything(run):
    before = Path("hospital.ledger").read_bytes()
    run("embed", "hospital.csv", "--dry-run")
    assert Path("hospital.ledger").read_bytes() == before
    Path("hospital.ledger").unlink()
    run("embed", "hospital.csv", "--dry-run")
    assert not Path("hospital.ledger").exists()


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.usefixtures("agreed")
def test_beyond_the_limit_nothing_is_written(run, refused, known):
    run("embed", "hospital.csv", "--exchange", "stroke", "-q")
    run("ledger", "hospital.ledger", "--exposures", "1", "--json")
    Path("hospital.bundle").unlink()
    if not known:  # no key file is made either
        Path("hospital.key").unlink()
    line = ("embed", "hospital.csv", "--exchange", "heart")
    says = ["data set hospital was shown once", "hospital.ledger permits 1", "--exposures 2"]
    refused(*line, code=3, says=says)
    run("ledger", "hospital.ledger", "--exposures", "2", "--json")
    run(*line)
    assert len(shown()) == 2


@pytest.mark.usefixtures("agreed")
def test_a_new_ledger_is_made_and_said_to_be_new(run):
    Path("hospital.ledger").unlink()
    Path("hospital.mined.json").unlink()  # as under a schema that needs no mining
    out = run("embed", "hospital.csv").out
    assert "hospital.ledger is new: name another with --ledger if this data set has one" in out
    state = Ledger.open(Path("hospital.ledger")).state
    assert (state.dataset, state.allowance, state.spent) == ("hospital", Fraction(20), 0)
    assert len(state.exposures) == 1


@pytest.mark.usefixtures("agreed")
def test_the_ledger_and_the_data_set_can_be_named_as_for_mine(run, refused):
    says = "other.ledger is the ledger of data set 'hospital', not 'patients'"
    Path("hospital.ledger").rename("other.ledger")
    run("embed", "hospital.csv", "--owner", "hospital", "--ledger", "other.ledger")
    assert len(shown("other.ledger")) == 1
    assert not Path("hospital.ledger").exists()
    line = ("embed", "hospital.csv", "--ledger", "other.ledger", "--dataset", "patients")
    refused(*line, says=says)
    run("embed", "hospital.csv", "--dataset", "patients")
    assert len(shown("patients.ledger")) == 1


def test_a_ledger_that_is_damaged_or_out_of_reach_keeps_a_bundle_from_being_made(
    agreed, run, refused
):
    run("embed", "hospital.csv", "-o", "first.bundle")
    refused("embed", "hospital.csv", "--ledger", "nowhere/x.ledger", says="x.ledger cannot be")
    refused("embed", "hospital.csv", "-o", "hospital.ledger", says="hospital.ledger")
    path = agreed / "hospital.ledger"
    path.write_bytes(path.read_bytes() + b"{}\n")
    refused("embed", "hospital.csv", says="hospital.ledger is damaged")


@pytest.mark.usefixtures("agreed")
def test_programs_still_get_one_document(run):
    out = run("embed", "hospital.csv", "--json").out
    assert json.loads(out).keys() == {"output", "rows", "bytes", "warnings"}
