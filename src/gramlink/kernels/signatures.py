"""Signatures: gram counts in unary, one bit for "at least 1", one for "at least 2", ...

Two counts that differ by d differ in d of these bits, or in fewer where bits were left out.
With `weights[w]` the squared weight of the grams whose bits are in word w, the sum of
weights[w] * popcount(x[w] ^ y[w]) is a lower bound on the squared distance.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import config, types
from numba.extending import intrinsic

from gramlink.kernels.jit import Int, serial

Words = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

WORD = 64
FUSED = 3  # signatures have at least this many words, which a scan reads together


@intrinsic  # type: ignore[untyped-decorator]
def _instruction(typing: Any, bits: Any) -> Any:  # noqa: ARG001
    """How many bits of a word are set: one instruction, vectorised where the machine can."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), code


def _counted(bits: Int) -> Int:
    return np.uint64(np.bitwise_count(bits))


popcount = _counted if config.DISABLE_JIT else _instruction


@serial
def signatures(counts: Counts, bits: Ints, words: Int) -> Words:
    """The signature of each vector; row b of `bits` is a coordinate, level, word and place."""
    n = len(counts)
    result = np.zeros((n, words), np.uint64)
    for i in range(n):
        for b in range(len(bits)):
            if counts[i, bits[b, 0]] >= bits[b, 1]:
                result[i, bits[b, 2]] |= np.uint64(1) << np.uint64(bits[b, 3])
    return result


@serial
def bounds(x: Words, columns: Words, weights: Ints, low: Int, high: Int, out: Words) -> Int:
    """Write lower bounds on the distances of x to low..high to `out`; returns the smallest.

    `columns[w]` holds word w of all right signatures.
    """
    size = high - low
    a, b, c = columns[0, low:high], columns[1, low:high], columns[2, low:high]
    # factors known to be small are multiplied in one instruction
    u = np.uint64(np.uint16(weights[0]))
    v = np.uint64(np.uint16(weights[1]))
    w = np.uint64(np.uint16(weights[2]))
    p, q, r = x[0], x[1], x[2]
    for j in range(size):
        out[j] = popcount(p ^ a[j]) * u + popcount(q ^ b[j]) * v + popcount(r ^ c[j]) * w
    for word in range(FUSED, len(x)):
        s = x[word]
        column = columns[word, low:high]
        factor = np.uint64(np.uint16(weights[word]))
        for j in range(size):
            out[j] += popcount(s ^ column[j]) * factor
    smallest = out[0]
    for j in range(size):
        smallest = min(smallest, out[j])
    return smallest


@serial
def ones_in(signatures: Words, words: Int) -> Ints:
    """How many bits are set in the first words of each signature."""
    result = np.zeros(len(signatures), np.int64)
    for i in range(len(signatures)):
        for word in range(words):
            result[i] += np.int64(popcount(signatures[i, word]))
    return result


@serial
def hashes(counts: Counts, limits: Ints) -> Words:
    """A hash of each vector together with a number."""
    result = np.empty(len(counts), np.uint64)
    for i in range(len(counts)):
        state = np.uint64(limits[i]) + np.uint64(0x9E3779B97F4A7C15)
        for c in range(counts.shape[1]):
            state = (state ^ np.uint64(counts[i, c])) * np.uint64(0x100000001B3)
            state ^= state >> np.uint64(29)
        result[i] = state
    return result
