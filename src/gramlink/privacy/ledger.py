"""The ledger of one data set: how much epsilon is allowed, and every release it paid for.

A ledger is a file of JSON lines that only ever grows. A release is charged before its
noise is drawn, and the charge is on disk before `charge` returns, so a crash can waste
budget and can never spend it twice. Whatever a crash cannot explain is damage, and a
damaged ledger refuses to spend until it is restored.

    {"gramlink": "ledger", "version": 1, "dataset": "hospital", "allowance": "1"}
    {"entry": 1, "kind": "charge", "time": "...", "what": "mine", "epsilon": "1/10", ...}
    {"entry": 2, "kind": "release", "time": "...", "of": 1, "digest": "..."}
    {"entry": 3, "kind": "allow", "time": "...", "allowance": "2"}
"""

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from gramlink.errors import (
    BudgetExceeded,
    GramlinkError,
    InvalidFile,
    InvalidLedger,
    InvalidParameter,
)
from gramlink.io.files import KIND, from_json, moment, sync_folder
from gramlink.io.locks import lock
from gramlink.privacy.budget import Budget, shown
from gramlink.privacy.noise import SYSTEM, Draw
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


@dataclass(frozen=True, slots=True)
class Charge:
    """A charge that is on disk, and the budget it paid for."""

    number: int
    budget: Budget


class Ledger:
    """The ledger of a data set, in a file that the first charge creates.

    The allowance is that of a new ledger; an existing one keeps its own.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ledger = Ledger(Path(folder, "hospital.ledger"), "hospital", Fraction(1))
    ...     charge = ledger.charge(Fraction(1, 10), "mine surname", {"size": 75})
    ...     noisy = charge.budget.laplace([120], sensitivity=1, epsilon=Fraction(1, 10))
    ...     ledger.released(charge, "8a5c")
    ...     ledger.state.left
    Fraction(9, 10)

    Privacy: all releases of a data set together cost at most what its ledger allows, if
    the ledger is kept with the data and is never replaced by an older copy.
    """

    def __init__(
        self, path: Path | str, dataset: str, allowance: Fraction, *, draw: Draw = SYSTEM
    ) -> None:
        self.path = path = Path(path)
        self._new = State(dataset, _not_below_0(allowance))
        self._draw = draw
        self._read(_contents(path))  # another data set's ledger is refused at once

    @classmethod
    def open(cls, path: Path) -> "Ledger":
        """The ledger that is in a file, whichever data set it is of."""
        state, _ = _parsed(_contents(path), path.name)
        if state is None:
            raise InvalidLedger(
                f"{path} does not exist or is empty", hint="the first release writes it"
            )
        return cls(path, state.dataset, state.allowance)

    @property
    def state(self) -> State:
        """What the ledger says now."""
        return self._read(_contents(self.path))[0]

    def charge(self, epsilon: Fraction, what: str, parameters: dict[str, Any]) -> Charge:
        """Put a cost on disk, and hand out the budget that it buys.

        Privacy: comes before any noise is drawn; when it is refused, nothing is spent.
        """
        cost = _not_below_0(epsilon)
        number = self._append("charge", what=what, epsilon=str(cost), parameters=parameters)
        return Charge(number, Budget(cost, self._draw))

    def unreleased(self, parameters: dict[str, Any]) -> Charge | None:
        """The charge with these parameters that nothing came of, to draw again for it.

        Privacy: only for whoever knows that nothing drawn for it was ever seen, as when the
        process died before it wrote anything. Then a second draw is the first release.
        """
        for release in self.state.releases:
            if release.digest is None and release.parameters == parameters:
                return Charge(release.number, Budget(release.epsilon, self._draw))
        return None

    def released(self, charge: Charge, digest: str) -> None:
        """Record what came of a charge."""
        self._append("release", of=charge.number, digest=digest)

    def allow(self, epsilon: Fraction) -> None:
        """Raise or lower the total allowed, though not below what is spent already.

        Privacy: the allowance is what the data set's records are promised.
        """
        self._append("allow", allowance=str(_not_below_0(epsilon)))

    def _append(self, kind: str, **content: Any) -> int:
        """Add an entry durably, if the ledger permits it, and say its number."""
        entry = {"entry": 0, "kind": kind, "time": moment(), **content}
        state = self.state
        # refused here already, an entry leaves no empty file behind
        _applied(state, _numbered(entry, state), self.path.name)
        with _locked(self.path) as handle:
            with os.fdopen(handle, "rb", closefd=False) as file:
                data = file.read()
            state, kept = self._read(data)
            entry = _numbered(entry, state)
            _applied(state, entry, self.path.name)
            if not kept:
                sync_folder(self.path.parent)
            _write(handle, kept, _separator(data[:kept], state) + _line(entry))
        return state.entries + 1

    def _read(self, data: bytes) -> tuple[State, int]:
        """What the file says of this data set, and how many of its bytes say so."""
        state, kept = _parsed(data, self.path.name)
        if state is None:
            return self._new, 0
        if state.dataset != self._new.dataset:
            raise InvalidLedger(
                f"{self.path.name} is the ledger of data set {state.dataset!r}, "
                f"not {self._new.dataset!r}",
                hint="name the ledger that belongs to the data",
            )
        return state, kept


