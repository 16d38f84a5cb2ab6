"""Keyed pseudonyms: the linkage unit sees no id of an owner, and the owner can map back."""

import hmac
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from gramlink.errors import InvalidFile
from gramlink.files import read_bytes


def pseudonyms(ids: Iterable[str], key: bytes) -> tuple[str, ...]:
    """The pseudonym of each id: 128 bits of HMAC-SHA256 under the owner's key.

    >>> pseudonyms(["007"], b"k" * 32)
    ('7eb5192adba029e1d6f0ac3faac25f30',)

    Privacy: without the key an id cannot be found by trying all ids.
    """
    return tuple(hmac.digest(key, one.encode(), "sha256")[:16].hex() for one in ids)


def owner_key(path: Path) -> bytes:
    """The key in a file that only its owner can read, which is made on first use."""
    if not path.exists():
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise InvalidFile(f"{path} cannot be written: {error.strerror or error}") from error
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_hex(32) + "\n")
            file.flush()
            os.fsync(file.fileno())
    try:
        key = bytes.fromhex(read_bytes(path).decode().strip())
    except ValueError:
        key = b""
    if len(key) != 32:
        raise InvalidFile(
            f"{path} is not a gramlink key", hint="without the key, links cannot be mapped back"
        )
    return key
