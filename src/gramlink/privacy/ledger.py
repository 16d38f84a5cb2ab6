"""The ledger of one data set: how much epsilon is allowed, and every release it paid for.

A ledger is a file of JSON lines that only ever grows. A release is charged before its
noise is drawn, and the charge is on disk before `charge` returns, so a crash can waste
budget and can never spend it twice. A damaged ledger refuses to spend until it is restored.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from gramlink.errors import InvalidLedger
from gramlink.io.files import moment, sync_folder
from gramlink.io.locks import lock
from gramlink.privacy.budget import Budget
from gramlink.privacy.entries import State, appended, applied, not_below_0, numbered, parsed
from gramlink.privacy.noise import SYSTEM, Draw


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
        self._new = State(dataset, not_below_0(allowance))
        self._draw = draw
        self._read(_contents(path))  # another data set's ledger is refused at once

    @classmethod
    def open(cls, path: Path) -> "Ledger":
        """The ledger that is in a file, whichever data set it is of."""
        state, _ = parsed(_contents(path), path.name)
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
        cost = not_below_0(epsilon)
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
        self._append("allow", allowance=str(not_below_0(epsilon)))

    def _append(self, kind: str, **content: Any) -> int:
        """Add an entry durably, if the ledger permits it, and say its number."""
        entry = {"entry": 0, "kind": kind, "time": moment(), **content}
        state = self.state
        # refused here already, an entry leaves no empty file behind
        applied(state, numbered(entry, state), self.path.name)
        with _locked(self.path) as handle:
            with os.fdopen(handle, "rb", closefd=False) as file:
                data = file.read()
            state, kept = self._read(data)
            entry = numbered(entry, state)
            applied(state, entry, self.path.name)
            if not kept:
                sync_folder(self.path.parent)
            _write(handle, kept, appended(entry, data[:kept], state))
        return state.entries + 1

    def _read(self, data: bytes) -> tuple[State, int]:
        """What the file says of this data set, and how many of its bytes say so."""
        state, kept = parsed(data, self.path.name)
        if state is None:
            return self._new, 0
        if state.dataset != self._new.dataset:
            raise InvalidLedger(
                f"{self.path.name} is the ledger of data set {state.dataset!r}, "
                f"not {self._new.dataset!r}",
                hint="name the ledger that belongs to the data",
            )
        return state, kept


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
