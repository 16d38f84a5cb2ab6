"""Sealing: files that only the intended reader can open, and that say who made them.

A recipient is what others seal to, and what they know a sender by; it may be known to all. The
identity that goes with it opens what was sealed, signs what is sent, and stays with its owner. It
is a text file as `age-keygen` writes it, so that the `age` tool can open our files.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from gramlink.bundles.age_header import HEADER, is_header
from gramlink.bundles.signing import check_public_key, is_signature, public_key, signature
from gramlink.errors import InvalidFile, InvalidParameter
from gramlink.io.files import fingerprint, read_bytes, written_whole
from gramlink.io.names import owner_name

_SIGNED = b"gramlink signed "
_DOMAIN = "gramlink/signed/v1"
_SIGNS = "+ed25519:"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_PRIME = 2**255 - 19  # coordinates are numbers below it
_ANYBODY = bytes(range(32))  # all identities fail alike at a point of low order
_HINT = "`gramlink keys new` makes a pair of files"


@dataclass(frozen=True, slots=True)
class Recipient:
    """Whom to seal to, and whose signatures to expect: both public keys, in one text.

    >>> key = new_identity().recipient.key
    >>> key.startswith("age1"), len(key.partition("+ed25519:")[2])
    (True, 64)
    """

    key: str

    def __post_init__(self) -> None:
        _check(self.key)

    @property
    def age(self) -> str:
        """The age recipient alone."""
        return self.key.partition(_SIGNS)[0]

    @property
    def signs(self) -> str:
        """The Ed25519 public key alone, in hexadecimal."""
        return self.key.partition(_SIGNS)[2]

    def overlaps(self, other: "Recipient") -> bool:
        """Whether the other has one of its keys."""
        return self.age == other.age or self.signs == other.signs

    @property
    def fingerprint(self) -> str:
        """A short form of both keys, to be compared by telephone."""
        return fingerprint(hashlib.sha256(self.key.encode()).hexdigest())


@dataclass(frozen=True, slots=True)
class Identity:
    """Who can open what is sealed to its recipient, and sign. Its secret is not shown."""

    secret: str = field(repr=False)

    def __post_init__(self) -> None:
        _identity(self.secret)

    @property
    def recipient(self) -> Recipient:
        """What others seal to, and check signatures with."""
        age = str(_identity(self.secret).to_public())
        return Recipient(f"{age}{_SIGNS}{public_key(_raw(self.secret))}")


@lru_cache(maxsize=1024)  # the keys of an exchange are met again and again
def _check(key: str) -> None:
    """Refuse keys that are not written in the one way, or that nothing can be kept with."""
    age, _, signs = key.partition(_SIGNS)
    if str(_recipient(age)) != age:
        raise InvalidFile("an age recipient must be in lower case", hint=_HINT)
    if int.from_bytes(_raw(age), "little") >= _PRIME:  # another key for the same point
        raise InvalidFile("this is not the one way to write an age recipient", hint=_HINT)
    _shared(_ANYBODY, age)  # a point that shares no secret is refused
    if key == age:
        raise InvalidFile(
            "this recipient has no key to check signatures with",
            hint="use the whole recipient file that `gramlink keys new` wrote",
        )
    check_public_key(signs)


def new_identity() -> Identity:
    """An identity that nobody else has."""
    from pyrage import x25519

    return Identity(str(x25519.Identity.generate()))


def seal(data: bytes, recipients: Sequence[Recipient]) -> bytes:
    """The data, encrypted so that each recipient can open it and nobody can alter it."""
    import pyrage

    if not recipients:
        raise InvalidParameter("a file must be sealed to someone", hint="name a recipient")

    sealed: bytes = pyrage.encrypt(data, [_recipient(one.age) for one in recipients])
    return sealed


def unseal(data: bytes, identity: Identity, name: str) -> bytes:
    """What was sealed to an identity's recipient, if not one byte has changed."""
    import pyrage

    if not is_sealed(data):
        raise InvalidFile(f"{name} is not a sealed file", hint="ask its sender for it again")
    if not is_header(data):
        raise _changed(name)
    try:
        opened: bytes = pyrage.decrypt(data, [_identity(identity.secret)])
    except pyrage.DecryptError as error:
        if "No matching keys" in str(error):
            raise InvalidFile(
                f"{name} is sealed to another key",
                hint=f"it must be sealed to the key {identity.recipient.fingerprint}",
            ) from None
        raise _changed(name) from None
    return opened


def _changed(name: str) -> InvalidFile:
    return InvalidFile(
        f"{name} was cut short or changed since it was sealed", hint="ask its sender for it again"
    )


