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
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from gramlink.bundles.bundle import Bundle
from gramlink.bundles.sealing import Identity, Recipient, read_identity, unseal_from
from gramlink.errors import GramlinkError, InvalidFile, Mismatch
from gramlink.io.files import moment, read_bytes, to_json, written_whole
from gramlink.io.locks import alone
from gramlink.io.orphans import end_with_parent
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
) -> tuple[list[Received], list[Answered]]:
    """Go through the inbox once, and answer the exchanges that can be answered.

    Privacy: opens bundles in memory only. Receipts and records name owners and digests;
    everything else that is written is sealed to its owner.
    """
    identity = read_identity(identity_file)
    with alone(outbox / ".gramlink.lock", "at work"):
        received = _without_doubles(list(_received(inbox, identity_file, senders)))
        for one in received:
            _tell(outbox, one.name, one.receipt)
        good = [one for one in received if not one.refused]
        names = sorted({one.exchange for one in good})
        return received, [
            _answered(
                [one for one in good if one.exchange == name],
                inbox,
                outbox,
                identity,
                returns,
                progress,
            )
            for name in names
        ]


def _received(inbox: Path, identity_file: Path, senders: Senders) -> Iterator[Received]:
    """Each file, opened and checked in another process, which a hostile file may crash."""
    paths = [path for path in sorted(inbox.iterdir()) if path.suffix in SUFFIXES and path.is_file()]
    pool = _pool()
    try:
        for path in paths:
            try:
                yield pool.submit(check, path, identity_file, senders).result()
            except BrokenProcessPool:
                pool.shutdown()
                pool = _pool()
                yield Received(path.name, "", {}, "it crashed the process that read it")
            except (MemoryError, OverflowError):
                yield Received(path.name, "", {}, "it is too large to read")
    finally:
        pool.shutdown()


def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, get_context("spawn"), end_with_parent)


def check(path: Path, identity_file: Path, senders: Senders) -> Received:
    """What a file is, once all of it has been read."""
    digest = ""
    try:
        data = read_bytes(path)
        digest = hashlib.sha256(data).hexdigest()
        bundle = _opened(data, read_identity(identity_file), path.name)
        check_bundle(bundle)
        check_address(bundle)
        check_signed(bundle, senders)
    except GramlinkError as error:
        return Received(path.name, digest, {}, str(error))
    return Received(path.name, digest, bundle.manifest)


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
    identity: Identity,
    returns: str,
    progress: Progress | None,
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
        bundles = [_bundle(inbox / one.name, one.digest, identity) for one in received]
        answers = answer(
            bundles, dict.fromkeys(owners, returns), created=moment(), progress=progress
        )
        files = []
        for bundle in bundles:
            path = outbox / f"{exchange}-{bundle.owner}.results.age"
            _write(path, sealed(answers.results[bundle.owner], bundle, identity))
            files.append(path.name)
        _write(record, to_json("answered", {**answered, "created": moment()}))
    except GramlinkError as error:
        for one in received:
            _tell(outbox, one.name, f"refused: {error}\n")
        return Answered(exchange, owners, failed=str(error))
    return Answered(exchange, owners, files=tuple(files), summary=answers.summary)


def _bundle(path: Path, digest: str, identity: Identity) -> Bundle:
    data = read_bytes(path)
    if hashlib.sha256(data).hexdigest() != digest:
        raise Mismatch(f"{path.name} changed while being read", hint="run this again")
    return _opened(data, identity, path.name)


def _opened(data: bytes, identity: Identity, name: str) -> Bundle:
    content, sender = unseal_from(data, identity, name)
    return Bundle.from_bytes(content, name, sender)


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
