import json

import polars as pl
import pytest

from cli.owners import contents, edit
from cli.test_several_owners import TOML
from gramlink.lab.datasets import persons
from gramlink.matching import chance


@pytest.fixture
def twice(folder, monkeypatch):
    """A file in which 150 of 200 persons stand a second time; returns their ids."""
    monkeypatch.setattr(chance, "RANDOM_PAIRS", 100_000)
    for path in folder.iterdir():
        path.unlink()
    people = persons(200, overlap=1, seed=6)
    some = people.truth.head(150)
    again = people.right.filter(pl.col("id").is_in(some["id_right"].implode()))
    pl.concat([people.left, again]).write_csv(folder / "hospital.csv")
    (folder / "linkage.toml").write_text(TOML)
    return set(some.rows())


def pairs(path):
    """Each two records of a cluster."""
    frame = pl.read_csv(path, infer_schema=False)
    assert frame.columns == ["cluster", "id"]
    assert frame["id"].is_unique().all()
    groups = frame.group_by("cluster").agg(pl.col("id").sort())["id"].to_list()
    return {(one, other) for ids in groups for one in ids for other in ids if one < other}


def test_clusters_hold_the_duplicates(run, folder, twice):
    said = run("dedupe", "hospital.csv").out
    found = pairs(folder / "hospital-duplicates.csv")
    assert len(found & twice) > 0.9 * len(twice)
    assert len(found - twice) < 0.1 * len(twice)
    assert "wrote hospital-duplicates.csv" in said
    assert "for your eyes only" in said
    assert "estimated precision" in said


def test_nothing_is_spent_and_nothing_else_written(run, folder, twice):  # noqa: ARG001
    before = set(contents(folder))
    run("dedupe", "hospital.csv", "-o", "found.csv")
    assert set(contents(folder)) - before == {"found.csv"}


def test_the_same_file_has_the_same_duplicates_whatever_epsilon(run, folder, twice):  # noqa: ARG001
    run("dedupe", "hospital.csv")
    first = (folder / "hospital-duplicates.csv").read_bytes()
    edit(folder / "linkage.toml", "epsilon = 20", 'epsilon = "0.01"')
    run("dedupe", "hospital.csv", "--force")
    assert (folder / "hospital-duplicates.csv").read_bytes() == first


def test_the_summary_as_json(run, folder, twice):  # noqa: ARG001
    summary = json.loads(run("dedupe", "hospital.csv", "--json").out)
    frame = pl.read_csv(folder / "hospital-duplicates.csv")
    assert summary["clusters"] == frame["cluster"].n_unique()
    assert summary["output"] == "hospital-duplicates.csv"
    assert 0.9 < summary["precision"] <= 1


def test_an_output_is_not_overwritten_without_force(run, refused, folder, twice):  # noqa: ARG001
    (folder / "hospital-duplicates.csv").write_text("mine")
    refused("dedupe", "hospital.csv", says=["exists already", "--force"])
    run("dedupe", "hospital.csv", "--force", "--quiet")
    assert (folder / "hospital-duplicates.csv").read_text().startswith("cluster,id")


def test_the_data_are_not_replaced_even_with_force(refused, twice):  # noqa: ARG001
    refused("dedupe", "hospital.csv", "-o", "hospital.csv", "--force", says="would replace")
    refused("dedupe", "hospital.csv", "-o", "linkage.toml", "--force", says="would replace")


def test_records_of_one_field_are_refused(refused, folder):
    assert (folder / "linkage.toml").read_text().count("[fields.") == 1
    refused("dedupe", "hospital.csv", says=["records with several fields", "date of birth"])


def test_a_column_that_is_not_there_is_named(refused, folder, twice):  # noqa: ARG001
    frame = pl.read_csv(folder / "hospital.csv", infer_schema=False)
    frame.drop("phone").write_csv(folder / "hospital.csv")
    refused("dedupe", "hospital.csv", says="phone")


def test_a_file_of_one_record_has_no_duplicates(run, folder, twice):  # noqa: ARG001
    frame = pl.read_csv(folder / "hospital.csv", infer_schema=False)
    frame.head(1).write_csv(folder / "hospital.csv")
    run("dedupe", "hospital.csv")
    assert pairs(folder / "hospital-duplicates.csv") == set()
