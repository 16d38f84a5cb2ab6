"""Contribution: an owner's part of the secret of one exchange, and what the secret encoded.

The owners of an exchange whose encoding needs a secret each contribute random bytes, and all
derive the same secret from them. What it has encoded is noted before any of it leaves, because a
second, different encoding under the same secret would show the linkage unit what both hide.
"""

import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gramlink.embedding.projection import Projection
from gramlink.encodings.encoding import EncodedRecords, encoding_of
from gramlink.encodings.secret import SIZE, Secret
from gramlink.errors import InvalidFile, Mismatch
from gramlink.io.files import DAMAGE, damaged, from_json, read_bytes, to_json, written_whole
from gramlink.io.locks import alone
from gramlink.io.names import exchange_name, owner_name
from gramlink.parties.agreement import check_facts
from gramlink.records.schema import Schema

KIND = "contribution"  # of file
_AGAIN = "agree on a new exchange, to which every owner contributes anew"


@dataclass(frozen=True, slots=True)
class Contribution:
    """What an owner contributes to the secret of one exchange. The bytes are not shown.

    `encoded` is the digest of what this owner encoded under the secret, once it has; the other
    owners are not told.

    Privacy: for the owners of this exchange only. Whoever has all of them can read the bundles.
    """

    owner: str
    exchange: str
    schema: str  # the digest of what the owners agreed on
    content: bytes = field(repr=False)
    encoded: str = ""

    @classmethod
    def new(cls, owner: str, exchange: str, schema: Schema) -> "Contribution":
        """Random bytes, for this exchange and no other."""
        return cls(owner, exchange, schema.digest, secrets.token_bytes(SIZE))

    @property
    def told(self) -> dict[str, Any]:
        """What the other owners get."""
        return {
            "owner": self.owner,
            "exchange": self.exchange,
            "schema": self.schema,
            "content": self.content.hex(),
        }

    def to_json(self) -> bytes:
        """A file for the other owners, and for this one to note what was encoded."""
        return to_json(KIND, self.told | ({"encoded": self.encoded} if self.encoded else {}))

    @classmethod
    def from_json(cls, data: bytes, name: str) -> "Contribution":
        """What `to_json` wrote."""
        return cls.told_by(from_json(KIND, data, name), name)

    @classmethod
    def told_by(cls, content: dict[str, Any], name: str) -> "Contribution":
        """What `told` told; errors do not show it."""
        try:
            made = cls(
                owner_name(content["owner"]),
                "" if content["exchange"] == "" else exchange_name(content["exchange"]),
                _digest(content["schema"]),
                bytes.fromhex(content["content"]),
                _digest(content["encoded"]) if "encoded" in content else "",
            )
        except DAMAGE:
            made = None
        if made is None or len(made.content) != SIZE:
            raise damaged(
                name, ValueError("it is not a contribution"), "ask its sender for it again"
            )
        return made

    def check(self, owner: str, exchange: str, schema: Schema) -> None:
        """Refuse a contribution that is not this owner's to this exchange, and say what differs."""
        facts = {
            "owner": (self.owner, owner),
            "exchange": (self.exchange, exchange),
            "settings": (self.schema[:16], schema.digest[:16]),
        }
        check_facts("the contribution", facts, hint=_AGAIN)


def _digest(value: Any) -> str:
    """A digest, and not a text that could say anything where it is shown."""
    if not re.fullmatch("[0-9a-f]{64}", value):
        raise ValueError("it is not a digest")
    return str(value)


def needs_secret(schema: Schema) -> bool:
    """Whether the owners must share a secret, as the schema's encoding needs one."""
    return encoding_of(schema.encoding).needs_secret


def own_contribution(path: Path | str, owner: str, exchange: str, schema: Schema) -> Contribution:
    """An owner's own contribution, in a file that only it can read; made on first use."""
    path = Path(path)
    if path.exists():
        found = Contribution.from_json(read_bytes(path), path.name)
        found.check(owner, exchange, schema)
        return found
    made = Contribution.new(owner, exchange, schema)
    with written_whole(path, mode=0o600) as file:
        file.write(made.to_json())
    return made


def secret_of(
    contributions: Iterable[Contribution], projection: Projection, exchange: str, schema: Schema
) -> Secret:
    """The secret that follows from what all owners contributed.

    Privacy: for the owners of this exchange only.
    """
    by_owner: dict[str, bytes] = {}
    for one in contributions:
        if one.owner in by_owner:
            raise Mismatch(f"there are two contributions of {one.owner}", hint="keep one")
        one.check(one.owner, exchange, schema)
        by_owner[one.owner] = one.content
    if by_owner.keys() != set(projection.owners):
        raise Mismatch(
            f"contributions are from {', '.join(sorted(by_owner)) or 'nobody'}, but the owners "
            f"are {', '.join(projection.owners)}",
            hint="each owner contributes once, and sends its contribution to all others",
        )
    return Secret.of(by_owner, exchange=exchange, schema=schema.digest)


def encode_once(path: Path, records: EncodedRecords) -> None:
    """Note what an owner encoded under the secret, before it leaves; refuse a second encoding.

    The same records, encoded again, are the same bytes, and may be sent again. `path` is the
    file with the owner's own contribution.
    """
    with alone(path.with_name(f".{path.name}.lock"), "encoding"):
        own = Contribution.from_json(read_bytes(path), path.name)
        found = records.digest
        if own.encoded == found:
            return
        if own.encoded:
            raise Mismatch(
                "the secret of this exchange has encoded other records, or the same under another "
                "key, and may not encode these",
                hint=f"restore the data, key and settings that were encoded, or {_AGAIN}",
            )
        with written_whole(path, mode=0o600) as file:
            file.write(replace(own, encoded=found).to_json())


def erase(*paths: Path) -> None:
    """Delete what an exchange that is over no longer needs: contributions, and who could open them.

    Privacy: with these, and a bundle, records can be read. Copies elsewhere are not reached.
    """
    for path in paths:
        try:
            path.with_name(f".{path.name}.lock").unlink(missing_ok=True)
            path.unlink(missing_ok=True)  # last, as it says that there is something to erase
        except OSError as error:
            raise InvalidFile(
                f"{path} cannot be deleted: {error.strerror or error}",
                hint="delete it yourself: it must not outlive the exchange",
            ) from error
