"""Keyed hashes of whole values: equal or not, as most exchanges of records are done today."""

import hmac
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gramlink.errors import InvalidParameter
from gramlink.lab.rivals.rival import ONE
from gramlink.matching.pairs import Pairs
from gramlink.records.strings import Strings

Ints = npt.NDArray[np.int64]

HASH = 32  # bytes
BEYOND = 2 * ONE  # a missing value's distance: larger than any


@dataclass(frozen=True, slots=True, eq=False)
class Hashes:
    """A 32-byte hash of each value, all 0 for a missing one. Distances are 0 or ONE."""

    hashes: npt.NDArray[np.uint8]
    missing: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def bytes_each(self) -> float:
        """32, whatever the value."""
        return HASH

    def between(self, other: "Hashes") -> Ints:
        """0 where hashes are equal, else ONE; `BEYOND` where a value is missing."""
        equal = (self.hashes == other.hashes).all(axis=1)
        return np.where(self.missing | other.missing, BEYOND, np.where(equal, 0, ONE))

    def near(self, other: "Hashes", within: int, most: int) -> Pairs:
        """All pairs of equal hashes, in the order of `match`; more than `most` fail.

        `within` must be less than ONE: all pairs of values are that near.
        """
        if within >= ONE:
            raise InvalidParameter(f"all pairs are within {within}", hint=f"less than {ONE}")
        rows = np.flatnonzero(~self.missing & (within >= 0))
        keys, columns = self._keys()[rows], other._keys()
        order = np.argsort(columns, kind="stable")
        first = np.searchsorted(columns, keys, "left", order)
        counts = np.searchsorted(columns, keys, "right", order) - first
        if counts.sum() > most:
            raise InvalidParameter(f"more than {most:,} pairs are near")
        begins = np.cumsum(counts) - counts
        left = np.repeat(np.arange(len(rows)), counts)
        right = order[np.arange(len(left)) - begins[left] + first[left]]
        return Pairs(rows[left], right, np.zeros(len(left), np.int64))

    def _keys(self) -> npt.NDArray[np.void]:
        """Each hash as one value that can be sorted."""
        return self.hashes.view(f"V{HASH}").ravel()


def encode(strings: Strings, secret: bytes) -> Hashes:
    """HMAC-SHA-256 of each value, with the owners' secret; a missing value has none.

    >>> one, other = (encode(Strings.of(n, "AN*"), b"secret") for n in (["ANNA"], ["ANN", "ANNA"]))
    >>> one.near(other, within=0, most=9).right.tolist()
    [1]

    Privacy: equal values have equal hashes, which give away how often each occurs, and a common
    name is known by its frequency. Anyone with the secret finds any name by trying them all.
    """
    digests = (
        hmac.digest(secret, text.encode(), "sha256") if text else bytes(HASH) for text in strings
    )
    hashes = np.frombuffer(b"".join(digests), np.uint8).reshape(-1, HASH)
    return Hashes(hashes, strings.missing)