def _not_below_0(epsilon: object) -> Fraction:
    amount = fraction(epsilon)
    if amount < 0:
        raise InvalidParameter(f"epsilon cannot be below 0, as {shown(amount)} is")
    return amount


def _numbered(entry: dict[str, Any], state: State) -> dict[str, Any]:
    return {**entry, "entry": state.entries + 1}


def _line(content: dict[str, Any]) -> bytes:
    text = json.dumps(content, ensure_ascii=False, default=str) + "\n"
    return text.encode("utf-8", "backslashreplace")  # half a surrogate pair as JSON escapes it


def _separator(kept: bytes, state: State) -> bytes:
    """What belongs between the bytes to keep and a new entry."""
    if not kept:
        opening = {KIND: "ledger", "version": 1, "dataset": state.dataset}
        return _line({**opening, "allowance": str(state.allowance)})
    return b"" if kept.endswith(b"\n") else b"\n"


def _parsed(data: bytes, name: str) -> tuple[State | None, int]:
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
            state = _applied(state, json.loads(line), name)
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
        return State(str(header["dataset"]), _not_below_0(header["allowance"]))
    except InvalidFile as error:
        raise InvalidLedger(str(error), hint="name the ledger of the data") from error
    except (KeyError, InvalidParameter) as error:
        raise _damaged(name, 1, error) from error


def _applied(state: State, entry: dict[str, Any], name: str) -> State:
    """The state after an entry, if the entry may follow it."""
    number = state.entries + 1
    if entry["entry"] != number:
        raise InvalidLedger(f"entry {number} is missing")
    if entry["kind"] == "charge":
        return _charged(replace(state, entries=number), entry, name)
    if entry["kind"] == "release":
        return _recorded(replace(state, entries=number), entry)
    if entry["kind"] == "allow":
        allowance = _not_below_0(entry["allowance"])
        if allowance < state.spent:
            raise BudgetExceeded(f"epsilon {shown(state.spent)} is spent already in {name}")
        return replace(state, allowance=allowance, entries=number)
    raise InvalidLedger(f"an entry cannot be a {entry['kind']!r}")


def _charged(state: State, entry: dict[str, Any], name: str) -> State:
    cost = _not_below_0(entry["epsilon"])
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


def _contents(path: Path) -> bytes:
    """The bytes of a ledger; none if there is no file yet."""
    try:
        if path.exists() and not path.is_file():
            raise InvalidLedger(f"{path} is not a file", hint="name a file for the ledger")
        return path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise InvalidLedger(f"{path} cannot be read: {error.strerror or error}") from error


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """A handle on a ledger that no other process has, until it is closed."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        try:
            lock(handle)
            os.lseek(handle, 0, os.SEEK_SET)
            yield handle
        finally:
            os.close(handle)
    except OSError as error:
        raise InvalidLedger(
            f"{path} cannot be written: {error.strerror or error}; nothing was spent",
            hint="name a folder that exists, is yours to write and has room",
        ) from error


def _write(handle: int, kept: int, text: bytes) -> None:
    """Write once, after the bytes to keep; if that fails, leave just these."""
    try:
        os.ftruncate(handle, kept)
        os.lseek(handle, kept, os.SEEK_SET)
        if os.write(handle, text) < len(text):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(handle)
    except OSError:
        with suppress(OSError):
            os.ftruncate(handle, kept)
            os.fsync(handle)
        raise
