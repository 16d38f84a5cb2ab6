"""`gramlink ledger` says in plain words what linkage units were shown, and sets the limit."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from gramlink.bundles.sealing import new_identity
from gramlink.privacy.exposure import UNSEALED, Disclosure, Exposure
from gramlink.privacy.ledger import Ledger

UNIT = new_identity().recipient
DRAWN = Disclosure(rows=16, draws={"surname": 672, "sex": 896})


def exposure(digest, unit=UNIT.key, exchange="", shown=DRAWN, key="0f3e", records=1000):
    return Exposure(exchange, unit, "veiled", records, shown, key, digest * 16)


@pytest.fixture
def ledger(folder):  # noqa: ARG001
    return Ledger(Path("hospital.ledger"), "hospital", Fraction(1))


@pytest.fixture
def says(run, ledger):  # noqa: ARG001
    """What the command says, with the spaces that line things up taken away."""

    def runner(*options):
        out = run("ledger", "hospital.ledger", *options).out
        return [" ".join(line.split()) for line in out.splitlines()]

    return runner


def test_it_says_of_each_unit_what_it_was_shown_and_what_that_adds_up_to(ledger, says):
    ledger.expose(exposure("a1", exchange="stroke"))
    ledger.expose(exposure("a2", exchange="heart", records=1200))
    said = says()
    start = said.index(
        f"to the linkage unit with the key {UNIT.fingerprint}: 2 bundles of at most 1,200 records"
    )
    assert said[start + 1].endswith("stroke veiled 1,000 records")
    assert said[start + 2].endswith("heart veiled 1,200 records")
    assert said[start + 3 : start + 5] == [
        "together, of one record, at most 32 rows, and draws of each field: "
        "sex 1,792, surname 1,344",
        "records can be joined across stroke, heart: the same pseudonym key",
    ]
    assert "Any one linkage unit may get 10 bundles that add up" in said[-1]


def test_it_says_what_showed_everything(ledger, says):
    ledger.expose(exposure("a1", exchange="stroke", shown=Disclosure(1, None)))
    said = says()
    assert "everything about the records was shown in: stroke" in said
    assert not [line for line in said if "draws:" in line or "joined" in line]


def test_what_was_not_sealed_is_said_to_count_for_every_unit(ledger, says):
    ledger.expose(exposure("a1", unit=UNSEALED))
    said = says()
    assert (
        "to whoever has the files, which are not sealed: 1 bundle of at most 1,000 records" in said
    )
    assert any(line.endswith("bundle a1a1a1a1a1a1 veiled 1,000 records") for line in said)
    assert "Bundles that are not sealed count for every linkage unit: any may read them." in said


def test_a_ledger_without_exposures_says_so_and_what_it_permits(ledger, says):
    ledger.charge(Fraction(1, 10), "mine surname", {})
    assert says("--exposures", "3")[-2:] == [
        "No linkage unit was shown anything of this data set.",
        "Any one linkage unit may get 3 bundles that add up; --exposures changes that.",
    ]


def test_programs_get_the_same_as_json(ledger, run):
    ledger.expose(exposure("a1", exchange="stroke"))
    ledger.expose(exposure("a2", exchange="heart", records=1200))
    ledger.expose(exposure("a3", unit=UNSEALED, shown=Disclosure(1, None)))
    told = json.loads(run("ledger", "hospital.ledger", "--json").out)
    assert told["most_exposures"] == 10
    one, other = told["exposures"]
    bundles = one.pop("bundles")
    assert [bundle["exchange"] for bundle in bundles] == ["stroke", "heart"]
    assert one == {
        "unit": UNIT.key,
        "records": 1200,
        "rows": 32,
        "draws": {"sex": 1792, "surname": 1344},
        "everything": [],
        "joined": [["a1" * 16, "a2" * 16]],
        "left": 8,
    }
    assert (other["unit"], other["everything"]) == (UNSEALED, ["a3" * 16])


def test_the_limit_is_set_on_the_record_and_kept(ledger, says):
    ledger.expose(exposure("a1"))
    assert "may get 12 bundles" in says("--exposures", "12")[-1]
    assert "may get 12 bundles" in says()[-1]
    assert "may get 1 bundle that" in says("--exposures", "1")[-1]
    assert ledger.state.most_exposures == 1
    assert ledger.state.entries == 3


@pytest.mark.parametrize("most", ["-1", "many", "1.5"])
def test_a_limit_that_is_no_number_is_refused(ledger, run, most):
    ledger.expose(exposure("a1"))
    before = ledger.path.read_bytes()
    assert run("ledger", "hospital.ledger", "--exposures", most, ok=False).code == 2
    assert ledger.path.read_bytes() == before


def test_a_ledger_that_does_not_exist_gets_no_limit(refused):
    refused("ledger", "nowhere.ledger", "--exposures", "3", says="nowhere.ledger does not exist")
