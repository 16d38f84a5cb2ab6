"""Bloom filters of q-grams, keyed, as clkhash makes them, compared by Dice's coefficient.

Every gram of a text, padded with spaces, sets some of 1,024 bits, chosen by a keyed hash
(R. Schnell, T. Bachteler and J. Reiher, A Novel Error-Tolerant Anonymous Linking Code, 2011).
Two texts are compared by the bits that both set. Filters are the same, bit for bit, as those of
clkhash 0.18 for this feature and these settings:

    "kdf": {"type": "HKDF", "hash": "SHA256", "keySize": 64,
            "salt": "Z3JhbWxpbmsgYmFzZWxpbmU=", "info": "Z3JhbWxpbmsgY2xr"}
    "hashing": {"hash": {"type": "blakeHash"}, "comparison": {"type": "ngram", "n": 2},
                "strategy": {"bitsPerToken": 20}}

20 bits for each gram is the default of clkhash's schema, version 3; its examples have 15 to 30.
"""

import hashlib
import hmac
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from gramlink.errors import InvalidParameter, Mismatch
from gramlink.lab.rivals.padding import padded_grams, spelt
from gramlink.lab.rivals.rival import ONE, Ints, listed
from gramlink.matching.pairs import MOST_PAIRS, Pairs
from gramlink.records.strings import Strings

Words = npt.NDArray[np.uint64]

SALT, INFO = b"gramlink baseline", b"gramlink clk"
PADDING = " "
WORD = 64  # bits
MISSING = int(np.iinfo(np.int64).max)  # the distance to a missing value
TRIED = 20_000  # random pairs to choose the length of folds by
DOUBT = 500  # the cost of a pair that its folds do not rule out; a word of a fold costs 1


