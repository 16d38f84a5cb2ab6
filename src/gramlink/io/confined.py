"""Confined: functions that run in a process of their own, under limits of memory and time.

A file from a stranger may crash its reader, keep it busy or eat memory, and a library that breaks
off prints a page. Here only the other process ends, and why is said in one line. That process
is a fresh Python, as a fork of one with threads may hang; it ends with the process that started
it; and only JSON and plain bytes come back from it, so whoever takes it over gains nothing here.
"""

import json
import logging
import os
import queue
import re
import struct
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NoReturn, TypeAlias

from gramlink import errors
from gramlink.errors import Ended, GramlinkError
from gramlink.io.limits import Limits, confine, is_confined, limit_memory

Told: TypeAlias = Callable[[Any], None]  # hears what a function notes on its way, as JSON
Order: TypeAlias = Mapping[str, Any]
Confinable: TypeAlias = Callable[[Order, Sequence[bytes], Told], Sequence[bytes]]

THREADS = "4"  # of polars in a process that only reads; each takes memory of its own
IDLE = 60  # seconds after which a process that has nothing to do ends
_KEPT = 2**14  # bytes of what a process printed last
_PANIC = re.compile(rb"panicked at ([A-Za-z0-9_./-]{1,200}:\d+)")
_NO_MEMORY = (b"memory allocation", b"memoryerror", b"bad_alloc", b"cannot allocate memory")


def unforeseen(error: BaseException) -> str:
    """Why a process gives up, without the error's own words, which may quote records."""
    if isinstance(error, MemoryError | ImportError):  # a library that lacks memory raises either
        return "there is not enough memory for it"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"an unexpected {type(error).__name__} in {Path(frame.filename).name}, line {frame.lineno}"
    )


