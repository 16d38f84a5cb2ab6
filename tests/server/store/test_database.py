import sqlite3
import threading

import pytest

from gramlink.errors import InvalidFile
from gramlink.server.store import Store
from gramlink.server.store.log import is_intact
from server.parties import sql


def test_a_change_that_fails_leaves_nothing(unit):
    def twice():
        with unit.store.change() as db:
            for _ in range(2):
                db.exchanges.add("x", "", "")

    with pytest.raises(sqlite3.IntegrityError):
        twice()
    assert sql(unit, "SELECT * FROM exchanges") == []


def test_changes_of_threads_and_processes_follow_each_other(unit):
    other = Store(unit.folder.database)
    with other.read() as db:
        before = len(db.log.entries())

    def write(store):
        for _ in range(20):
            with store.change() as db:
                db.log.write("operator", "did something")

    threads = [threading.Thread(target=write, args=[store]) for store in (unit.store, other) * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with other.read() as db:
        entries = db.log.entries()
    assert len(entries) == before + 120
    assert is_intact(entries)
    other.close()


def test_the_tables_are_kept_as_they_must_be(unit):
    for pragma, value in (("journal_mode", "wal"), ("foreign_keys", 1), ("secure_delete", 1)):
        assert unit.store._db.execute(f"PRAGMA {pragma}").fetchone()[0] == value


def test_what_is_no_database_is_refused(tmp_path):
    path = tmp_path / "x.sqlite3"
    path.write_bytes(b"nonsense" * 1000)
    with pytest.raises(InvalidFile, match="cannot be used"):
        Store(path)


def test_who_reads_does_not_wait_for_who_changes(unit):
    with unit.store.change() as changed:
        changed.exchanges.add("new", "", "")
        with unit.store.read() as db:
            assert db.exchanges.named("new") is None
    with unit.store.read() as db:
        assert db.exchanges.named("new")
