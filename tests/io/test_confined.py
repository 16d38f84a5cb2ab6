"""What runs in a process of its own: it is limited, ends with us, and nothing of it is printed."""

import json
import logging
import os
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gramlink.errors import Ended, InvalidFile
from gramlink.io import confined, limits
from gramlink.io.confined import Confined
from gramlink.io.limits import Limits
from systems import posix

SECRET = "MILLER"
FREE = Limits()
TASKS = f'''
import logging, os, sys
from gramlink import errors
from gramlink.io.steps import note

def give_back(order, pieces, told):
    return [*pieces, str(order).encode()]

def who(order, pieces, told):
    return [str(os.getpid()).encode()]

def where(order, pieces, told):
    return [os.getcwd().encode(), str(sys.path).encode()]

def tell(order, pieces, told):
    for number in range(3):
        told([number, 3])
    return []

def log(order, pieces, told):
    note("reading", rows=7)
    return []

def refuse(order, pieces, told):
    raise getattr(errors, order["kind"])("it has no rows", hint="send it again")

def fail(order, pieces, told):
    raise ValueError("{SECRET}")

def panic(order, pieces, told):
    class PanicException(BaseException): pass
    print("thread 'x' (7) panicked at crates/some-reader/src/pages.rs:43:9:", file=sys.stderr)
    print("{SECRET} is not a number\\\\n" * 10000, file=sys.stderr)
    print("thread 'x' (7) panicked at crates/some-reader/src/pages.rs:43:9:", file=sys.stderr)
    sys.stderr.flush()
    raise PanicException("{SECRET}")

def die(order, pieces, told):
    os.kill(os.getpid(), order["signal"])

def chat(order, pieces, told):
    print("{SECRET}")
    os.write(1, b"{SECRET}" * 100000)
    return [b"done"]

def swell(order, pieces, told):
    return [bytes(order["size"])]

def hang(order, pieces, told):
    told("hanging")
    while True:
        pass
'''


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    """A module of tasks, which the other process can import."""
    folder = tmp_path_factory.mktemp("tasks")
    (folder / "confined_tasks.py").write_text(TASKS)
    with pytest.MonkeyPatch.context() as patch:
        known = os.environ.get("PYTHONPATH", "")
        patch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{known}".rstrip(os.pathsep))
        patch.syspath_prepend(folder)
        import confined_tasks

        yield confined_tasks


@pytest.fixture(scope="module")
def shared(tasks):
    """One process for all tests that leave it alive; others may end it."""
    del tasks
    with Confined() as process:
        yield process


@pytest.fixture
def call(shared):
    def caller(function, order=None, pieces=(), limits=FREE, **more):
        return shared.call(function, order or {}, pieces, limits=limits, **more)

    return caller


def test_pieces_of_any_bytes_and_size_go_there_and_come_back(call, tasks):
    pieces = [b"", bytes(range(256)) * 4096, b"\n", b"PAR1"]
    *back, order = call(tasks.give_back, {"a": [1, None, "é"]}, pieces)
    assert back == pieces
    assert order == str({"a": [1, None, "é"]}).encode()


def test_it_is_another_process_and_the_same_for_the_next_call(call, tasks):
    first, second = call(tasks.who), call(tasks.who)
    assert first == second != [str(os.getpid()).encode()]


