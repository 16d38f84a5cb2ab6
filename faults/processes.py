"""Processes: gramlink's commands in forks of this process, which has imported all they need.

A fork starts at once, so hundreds of kills take minutes. It is safe as long as this process runs
no command itself: what polars and others start threads for has then not begun.
"""

import ctypes
import gc
import importlib
import json
import os
import pkgutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import gramlink
from faults.strikes import TIME, Strike, counting

MARK = "FAULTS_RUN"  # in the environment of all that a run starts
PATIENCE = 120.0  # seconds
GONE = 5.0  # seconds until nothing of a killed process may be left
_LATE = ("gramlink.lab.experiments", "gramlink.lab.rivals", "gramlink.lab.demo")
_LIBRARIES = ("polars", "numba", "opendp.prelude", "pyrage", "jinja2", "httpx", "uvicorn")
_numbers = count()
_END_WITH_PARENT = 1  # PR_SET_PDEATHSIG


def import_all() -> None:
    """Import what commands import late."""
    for module in pkgutil.walk_packages(gramlink.__path__, "gramlink."):
        if not module.name.endswith("__main__") and not module.name.startswith(_LATE):
            importlib.import_module(module.name)
    for name in (*_LIBRARIES, "gramlink.lab.rivals.filtered"):
        importlib.import_module(name)
    gc.freeze()  # collecting garbage in a fork would copy nearly all of this process's memory


@dataclass(slots=True)
class Process:
    """A run of a command, and what it printed."""

    pid: int
    mark: str
    output: Path
    code: int | None = None

    @property
    def said(self) -> str:
        """What it printed so far."""
        return self.output.read_text("utf-8", "replace") if self.output.exists() else ""

    @property
    def killed(self) -> bool:
        """Whether it was killed."""
        return self.code == -signal.SIGKILL

    def ended(self) -> bool:
        """Whether it is over."""
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
        return self.code is not None

    def kill(self) -> None:
        """Kill it, unless it is over."""
        if not self.ended():
            os.kill(self.pid, signal.SIGKILL)
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def wait(self, seconds: float = PATIENCE) -> bool:
        """Whether it ended in that time."""
        end, pause = time.monotonic() + seconds, 0.001
        while not self.ended():
            if time.monotonic() > end:
                return False
            time.sleep(pause)
            pause = min(pause * 1.5, 0.02)
        return True

    def left(self, seconds: float = GONE) -> list[int]:
        """The processes it started that are still there some seconds after its end."""
        end = time.monotonic() + seconds
        while found := _marked(self.mark):
            if time.monotonic() > end:
                break
            time.sleep(0.02)
        return found


def start(
    line: tuple[str, ...],
    folder: Path,
    output: Path,
    *,
    strike: Strike | None = None,
    days_back: int = 0,
) -> Process:
    """Start a command in a folder; a strike at a call is its own, one by the clock is not."""
    mark = f"{os.getpid()}-{next(_numbers)}-{time.monotonic_ns()}"
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        try:
            end_with_parent()
            os.setsid()
            os.environ[MARK] = mark
            os.chdir(folder)
            _redirect(output)
            if days_back:
                _set_back(timedelta(days=days_back))
            if strike:
                strike.arm()
            os._exit(_command(line))
        finally:
            os._exit(70)
    return Process(pid, mark, output)


def run(line: tuple[str, ...], folder: Path, output: Path, *, days_back: int = 0) -> Process:
    """Run a command to its end."""
    process = start(line, folder, output, days_back=days_back)
    if not process.wait():
        process.kill()
    return process


def run_struck(line: tuple[str, ...], folder: Path, output: Path, strike: Strike) -> Process:
    """Run a command until it is struck, or to its end if that comes first."""
    process = start(line, folder, output, strike=strike)
    if strike.kind == TIME:
        process.wait(strike.at)
        process.kill()
    elif not process.wait():
        process.kill()
    return process


def measured(
    line: tuple[str, ...], folder: Path, output: Path
) -> tuple[float, int, tuple[int, ...]]:
    """The seconds that a command takes, its calls, and which are writes; raises if it fails."""
    calls = output.with_suffix(".calls")
    output.unlink(missing_ok=True)
    begin = time.monotonic()
    pid = os.fork()
    if not pid:
        try:
            os.chdir(folder)
            _redirect(output)
            made = counting()
            code = _command(line)
            calls.write_text(json.dumps([made.calls, made.writes]))
            os._exit(code)
        finally:
            os._exit(70)
    process = Process(pid, "", output)
    if not process.wait() or process.code:
        process.kill()
        raise RuntimeError(f"gramlink {' '.join(line)}: {process.said}")
    seconds = time.monotonic() - begin
    number, writes = json.loads(calls.read_text())
    return seconds, number, tuple(writes)


def asked(question: Callable[[], str], answer: Path) -> str:
    """What a function says in a process of its own; raises a `RuntimeError` if it does."""
    answer.unlink(missing_ok=True)
    pid = os.fork()
    if not pid:
        code = 1
        try:
            told = question()
            code = 0
        except Exception as error:  # noqa: BLE001  # all of it is told
            told = f"{type(error).__name__}: {error}"
        finally:
            with suppress(BaseException):
                answer.write_text(told)
            os._exit(code)
    process = Process(pid, "", answer)
    if not process.wait(4 * PATIENCE):
        process.kill()
    if process.code:
        raise RuntimeError(answer.read_text() if answer.exists() else "it was killed")
    return answer.read_text()


def end_with_parent() -> None:
    """Have this process killed when the one that started it ends, however it does."""
    ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL)


def _command(line: tuple[str, ...]) -> int:
    """Run a command in this process; its exit code."""
    from gramlink.cli import main

    sys.argv = ["gramlink", *line]
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001  # as an interpreter would end
        import traceback

        traceback.print_exc()
        return 1
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
    return 0


def _redirect(output: Path) -> None:
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for old, new in ((nothing, 0), (file, 1), (file, 2)):
        os.dup2(old, new)
    sys.stdin, sys.stdout, sys.stderr = (
        open(0, closefd=False),  # noqa: SIM115
        open(1, "w", closefd=False),  # noqa: SIM115
        open(2, "w", buffering=1, closefd=False),  # noqa: SIM115
    )


def _set_back(by: timedelta) -> None:
    """Have gramlink read a clock that was set back."""

    class Back(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) - by

    real = time.time
    time.time = lambda: real() - by.total_seconds()
    for name, module in list(sys.modules.items()):
        if name.startswith("gramlink") and getattr(module, "datetime", None) is datetime:
            module.datetime = Back


def _marked(mark: str) -> list[int]:
    """The live processes that a run started, where the system tells."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended meanwhile
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found