@dataclass(frozen=True, slots=True, eq=False)
class Filters:
    """A Bloom filter for each text, and how many bits of it are set.

    Bit b is bit b % 64 of word b // 64, counted from the lowest. A filter with no ones is a
    missing value.

    Privacy: as `encode`.
    """

    words: Words
    ones: Ints

    def __len__(self) -> int:
        return len(self.words)

    @property
    def bytes_each(self) -> float:
        """How many bytes a filter takes."""
        return float(self.words.shape[1] * WORD // 8)

    def between(self, other: Self) -> Ints:
        """The distance of each filter to the other side's in the same row.

        It is 1 - Dice in units of 2^-30, rounded down, and 2^63 - 1 where a value is missing.
        """
        self._check(other)
        both = self.ones + other.ones
        bits = np.bitwise_count(self.words ^ other.words).sum(axis=1, dtype=np.int64)
        missing = (self.ones == 0) | (other.ones == 0)
        return np.where(missing, MISSING, bits * ONE // np.maximum(both, 1))

    def near(self, other: Self, within: int, most: int = MOST_PAIRS) -> Pairs:
        """All pairs at most `within` apart, in the order of `match`; more than `most` fail.

        >>> names = [Strings.of([name], "AEIMR*") for name in ("MARIE", "MARIA")]
        >>> left, right = (encode(name, b"secret") for name in names)
        >>> pairs = left.near(right, within=ONE // 2)
        >>> round(1 - int(pairs.squared[0]) / ONE, 3)
        0.7

        Privacy: as `encode`.
        """
        from gramlink.lab.rivals.kernels import bloom

        self._check(other)
        bits = self.words.shape[1] * WORD
        order = np.argsort(other.ones, kind="stable")
        right, right_ones = other.words[order], other.ones[order]
        # floor(h * ONE / s) <= within, for h bits that differ in filters of s ones together
        limits = ((min(within, ONE) + 1) * np.arange(2 * bits + 1) - 1) // ONE
        low, high = _reach(self.ones, right_ones, limits)
        length = _fold_length(self, other, limits)
        folds = _folded(self.words, length)
        columns = np.ascontiguousarray(_folded(right, length).T)

        def block(start: int, stop: int, room: int) -> tuple[Ints, Ints, Ints]:
            counts, places, distances = bloom.near(
                self.words, folds, self.ones, right, columns, right_ones,
                low, high, limits, ONE, start, stop, room,
            )  # fmt: skip
            return counts, order[places], distances

        return listed(block, len(self), most)

    def _check(self, other: Self) -> None:
        if self.words.shape[1] != other.words.shape[1]:
            raise Mismatch("the two sides have filters of different lengths")


def encode(
    strings: Strings, secret: bytes, *, q: int = 2, bits_each: int = 20, bits: int = 1024
) -> Filters:
    """The Bloom filter of each text's q-grams; every gram sets `bits_each` bits.

    >>> names = encode(Strings.of(["ANNA", ""], "AN*"), b"secret")
    >>> names.words.shape, names.ones.tolist()
    ((2, 16), [97, 0])

    Privacy: no guarantee. Anyone with the secret finds the text of any filter by trying names.
    Anyone without it sees which texts are equal or alike, their lengths by the number of ones,
    and bits that always occur together; knowing common names, published attacks recover
    frequent names from these without the secret.
    """
    from gramlink.lab.rivals.kernels.bloom import union

    if bits_each < 1:
        raise InvalidParameter(f"a gram sets at least 1 bit, not {bits_each}")
    if not WORD <= bits <= 2**16 or bits & (bits - 1):
        raise InvalidParameter(f"a filter has 64, 128, 256, ... or 65,536 bits, not {bits}")
    texts, found = padded_grams(strings, q)
    begins = np.searchsorted(texts, np.arange(len(strings) + 1))
    distinct, grams = np.unique(found, return_inverse=True)
    key = _derived(secret)
    table = np.zeros((len(distinct), bits // WORD), np.uint64)
    for row, text in enumerate(spelt(distinct, strings.symbols + PADDING, q)):
        places = _places(text, key, bits_each, bits)
        np.bitwise_or.at(table[row], places // WORD, np.uint64(1) << (places % WORD))
    words = union(table, grams, begins)
    return Filters(words, np.bitwise_count(words).sum(axis=1, dtype=np.int64))


def _derived(secret: bytes) -> bytes:
    """64 bytes by HKDF with SHA-256 (RFC 5869)."""
    inner = hmac.digest(SALT, secret, "sha256")
    first = hmac.digest(inner, INFO + b"\x01", "sha256")
    return first + hmac.digest(inner, first + INFO + b"\x02", "sha256")


def _places(gram: str, key: bytes, bits_each: int, bits: int) -> Words:
    """The bits that a gram sets: two bytes of keyed hashes each."""
    hashes = b"".join(
        hashlib.blake2b(gram.encode(), key=key, salt=str(number).encode()).digest()
        for number in range((bits_each + 31) // 32)
    )
    return np.frombuffer(hashes, "<u2")[:bits_each].astype(np.uint64) % np.uint64(bits)


def _reach(ones: Ints, ordered: Ints, limits: Ints) -> tuple[Ints, Ints]:
    """For each filter, which of the ordered ones do not have too many or too few ones."""
    low, high = np.zeros(len(limits), np.int64), np.zeros(len(limits), np.int64)
    kinds = np.unique(ordered[ordered > 0])
    for own in np.unique(ones[ones > 0]).tolist():
        possible = kinds[np.abs(kinds - own) <= limits[kinds + own]]
        if len(possible):
            low[own] = np.searchsorted(ordered, possible[0])
            high[own] = np.searchsorted(ordered, possible[-1], side="right")
    return low[ones], high[ones]


def _folded(words: Words, length: int) -> Words:
    """Words combined by exclusive or, each with those `length`, 2 * `length`, ... after it."""
    folds = words[:, :length].copy()
    for start in range(length, words.shape[1], length):
        part = words[:, start : start + length]
        folds[:, : part.shape[1]] ^= part
    return folds


def _fold_length(left: Filters, right: Filters, limits: Ints) -> int:
    """The length of folds that rules out most for its cost, tried on random pairs."""
    words = int(left.words.shape[1])
    tried = min(TRIED, len(left) * len(right))
    if not tried:
        return words
    source = np.random.default_rng(0)
    rows, columns = (source.integers(len(side), size=tried) for side in (left, right))
    one, other = left.ones[rows], right.ones[columns]
    met = np.abs(one - other) <= limits[one + other]
    allowed = limits[one + other][met]
    differing = (left.words[rows] ^ right.words[columns])[met]

    def cost(length: int) -> int:
        bound = np.bitwise_count(_folded(differing, length)).sum(axis=1)
        return length * len(allowed) + DOUBT * int((bound <= allowed).sum())

    return min(range(1, words + 1), key=cost)
