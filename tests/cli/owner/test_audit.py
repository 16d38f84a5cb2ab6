import json

import pytest

from cli.owners import contents
from gramlink.lab.datasets import persons, register
from gramlink.parties.audited import audited
from gramlink.records.schema import load_schema

TOML = """
edits = 2
[fields.given_name]
[fields.surname]
[fields.date_of_birth]
kind = "date"
[fields.postcode]
kind = "digits"
"""


@pytest.fixture
def people(folder):
    """Two files of persons, and a register of them."""
    for path in folder.iterdir():
        path.unlink()
    files = persons(200, seed=3)
    files.left.write_csv(folder / "hospital.csv")
    files.right.write_csv(folder / "registry.csv")
    register(200, seed=3).drop("id_left").write_csv(folder / "listed.csv")
    (folder / "linkage.toml").write_text(TOML)
    return folder


def test_an_audit_says_what_is_named_and_that_failure_proves_nothing(run, people):
    before = contents(people)
    said = run("audit", "hospital.csv", "--exchanges", "1", "--report", "audit.html").out
    assert "fingerprints" in said
    assert "nearest neighbour" in said
    assert "Bloom filters" in said
    assert "is not a proof" in said
    assert "the other owner's records are made up" in said
    assert 'encoding = "veiled"' in said
    assert set(contents(people)) - set(before) == {"audit.html", "hospital.audit.json"}
    data, schema = people / "hospital.csv", load_schema(people / "linkage.toml")
    assert audited(data, schema).startswith("a curious unit could name ")
    assert audited(data, schema.model_copy(update={"encoding": "veiled"})).startswith("`gramlink")
    data.write_text(data.read_text() + "\n")
    assert audited(data, schema).startswith("`gramlink audit hospital.csv` says")
    (people / "hospital.audit.json").write_text('{"gramlink": "audited", "version": 1}')
    assert audited(data, schema).startswith("`gramlink audit hospital.csv` says")
    page = (people / "audit.html").read_text("utf-8")
    assert "is not a proof" in page
    assert "Anonymity sets" in page
    for cell in ("A0000001", "B0000001"):
        assert cell not in page + said


def test_another_owners_records_and_a_register_can_be_given(run, people):  # noqa: ARG001
    args = ("audit", "hospital.csv", "registry.csv", "--register", "listed.csv")
    found = json.loads(run(*args, "--exchanges", "2", "--json").out)
    assert found["records"] == 200
    assert found["made_up"] == []
    assert found["report"] is None
    shares = {(row["encoding"], row["attack"]): row for row in found["attacks"]}
    assert shares["vectors", "nearest neighbour"]["named"] >= 0.9
    assert shares["veiled", "fingerprints"]["named"] <= 0.05
    assert ("veiled", "fingerprints of 2 exchanges") in shares
    assert "not a proof" in found["no_proof"]
    assert set(found["about"]) >= {attack for _, attack in shares}


def test_a_report_replaces_no_input_and_no_file_that_is_there(refused, people):
    refused("audit", "hospital.csv", "--report", "hospital.csv", says="hospital.csv")
    (people / "audit.html").write_text("mine")
    refused("audit", "hospital.csv", "--report", "audit.html", says="audit.html")


def test_one_field_cannot_be_audited(refused, people):
    (people / "linkage.toml").write_text("[fields.surname]\n")
    refused("audit", "hospital.csv", says="several fields")
