"""The lines of a ledger, and the state that they add up to.

    {"gramlink": "ledger", "version": 1, "dataset": "hospital", "allowance": "1"}
    {"entry": 1, "kind": "charge", "time": "...", "what": "mine", "epsilon": "1/10", ...}
    {"entry": 2, "kind": "release", "time": "...", "of": 1, "digest": "..."}
    {"entry": 3, "kind": "allow", "time": "...", "allowance": "2"}
    {"entry": 4, "kind": "exposure", "time": "...", "exchange": "stroke", "unit": "age1...", ...}
    {"entry": 5, "kind": "limit", "time": "...", "exposures": 20}

Anything that a crash cannot explain is damage.
"""

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from gramlink.errors import (
    BudgetExceeded,
    ExposureExceeded,
    GramlinkError,
    InvalidFile,
    InvalidLedger,
    InvalidParameter,
)
from gramlink.io.files import KIND, from_json
from gramlink.privacy.budget import shown
from gramlink.privacy.exposure import MOST, Exposure, Total, counted, reader, totals, whole
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
    """What a ledger says; charges for interrupted releases count as spent too.

    >>> State("hospital", Fraction(1), spent=Fraction(1, 3)).left
    Fraction(2, 3)
    """

    dataset: str
    allowance: Fraction
    spent: Fraction = Fraction(0)
    releases: tuple[Release, ...] = ()
    entries: int = 0
    exposures: tuple[Exposure, ...] = ()
    most_exposures: int = MOST  # to any one linkage unit, of those that add up

    @property
    def left(self) -> Fraction:
        """What can still be charged."""
        return self.allowance - self.spent

    @property
    def shown(self) -> tuple[Total, ...]:
        """What each linkage unit was shown, added up."""
        return totals(self.exposures)

    def exposures_left(self, unit: str) -> int:
        """How many more bundles that add up a linkage unit may get."""
        return max(0, self.most_exposures - counted(self.exposures, unit))


def not_below_0(epsilon: object) -> Fraction:
    """An epsilon that can be spent or allowed."""
    amount = fraction(epsilon)
    if amount < 0:
        raise InvalidParameter(f"epsilon must be at least 0, not {shown(amount)}")
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

    A last line that is incomplete is a write that was cut short; its charge never returned,
    so no noise was drawn. A line that lacks only its newline still counts, because an
    editor may have removed the newline of a real charge.
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
            raise BudgetExceeded(f"epsilon {shown(state.spent)} is already spent in {name}")
        return replace(state, allowance=allowance, entries=number)
    if entry["kind"] == "exposure":
        return replace(exposed(state, Exposure.read(entry), name), entries=number)
    if entry["kind"] == "limit":
        return replace(state, most_exposures=whole(entry["exposures"]), entries=number)
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
    raise InvalidLedger(f"entry {entry['of']} is not a charge that is waiting for its release")


def exposed(state: State, exposure: Exposure, name: str) -> State:
    """The state after a linkage unit is shown a bundle, if the limit permits it.

    What it was shown before changes nothing: two processes may both record it.
    """
    if any(exposure.repeats(one) for one in state.exposures):
        return state
    if exposure.shown.adds_up and not state.exposures_left(exposure.unit):
        seen = counted(state.exposures, exposure.unit)
        times = "once" if seen == 1 else f"{seen} times"
        raise ExposureExceeded(
            f"data set {state.dataset} was shown {times} to {reader(exposure.unit)}; "
            f"{name} permits {state.most_exposures}",
            hint=f"`gramlink ledger {name}` lists them; `--exposures {seen + 1}` permits one more, "
            "which brings the unit nearer to naming people",
        )
    return replace(state, exposures=(*state.exposures, exposure))


def _damaged(name: str, line: int, error: Exception) -> InvalidLedger:
    why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
    return InvalidLedger(
        f"{name} is damaged at line {line}: {why}",
        hint="nothing can be spent until the ledger is restored to what it was",
    )
