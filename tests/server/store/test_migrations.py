"""Tables that an older gramlink made, brought up to date while all that is in them stays."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from gramlink.bundles.sealing import new_identity, seal, write_identity
from gramlink.errors import InvalidFile
from gramlink.server.auth import new_token
from gramlink.server.store import Store, migrations
from gramlink.server.store.log import START, Entry
from gramlink.server.store.migrations import MIGRATIONS, Migration
from gramlink.server.unit import OWNER, made_folder, opened, prepared
from server.parties import EXCHANGE, NAMES, SCHEMA, Asker, identity_of, sealed_bundle

MADE, LATER = "2026-01-01T00:00:00Z", "2090-01-01T00:00:00Z"
FACTS = {"rows": 30, "epsilon": "30", "created": MADE, "projection": "x", "gram lengths": "y"}


class Old:
    """A folder as the first version of the tables has it.

    The hospital's bundle is accepted, and an earlier exchange is done.
    """

    def __init__(self, path):
        made_folder(path)
        self.path, self.database = path, path / "unit.sqlite3"
        self.exchange = path / "exchanges" / "1"
        self.exchange.mkdir()
        identity = new_identity()
        write_identity(path / "unit.identity", identity, OWNER)
        self.bundle = self.exchange / "bundle-1.age"
        self.bundle.write_bytes(sealed_bundle("hospital", identity.recipient))
        self.tokens = {name: new_token() for name in (None, *NAMES)}
        (path / "operator.token").write_text(self.tokens[None].text)
        with closing(sqlite3.connect(self.database)) as db, db:
            for statement in MIGRATIONS[0].statements:
                db.execute(statement)
            self.fill(db)
            db.execute("PRAGMA user_version = 1")

    def fill(self, db):
        for name, ended in ((EXCHANGE, None), ("earlier", MADE)):
            db.execute(
                "INSERT INTO exchanges (name, schema, created, ended, summary)"
                " VALUES (?, ?, ?, ?, ?)",
                (name, SCHEMA, MADE, ended, ended and '{"pairs": [], "clusters": 0}'),
            )
        accepted = ("accepted", 7, "0" * 64, json.dumps(FACTS))
        for exchange, name, bundle in (
            (1, "hospital", accepted),
            (1, "registry", ("none", None, None, None)),
            (2, "hospital", accepted),
            (2, "registry", accepted),
        ):
            db.execute(
                "INSERT INTO parties (exchange, name, returns, recipient, state, size, sha256,"
                " facts) VALUES (?, ?, 'links', ?, ?, ?, ?, ?)",
                (exchange, name, identity_of(name).recipient.age, *bundle),
            )
        for number, to in ((1, 2), (2, 1)):
            sealed = seal(b"grams", [identity_of(NAMES[to - 1]).recipient])
            (self.exchange / f"base-{number}-{to}.age").write_bytes(sealed)
            db.execute("INSERT INTO bases VALUES (?, ?, ?)", (number, to, "0" * 64))
        for number, token in enumerate(self.tokens.values()):
            kept = (token.id, token.digest, number or None, LATER, None)
            db.execute("INSERT INTO tokens VALUES (?, ?, ?, ?, ?)", kept)
        first = Entry(1, MADE, "hospital", "sent a sealed base", EXCHANGE, "")
        told = (first.number, first.time, first.who, first.what, first.exchange, first.detail)
        db.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?)", (*told, first.hashed(START)))

    def content(self):
        """All that is in the tables, and how they were made."""
        with closing(sqlite3.connect(self.database)) as db:
            return list(db.iterdump()), db.execute("PRAGMA user_version").fetchone()

    def files(self):
        return {path.name for path in self.exchange.iterdir()}


@pytest.fixture
def old(tmp_path):
    return Old(tmp_path / "old")


@pytest.fixture
def served(old, settings, one_app):
    """The application over the old folder, and clients for its parties."""
    from dataclasses import replace

    unit = one_app.state.unit = prepared(replace(settings, data=old.path))
    yield unit, [Asker(one_app, old.tokens[name].text, name) for name in NAMES]
    unit.store.close()


def test_an_exchange_under_way_that_signed_nothing_has_failed_and_says_why(old, served, one_app):
    unit, (hospital, _) = served
    view = hospital.view()
    assert (view["stage"], view["erased"]) == ("failed", None)
    assert view["reason"] == "an older gramlink began it, which signed nothing: make a new exchange"
    assert [one["recipient"] for one in view["parties"]] == [None, None]
    operator = Asker(one_app, old.tokens[None].text)
    assert operator.view()["stage"] == "failed"
    with unit.store.change() as db:
        assert db.jobs.take() is None


def test_an_exchange_that_nobody_joined_goes_on(old, request):
    with closing(sqlite3.connect(old.database)) as db, db:
        db.execute("UPDATE parties SET recipient = NULL, state = 'none', facts = NULL")
        db.execute("DELETE FROM bases")
    _, (hospital, registry) = request.getfixturevalue("served")
    assert hospital.view()["stage"] == "joining"
    hospital.join()
    registry.join()
    assert hospital.view()["stage"] == "mined"


def test_an_exchange_that_is_done_stays_done(old, served, one_app):
    del served
    operator = Asker(one_app, old.tokens[None].text, exchange="earlier")
    assert operator.view()["stage"] == "done"
    assert [one["bundle"]["rows"] for one in operator.view()["parties"]] == [30, 30]


def test_the_log_goes_on_and_says_so(old, served, one_app):
    del served
    log = Asker(one_app, old.tokens[None].text).get("/api/log").json()
    assert [(one["who"], one["what"], one["detail"]) for one in log["entries"]] == [
        ("hospital", "sent a sealed base", ""),
        ("unit", "brought the tables up to date", f"from version 1 to {len(MIGRATIONS)}"),
    ]
    assert log["intact"]


def test_older_tables_end_up_as_new_ones_are(old, tmp_path):
    Store(old.database, migrate=True).close()
    Store(tmp_path / "new.sqlite3", migrate=True).close()

    def made(path):
        with closing(sqlite3.connect(path)) as db:
            query = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
            return db.execute(query).fetchall(), db.execute("PRAGMA user_version").fetchone()

    assert made(old.database) == made(tmp_path / "new.sqlite3")


def test_tables_that_are_up_to_date_are_left_alone(old):
    Store(old.database, migrate=True).close()
    before = old.content()
    Store(old.database, migrate=True).close()
    assert old.content() == before


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_migration_that_fails_leaves_the_old_tables(old, monkeypatch, error):
    before = old.content()

    def failing(*_):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(migrations, "_rename", failing)
        with pytest.raises(error):
            Store(old.database, migrate=True)
    assert old.content() == before
    Store(old.database, migrate=True).close()
    assert old.content() != before


def test_sql_that_fails_halfway_leaves_the_old_tables(old, monkeypatch):
    before = old.content()
    bad = Migration(("DROP TABLE tokens", "ALTER TABLE nonsense RENAME TO x"))
    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS[:1], bad))
    with pytest.raises(InvalidFile, match="cannot be used"):
        Store(old.database, migrate=True)
    assert old.content() == before


DYING = """
import os, sys
from pathlib import Path
from gramlink.server.store import Store

