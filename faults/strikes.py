"""Strikes: the moment at which a process is killed, by the clock or at a system call of its own."""

import fcntl
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

CALLS = {
    os: ("open", "write", "fsync", "ftruncate", "replace", "rename", "link", "unlink", "mkdir"),
    fcntl: ("flock",),
}
SHARE = 0.3  # of the strikes come by the clock; calls are where files change
TIME, BEFORE, AFTER, TORN = "after seconds", "before call", "after call", "in the write of call"


@dataclass(frozen=True, slots=True)
class Strike:
    """Where a process is killed: after so many seconds, or at its n-th call."""

    kind: str
    at: float

    def __str__(self) -> str:
        return f"{self.kind} {self.at:.3f}" if self.kind == TIME else f"{self.kind} {self.at:.0f}"

    def arm(self) -> None:
        """Have this process kill itself at the call, if it is to be killed at one."""
        if self.kind != TIME:
            at, number = int(self.at), Count()

            def struck(call: Callable[..., Any], *given: Any, **named: Any) -> Any:
                if number.next() != at:
                    return call(*given, **named)
                if self.kind == AFTER:
                    call(*given, **named)
                elif self.kind == TORN:  # a power cut would do it, a signal hardly
                    call(given[0], given[1][: len(given[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
                raise AssertionError("a killed process does nothing more")

            _replace_calls(struck)


class Count:
    """The calls so far, and which of them were writes."""

    def __init__(self) -> None:
        self.calls = 0
        self.writes: list[int] = []

    def next(self) -> int:
        """The number of this call."""
        self.calls += 1
        return self.calls


def counting() -> Count:
    """Count this process's calls from now on."""
    count = Count()

    def counted(call: Callable[..., Any], *given: Any, **named: Any) -> Any:
        number = count.next()
        if call.__name__ == "write":
            count.writes.append(number)
        return call(*given, **named)

    _replace_calls(counted)
    return count


def draw(random: Random, seconds: float, calls: int) -> Strike:
    """A strike somewhere in a run that takes so long and makes so many calls."""
    if random.random() < SHARE:
        return Strike(TIME, random.uniform(0, seconds))
    return at_a_call(random, calls)


def at_a_call(random: Random, calls: int) -> Strike:
    """A strike at one of so many calls."""
    return Strike(random.choice([BEFORE, AFTER]), random.randint(1, calls))


def _replace_calls(instead: Callable[..., Any]) -> None:
    for module, names in CALLS.items():
        for name in names:
            setattr(module, name, _instead(instead, getattr(module, name)))


def _instead(instead: Callable[..., Any], call: Callable[..., Any]) -> Callable[..., Any]:
    def replaced(*given: Any, **named: Any) -> Any:
        return instead(call, *given, **named)

    return replaced
