"""A unit's folder from start to start: its secrets, its lock and its back-up."""

import os
import stat

import pytest

from gramlink.errors import InvalidFile
from gramlink.io.locks import alone
from gramlink.server.settings import Settings
from gramlink.server.unit import opened, prepared
from server.parties import EXCHANGE


def modes(folder):
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


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
        assert [one.name for one in db.standings.page(2, 1)] == [EXCHANGE]