def test_threads_wait_for_their_turn(call, tasks):
    found = []
    threads = [
        threading.Thread(target=lambda n=n: found.append(call(tasks.give_back, {"n": n})))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [[f"{{'n': {n}}}".encode()] for n in range(8)]


def test_no_module_is_taken_from_the_folder_we_are_in(tasks, tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit('a hostile module')")
    monkeypatch.chdir(tmp_path)
    with Confined() as process:
        folder, path = process.call(tasks.where, {}, limits=Limits())
    assert tmp_path.samefile(folder.decode())
    assert str(tmp_path) not in path.decode()


def test_what_it_notes_and_logs_is_heard_in_order(call, tasks, caplog):
    heard = []
    assert call(tasks.tell, told=heard.append) == []
    assert heard == [[0, 3], [1, 3], [2, 3]]
    with caplog.at_level(logging.DEBUG, "gramlink"):
        call(tasks.log)
    assert caplog.messages == ["reading: rows 7"]
    caplog.clear()
    call(tasks.log)
    assert caplog.messages == []


def test_our_errors_come_back_as_they_are_and_it_lives_on(call, tasks):
    before = call(tasks.who)
    with pytest.raises(InvalidFile, match=r"^it has no rows$") as caught:
        call(tasks.refuse, {"kind": "InvalidFile"})
    assert caught.value.hint == "send it again"
    assert call(tasks.who) == before


def ended(call, function, order=None, limits=FREE):
    with pytest.raises(Ended) as caught:
        call(function, order, limits=limits)
    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_error_that_nobody_foresaw_is_named_without_its_words(call, tasks):
    assert ended(call, tasks.fail).startswith("an unexpected ValueError in confined_tasks.py, line")


def test_a_panic_is_one_line_that_says_where(call, tasks, capfd):
    assert ended(call, tasks.panic) == "a library broke off in crates/some-reader/src/pages.rs:43"
    assert capfd.readouterr() == ("", "")


@posix
def test_a_crash_is_told_by_its_signal_and_the_next_call_has_another_process(call, tasks):
    before = call(tasks.who)
    said = ended(call, tasks.die, {"signal": 11})
    assert said == "it crashed the process that read it, which was stopped by signal 11"
    assert call(tasks.who) != before


@posix
def test_a_process_that_was_killed_while_idle_is_not_held_against_the_next_call(call, tasks):
    (before,) = call(tasks.who)
    os.kill(int(before), 9)
    assert call(tasks.who) != [before]


def test_a_process_that_another_one_started_is_left_alone(tasks):
    with Confined() as original, Confined() as copy:
        first = original.call(tasks.who, {}, limits=FREE)
        copy._process, copy._starter = original._process, os.getpid() + 1  # as after a fork
        copy.end()
        assert original.call(tasks.who, {}, limits=FREE) == first
        copy._process = original._process
        assert copy.call(tasks.who, {}, limits=FREE) != first
        assert original.call(tasks.who, {}, limits=FREE) == first


def test_what_libraries_print_is_no_answer_and_is_not_shown(call, tasks, capfd):
    assert call(tasks.chat) == [b"done"]
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(sys.platform != "linux", reason="the system has no such limit")
def test_memory_is_limited_and_the_limit_is_said(call, tasks):
    limits = Limits(memory=2 * 10**8)
    assert "not enough memory" in ended(call, tasks.swell, {"size": 4 * 10**8}, limits)
    assert len(call(tasks.swell, {"size": 10**8}, limits=limits)[0]) == 10**8
    assert len(call(tasks.swell, {"size": 4 * 10**8})[0]) == 4 * 10**8


def test_time_is_limited_and_the_limit_is_said(call, tasks):
    assert ended(call, tasks.hang, limits=Limits(seconds=0.3)) == "it took more than 0.005 minutes"


def test_without_a_python_to_start_it_is_said(tasks, monkeypatch):
    for executable in ("", "/nowhere/python"):
        monkeypatch.setattr(sys, "executable", executable)
        with pytest.raises(Ended, match="process"):
            Confined().call(tasks.who, {}, limits=Limits())


def test_a_confined_process_does_not_start_another(tasks, monkeypatch):
    monkeypatch.setattr(limits, "_confined", True)
    with Confined() as process:
        assert process.call(tasks.who, {}, limits=Limits()) == [str(os.getpid()).encode()]


PARENT = """
import sys, confined_tasks
from gramlink.io.confined import Confined
from gramlink.io.limits import Limits
process = Confined()
(one,) = process.call(confined_tasks.who, {}, limits=Limits())
print(one.decode(), flush=True)
process.call(confined_tasks.hang, {}, limits=Limits(), told=lambda _: print("hangs", flush=True))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_it_ends_with_its_parent_however_busy_it_is(tasks):
    del tasks
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    with parent:
        child = int(parent.stdout.readline())
        assert parent.stdout.readline() == "hangs\n"
        parent.kill()
    assert is_gone(child)


def is_gone(process):
    """Whether it ends, which takes the system a moment."""
    state = Path(f"/proc/{process}/stat")
    with subprocess.Popen(["tail", f"--pid={process}", "-f", "/dev/null"]) as waiting:
        return waiting.wait(60) == 0 and not state.exists()


def test_what_is_not_in_our_form_is_an_end(tasks, monkeypatch):
    """Whoever takes the other process over can only make a call fail."""
    del tasks
    for head in (b"x", json.dumps([["done"], 1]).encode(), json.dumps({}).encode()):
        monkeypatch.setattr(confined, "_received", lambda _, head=head: [head])
        with Confined() as process, pytest.raises(Ended):
            process.call(is_gone, {}, limits=Limits(seconds=1))


@pytest.mark.parametrize(
    "answer",
    [
        struct.pack("<QQ", 1, 2**62),
        struct.pack("<QQ", 1, 100_000) + b"[" * 100_000,
        struct.pack("<QQ", 1, 14) + b'["logged", []]',
    ],
    ids=["more than any memory", "nested deeply", "nothing to log"],
)
def test_an_answer_that_was_made_to_break_its_reader_is_an_end(monkeypatch, tmp_path, answer):
    (tmp_path / "answer").write_bytes(answer)
    received = confined._received
    with (tmp_path / "answer").open("rb") as told, Confined() as process:
        monkeypatch.setattr(confined, "_received", lambda _: received(told))
        with pytest.raises(Ended):
            process.call(is_gone, {}, limits=Limits())
