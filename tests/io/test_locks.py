import os
import subprocess
import sys
import time

import pytest

from gramlink.errors import InvalidFile
from gramlink.io.locks import alone, lock

HOLDER = """
import sys, time
from pathlib import Path
from gramlink.io.locks import alone

with alone(Path(sys.argv[1]), "serving"):
    print("held", flush=True)
    sys.stdin.readline()
print("let go", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "lock"


@pytest.fixture
def holder(path):
    """A process that holds the lock until it is sent a line."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def held(path):
    """Whether the lock can be had, and no error if so."""
    with alone(path, "serving"):
        return True


def test_one_process_is_alone_and_the_next_is_told_at_once(path, holder):
    start = time.monotonic()
    with pytest.raises(InvalidFile, match=r"^another process is serving in ") as caught:
        held(path)
    assert time.monotonic() - start < 60
    assert str(path.parent) in str(caught.value)
    assert caught.value.hint
    assert holder.poll() is None


def test_a_lock_that_is_let_go_can_be_had(path, holder):
    holder.stdin.write("\n")
    holder.stdin.flush()
    assert holder.stdout.readline() == "let go\n"
    assert holder.poll() is None
    assert held(path)
    assert held(path)


@pytest.mark.parametrize("how", ["kill", "terminate"])
def test_a_lock_ends_with_its_process_however_that_ends(path, holder, how):
    getattr(holder, how)()
    holder.wait()
    assert held(path)


def test_a_process_is_not_alone_with_itself(path):
    with alone(path, "serving"), pytest.raises(InvalidFile, match="another process is serving"):
        held(path)
    assert held(path)


def test_a_child_does_not_keep_its_parents_lock(path):
    with alone(path, "serving"):
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert held(path)
    finally:
        child.kill()
        child.communicate()


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, OSError, InvalidFile])
def test_a_lock_is_let_go_when_work_fails_and_the_error_is_passed_on(path, error):
    with pytest.raises(error, match=r"^stop$"), alone(path, "serving"):
        raise error("stop")
    assert held(path)


def test_what_a_lock_file_says_is_left_alone(path):
    path.write_bytes(b"something")
    assert held(path)
    assert path.read_bytes() == b"something"
    assert list(path.parent.iterdir()) == [path]


def test_a_lock_that_cannot_be_made_is_named(tmp_path):
    with pytest.raises(InvalidFile, match=r"nowhere/lock cannot be written: No such file"):
        held(tmp_path / "nowhere" / "lock")
    with pytest.raises(InvalidFile, match="cannot be written: Is a directory"):
        held(tmp_path)


def test_a_lock_can_be_waited_for(path, holder):
    handle = os.open(path, os.O_RDWR)
    try:
        with pytest.raises(OSError, match="unavailable"):
            lock(handle, wait=False)
        holder.stdin.write("\n")
        holder.stdin.flush()
        lock(handle)
    finally:
        os.close(handle)
