"""The ledger of one data set: what it may spend and show, every release, and every exposure.

A ledger is a file of JSON lines that only ever grows. A release is charged before its
noise is drawn, and the charge is on disk before `charge` returns, so a crash can waste
budget but can never spend it twice. Likewise, what a linkage unit is shown is on disk before the
bundle that shows it is written. A ledger that was emptied, damaged, or set back to an older copy
refuses to spend.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from gramlink.errors import GramlinkError, InvalidFile, InvalidLedger, InvalidParameter
from gramlink.io.files import written_whole
from gramlink.io.journal import append, content, locked
from gramlink.io.parts import remove_left_behind
from gramlink.privacy.budget import Budget
from gramlink.privacy.entries import Release, State, applied, exposed, not_below_0
from gramlink.privacy.exposure import MOST, Exposure, whole
from gramlink.privacy.lines import entry_line, header, parsed, read, torn_line
from gramlink.privacy.noise import SYSTEM, Draw
from gramlink.privacy.stamp import Stamp, Stamped, stamped
from gramlink.privacy.tears import least


@dataclass(frozen=True, slots=True)
class Charge:
    """A charge that is on disk, the budget it paid for, and what the release carries of it."""

    number: int
    budget: Budget
    stamp: Stamp


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
    the ledger is kept with the data. An older copy in its place is noticed where a release that
    is missing from it is at hand.
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
        data = _contents(path)
        if data is None:
            raise InvalidLedger(
                f"{path} does not exist",
                hint="the first release creates it, or `gramlink ledger new`",
            )
        state = read(data, path.name)[0]
        return cls(path, state.dataset, state.allowance)

    @classmethod
    def create(
        cls, path: Path | str, dataset: str, allowance: Fraction, *, exposures: int = MOST
    ) -> "Ledger":
        """A new ledger, whole on disk, with what it may spend and how often it may be shown."""
        made = cls(path, dataset, allowance)
        made._new = State(dataset, made._new.allowance, most_exposures=whole(exposures))
        if made.path.exists():
            raise InvalidLedger(
                f"{path} exists already",
                hint=f"`gramlink ledger {path} --allow EPSILON` changes what it allows",
            )
        made._create()
        return made

    @classmethod
    def repair(cls, path: Path, epsilon: Fraction | None = None) -> "Ledger":
        """The ledger in a file, after recording what a last line that was cut short counts as.

        Where too little of the line is left, `epsilon` is what its owner says that it cost.

        Privacy: a line counts for no less than can be read of it.
        """
        with _locked(path) as handle:
            data = content(handle)
            state, torn, ended = read(data, path.name)
            if torn is None:
                raise InvalidLedger(
                    f"{path.name} has no line that was cut short", hint="it needs no repair"
                )
            lost, all_told = least(torn)
            if (ended or not all_told) and epsilon is None:
                raise InvalidParameter(
                    f"the last line of {path.name} does not say what it cost",
                    hint="with --epsilon, say what it may have cost; 0 if nothing was being spent",
                )
            cost = max(not_below_0(lost["epsilon"]), not_below_0(epsilon or 0))
            line = torn_line(state, torn, lost | {"epsilon": str(cost)})
            applied(state, line, path.name, torn)
            append(handle, len(data), (b"" if ended else b"\n") + line + b"\n")
        return cls.open(path)

    @property
    def state(self) -> State:
        """What the ledger says now."""
        return self._read(_contents(self.path))[0]

    def check_copy(self, owner: str, *places: Path) -> None:
        """Refuse a ledger that an older copy was put in the place of, or that is gone.

        Looks at what was mined for this owner beside the ledger and at these places, which are
        files or folders. What another ledger paid for says nothing about this one.

        Privacy: comes before anything is spent or shown.
        """
        state, places = self.state, (self.path.parent, *places)
        paid = {release.head for release in state.releases}
        for found in stamped(places):
            if not state.nonce and found.owner == owner and not _is_paid(found, places):
                raise InvalidLedger(
                    f"{self.path} does not exist, though {found.path} was paid for",
                    hint="restore the ledger that paid for it, or name it with --ledger; for "
                    "other records, make one with `gramlink ledger new`",
                )
            if state.nonce and found.stamp.is_of(state.nonce) and found.stamp.head not in paid:
                raise InvalidLedger(
                    f"{self.path} is an older copy: the release in {found.path} is missing from it",
                    hint="restore the latest copy; nothing can be spent or shown before",
                )

    def charge(self, epsilon: Fraction, what: str, parameters: dict[str, Any]) -> Charge:
        """Put a cost on disk, and hand out the budget that it buys.

        Privacy: comes before any noise is drawn; when it is refused, nothing is spent.
        """
        cost = not_below_0(epsilon)
        state = self._append("charge", epsilon=str(cost), what=what, parameters=parameters)
        return self._charge(state, state.releases[-1])

    def _charge(self, state: State, release: Release) -> Charge:
        stamp = Stamp.of(release.head, state.nonce)
        return Charge(release.number, Budget(release.epsilon, self._draw), stamp)

    def unreleased(self, parameters: dict[str, Any]) -> Charge | None:
        """The charge with these parameters that has no release, so that it can be drawn again.

        Privacy: only for whoever records each release before anybody can see what was drawn.
        Then nothing that was drawn for this charge was ever seen, and a second draw is the first
        release.
        """
        state = self.state
        for release in state.releases:
            waits = release.digest is None and not release.lost
            if waits and release.parameters == parameters:
                return self._charge(state, release)
        return None

    def released(self, charge: Charge, digest: str) -> None:
        """Record the digest of what a charge paid for.

        Privacy: comes before anybody can see it; a charge is released once.
        """
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

    def _append(self, kind: str, **told: Any) -> State:
        """Add an entry durably, if the ledger permits it, and return the state with it."""
        state = self.state
        # an entry refused here leaves no empty ledger behind
        applied(state, entry_line(state, kind, told), self.path.name)
        if not state.nonce:
            self._create()
        remove_left_behind(self.path)  # by one that was killed while it made the ledger
        with _locked(self.path) as handle:
            data = content(handle)
            state, before = self._read(data)
            line = entry_line(state, kind, told)
            state = applied(state, line, self.path.name)
            append(handle, len(data), before + line + b"\n")
        return state

    def _create(self) -> None:
        """Write the first line, whole; another process may have done so."""
        try:
            with written_whole(self.path, mode=0o600, new=True) as file:
                file.write(header(self._new) + b"\n")
        except InvalidFile as error:
            if not self.path.exists():
                raise InvalidLedger(f"{error}; nothing was spent", hint=error.hint) from error

    def _read(self, data: bytes | None) -> tuple[State, bytes]:
        """What the file says about this data set, and what comes before its next line."""
        if data is None:
            return self._new, b""
        state, before = parsed(data, self.path.name)
        if state.dataset != self._new.dataset:
            raise InvalidLedger(
                f"{self.path.name} is the ledger of data set {state.dataset!r}, "
                f"not {self._new.dataset!r}",
                hint="name the ledger that belongs to the data",
            )
        return state, before


def _is_paid(found: Stamped, places: Iterable[Path]) -> bool:
    """Whether a ledger at these places paid for it."""
    for path in (path for place in places for path in place.glob("*.ledger")):
        with suppress(GramlinkError):
            data = _contents(path)
            if data and found.stamp.is_of(read(data, path.name)[0].nonce):
                return True
    return False


def _contents(path: Path) -> bytes | None:
    """The bytes of a ledger, or None if there is no file yet."""
    try:
        if path.exists() and not path.is_file():
            raise InvalidLedger(f"{path} is not a file", hint="name a file for the ledger")
        return path.read_bytes() if path.exists() else None
    except OSError as error:
        raise InvalidLedger(f"{path} cannot be read: {error.strerror or error}") from error


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """A handle on a ledger's file, for this process alone."""
    try:
        with locked(path) as handle:
            yield handle
    except OSError as error:
        raise InvalidLedger(
            f"{path} cannot be written: {error.strerror or error}; nothing was spent",
            hint="name a folder that exists, has room and that you may write to",
        ) from error
