"""Keyed pseudonyms: the linkage unit sees no owner's id, and the owner can map them back."""

import secrets
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from gramlink.errors import InvalidFile
from gramlink.io.files import read_bytes, written_whole

PSEUDONYM = "^[0-9a-f]{32}$"


def pseudonyms(ids: Iterable[str], key: bytes) -> tuple[str, ...]:
    """The pseudonym of each id: 128 bits of BLAKE2b, keyed with the owner's key.

    >>> pseudonyms(["007"], b"k" * 32)
    ('ce1ae57797783c6c1638bb3a6ddbd7cb',)

    Privacy: without the key an id cannot be found by trying all ids.
    """
    return tuple(blake2b(one.encode(), key=key, digest_size=16).hexdigest() for one in ids)


def key_fingerprint(key: bytes) -> str:
    """Tells whether pseudonyms have the same key, so that whoever has both can join them.

    >>> key_fingerprint(b"k" * 32)
    'cb9ce545684967bf'

    Privacy: does not reveal the key, and is no pseudonym of any id.
    """
    return blake2b(b"", key=key, digest_size=8, person=b"key fingerprint").hexdigest()


def owner_key(path: Path | str) -> bytes:
    """The key in a file that only its owner can read, created on first use."""
    path = Path(path)
    if not path.exists():
        with written_whole(path, mode=0o600) as file:
            file.write(f"{secrets.token_hex(32)}\n".encode())
    try:
        key = bytes.fromhex(read_bytes(path).decode().strip())
    except ValueError:
        key = b""
    if len(key) != 32:
        raise InvalidFile(
            f"{path} is not a gramlink key", hint="without the key, links cannot be mapped back"
        )
    return key
