"""Sealing: files that only their reader can open, in the age format.

A recipient is what others seal to and may be known to all; the identity that goes with it
opens what was sealed, and stays with its owner. Both are text files, as `age-keygen` writes
them, so that the `age` tool can open our files and we can read its keys.
"""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gramlink.errors import InvalidFile, InvalidParameter
from gramlink.io.files import fingerprint, read_bytes, written_whole

HEADER = b"age-encryption.org/v1\n"
_FROM = b"gramlink from "
_MARK = b"gramlink/sender-mark/v1"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_ANYBODY = bytes(range(32))  # all identities fail alike at a point of low order
_HINT = "`gramlink keys new` makes a pair of files"


@dataclass(frozen=True, slots=True)
class Recipient:
    """Whom to seal to.

    >>> new_identity().recipient.key.startswith("age1")
    True
    """

    key: str

    def __post_init__(self) -> None:
        if str(_recipient(self.key)) != self.key:
            raise InvalidFile("an age recipient is in small letters", hint=_HINT)
        _shared(_ANYBODY, self.key)  # a point that shares no secret is refused

    @property
    def fingerprint(self) -> str:
        """A short form of the key, to be compared by telephone."""
        return fingerprint(hashlib.sha256(self.key.encode()).hexdigest())


@dataclass(frozen=True, slots=True)
class Identity:
    """Who can open what is sealed to its recipient. Its secret is not shown."""

    secret: str = field(repr=False)

    def __post_init__(self) -> None:
        _identity(self.secret)

    @property
    def recipient(self) -> Recipient:
        """What others seal to."""
        return Recipient(str(_identity(self.secret).to_public()))


def new_identity() -> Identity:
    """An identity that nobody else has."""
    from pyrage import x25519

    return Identity(str(x25519.Identity.generate()))


def seal(data: bytes, recipients: Sequence[Recipient]) -> bytes:
    """The data, encrypted so that each recipient can open it and nobody can alter it."""
    import pyrage

    if not recipients:
        raise InvalidParameter("a file is sealed to somebody", hint="name a recipient")

    sealed: bytes = pyrage.encrypt(data, [_recipient(one.key) for one in recipients])
    return sealed


def unseal(data: bytes, identity: Identity, name: str) -> bytes:
    """What was sealed to an identity's recipient, if not a byte of it was changed."""
    import pyrage

    if not is_sealed(data):
        raise InvalidFile(f"{name} is not a sealed file", hint="ask its sender for it again")
    try:
        opened: bytes = pyrage.decrypt(data, [_identity(identity.secret)])
    except pyrage.DecryptError as error:
        if "No matching keys" in str(error):
            raise InvalidFile(
                f"{name} is sealed to another key",
                hint=f"it must be sealed to the key {identity.recipient.fingerprint}",
            ) from None
        raise InvalidFile(
            f"{name} was cut short or changed since it was sealed",
            hint="ask its sender for it again",
        ) from None
    return opened


def seal_from(data: bytes, sender: Identity, reader: Recipient) -> bytes:
    """The data sealed to a reader, who can tell that it comes from the sender.

    age does not say who sealed a file. A first line does: the sender's recipient, and a mark that
    only the two of them can compute.
    """
    secret = _shared(_raw(sender.secret), reader.key)
    line = f"{_FROM.decode()}{sender.recipient.key} {_mark(data, secret, sender.recipient, reader)}"
    return seal(f"{line}\n".encode() + data, [reader])


def unseal_from(data: bytes, reader: Identity, name: str) -> tuple[bytes, Recipient | None]:
    """What was sealed to a reader, and whom it is certain to come from, if it says."""
    opened = unseal(data, reader, name)
    if not opened.startswith(_FROM):
        return opened, None
    line, _, content = opened.removeprefix(_FROM).partition(b"\n")
    key, _, mark = line.decode("ascii", "replace").partition(" ")
    sender = Recipient(key)
    secret = _shared(_raw(reader.secret), sender.key)
    expected = _mark(content, secret, sender, reader.recipient)
    if not hmac.compare_digest(mark.encode(), expected.encode()):
        raise InvalidFile(
            f"{name} does not come from whom it says it does", hint="call the other owner"
        )
    return content, sender


def _mark(data: bytes, secret: bytes, sender: Recipient, reader: Recipient) -> str:
    """A hash of the data, under a key for what this sender sends this reader and nothing else."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    salt = _raw(sender.key) + _raw(reader.key)  # in this order: nobody can send a mark back
    key = HKDF(SHA256(), length=32, salt=salt, info=_MARK).derive(secret)
    return hmac.new(key, data, "sha256").hexdigest()


def _shared(private: bytes, key: str) -> bytes:
    """X25519: the secret that only the holders of two identities can compute."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

    public = X25519PublicKey.from_public_bytes(_raw(key))
    try:
        return X25519PrivateKey.from_private_bytes(private).exchange(public)
    except ValueError:  # a point of low order, with which everybody's secret is zero
        raise InvalidFile("nothing can be sealed to this age recipient", hint=_HINT) from None


def _raw(key: str) -> bytes:
    """The 32 bytes of an age key, whose Bech32 pyrage has checked."""
    letters = key.lower().rpartition("1")[2][:-6]  # the last six are a checksum
    number = 0
    for letter in letters:
        number = number * 32 + _BECH32.index(letter)
    return (number >> (5 * len(letters) - 256)).to_bytes(32, "big")


def is_sealed(data: bytes) -> bool:
    """Whether a file is sealed, by how it starts."""
    return data.startswith(HEADER)


def read_identity(path: Path) -> Identity:
    """The identity in a file, which may have comments."""
    return Identity(_only_line(path, "identity"))


def read_recipient(path: Path) -> Recipient:
    """The recipient in a file, which may have comments."""
    return Recipient(_only_line(path, "recipient"))


def write_identity(path: Path, identity: Identity, owner: str) -> None:
    """A file that only its owner can read."""
    lines = f"# identity of {owner}: keep it to yourself\n# public key: {identity.recipient.key}\n"
    with written_whole(path, mode=0o600) as file:
        file.write(f"{lines}{identity.secret}\n".encode())


def write_recipient(path: Path, recipient: Recipient, owner: str) -> None:
    """A file to give to whoever seals something to this owner."""
    with written_whole(path) as file:
        file.write(f"# recipient of {owner}: for all to know\n{recipient.key}\n".encode())


def _only_line(path: Path, kind: str) -> str:
    try:
        text = read_bytes(path).decode()
    except UnicodeDecodeError:
        text = ""
    lines = [line.strip() for line in text.splitlines()]
    keys = [line for line in lines if line and not line.startswith("#")]
    if len(keys) != 1:
        raise InvalidFile(f"{path} has no {kind}", hint="`gramlink keys new` writes one")
    return keys[0]


def _identity(secret: str) -> Any:
    """An identity as pyrage has it; what is wrong with it is said without showing it."""
    from pyrage import IdentityError, x25519

    try:
        return x25519.Identity.from_str(secret)
    except IdentityError:
        raise InvalidFile("this is not an age identity", hint=_HINT) from None


def _recipient(key: str) -> Any:
    """A recipient as pyrage has it."""
    from pyrage import RecipientError, x25519

    try:
        return x25519.Recipient.from_str(key)
    except RecipientError:
        raise InvalidFile("this is not an age recipient", hint=_HINT) from None