def signed(data: bytes, sender: Identity, reader: Recipient | None = None) -> bytes:
    """The data behind a line that says who made it for whom, or for anybody who can read it.

    The signature covers all of the data, which says itself what it is and what it is for.
    """
    own = sender.recipient
    made = signature(_raw(sender.secret), _statement(_digest(data), own, reader))
    return _SIGNED + f"{own.key} {made}\n".encode() + data


def verified(
    data: bytes, name: str, reader: Recipient | None = None
) -> tuple[bytes, Recipient | None]:
    """What was signed for a reader or anybody, and its sender, which is certain; None if unsigned.

    Without a reader, only what is for anybody.
    """
    if not is_signed(data):
        return data, None
    end = data.find(b"\n", 0, 1000)
    key, _, made = data[len(_SIGNED) : max(end, 0)].decode("ascii", "replace").partition(" ")
    try:
        sender = Recipient(key)
    except InvalidFile as error:
        raise InvalidFile(
            f"{name} does not say who signed it: {error}", hint="ask its sender for it again"
        ) from None
    content = data[end + 1 :]
    digest = _digest(content)
    if not any(
        is_signature(sender.signs, made, _statement(digest, sender, one)) for one in (reader, None)
    ):
        raise InvalidFile(
            f"{name} does not come from the sender it names, or was made for another reader",
            hint="call the sender"
            if reader
            else "if it came sealed to you, name your --identity; else call the sender",
        )
    return content, sender


def seal_from(data: bytes, sender: Identity, reader: Recipient) -> bytes:
    """The data signed by its sender and sealed to its reader.

    age does not say who sealed a file, so a line inside does.
    """
    return seal(signed(data, sender, reader), [reader])


def unseal_from(data: bytes, reader: Identity, name: str) -> tuple[bytes, Recipient | None]:
    """What was sealed to a reader, and its sender, which is certain; None if it is not signed."""
    return verified(unseal(data, reader, name), name, reader.recipient)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _statement(digest: str, sender: Recipient, reader: Recipient | None) -> bytes:
    """What is signed: a reader cannot pass it on as if it had been meant for somebody else."""
    lines = (_DOMAIN, sender.key, reader.key if reader else "", digest)
    return "".join(f"{line}\n" for line in lines).encode()


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


def is_signed(data: bytes) -> bool:
    """Whether a file is signed, or at least claims to be, by how it starts."""
    return data.startswith(_SIGNED)


def read_identity(path: Path) -> Identity:
    """The identity in a file, which may have comments."""
    return Identity(_only_line(path, "identity"))


def read_recipient(path: Path) -> Recipient:
    """The recipient in a file, which may have comments."""
    return Recipient(_only_line(path, "recipient"))


def read_senders(paths: Iterable[Path]) -> dict[str, frozenset[Recipient]]:
    """The keys of each owner, from files called OWNER.recipient and folders of such files."""
    found: dict[str, set[Recipient]] = {}
    for path in paths:
        for file in sorted(path.glob("*.recipient")) if path.is_dir() else (path,):
            found.setdefault(owner_name(file.stem), set()).add(read_recipient(file))
    return {owner: frozenset(keys) for owner, keys in found.items()}


def write_identity(path: Path, identity: Identity, owner: str) -> None:
    """A file that only its owner can read."""
    lines = f"# identity of {owner}: keep it to yourself\n# public key: {identity.recipient.key}\n"
    with written_whole(path, mode=0o600) as file:
        file.write(f"{lines}{identity.secret}\n".encode())


def write_recipient(path: Path, recipient: Recipient, owner: str) -> None:
    """A file to give to whoever seals something to this owner."""
    with written_whole(path) as file:
        file.write(f"# recipient of {owner}: anyone may know it\n{recipient.key}\n".encode())


def _only_line(path: Path, kind: str) -> str:
    hint = "`gramlink keys new` writes one"
    try:
        text = read_bytes(path, hint).decode()
    except UnicodeDecodeError:
        text = ""
    lines = [line.strip() for line in text.splitlines()]
    keys = [line for line in lines if line and not line.startswith("#")]
    if len(keys) != 1:
        raise InvalidFile(f"{path} has no {kind}", hint=hint)
    return keys[0]


def _identity(secret: str) -> Any:
    """An identity in pyrage's form; errors never show it."""
    from pyrage import IdentityError, x25519

    try:
        return x25519.Identity.from_str(secret)
    except IdentityError:
        raise InvalidFile("this is not an age identity", hint=_HINT) from None


def _recipient(key: str) -> Any:
    """A recipient in pyrage's form."""
    from pyrage import RecipientError, x25519

    try:
        return x25519.Recipient.from_str(key)
    except RecipientError:
        raise InvalidFile("this is not an age recipient", hint=_HINT) from None
