"""The operator's commands on the unit's folder."""

import json
import os
import sqlite3
import stat
from importlib import import_module

import pytest
from typer.testing import CliRunner

from gramlink.cli.unit import app as commands
from gramlink.cli.unit.tokens import write_tokens
from gramlink.errors import GramlinkError
from server.parties import SCHEMA, Asker, sql


@pytest.fixture
def run(unit, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "linkage.toml").write_text(SCHEMA)

    def runner(*args, ok=True, **options):
        data = [] if "--data" in args else ["--data", str(unit.folder.path)]
        result = CliRunner().invoke(commands, [*args, *data], **options)
        assert (result.exit_code == 0) == ok, (result.output, result.exception)
        assert result.exception is None or isinstance(result.exception, (GramlinkError, SystemExit))
        return result

    return runner


NEW = ("new", "trial", "linkage.toml", "hospital", "St. Mary's")


def test_an_exchange_is_made_with_tokens_in_files(run, tmp_path, app):
    out = run(*NEW, "--returns", "hospital=weights", "--days", "7").output
    for name in ("hospital", "St. Mary's"):
        path = tmp_path / f"trial-{name}.token"
        assert os.name == "nt" or stat.S_IMODE(path.stat().st_mode) == 0o600
        token = path.read_text().strip()
        assert token not in out
        assert Asker(app, token, name, "trial").me()["name"] == name
    view = json.loads(run("show", "trial", "--json").output)
    assert [one["returns"] for one in view["parties"]] == ["weights", "links"]


def test_tokens_go_to_a_folder_that_is_named(run, tmp_path):
    (tmp_path / "tokens").mkdir()
    run(*NEW, "--tokens", "tokens")
    assert len(list((tmp_path / "tokens").iterdir())) == 2


@pytest.mark.parametrize(
    "args",
    [
        ("--returns", "hospital"),
        ("--returns", "clinic=links"),
        ("--returns", "hospital=all"),
        ("--returns", "hospital=links", "--returns", "hospital=counts"),
        ("--days", "0"),
        ("--tokens", "nowhere"),
        ("--data", "nowhere"),
    ],
    ids=" ".join,
)
def test_an_exchange_that_cannot_be_made_leaves_nothing(run, tmp_path, args):
    assert isinstance(run(*NEW, *args, ok=False).exception, GramlinkError)
    assert not list(tmp_path.glob("*.token"))
    assert run("list").output == ""


def test_a_token_file_is_not_overwritten(run, tmp_path):
    (tmp_path / "trial-St. Mary's.token").write_text("kept")
    assert "exists already" in str(run(*NEW, ok=False).exception)
    assert not (tmp_path / "trial-hospital.token").exists()
    assert run("list").output == ""


def test_a_token_file_appears_once_the_unit_knows_the_token(run, monkeypatch):
    written = []

    def writing(*given):
        paths = write_tokens(*given)
        written.extend(paths)
        assert not [path for path in paths if path.exists()]  # a kill here must leave none
        return paths

    for module in ("new", "tokens"):
        monkeypatch.setattr(import_module(f"gramlink.cli.unit.{module}"), "write_tokens", writing)
    run(*NEW)
    written[0].unlink()
    run("token", "trial", "hospital")
    assert len(written) == 3
    assert all(path.exists() for path in written)


def test_a_unit_that_cannot_be_written_to_is_named_in_a_line(run, tmp_path, monkeypatch):
    def refuse(*_):
        raise sqlite3.OperationalError("attempt to write a readonly database")

    monkeypatch.setattr("gramlink.server.exchanges.create", refuse)
    assert "attempt to write a readonly" in str(run(*NEW, ok=False).exception)
    assert not list(tmp_path.glob("*.token"))


def test_exchanges_are_listed_and_shown(run):
    run(*NEW)
    assert run("list").output == "trial  joining  hospital not joined, St. Mary's not joined\n"
    assert "stage joining" in run("show", "trial").output
    assert [one["name"] for one in json.loads(run("list", "--json").output)["exchanges"]] == [
        "trial"
    ]
    run("show", "other", ok=False)


def test_how_far_parties_are_is_told(run, at_bundles):
    at_bundles[0].announce(bytes(2000))
    at_bundles[0].patch(bytes(1000))
    assert "hospital uploading, registry sent what it mined" in run("list").output
    out = run("show", "stroke-2026").output
    assert "hospital, who gets links: uploading, 1,000 of 2,000 bytes" in out
    assert "registry, who gets links: sent what it mined to hospital" in out


def test_a_long_list_comes_in_pages(run, make):
    for name in ("a", "b", "c"):
        make(name)
    out = run("list", "--most", "2").output.splitlines()
    assert [line.split()[0] for line in out] == ["c", "b", "2"]
    assert out[-1] == "2 of 3 exchanges; --after b lists older ones"
    assert [line.split()[0] for line in run("list", "--after", "b").output.splitlines()] == ["a"]
    assert "no such exchange" in str(run("list", "--after", "x", ok=False).exception)


def test_tokens_are_renewed_and_revoked(run, tmp_path, app):
    run(*NEW)
    path = tmp_path / "trial-hospital.token"
    old = path.read_text().strip()
    run("token", "trial", "hospital", ok=False)
    Asker(app, old).get("/api/token")
    path.unlink()
    run("token", "trial", "hospital", "--days", "3")
    new = path.read_text().strip()
    Asker(app, old).get("/api/token", 401)
    Asker(app, new).get("/api/token")
    run("revoke", "trial", "hospital")
    Asker(app, new).get("/api/token", 401)
    run("revoke", "trial", "clinic", ok=False)


def test_deleting_asks_first(run, unit):
    run(*NEW)
    run("delete", "trial", ok=False, input="n\n")
    assert unit.folder.of(1).exists()
    run("delete", "trial", input="y\n")
    assert not unit.folder.of(1).exists()
    run("delete", "trial", "--yes", ok=False)
    assert run("list").output == ""


def test_the_log_is_printed_and_checked(run, unit):
    run(*NEW)
    assert "made the exchange" in run("log").output
    assert "intact: 2 entries" in run("log").output
    assert json.loads(run("log", "--json").output)["intact"] is True
    sql(unit, "UPDATE log SET what = 'did nothing' WHERE number = 2")
    assert "tampered" in str(run("log", ok=False).exception)
