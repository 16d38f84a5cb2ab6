"""File drop: sealed bundles in an inbox, receipts and sealed results in an outbox.

The linkage unit's part when the parties only exchange files. Each file in the inbox gets a
receipt that says whether it was accepted, or why not; only what its owner signed is accepted.
Once the bundles of all owners of an exchange are there, they are linked, and each owner's results
are signed by the unit and sealed to the key that signed its bundle. An exchange is answered once,
and again only if a bundle changes.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gramlink.bundles.bundle import Bundle
from gramlink.bundles.sealing import Recipient, read_identity, unseal_from
from gramlink.errors import Ended, GramlinkError, InvalidFile, Mismatch
from gramlink.io.confined import Confinable, Confined, Told
from gramlink.io.files import moment, read_bytes, to_json, written_whole
from gramlink.io.limits import HOURS, Limits, three_quarters_of_memory
from gramlink.io.locks import alone
from gramlink.kernels import compilation_starts, on_first_compilation
from gramlink.matching.pairs import Progress
from gramlink.parties.admission import alike, check_address, check_bundle, check_signed, doubled
from gramlink.parties.answers import answer, sealed

SUFFIXES = (".age", ".bundle")
Senders = Mapping[str, Collection[Recipient]]  # the keys of each owner


@dataclass(frozen=True, slots=True)
class Received:
    """A file in the inbox: what it says about itself, or why it was refused."""

    name: str
    digest: str
    manifest: Mapping[str, Any]
    refused: str = ""

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
            return f"refused: {self.refused}\n"
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


def attend(
    inbox: Path,
    outbox: Path,
    identity_file: Path,
    senders: Senders,
    returns: str = "links",
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> tuple[list[Received], list[Answered]]:
    """Go through the inbox once, and answer the exchanges that can be answered.

    Bundles are checked and linked in another process, each within the limits: by default, those
    of a server's jobs.

    Privacy: opens bundles in memory only. Receipts and records name owners and digests;
    everything else that is written is sealed to its owner.
    """
    read_identity(identity_file)
    limits = limits or Limits(three_quarters_of_memory(), HOURS * 3600)
    with alone(outbox / ".gramlink.lock", "at work"), Confined() as process:
        work = _Work(process, limits, identity_file.absolute(), progress)
        received = _without_doubles(list(_received(inbox, work, senders)))
        for one in received:
            _tell(outbox, one.name, one.receipt)
        good = [one for one in received if not one.refused]
        names = sorted({one.exchange for one in good})
        return received, [
            _answered([one for one in good if one.exchange == name], inbox, outbox, returns, work)
            for name in names
        ]


@dataclass(frozen=True, slots=True)
class _Work:
    """What bundles are opened with, and where: in a process that a hostile file may crash."""

    process: Confined
    limits: Limits
    identity_file: Path
    progress: Progress | None

    def do(self, function: Confinable, order: Mapping[str, Any]) -> list[bytes]:
        """What a function makes of its order there."""
        order = {**order, "identity": str(self.identity_file)}
        return self.process.call(function, order, limits=self.limits, told=self._hear)

    def _hear(self, done: tuple[int, int] | None) -> None:
        if done is None:
            compilation_starts()
        elif self.progress:
            self.progress(*done)


def _received(inbox: Path, work: _Work, senders: Senders) -> Iterator[Received]:
    keys = {owner: sorted(one.key for one in known) for owner, known in senders.items()}
    for path in sorted(inbox.iterdir()):
        if path.suffix in SUFFIXES and path.is_file():
            try:
                (told,) = work.do(check, {"path": str(path.absolute()), "senders": keys})
                yield Received(**json.loads(told))
            except Ended as error:
                yield Received(path.name, "", {}, str(error))


def check(order: Mapping[str, Any], *_: object) -> list[bytes]:
    """What a file in the inbox is, once all of it has been read."""
    path, digest, manifest, refused = Path(order["path"]), "", {}, ""
    try:
        data = read_bytes(path)
        digest = hashlib.sha256(data).hexdigest()
        bundle = _opened(data, path, order)
        check_bundle(bundle)
        check_address(bundle)
        known = {name: map(Recipient, keys) for name, keys in order["senders"].items()}
        check_signed(bundle, {name: list(keys) for name, keys in known.items()})
        manifest = bundle.manifest
    except GramlinkError as error:
        refused = str(error)
    found = {"name": path.name, "digest": digest, "manifest": manifest, "refused": refused}
    return [json.dumps(found).encode()]


def link(order: Mapping[str, Any], _: object, told: Told) -> list[bytes]:
    """The summary of a linkage, and each owner's results, sealed to it."""
    on_first_compilation(lambda: told(None))
    bundles = []
    for name, digest in order["bundles"]:
        path = Path(name)
        data = read_bytes(path)
        if hashlib.sha256(data).hexdigest() != digest:
            raise Mismatch(f"{path.name} changed while being read", hint="run this again")
        bundles.append(_opened(data, path, order))
    returns = dict.fromkeys((bundle.owner for bundle in bundles), order["returns"])
    answers = answer(
        bundles, returns, created=moment(), progress=lambda done, total: told([done, total])
    )
    identity = read_identity(Path(order["identity"]))
    results = [sealed(answers.results[bundle.owner], bundle, identity) for bundle in bundles]
    return [json.dumps(answers.summary).encode(), *results]


def _opened(data: bytes, path: Path, order: Mapping[str, Any]) -> Bundle:
    identity = read_identity(Path(order["identity"]))
    content, sender = unseal_from(data, identity, path.name)
    return Bundle.from_bytes(content, path.name, sender)


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
    received: list[Received],
    inbox: Path,
    outbox: Path,
    returns: str,
    work: _Work,
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
        places = [(str((inbox / one.name).absolute()), one.digest) for one in received]
        summary, *results = work.do(link, {"bundles": places, "returns": returns})
        files = []
        for one, data in zip(received, results, strict=True):
            path = outbox / f"{exchange}-{one.owner}.results.age"
            _write(path, data)
            files.append(path.name)
        _write(record, to_json("answered", {**answered, "created": moment()}))
    except GramlinkError as error:
        for one in received:
            _tell(outbox, one.name, f"refused: {error}\n")
        return Answered(exchange, owners, failed=str(error))
    return Answered(exchange, owners, files=tuple(files), summary=json.loads(summary))


def _recorded(path: Path) -> Any:
    """The bundles answered last, and what went back."""
    try:
        content = json.loads(path.read_bytes())
        return {"bundles": content["bundles"], "returns": content["returns"]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _tell(outbox: Path, name: str, receipt: str) -> None:
    """Leave a receipt, unless the file's name is too long for one."""
    with suppress(InvalidFile):
        _write(outbox / f"{name}.receipt.txt", receipt.encode())


def _write(path: Path, data: bytes) -> None:
    with written_whole(path) as file:
        file.write(data)
