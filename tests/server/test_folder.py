"""What a server that was killed leaves behind, and what the next one makes of it."""

import os
import sqlite3
import stat
import threading

import pytest

from gramlink.errors import InvalidFile
from gramlink.io.locks import alone
from gramlink.server.settings import Settings
from gramlink.server.store import Store
from gramlink.server.unit import opened, prepared
from server.parties import EXCHANGE


def modes(folder):
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


@pytest.fixture
def again(unit):
    """Start a server on the same folder again."""
    units = []

    def start():
        unit.store.close()
        units.append(prepared(unit.settings))
        return units[-1]

    yield start
    for one in units:
        one.store.close()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_secrets_are_for_their_owner_only(unit):
    found = modes(unit.folder.path)
    assert found["unit.identity"] == found["operator.token"] == 0o600
    assert stat.S_IMODE(unit.folder.path.stat().st_mode) == 0o700


def test_key_and_token_stay_from_start_to_start(unit, again):
    token = unit.folder.operator_token.read_text()
    second = again()
    assert second.recipient == unit.recipient
    assert second.folder.operator_token.read_text() == token


@pytest.mark.parametrize("content", [None, "nonsense", "gl_00000000_" + "x" * 43, "\udcff"])
def test_a_lost_operators_token_is_made_anew(unit, again, content):
    path = unit.folder.operator_token
    old = path.read_text()
    if content is None:
        path.unlink()
    else:
        path.write_text(content, errors="surrogateescape")
    again()
    assert path.read_text() != old
    assert path.read_text().startswith("gl_")


def test_a_lost_identity_is_not_replaced(unit, again):
    unit.folder.identity.unlink()
    with pytest.raises(InvalidFile, match="bundles are sealed to it"):
        again()


def test_what_was_half_written_is_removed_and_what_is_awaited_stays(unit, at_bundles, again):
    at_bundles[0].announce(bytes(100))
    at_bundles[0].patch(bytes(40))
    folder = unit.folder.of(1)
    kept = {path.name for path in folder.iterdir()}
    (folder / ".results-1.age.abcd1234.part").write_bytes(b"x")
    (folder / ".base-1-2.age.abcd1234.part").write_bytes(b"x")
    (folder / "upload-2.part").write_bytes(b"x")
    (unit.folder.path / ".unit.identity.abcd1234.part").write_bytes(b"x")
    unit.folder.of(7).mkdir()
    (unit.folder.of(7) / "bundle-9.age").write_bytes(b"x")
    again()
    assert {path.name for path in folder.iterdir()} == kept
    assert "upload-1.part" in kept
    assert not unit.folder.of(7).exists()
    assert not list(unit.folder.path.glob(".*"))


def test_a_folder_that_a_power_cut_has_undone_is_made_again(unit, parties, again):
    del parties
    unit.folder.of(1).rmdir()
    again()
    assert unit.folder.of(1).is_dir()


def test_a_change_that_fails_leaves_nothing(unit):
    def twice():
        with unit.store.change() as db:
            for _ in range(2):
                db.execute("INSERT INTO exchanges (name, schema, created) VALUES ('x', '', '')")

    with pytest.raises(sqlite3.IntegrityError):
        twice()
    with unit.store.read() as db:
        assert db.execute("SELECT count(*) FROM exchanges").fetchone()[0] == 0


def test_changes_of_threads_and_processes_follow_each_other(unit):
    other = Store(unit.folder.database)

    def count(store):
        for _ in range(20):
            with store.change() as db:
                (found,) = db.execute("SELECT detail FROM log WHERE number = 1").fetchone()
                db.execute("UPDATE log SET detail = ?", (str(int(found) + 1),))

    with unit.store.change() as db:
        db.execute("UPDATE log SET detail = '0'")
    threads = [threading.Thread(target=count, args=[store]) for store in (unit.store, other) * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with other.read() as db:
        assert db.execute("SELECT detail FROM log WHERE number = 1").fetchone()[0] == "120"
    other.close()


def test_the_tables_are_kept_as_they_must_be(tmp_path):
    store = Store(tmp_path / "x.sqlite3")
    with store.read() as db:
        for pragma, value in (("journal_mode", "wal"), ("foreign_keys", 1)):
            assert db.execute(f"PRAGMA {pragma}").fetchone()[0] == value
    store.close()


def test_tables_of_another_version_and_no_tables_at_all(tmp_path):
    path = tmp_path / "x.sqlite3"
    Store(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 9")
    db.close()
    with pytest.raises(InvalidFile, match="version 9"):
        Store(path)
    path.write_bytes(b"nonsense" * 1000)
    with pytest.raises(InvalidFile, match="cannot be used"):
        Store(path)


def test_a_second_server_is_refused(unit):
    lock = unit.folder.path / "lock"
    with (
        alone(lock, "serving"),
        pytest.raises(InvalidFile, match="another process is serving"),
        alone(lock, "serving"),
    ):
        pass


def test_a_folder_that_cannot_be_one(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidFile, match="cannot be used"):
        prepared(Settings(tmp_path / "file"))
    with pytest.raises(InvalidFile, match="no linkage unit"), opened(tmp_path):
        pass


def test_a_copy_of_the_folder_is_a_back_up(unit, at_bundles, tmp_path):
    import shutil

    del at_bundles
    shutil.copytree(unit.folder.path, tmp_path / "copy")
    with opened(tmp_path / "copy") as copy, copy.store.read() as db:
        assert db.execute("SELECT name FROM exchanges").fetchone()[0] == EXCHANGE
