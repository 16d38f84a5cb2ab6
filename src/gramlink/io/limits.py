"""Limits of memory and time, and how a process puts itself under them."""

import os
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass

from gramlink.errors import InvalidParameter

HOURS = 24.0  # for each job of a linkage unit, unless its operator says otherwise
_confined = False


@dataclass(frozen=True, slots=True)
class Limits:
    """How much memory and time a process may take; 0 is no limit."""

    memory: int = 0  # bytes
    seconds: float = 0

    def __post_init__(self) -> None:
        if self.memory < 0:
            raise InvalidParameter(f"the memory cannot be {self.memory}", hint="use bytes")
        if not 0 <= self.seconds <= 24 * 365 * 3600:
            hours = f"{self.seconds / 3600:g}"
            raise InvalidParameter(f"a job cannot be given {hours} hours", hint="up to 8760")


def three_quarters_of_memory() -> int:
    """The default memory for workers; 0, meaning no limit, where the total is unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4
    except (AttributeError, ValueError, OSError):
        return 0


def is_confined() -> bool:
    """Whether this process only works for another one."""
    return _confined


def confine() -> None:
    """Let this process end with the one that started it, and keep no picture of its memory."""
    global _confined
    _confined = True
    if sys.platform == "linux":
        import ctypes
        import signal

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: whatever it is busy with
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # it would be full of records


def limit_memory(size: int) -> None:
    """Have the system refuse more memory than this, where possible."""
    if sys.platform != "win32":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        if not size or (most != resource.RLIM_INFINITY and size > most):
            size = most
        resource.setrlimit(resource.RLIMIT_DATA, (size, most))


def end_with_input() -> None:
    """End as soon as standard input does: the process that started this one is gone."""

    def wait() -> None:
        while os.read(0, 1):
            pass
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
