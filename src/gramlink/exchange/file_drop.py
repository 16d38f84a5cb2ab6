"""File drop: sealed bundles in an inbox, receipts and sealed results in an outbox.

The linkage unit's part when the parties only exchange files. Each file in the inbox gets a
receipt that says whether it was accepted, or why not; one that may still be arriving gets none
yet, and only what its owner signed is accepted. Once the bundles of all owners of an exchange are
there, they are linked, and each owner's results are signed by the unit and sealed to the key that
signed its bundle. An exchange is answered once, and again only if a bundle changes.
"""

import json
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gramlink.errors import GramlinkError
from gramlink.exchange.arrivals import SECONDS, Stamps, changes, settled, stamps
from gramlink.exchange.opener import Opener, Senders
from gramlink.exchange.receipts import Receipts
from gramlink.io.files import moment, to_json, written_whole
from gramlink.io.limits import HOURS, Limits, three_quarters_of_memory
from gramlink.io.locks import alone
from gramlink.io.names import alike
from gramlink.io.text import one_line
from gramlink.matching.pairs import Progress
from gramlink.parties.admission import doubled

LOCK = ".gramlink.lock"  # in the outbox


@dataclass(frozen=True, slots=True)
class Received:
    """A file in the inbox: what it says about itself, or why it was refused."""

    name: str
    digest: str
    manifest: Mapping[str, Any]
    refused: str = ""
    opened: bool = False  # then all of it is there: a seal ends with its file
    arriving: bool = False  # it may be refused only because it is not all there yet
    new: bool = True  # whether its receipt says something that it did not say before

    @property
    def exchange(self) -> str:
        """The exchange it is for."""
        return str(self.manifest.get("exchange", ""))

    @property
    def owner(self) -> str:
        """The owner that sent it."""
        return str(self.manifest.get("owner", ""))

    @property
    def receipt(self) -> str:
        """The text for its sender."""
        if self.refused:
            return _refusal(self.refused, self.digest)
        return f"accepted: the bundle of {self.owner}, digest {self.digest}\n"


@dataclass(frozen=True, slots=True)
class Answered:
    """An exchange: who sent a bundle, who still has to, and the files written for it."""

    exchange: str
    owners: tuple[str, ...]
    awaited: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    summary: Mapping[str, Any] | None = None
    failed: str = ""
    new: bool = True  # whether there is something to tell that was not told before


Outcome = tuple[list[Received], list[Answered]]


def attend(
    inbox: Path,
    outbox: Path,
    identity_file: Path,
    senders: Senders,
    returns: str = "links",
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> Outcome:
    """Go through the inbox once, and answer the exchanges that can be answered.

    Bundles are checked and linked in another process, each within the limits: by default, those
    of a server's jobs.

    Privacy: opens bundles in memory only. Receipts and records name owners and digests;
    everything else that is written is sealed to its owner.
    """
    with _opener(identity_file, senders, limits, progress) as opener, _alone(outbox):
        received = _received(inbox, stamps(inbox), opener)
        return _attended(received, inbox, outbox, returns, opener)


def watch(
    inbox: Path,
    outbox: Path,
    identity_file: Path,
    senders: Senders,
    pause: Callable[[], None],
    returns: str = "links",
    limits: Limits | None = None,
) -> Generator[Outcome, None, None]:
    """Attend to the inbox again and again, whenever the files that are whole in it change.

    No other process attends to it meanwhile. It can be ended at any time, and started again.

    Privacy: as `attend`.
    """
    with _opener(identity_file, senders, limits) as opener, _alone(outbox):
        for found in settled(lambda: stamps(inbox), pause):
            received = _received(inbox, found, opener, within=0)
            yield _attended(received, inbox, outbox, returns, opener)


def _opener(
    identity_file: Path, senders: Senders, limits: Limits | None, progress: Progress | None = None
) -> Opener:
    limits = limits or Limits(three_quarters_of_memory(), HOURS * 3600)
    return Opener(identity_file, senders, limits, progress)


def _alone(outbox: Path) -> AbstractContextManager[None]:
    return alone(outbox / LOCK, "at work")


def _received(
    inbox: Path, found: Stamps, opener: Opener, within: float = SECONDS
) -> list[Received]:
    """Each file; those marked that could not be opened while they may still be arriving."""
    received = []
    for name, stamp in found.items():
        one = Received(**opener.checked(inbox / name))
        arriving = not one.opened and changes(inbox / name, stamp, within)
        received.append(replace(one, arriving=arriving))
    return received


def _attended(
    received: list[Received], inbox: Path, outbox: Path, returns: str, opener: Opener
) -> Outcome:
    """What was received and answered, once it is told to all whom it concerns."""
    receipts, received = Receipts(outbox), _without_doubles(received)
    good = {one.name: one for one in received if not one.refused}
    for one in received:
        if not one.arriving and (one.refused or not receipts.tells_of(one.name, one.digest)):
            receipts.tell(one.name, one.receipt)
    answered = []
    for name in sorted({one.exchange for one in good.values()}):
        own = [one for one in good.values() if one.exchange == name]
        made = _answered(own, inbox, outbox, returns, opener)
        for one in own:
            refusal = made.failed and _refusal(made.failed, one.digest)
            receipts.tell(one.name, refusal or one.receipt)
        new = bool(made.files) or any(receipts.is_new(one.name) for one in own)
        answered.append(replace(made, new=new))
    return [
        replace(one, new=one.arriving or receipts.is_new(one.name)) for one in received
    ], answered


def _refusal(why: str, digest: str) -> str:
    """A receipt that a terminal shows as it is, whatever names and reasons come from elsewhere."""
    of = f"the file's digest: {digest}\n" if digest else ""
    return f"refused: {one_line(why)}\n{of}"


def _without_doubles(received: list[Received]) -> list[Received]:
    """The same, with both bundles refused if an owner sent two for one exchange."""
    owners: dict[str, list[str]] = {}
    for one in received:
        if not one.refused:
            owners.setdefault(one.exchange, []).append(one.owner)
    return [
        replace(one, manifest={}, refused=str(doubled(one.owner)))
        if not one.refused and one.owner in alike(owners[one.exchange])
        else one
        for one in received
    ]


def _answered(
    received: list[Received], inbox: Path, outbox: Path, returns: str, opener: Opener
) -> Answered:
    exchange = received[0].exchange
    present = {one.owner: one for one in received}
    owners = tuple(sorted(present))
    awaited = {name for one in received for name in one.manifest["owners"]} - present.keys()
    if awaited:
        return Answered(exchange, owners, tuple(sorted(awaited)))
    record = outbox / f"{exchange}-answered.json"
    digests = {owner: one.digest for owner, one in sorted(present.items())}
    answered = {"bundles": digests, "returns": returns}
    if _recorded(record) == answered:
        return Answered(exchange, owners)
    try:
        places = [(inbox / one.name, one.digest) for one in received]
        summary, results = opener.linked(places, returns)
        files = []
        for one, data in zip(received, results, strict=True):
            path = outbox / f"{exchange}-{one.owner}.results.age"
            _write(path, data)
            files.append(path.name)
        _write(record, to_json("answered", {**answered, "created": moment()}))
    except GramlinkError as error:
        return Answered(exchange, owners, failed=str(error))
    return Answered(exchange, owners, files=tuple(files), summary=summary)


def _recorded(path: Path) -> Any:
    """The bundles answered last, and what went back."""
    try:
        content = json.loads(path.read_bytes())
        return {"bundles": content["bundles"], "returns": content["returns"]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _write(path: Path, data: bytes) -> None:
    with written_whole(path) as file:
        file.write(data)
