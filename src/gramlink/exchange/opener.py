"""Opener: opens the bundles of a file drop in a process of its own, within limits.

A hostile file can crash that process, keep it busy or fill its memory; why it ended is then said in
one line, and the next file is read by another process.
"""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from gramlink.bundles.bundle import Bundle
from gramlink.bundles.sealing import Identity, Recipient, read_identity, unseal, verified
from gramlink.errors import Ended, GramlinkError, Mismatch
from gramlink.io.confined import Confinable, Confined, Told
from gramlink.io.files import moment, read_bytes
from gramlink.io.limits import Limits
from gramlink.kernels import compilation_starts, on_first_compilation
from gramlink.matching.pairs import Progress
from gramlink.parties.admission import check_address, check_bundle, check_signed
from gramlink.parties.answers import answer, sealed

Senders = Mapping[str, Collection[Recipient]]  # the keys of each owner


class Opener(AbstractContextManager["Opener"]):
    """What opens bundles with a unit's identity, until the context ends.

    Privacy: what it opens stays in the memory of its process.
    """

    def __init__(
        self, identity_file: Path, senders: Senders, limits: Limits, progress: Progress | None
    ) -> None:
        read_identity(identity_file)
        self._identity_file = identity_file.absolute()
        self._senders = {
            owner: sorted(one.key for one in known) for owner, known in senders.items()
        }
        self._limits, self._progress = limits, progress
        self._process = Confined()

    def __exit__(self, *_: object) -> None:
        self._process.end()

    def checked(self, path: Path) -> dict[str, Any]:
        """A file's name, digest and manifest, whether it could be opened, and why it is refused."""
        try:
            (told,) = self._do(check, {"path": str(path.absolute()), "senders": self._senders})
        except Ended as error:
            return {"name": path.name, "digest": "", "manifest": {}, "refused": str(error)}
        found: dict[str, Any] = json.loads(told)
        return found

    def linked(
        self, files: Sequence[tuple[Path, str]], returns: str
    ) -> tuple[dict[str, Any], list[bytes]]:
        """The summary of linking files with these digests, and their owners' sealed results."""
        places = [(str(path.absolute()), digest) for path, digest in files]
        summary, *results = self._do(link, {"bundles": places, "returns": returns})
        return json.loads(summary), results

    def _do(self, function: Confinable, order: Mapping[str, Any]) -> list[bytes]:
        order = {**order, "identity": str(self._identity_file)}
        return self._process.call(function, order, limits=self._limits, told=self._hear)

    def _hear(self, done: tuple[int, int] | None) -> None:
        if done is None:
            compilation_starts()
        elif self._progress:
            self._progress(*done)


def check(order: Mapping[str, Any], *_: object) -> list[bytes]:
    """What a file in the inbox is, once all of it has been read."""
    path, digest, manifest, refused, opened = Path(order["path"]), "", {}, "", False
    try:
        data = read_bytes(path)
        digest = hashlib.sha256(data).hexdigest()
        identity = read_identity(Path(order["identity"]))
        content = unseal(data, identity, path.name)
        opened = True
        bundle = _signed(content, identity, path.name)
        check_bundle(bundle)
        check_address(bundle)
        known = {name: map(Recipient, keys) for name, keys in order["senders"].items()}
        check_signed(bundle, {name: list(keys) for name, keys in known.items()})
        manifest = bundle.manifest
    except GramlinkError as error:
        refused = str(error)
    found = {"name": path.name, "digest": digest, "manifest": manifest, "refused": refused}
    return [json.dumps({**found, "opened": opened}).encode()]


def link(order: Mapping[str, Any], _: object, told: Told) -> list[bytes]:
    """The summary of a linkage, and each owner's results, sealed to it."""
    on_first_compilation(lambda: told(None))
    identity = read_identity(Path(order["identity"]))
    bundles = []
    for name, digest in order["bundles"]:
        path = Path(name)
        data = read_bytes(path)
        if hashlib.sha256(data).hexdigest() != digest:
            raise Mismatch(f"{path.name} changed while being read", hint="run this again")
        bundles.append(_signed(unseal(data, identity, path.name), identity, path.name))
    returns = dict.fromkeys((bundle.owner for bundle in bundles), order["returns"])
    answers = answer(
        bundles, returns, created=moment(), progress=lambda done, total: told([done, total])
    )
    results = [sealed(answers.results[bundle.owner], bundle, identity) for bundle in bundles]
    return [json.dumps(answers.summary).encode(), *results]


def _signed(content: bytes, identity: Identity, name: str) -> Bundle:
    content, sender = verified(content, name, identity.recipient)
    return Bundle.from_bytes(content, name, sender)
