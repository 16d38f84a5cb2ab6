"""Signing: the Ed25519 key that goes with an age identity, and signatures made with it.

The key follows from the identity, so that there is one secret to keep and one file to lose. HKDF
keeps the two uses of that secret apart: neither key says anything of the other.
"""

from typing import TYPE_CHECKING

from gramlink.errors import InvalidFile

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_INFO = b"gramlink/signing/v1"
_PRIME = 2**255 - 19
_D = -121665 * pow(121666, -1, _PRIME) % _PRIME  # of the curve: y² - x² = 1 + d x² y²
_EIGHTH = 2707385501144840649318225287225658788936804267575313519463743609750303402022
_SMALL = {0, 1, _PRIME - 1, _EIGHTH, _PRIME - _EIGHTH}  # y of the points of order 1, 2, 4 and 8


def public_key(private: bytes) -> str:
    """The public key that goes with an identity's 32 bytes, in hexadecimal."""
    return _signing_key(private).public_key().public_bytes_raw().hex()


def signature(private: bytes, message: bytes) -> str:
    """The signature of a message, in hexadecimal; always the same for the same message."""
    return _signing_key(private).sign(message).hex()


def is_signature(public: str, found: str, message: bytes) -> bool:
    """Whether this is the signature of a message, written as `signature` writes it."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    written = _bytes(found, 64)
    if written is None:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(written, message)
    except InvalidSignature:
        return False
    return True


def check_public_key(public: str) -> None:
    """Refuse what is no public key, and keys for which anybody could make signatures.

    >>> check_public_key("00" * 32)
    Traceback (most recent call last):
    ...
    gramlink.errors.InvalidFile: this is not an Ed25519 public key
    """
    written = _bytes(public, 32)
    if written is None or not _is_point(int.from_bytes(written, "little") % 2**255):
        raise InvalidFile(
            "this is not an Ed25519 public key", hint="`gramlink keys new` makes a pair of files"
        )


def _is_point(y: int) -> bool:
    """Whether it is, in the one way to write it, the y of a point that is not of small order."""
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _PRIME)  # of x; d is no square: never 1/0
    return y < _PRIME and y not in _SMALL and pow(square, (_PRIME - 1) // 2, _PRIME) == 1


def _signing_key(private: bytes) -> "Ed25519PrivateKey":
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    seed = HKDF(SHA256(), length=32, salt=None, info=_INFO).derive(private)
    return Ed25519PrivateKey.from_private_bytes(seed)


def _bytes(text: str, size: int) -> bytes | None:
    """So many bytes in lower-case hexadecimal, if this is what a text says."""
    try:
        found = bytes.fromhex(text)
    except ValueError:
        return None
    return found if len(found) == size and found.hex() == text else None
