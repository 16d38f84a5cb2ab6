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


def test_a_ledger_is_made_for_data_or_by_name(run, folder):
    out = run("ledger", "new", "hospital.csv", "--allowance", "1/2", "--exposures", "3").out
    assert out.startswith("wrote hospital.ledger: keep it with the data; data set hospital may")
    state = Ledger.open(Path("hospital.ledger")).state
    assert (state.dataset, state.allowance, state.most_exposures) == ("hospital", Fraction(1, 2), 3)
    run("ledger", "new", "hospital.csv", "--allowance", "2", "--dataset", "patients")
    assert Ledger.open(folder / "patients.ledger").state.dataset == "patients"
    run("ledger", "new", "else.ledger", "--allowance", "2", "--quiet")
    assert Ledger.open(folder / "else.ledger").state.most_exposures == 10


def test_a_ledger_that_cannot_be_made_leaves_all_as_it_was(run, refused, folder):
    run("ledger", "new", "hospital.csv", "--allowance", "1")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    new = ("ledger", "new")
    refused(*new, "hospital.csv", "--allowance", "2", says=["exists already", "--allow"])
    refused(*new, "nowhere.csv", "--allowance", "2", says="nowhere.csv is not a file")
    refused(*new, "nowhere/x.ledger", "--allowance", "2", says="cannot be written")
    for amount in ("0", "-1", "much", "nan"):
        refused(*new, "x.ledger", "--allowance", amount, says="gramlink: error: ", hint=False)
    assert run(*new, "x.ledger", ok=False).code == 2
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_it_says_that_the_chain_is_intact_and_where_it_ends(ledger, says, run):
    ledger.charge(Fraction(1, 10), "mine surname", {})
    head = ledger.state.head
    assert says()[1].startswith(f"1 entry, chain intact, head {head[:4]} {head[4:8]} ")
    told = json.loads(run("ledger", "hospital.ledger", "--json").out)
    assert (told["entries"], told["head"]) == (1, head)
    ledger.charge(Fraction(1, 10), "mine surname", {})
    assert says()[1].startswith("2 entries, chain intact, head ")


def test_a_line_that_was_changed_is_said_and_a_torn_one_settled(ledger, says, refused, run):
    ledger.charge(Fraction(1, 10), "mine surname", {})
    ledger.charge(Fraction(1, 5), "mine city", {})
    whole = ledger.path.read_bytes()
    ledger.path.write_bytes(whole.replace(b'"1/10"', b'"1/99"'))
    refused("ledger", "hospital.ledger", says="damaged at line 3: it does not follow from")
    ledger.path.write_bytes(whole[:-80])
    assert any(line.endswith("0.2 a line that was cut short counts as spent") for line in says())
    ledger.path.write_bytes(whole[: whole.rindex(b"charge")])
    refused("ledger", "hospital.ledger", says=["was cut short", "gramlink ledger repair"])
    refused("ledger", "repair", "hospital.ledger", says=["does not say", "--epsilon"])
    out = run("ledger", "repair", "hospital.ledger", "--epsilon", "0.3").out
    assert "counted epsilon 0.3 as spent" in out
    assert "epsilon 0.6 is left of 1" in out
    refused("ledger", "repair", "hospital.ledger", says="no line that was cut short")


def test_the_name_of_the_usual_command_may_be_left_out(ledger, run):
    ledger.charge(Fraction(1, 10), "mine surname", {})
    assert run("ledger", "hospital.ledger").out == run("ledger", "show", "hospital.ledger").out
    assert run("ledger", "--json", "hospital.ledger").out.startswith("{")


def test_a_ledger_that_does_not_exist_gets_no_limit(refused):
    refused("ledger", "nowhere.ledger", "--exposures", "3", says="nowhere.ledger does not exist")
