"""The lines of a ledger, and the state that they add up to.

    {"gramlink": "ledger", "version": 1, "dataset": "hospital", "allowance": "1"}
    {"entry": 1, "kind": "charge", "time": "...", "what": "mine", "epsilon": "1/10", ...}
    {"entry": 2, "kind": "release", "time": "...", "of": 1, "digest": "..."}
    {"entry": 3, "kind": "allow", "time": "...", "allowance": "2"}

Whatever a crash cannot explain is damage.
"""

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from gramlink.errors import (
    BudgetExceeded,
    GramlinkError,
    InvalidFile,
    InvalidLedger,
    InvalidParameter,
)
from gramlink.io.files import KIND, from_json
from gramlink.privacy.budget import shown
from gramlink.privacy.numbers import fraction


@dataclass(frozen=True, slots=True)
class Release:
    """One charge and the digest of what it paid for, or None if it was interrupted."""

    number: int
    time: str
    what: str
    epsilon: Fraction
    parameters: dict[str, Any]
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class State:
    """What a ledger says; charges of interrupted releases are spent too.

    >>> State("hospital", Fraction(1), spent=Fraction(1, 3)).left
    Fraction(2, 3)
    """

    dataset: str
    allowance: Fraction
    spent: Fraction = Fraction(0)
    releases: tuple[Release, ...] = ()
    entries: int = 0

    @property
    def left(self) -> Fraction:
        """What can still be charged."""
        return self.allowance - self.spent


def not_below_0(epsilon: object) -> Fraction:
    """An epsilon that can be spent or allowed."""
    amount = fraction(epsilon)
    if amount < 0:
        raise InvalidParameter(f"epsilon cannot be below 0, as {shown(amount)} is")
    return amount


def numbered(entry: dict[str, Any], state: State) -> dict[str, Any]:
    """The entry with the number that comes next."""
    return {**entry, "entry": state.entries + 1}


def appended(entry: dict[str, Any], kept: bytes, state: State) -> bytes:
    """What to write after the bytes to keep: the entry, and whatever must come before it."""
    if not kept:
        opening = {KIND: "ledger", "version": 1, "dataset": state.dataset}
        return _line({**opening, "allowance": str(state.allowance)}) + _line(entry)
    return _line(entry) if kept.endswith(b"\n") else b"\n" + _line(entry)


def _line(content: dict[str, Any]) -> bytes:
    text = json.dumps(content, ensure_ascii=False, default=str) + "\n"
    return text.encode("utf-8", "backslashreplace")  # half a surrogate pair as JSON escapes it


def parsed(data: bytes, name: str) -> tuple[State | None, int]:
    """The state that the lines of a ledger add up to, and how many bytes they take.

    A last line without its end is a write that was cut short; its charge never returned,
    so no noise was drawn. A line that lacks nothing but its end is counted all the same,
    as an editor may have removed that of a real charge.
    """
    *lines, tail = data.split(b"\n")
    if _is_json(tail):
        lines, tail = [*lines, tail], b""
    if not lines:
        start = f'{{"{KIND}": "ledger"'.encode()
        if tail[: len(start)] != start[: len(tail)]:
            raise InvalidLedger(f"{name} is not a ledger", hint="name another file")
        return None, 0
    state = _opened(lines[0], name)
    for number, line in enumerate(lines[1:], start=2):
        try:
            state = applied(state, json.loads(line), name)
        except (ValueError, KeyError, TypeError, RecursionError, GramlinkError) as error:
            raise _damaged(name, number, error) from error
    return state, len(data) - len(tail)


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _opened(line: bytes, name: str) -> State:
    try:
        header = from_json("ledger", line, name)
        return State(str(header["dataset"]), not_below_0(header["allowance"]))
    except InvalidFile as error:
        raise InvalidLedger(str(error), hint="name the ledger of the data") from error
    except (KeyError, InvalidParameter) as error:
        raise _damaged(name, 1, error) from error


def applied(state: State, entry: dict[str, Any], name: str) -> State:
    """The state after an entry, if the entry may follow it."""
    number = state.entries + 1
    if entry["entry"] != number:
        raise InvalidLedger(f"entry {number} is missing")
    if entry["kind"] == "charge":
        return _charged(replace(state, entries=number), entry, name)
    if entry["kind"] == "release":
        return _recorded(replace(state, entries=number), entry)
    if entry["kind"] == "allow":
        allowance = not_below_0(entry["allowance"])
        if allowance < state.spent:
            raise BudgetExceeded(f"epsilon {shown(state.spent)} is spent already in {name}")
        return replace(state, allowance=allowance, entries=number)
    raise InvalidLedger(f"an entry cannot be a {entry['kind']!r}")


def _charged(state: State, entry: dict[str, Any], name: str) -> State:
    cost = not_below_0(entry["epsilon"])
    if cost > state.left:
        raise BudgetExceeded(
            f"this release costs epsilon {shown(cost)}, only {shown(state.left)} is left in {name}",
            hint="reuse an earlier release, or see `gramlink ledger --help`",
        )
    release = Release(
        state.entries, str(entry["time"]), str(entry["what"]), cost, dict(entry["parameters"])
    )
    return replace(state, spent=state.spent + cost, releases=(*state.releases, release))


def _recorded(state: State, entry: dict[str, Any]) -> State:
    for place, release in reversed(list(enumerate(state.releases))):
        if release.number == entry["of"] and release.digest is None:
            done = replace(release, digest=str(entry["digest"]))
            before, after = state.releases[:place], state.releases[place + 1 :]
            return replace(state, releases=(*before, done, *after))
    raise InvalidLedger(f"no release of entry {entry['of']} is awaited")


def _damaged(name: str, line: int, error: Exception) -> InvalidLedger:
    why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
    return InvalidLedger(
        f"{name} is damaged in line {line}: {why}",
        hint="nothing can be spent until the ledger is restored as it was",
    )
