"""Owners hear of likely duplicates in their own file, which never keeps a command from its work."""

import json
import re

import polars as pl
import pytest

from cli.owners import people, write_people
from gramlink.errors import InvalidBase
from gramlink.parties import one_process

TWICE = 40
OPTIONS = ("--schema", "clinic.toml", "--owner", "clinic")


@pytest.fixture
def clinic(folder):
    """A folder with the clinic's records, some of them there twice, as another clerk wrote them."""
    write_people(folder)
    two = people()
    again = two.truth.head(TWICE)["id_right"].implode()
    columns = ["id", "given_name", "surname", "sex", "postcode", "date_of_birth"]
    both = [two.left, two.right.filter(pl.col("id").is_in(again))]
    pl.concat([one.select(columns) for one in both]).write_csv("clinic.csv")
    return folder


@pytest.fixture
def commands(clinic, run):  # noqa: ARG001
    """Mine and embed, one after the other, with these options."""

    def runner(*options):
        yield run("mine", "clinic.csv", *OPTIONS, *options, ok=False)
        run("mine", "office.csv", "--schema", "office.toml", "-q")
        run("merge", "clinic.mined.json", "office.mined.json", "-q")
        yield run("embed", "clinic.csv", *OPTIONS, *options, ok=False)

    return runner


def assert_about_right(warning):
    assert int(re.match(r"about (\d+) pairs", warning)[1]) == pytest.approx(TWICE, rel=0.1)


def test_mine_and_embed_say_so_once_and_what_it_does(commands):
    for result in commands():
        assert result.code == 0
        (said,) = result.err.splitlines()
        prefix, said = said.split("gramlink: warning: ")
        assert prefix == ""
        assert_about_right(said)
        assert "protected at twice epsilon; `gramlink dedupe` lists them" in said
        assert "wrote clinic." in result.out


def test_a_program_finds_it_in_the_summary(commands):
    for result in commands("--json"):
        assert (result.code, result.err) == (0, "")
        (warning,) = json.loads(result.out)["warnings"]
        assert_about_right(warning)


def test_nothing_is_looked_for_if_nobody_would_hear(commands, monkeypatch):
    monkeypatch.setattr(one_process, "likely_duplicates", None)
    for result in commands("--quiet"):
        assert result.code == 0
        assert result.out == result.err == ""


@pytest.mark.parametrize("error", [InvalidBase("no gram"), MemoryError()], ids=repr)
def test_what_cannot_be_told_does_not_make_a_command_fail(commands, monkeypatch, error):
    def fails(*_):
        raise error

    monkeypatch.setattr(one_process, "likely_duplicates", fails)
    for result in commands():
        assert (result.code, result.err) == (0, "")
        assert "wrote clinic." in result.out


def test_records_of_one_field_are_not_warned_of(folder, run):
    assert json.loads(run("mine", folder / "hospital.csv", "--json").out)["warnings"] == []
