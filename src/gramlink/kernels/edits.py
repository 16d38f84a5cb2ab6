"""Random edits: the public error model, one edit at a time."""

import numba
import numpy as np
import numpy.typing as npt

from gramlink.kernels.jit import Int, parallel, serial

Codes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_PRIME = np.uint64(0x100000001B3)

DELETE, INSERT, SUBSTITUTE = 0, 1, 2


@serial
def scramble(state: Int) -> Int:
    """The output of splitmix64 for a state: 64 well mixed bits."""
    z = np.uint64(state)
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


@serial
def below(random: Int, bound: Int) -> Int:
    """A number below `bound` from 64 random bits."""
    return np.int64(((np.uint64(random) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@serial
def seed_of(codes: Codes, seed: Int) -> Int:
    """A seed that depends on the string's symbols and not on its row."""
    state = np.uint64(seed)
    for code in codes:
        state = (state ^ np.uint64(code)) * _PRIME + _GOLDEN
    return scramble(state)


@serial
def random_edit(
    text: Codes, length: Int, state: Int, substitutes: Ints, insertions: Ints
) -> tuple[Int, int]:
    """Edit `text[:length]` in place, once; returns the new length and generator state.

    Rows of `substitutes` and `insertions` begin with how many symbols follow. What may be
    inserted depends on the symbol to the right, or at the end on the one to the left. A string
    is never emptied, since an empty one would be a missing value.
    """
    state = np.uint64(state) + _GOLDEN
    operation = below(scramble(state), 3) if length > 1 else 1 + below(scramble(state), 2)
    state += _GOLDEN
    if operation == INSERT:
        place = below(scramble(state), length + 1)
        choices = insertions[text[min(place, length - 1)]]
        state += _GOLDEN
        symbol = choices[1 + below(scramble(state), choices[0])]
        for moved in range(length, place, -1):
            text[moved] = text[moved - 1]
        text[place] = symbol
        return length + 1, state
    place = below(scramble(state), length)
    if operation == DELETE:
        for moved in range(place, length - 1):
            text[moved] = text[moved + 1]
        return length - 1, state
    choices = substitutes[text[place]]
    state += _GOLDEN
    text[place] = choices[1 + below(scramble(state), choices[0])]
    return length, state


@parallel
def corrupt(
    codes: Codes, offsets: Ints, edits: Ints, seed: Int, substitutes: Ints, insertions: Ints
) -> tuple[Codes, Ints]:
    """Each string after `edits[i]` random edits: a row of a matrix, and its length."""
    n = len(offsets) - 1
    width = np.int64(0)
    for i in range(n):
        width = max(width, offsets[i + 1] - offsets[i] + edits[i])
    texts = np.zeros((n, width), np.uint8)
    lengths = np.empty(n, np.int64)
    for i in numba.prange(n):
        length = offsets[i + 1] - offsets[i]
        texts[i, :length] = codes[offsets[i] : offsets[i + 1]]
        state = scramble(np.uint64(seed) ^ scramble(np.uint64(i)))
        if length:
            for _ in range(edits[i]):
                length, state = random_edit(texts[i], length, state, substitutes, insertions)
        lengths[i] = length
    return texts, lengths
