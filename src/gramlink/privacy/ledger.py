"""The ledger of one data set: what it may spend and show, every release, and every exposure.

A ledger is a file of JSON lines that only ever grows. A release is charged before its
noise is drawn, and the charge is on disk before `charge` returns, so a crash can waste
budget but can never spend it twice. Likewise, what a linkage unit is shown is on disk before the
bundle that shows it is written. A damaged ledger refuses to spend until it is restored.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from gramlink.errors import InvalidLedger, InvalidParameter
from gramlink.io.files import moment, sync_folder
from gramlink.io.locks import lock
from gramlink.privacy.budget import Budget
from gramlink.privacy.entries import (
    State,
    appended,
    applied,
    exposed,
    not_below_0,
    numbered,
    parsed,
)
from gramlink.privacy.exposure import Exposure, whole
from gramlink.privacy.noise import SYSTEM, Draw


@dataclass(frozen=True, slots=True)
class Charge:
    """A charge that is on disk, and the budget it paid for."""

    number: int
    budget: Budget


class Ledger:
    """The ledger of a data set, in a file that the first charge creates.

    The allowance applies to a new ledger; an existing one keeps its own.

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
        """The ledger in a file, whichever data set it belongs to."""
        state, _ = parsed(_contents(path), path.name)
        if state is None:
            raise InvalidLedger(
                f"{path} does not exist or is empty", hint="the first release creates it"
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
        """The charge with these parameters that has no release, so that it can be drawn again.

        Privacy: only for whoever knows that nothing drawn for it was ever seen, as when the
        process died before it wrote anything. Then a second draw is the first release.
        """
        for release in self.state.releases:
            if release.digest is None and release.parameters == parameters:
                return Charge(release.number, Budget(release.epsilon, self._draw))
        return None

    def released(self, charge: Charge, digest: str) -> None:
        """Record the digest of what a charge paid for."""
        self._append("release", of=charge.number, digest=digest)

    def allow(self, epsilon: Fraction) -> None:
        """Raise or lower the total allowed, though not below what is spent already.

        Privacy: the allowance is the promise made to the people in the data set.
        """
        self._append("allow", allowance=str(not_below_0(epsilon)))

    def check(self, exposure: Exposure) -> None:
        """Refuse at once what `expose` will refuse, before anything is encoded.

        What has no digest yet may turn out to be what the unit was shown before.
        """
        exposed(self.state, exposure, self.path.name)

    def expose(self, exposure: Exposure) -> None:
        """Put on disk that a linkage unit is shown a bundle, if the limit permits it.

        Privacy: comes before the bundle is written or sent; when it is refused, it must be
        neither. The same bundle for the same unit and exchange is recorded once.
        """
        if not exposure.digest:
            raise InvalidParameter("an exposure must say which bundle it is of")
        if not any(exposure.repeats(one) for one in self.state.exposures):
            self._append("exposure", **exposure.content)

    def limit_exposures(self, most: int) -> None:
        """Set how many exposures that add up any one linkage unit may get, those before included.

        Privacy: what units have seen stays seen; a lower limit only refuses what comes.
        """
        self._append("limit", exposures=whole(most))

    def _append(self, kind: str, **content: Any) -> int:
        """Add an entry durably, if the ledger permits it, and return its number."""
        entry = {"entry": 0, "kind": kind, "time": moment(), **content}
        state = self.state
        # an entry refused here leaves no empty file behind
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
        """What the file says about this data set, and how many of its bytes are valid."""
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
    """A handle on a ledger, locked against other processes until it is closed."""
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
            hint="name a folder that exists, has room and that you may write to",
        ) from error


def _write(handle: int, kept: int, text: bytes) -> None:
    """Write once, after the bytes to keep; if that fails, leave only those bytes."""
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
