"""What a Bloom filter of grams is, as the set of its ones, and how far two are apart."""

import hmac
from collections.abc import Sequence, Set
from hashlib import blake2b

ONE = 2**30


def grams(text: str, q: int) -> list[str]:
    """The grams of a text with q - 1 spaces on either side; of no text, none."""
    if not text:
        return []
    padded = " " * (q - 1) + text + " " * (q - 1)
    return [padded[start : start + q] for start in range(len(padded) - q + 1)]


def derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    """HKDF with SHA-256, as RFC 5869 prints it."""
    extracted = hmac.new(salt, secret, "sha256").digest()
    blocks = [b""]
    while 32 * len(blocks) < length + 32:
        text = blocks[-1] + info + bytes([len(blocks)])
        blocks.append(hmac.new(extracted, text, "sha256").digest())
    return b"".join(blocks)[:length]


def ones(text: str, key: bytes, q: int, bits_each: int, bits: int) -> set[int]:
    """The bits that are set: the nth of a gram by bytes 2n and 2n + 1 of its hashes."""
    found = set()
    for gram in grams(text, q):
        for n in range(bits_each):
            number, place = divmod(n, 32)
            hashed = blake2b(gram.encode(), key=key, salt=str(number).encode()).digest()
            found.add((hashed[2 * place] + 256 * hashed[2 * place + 1]) % bits)
    return found


def distance(one: Set[int], other: Set[int]) -> int:
    """1 - Dice, in units of 1 / ONE, rounded down."""
    size = len(one) + len(other)
    return (size - 2 * len(one & other)) * ONE // size


def near(
    left: Sequence[Set[int]], right: Sequence[Set[int]], within: int
) -> list[tuple[int, int, int]]:
    """All pairs of filters at most so far apart: the left one, the right one, and how far."""
    pairs = [
        (i, j, distance(one, other))
        for i, one in enumerate(left)
        for j, other in enumerate(right)
        if one and other and distance(one, other) <= within
    ]
    return sorted(pairs, key=lambda pair: (pair[0], pair[2], pair[1]))