real, renamed = Path.replace, []

def replace(path, target):
    real(path, target)
    os._exit(9)

Path.replace = replace
Store(Path(sys.argv[1]), migrate=True)
"""


def test_a_process_that_dies_halfway_leaves_the_old_tables_and_the_next_one_goes_on(old, request):
    before, files = old.content(), old.files()
    died = subprocess.run([sys.executable, "-c", DYING, str(old.database)])
    assert died.returncode == 9
    assert old.content() == before
    assert old.files() != files
    _, (hospital, registry) = request.getfixturevalue("served")
    assert {"mined-1-2.age", "mined-2-1.age"} <= old.files()
    hospital.get("mined/registry")
    registry.get("mined/hospital")


def test_tables_of_a_newer_gramlink_are_refused_and_left_alone(old):
    with closing(sqlite3.connect(old.database)) as db:
        db.execute("PRAGMA user_version = 9")
    before = old.content()
    for migrate in (True, False):
        with pytest.raises(
            InvalidFile, match=f"have version 9, this gramlink uses version {len(MIGRATIONS)}"
        ):
            Store(old.database, migrate=migrate)
    assert old.content() == before


def test_only_the_server_migrates_as_an_older_one_may_still_be_running(old):
    before = old.content()
    with pytest.raises(InvalidFile, match="have version 1") as error, opened(old.path):
        pass
    assert "start it with this version of gramlink" in error.value.hint
    assert old.content() == before