class Confined:
    """A process that is started when it is first needed, and anew after it has ended.

    Privacy: what it reads and returns passes through pipes and memory, and not through files.
    """

    def __init__(self, *, threads: str = "") -> None:
        self._threads = threads
        self._process: subprocess.Popen[bytes] | None = None
        self._starter = 0
        self._said = bytearray()
        self._listening: threading.Thread | None = None
        self._late = False
        self._turn = threading.Lock()

    def __enter__(self) -> "Confined":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def call(
        self,
        function: Confinable,
        order: Order,
        pieces: Sequence[bytes] = (),
        *,
        limits: Limits,
        told: Told = lambda _: None,
    ) -> list[bytes]:
        """What a function returns there; `Ended` says why it did not.

        A process that is confined itself runs the function on the spot.
        """
        if is_confined():
            return list(function(order, pieces, told))
        name = [function.__module__, function.__name__]
        level = logging.getLogger("gramlink").getEffectiveLevel()
        letter = {"function": name, "order": order, "memory": limits.memory, "level": level}
        with self._turn:
            ours = self._starter == os.getpid()
            if ours and self._process and self._process.poll() is None:
                try:
                    return self._asked(self._process, letter, pieces, limits, told)
                except Ended:
                    if self._late:
                        raise
                    # else perhaps of what it did before, or of waiting for too long
            self.end()
            return self._asked(self._started(), letter, pieces, limits, told)

    def _asked(
        self,
        process: "subprocess.Popen[bytes]",
        letter: Order,
        pieces: Sequence[bytes],
        limits: Limits,
        told: Told,
    ) -> list[bytes]:
        self._late = False
        timer = threading.Timer(limits.seconds, self._end_late, [process])
        timer.daemon = True
        if limits.seconds:
            timer.start()
        try:
            assert process.stdin  # noqa: S101  # both are pipes
            assert process.stdout  # noqa: S101
            with suppress(BrokenPipeError):
                _send(process.stdin, json.dumps(letter).encode(), *pieces)
            while True:
                head, *found = _received(process.stdout)
                kind, what = json.loads(head)
                if kind == "done":
                    return found
                if kind == "refused":
                    raise _as_raised(what)
                if kind == "ended":
                    raise Ended(what)
                if kind == "logged":
                    logging.getLogger("gramlink").log(what[0], "%s", what[1])
                elif kind == "told":
                    told(what)
                else:
                    raise ValueError("this is no answer of ours")
        except (EOFError, ValueError, LookupError, TypeError, RecursionError):
            raise Ended(self._why(process, limits)) from None
        except MemoryError:  # what comes back, or is said to come, does not fit into this process
            self.end()
            raise Ended("there is not enough memory for it") from None
        except BaseException as error:
            if not isinstance(error, GramlinkError) or isinstance(error, Ended):
                self.end()
            raise
        finally:
            timer.cancel()

    def end(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is None or self._starter != os.getpid():  # after a fork, it is not ours
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                with suppress(OSError):  # what was to be written has no reader any more
                    pipe.close()
        if self._listening:
            self._listening.join()

    def _started(self) -> "subprocess.Popen[bytes]":
        if not sys.executable:
            raise Ended("there is no Python to start another process with")
        # -P: no module of the folder we are in, which may be somebody else's
        command = [sys.executable, "-P", "-m", "gramlink.io.confined"]
        environment = dict(os.environ)
        if self._threads:
            environment.setdefault("POLARS_MAX_THREADS", self._threads)
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(  # noqa: S603
                command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment
            )
        except OSError as error:
            raise Ended(f"no other process can be started: {error.strerror or error}") from error
        self._process, self._starter = process, os.getpid()
        self._said = bytearray()
        self._listening = threading.Thread(target=self._listen, args=[process.stderr], daemon=True)
        self._listening.start()
        return process

    def _listen(self, stderr: IO[bytes]) -> None:
        """Keep the last of what is printed, and let nobody see it."""
        with stderr:
            while piece := stderr.read1(2**16):  # type: ignore[attr-defined]
                self._said += piece
                del self._said[:-_KEPT]

    def _end_late(self, process: "subprocess.Popen[bytes]") -> None:
        self._late = True
        process.kill()

    def _why(self, process: "subprocess.Popen[bytes]", limits: Limits) -> str:
        self.end()
        if self._late:
            return f"it took more than {limits.seconds / 60:,.3g} minutes"
        code, said = process.returncode, bytes(self._said)
        if any(words in said.lower() for words in _NO_MEMORY):
            most = f"it takes more than {limits.memory / 10**9:.3g} GB of memory"
            return most if limits.memory else "there is not enough memory for it"
        if place := _PANIC.search(said):
            return f"a library broke off in {place[1].decode()}"
        how = f"was stopped by signal {-code}" if code < 0 else f"ended with code {code}"
        return f"it crashed the process that read it, which {how}"


def _as_raised(what: Mapping[str, str]) -> GramlinkError:
    kind = getattr(errors, what["kind"], None)
    if not (isinstance(kind, type) and issubclass(kind, GramlinkError)):
        kind = GramlinkError
    return kind(what["message"], hint=what["hint"])


def _send(pipe: IO[bytes], *pieces: bytes) -> None:
    sizes = [len(piece) for piece in pieces]
    pipe.write(struct.pack(f"<{len(sizes) + 1}Q", len(sizes), *sizes))
    for piece in pieces:
        pipe.write(piece)
    pipe.flush()


def _received(pipe: IO[bytes]) -> list[bytes]:
    (count,) = struct.unpack("<Q", _exactly(pipe, 8))
    if count > 1000:
        raise ValueError("these are not our pieces")
    sizes = struct.unpack(f"<{count}Q", _exactly(pipe, 8 * count))
    return [_exactly(pipe, size) for size in sizes]


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    try:
        data = pipe.read(size)
    except (OSError, OverflowError) as error:
        raise EOFError from error
    if len(data) < size:
        raise EOFError
    return data


# inside


class _Forwarding(logging.Handler):
    """Sends what is logged to where it is shown."""

    def __init__(self, say: Callable[..., None]) -> None:
        super().__init__()
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        self._say("logged", [record.levelno, record.getMessage()])


def _main() -> NoReturn:
    """Do what standard input asks for until it ends, and with it this process."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    confine()
    letters: queue.SimpleQueue[list[bytes]] = queue.SimpleQueue()

    def read() -> None:
        pipe = os.fdopen(0, "rb", closefd=False)
        try:
            while True:
                letters.put(_received(pipe))
        except BaseException as error:  # noqa: BLE001
            if isinstance(error, MemoryError):
                os.write(2, b"MemoryError")
            os._exit(1)

    threading.Thread(target=read, daemon=True).start()

    def say(kind: str, what: Any = None, *pieces: bytes) -> None:
        _send(answers, json.dumps([kind, what]).encode(), *pieces)

    logger = logging.getLogger("gramlink")
    logger.handlers, logger.propagate = [_Forwarding(say)], False
    while True:
        try:
            head, *pieces = letters.get(timeout=IDLE)
        except queue.Empty:
            os._exit(0)
        letter = json.loads(head)
        module, name = letter["function"]
        logger.setLevel(letter["level"])
        try:
            limit_memory(letter["memory"])
            function = getattr(import_module(module), name)
            found = function(letter["order"], pieces, lambda what: say("told", what))
            del pieces
            say("done", None, *found)
            del found
        except GramlinkError as error:
            kind = type(error).__name__
            say("refused", {"kind": kind, "message": str(error), "hint": error.hint})
        except BaseException as error:  # noqa: BLE001  # a library's panic is one too
            if type(error).__name__ == "PanicException":
                os._exit(1)  # its place has been printed
            say("ended", unforeseen(error))


if __name__ == "__main__":
    # as the module that others import, which then know that they are confined
    import_module("gramlink.io.confined")._main()
