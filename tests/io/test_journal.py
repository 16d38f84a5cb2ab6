import errno
import os

import pytest

from gramlink.io.journal import append, content, locked


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "journal"
    path.write_bytes(b"one\n")
    return path


def test_what_is_appended_follows_what_was_there(path):
    for text in (b"two\n", b"three\n"):
        with locked(path) as handle:
            append(handle, len(content(handle)), text)
            assert content(handle) == path.read_bytes()
    assert path.read_bytes() == b"one\ntwo\nthree\n"


def test_a_journal_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(FileNotFoundError), locked(tmp_path / "nowhere"):
        pytest.fail("it was opened")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_an_append_that_fails_leaves_what_was_there(path, monkeypatch, call):
    write = os.write

    def full(handle, text=b""):
        if text:
            write(handle, text[:2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, full)
    with pytest.raises(OSError, match="No space left"), locked(path) as handle:
        append(handle, 4, b"two\n")
    assert path.read_bytes() == b"one\n"


def test_an_append_that_the_system_cuts_short_is_a_full_disk(path, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, text: write(handle, text[:2]))
    with pytest.raises(OSError, match="No space left"), locked(path) as handle:
        append(handle, 4, b"two\n")
    assert path.read_bytes() == b"one\n"


def test_an_interrupted_append_leaves_what_it_wrote_to_its_reader(path, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt), locked(path) as handle:
        append(handle, 4, b"two\n")
    assert path.read_bytes() == b"one\ntwo\n"


def test_a_file_that_takes_its_place_is_not_written_for_it(path, monkeypatch):
    def replaced(_):
        path.with_name("other").write_bytes(b"other\n")
        path.with_name("other").replace(path)

    monkeypatch.setattr("gramlink.io.journal.lock", replaced)
    with pytest.raises(OSError, match="another file took its place"), locked(path):
        pytest.fail("it was opened")
    assert path.read_bytes() == b"other\n"
