"""The secret that the owners of one exchange share, and the linkage unit does not have."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gramlink.errors import InvalidParameter
from gramlink.io.files import digest

Words = npt.NDArray[np.uint64]

SIZE = 32  # bytes, of a contribution and of a key
_VERSION = "gramlink/secret/v1"


@dataclass(frozen=True, slots=True)
class Secret:
    """Keys for one exchange, by what they are for. The secret itself is not shown.

    >>> contributions = {"clinic": b"c" * 32, "office": b"o" * 32}
    >>> one = Secret.of(contributions, exchange="stroke", schema="5f0c")
    >>> other = Secret.of(contributions, exchange="heart", schema="5f0c")
    >>> one.key("tags") == other.key("tags"), one.key("tags") == one.key("pads")
    (False, False)

    Privacy: for the owners only, and for one exchange: used again, it repeats what must not repeat.
    """

    root: bytes = field(repr=False)

    @classmethod
    def of(cls, contributions: Mapping[str, bytes], *, exchange: str, schema: str) -> "Secret":
        """The secret that follows from what all owners contributed, by name, at random.

        It is bound to the exchange's name, the owners and the digest of what they agreed on.
        """
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        if len(contributions) < 2:
            raise InvalidParameter("a secret needs the contributions of at least two owners")
        owners = sorted(contributions)
        if any(len(one) != SIZE for one in contributions.values()):
            raise InvalidParameter(f"each owner contributes {SIZE} bytes to the secret")
        about = digest([_VERSION, exchange, owners, schema])
        material = b"".join(contributions[owner] for owner in owners)
        return cls(HKDF(SHA256(), SIZE, None, about.encode()).derive(material))

    def key(self, purpose: str) -> bytes:
        """The key for a purpose, which tells nothing about the others."""
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

        return HKDFExpand(SHA256(), SIZE, f"{_VERSION} {purpose}".encode()).derive(self.root)

    @property
    def check(self) -> str:
        """What bundles carry, so that the linkage unit can refuse those of another secret."""
        return self.key("check").hex()

    def private(self, owner: str, owner_key: bytes) -> bytes:
        """A key that only this owner can compute, for this exchange and no other.

        The name keeps two owners apart that have the same key.
        """
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        about = f"{_VERSION} private {owner}".encode()
        return HKDF(SHA256(), SIZE, self.key("private"), about).derive(owner_key)


def scrambled(blocks: Words, key: bytes) -> Words:
    """Each block of two words, through AES-128 under the first half of a key.

    >>> blocks = np.zeros((2, 2), np.uint64)
    >>> one, other = scrambled(blocks, bytes(32))
    >>> hex(int(one[0])), bool((one == other).all())
    ('0x3b2c8aefd44be966', True)
    """
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    whole = np.ascontiguousarray(blocks, "<u8")
    aes = Cipher(algorithms.AES(key[:16]), modes.ECB()).encryptor()  # noqa: S305  # single blocks
    result = bytearray(whole.nbytes + 15)  # the room that it asks for
    aes.update_into(whole.tobytes(), result)
    return np.frombuffer(result, "<u8", whole.size).reshape(whole.shape)
