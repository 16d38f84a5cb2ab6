"""Entries: what a ledger records, and the state that it adds up to."""

import hashlib
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from gramlink.errors import (
    BudgetExceeded,
    ExposureExceeded,
    InvalidLedger,
    InvalidParameter,
)
from gramlink.io.files import plain_json, same_number, table_in, texts_in
from gramlink.privacy.budget import shown
from gramlink.privacy.exposure import (
    MOST,
    Disclosure,
    Exposure,
    Total,
    counted,
    reader,
    totals,
    whole,
)
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
    head: str = ""  # of the chain, after its charge
    lost: bool = False  # it may have been released, though no release is recorded


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
    nonce: str = ""  # what only this ledger knows
    head: str = ""  # the SHA-256 of its last line

    @property
    def left(self) -> Fraction:
        """What can still be charged."""
        return max(Fraction(0), self.allowance - self.spent)

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


def digest_of(line: bytes) -> str:
    """What the next line says of this one."""
    return hashlib.sha256(line).hexdigest()


def applied(state: State, line: bytes, name: str, torn: bytes | None = None) -> State:
    """The state after a line, if it may follow; `torn` stands between, and cannot be read."""
    entry, number = plain_json(line), state.entries + 1
    if torn is not None and (entry["kind"] != "torn" or entry["of"] != digest_of(torn)):
        raise InvalidLedger("it cannot be read")
    if not same_number(entry["entry"], number):
        raise InvalidLedger(f"entry {number} is missing")
    if entry["after"] != state.head:
        raise InvalidLedger("it does not follow from the line before, so one of them was changed")
    if entry["kind"] != "torn":
        texts_in(entry, "time")
    state = replace(state, entries=number, head=digest_of(line))
    if entry["kind"] == "charge":
        return _charged(state, entry, name)
    if entry["kind"] == "release":
        return _recorded(state, entry)
    if entry["kind"] == "allow":
        allowance = not_below_0(entry["allowance"])
        if allowance < state.spent:
            raise BudgetExceeded(f"epsilon {shown(state.spent)} is already spent in {name}")
        return replace(state, allowance=allowance)
    if entry["kind"] == "exposure":
        return exposed(state, Exposure.read(entry), name)
    if entry["kind"] == "limit":
        return replace(state, most_exposures=whole(entry["exposures"]))
    if entry["kind"] == "torn" and torn is not None:
        return _lost(state, entry)
    raise InvalidLedger(f"an entry cannot be a {entry['kind']!r} here")


def _charged(state: State, entry: dict[str, Any], name: str) -> State:
    cost = not_below_0(entry["epsilon"])
    if cost > state.left:
        raise BudgetExceeded(
            f"this release costs epsilon {shown(cost)}, only {shown(state.left)} is left in {name}",
            hint="reuse an earlier release, or see `gramlink ledger --help`",
        )
    (what,) = texts_in(entry, "what")
    parameters = table_in(entry, "parameters")
    release = Release(state.entries, entry["time"], what, cost, parameters, head=state.head)
    return replace(state, spent=state.spent + cost, releases=(*state.releases, release))


def _recorded(state: State, entry: dict[str, Any]) -> State:
    (digest,) = texts_in(entry, "digest")
    for place, release in reversed(list(enumerate(state.releases))):
        if same_number(entry["of"], release.number) and release.digest is None and not release.lost:
            done = replace(release, digest=digest)
            before, after = state.releases[:place], state.releases[place + 1 :]
            return replace(state, releases=(*before, done, *after))
    raise InvalidLedger(
        f"entry {entry['of']} is not a charge that is waiting for its release",
        hint="if another process was mining, it has released what this charge paid for",
    )


def _lost(state: State, entry: dict[str, Any]) -> State:
    """The state after a line that was cut short: the worst that it can have recorded."""
    cost = not_below_0(entry["epsilon"])
    gone = Release(state.entries, "", "a line that was cut short", cost, {}, lost=True)
    releases = tuple(replace(one, lost=one.digest is None) for one in state.releases)
    state = replace(state, spent=state.spent + cost, releases=(*releases, gone))
    if "allowance" in entry:
        allowance = min(state.allowance, not_below_0(entry["allowance"]))
        state = replace(state, allowance=allowance)
    if "exposures" in entry:
        most = min(state.most_exposures, whole(entry["exposures"]))
        state = replace(state, most_exposures=most)
    if "unit" in entry:
        unit, shown_of_it, digest = str(entry["unit"]), Disclosure(0, {}), str(entry["of"])
        seen = Exposure("", unit, "cut short", 0, shown_of_it, "", digest)
        state = replace(state, exposures=(*state.exposures, seen))
    return state


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
