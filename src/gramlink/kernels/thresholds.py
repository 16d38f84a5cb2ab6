"""How far a record's match may lie: squared distances in units of 1/scale squared.

`weights[c]` is scale/|gram| of coordinate c, so every distance is an integer. The first and the
last `ends` symbols of a string are marks, which edits leave alone.
"""

import numba
import numpy as np
import numpy.typing as npt

from gramlink.kernels.edits import random_edit, seed_of
from gramlink.kernels.jit import Int, parallel, serial
from gramlink.kernels.lookup import find
from gramlink.kernels.occurrences import gram_at

Codes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

LONGEST = 512  # room for a string of 255 symbols and its edits


@parallel
def lost_grams(
    codes: Codes, offsets: Ints, base: Int, table: Ints, lengths: Ints, weights: Ints, ends: Int,
    edits: Int,
) -> Ints:  # fmt: skip
    """Algorithm 2 of the paper (section 5.1): the heaviest grams that `edits` edits can lose."""
    n = len(offsets) - 1
    result = np.zeros(n, np.int64)
    for i in numba.prange(n):
        text = codes[offsets[i] : offsets[i + 1]]
        size = len(text)
        impact = np.zeros(size, np.int64)  # D
        before = np.empty(size, np.int64)  # P
        for j in range(size):
            first = j
            for q in lengths:
                for start in range(max(0, j - q + 1), min(j, size - q) + 1):
                    gram = find(table, gram_at(text, start, q, base) * 8 + q)
                    if gram < 0:
                        continue
                    first = min(first, start)
                    # Each gram counts once, however many of its occurrences cover j.
                    repeated = False
                    for other in range(max(0, j - q + 1), start):
                        if find(table, gram_at(text, other, q, base) * 8 + q) == gram:
                            repeated = True
                    if not repeated:
                        impact[j] += weights[gram] * weights[gram]
            before[j] = first - 1
        worst = np.zeros(size + 1, np.int64)  # T[e][j] stands at j + 1; T[0] is 0
        for _ in range(edits):
            extended = np.zeros(size + 1, np.int64)
            for j in range(ends, size - ends):
                extended[j + 1] = max(extended[j], worst[before[j] + 1] + impact[j])
            worst = extended
        result[i] = worst[size - ends]
    return result


@serial
def _shift(delta: Ints, weights: Ints, coordinate: Int, step: Int) -> Int:
    """Move one coordinate of a difference by +1 or -1; returns how much the square grows."""
    weight = weights[coordinate]
    growth = weight * weight * (2 * step * delta[coordinate] + 1)
    delta[coordinate] += step
    return growth


@serial
def _lose(
    text: Codes, low: Int, high: Int, base: Int, table: Ints, lengths: Ints, weights: Ints,
    delta: Ints, step: Int,
) -> Int:  # fmt: skip
    """Take away (step -1) or give back (+1) the grams that cover all of low..high."""
    growth = np.int64(0)
    for q in lengths:
        for start in range(max(0, high - q + 1), min(low, len(text) - q) + 1):
            coordinate = find(table, gram_at(text, start, q, base) * 8 + q)
            if coordinate >= 0:
                growth += _shift(delta, weights, coordinate, step)
    return growth


@serial
def _farthest_symbol(
    text: Codes, place: Int, after: Int, base: Int, table: Ints, lengths: Ints, weights: Ints,
    delta: Ints, square: Int, powers: Ints, symbols: Int,
) -> Int:  # fmt: skip
    """The largest squared distance with any one symbol between text[:place] and text[after:].

    `delta` and `square` are the difference once the grams there are lost.
    """
    windows = np.empty((32, 2), np.int64)  # key with the symbol left out, and its factor
    count = 0
    for q in lengths:
        for left in range(q):
            right = q - 1 - left
            if left <= place and right <= len(text) - after:
                gram = gram_at(text, place - left, left, base) * powers[right + 1]
                gram += gram_at(text, after, right, base)
                windows[count, 0] = gram * 8 + q
                windows[count, 1] = powers[right] * 8
                count += 1
    farthest = square
    gained = np.empty(32, np.int64)
    for symbol in range(symbols):
        grown = square
        hits = 0
        for w in range(count):
            coordinate = find(table, windows[w, 0] + symbol * windows[w, 1])
            if coordinate >= 0:
                grown += _shift(delta, weights, coordinate, 1)
                gained[hits] = coordinate
                hits += 1
        farthest = max(farthest, grown)
        for coordinate in gained[:hits]:
            delta[coordinate] -= 1
    return farthest


@parallel
def farthest_edit(
    codes: Codes, offsets: Ints, base: Int, table: Ints, lengths: Ints, weights: Ints, ends: Int
) -> Ints:
    """The largest squared distance that any single edit, with any symbol, can make."""
    n = len(offsets) - 1
    powers = base ** np.arange(8)
    symbols = base - 2 * ends  # marks are the last
    result = np.zeros(n, np.int64)
    for i in numba.prange(n):
        text = codes[offsets[i] : offsets[i + 1]]
        size = len(text)
        if size == 0:
            continue
        delta = np.zeros(len(weights), np.int64)
        farthest = np.int64(0)
        for place in range(ends, size - ends + 1):
            # an insertion before `place` loses the grams that span it
            square = np.int64(0)
            if 0 < place < size:
                square = _lose(text, place - 1, place, base, table, lengths, weights, delta, -1)
            reached = _farthest_symbol(
                text, place, place, base, table, lengths, weights, delta, square, powers, symbols
            )
            farthest = max(farthest, reached)
            if 0 < place < size:
                _lose(text, place - 1, place, base, table, lengths, weights, delta, 1)
            if place == size - ends:
                break
            # a substitution or deletion loses the grams that cover `place`
            square = _lose(text, place, place, base, table, lengths, weights, delta, -1)
            reached = _farthest_symbol(
                text, place, place + 1, base, table, lengths, weights, delta, square, powers,
                symbols,
            )  # fmt: skip
            farthest = max(farthest, reached)
            # a deletion gains the grams that now span the gap
            for q in lengths:
                for left in range(1, q):
                    right = q - left
                    if left <= place and right <= size - place - 1:
                        gram = gram_at(text, place - left, left, base) * powers[right]
                        gram += gram_at(text, place + 1, right, base)
                        coordinate = find(table, gram * 8 + q)
                        if coordinate >= 0:
                            square += _shift(delta, weights, coordinate, 1)
            farthest = max(farthest, square)
            delta[:] = 0
        result[i] = farthest
    return result


@serial
def _changed(
    text: Codes, size: Int, start: Int, stop: Int, base: Int, table: Ints, lengths: Ints,
    weights: Ints, delta: Ints, step: Int, touched: Ints, hits: Int,
) -> tuple[Int, Int]:  # fmt: skip
    """Take away (step -1) or add (+1) the grams that touch start..stop, or span it if empty."""
    growth = np.int64(0)
    for q in lengths:
        for place in range(max(0, start - q + 1), min(stop, size - q + 1)):
            coordinate = find(table, gram_at(text, place, q, base) * 8 + q)
            if coordinate >= 0:
                growth += _shift(delta, weights, coordinate, step)
                touched[hits] = coordinate
                hits += 1
    return growth, hits


@parallel
def sampled_edits(
    codes: Codes, offsets: Ints, base: Int, table: Ints, lengths: Ints, weights: Ints,
    ends: Int, edits: Int, limit: Int, samples: Int, rank: Int, seed: Int,
    substitutes: Ints, insertions: Ints,
) -> Ints:  # fmt: skip
    """The rank-th smallest of the squared distances to `samples` corrupted copies.

    A copy longer than `limit` is cut, as the other owner would cut it.
    """
    n = len(offsets) - 1
    result = np.zeros(n, np.int64)
    for i in numba.prange(n):
        text = codes[offsets[i] : offsets[i + 1]]
        size = len(text)
        if size == 0:
            continue
        delta = np.zeros(len(weights), np.int64)
        squares = np.empty(samples, np.int64)
        copy = np.empty(LONGEST, np.uint8)
        touched = np.empty(14 * (size + edits), np.int64)
        inner = copy[ends:]
        state = seed_of(text[ends : size - ends], seed)
        for sample in range(samples):
            copy[:size] = text
            length = size - 2 * ends
            for _ in range(edits):
                length, state = random_edit(inner, length, state, substitutes, insertions)
            length = min(length, limit) + 2 * ends
            copy[length - ends : length] = text[size - ends :]
            # only grams that touch the part between the common start and end differ
            least = min(size, length)
            start = np.int64(0)
            while start < least and text[start] == copy[start]:
                start += 1
            end = np.int64(0)
            while end < least - start and text[size - 1 - end] == copy[length - 1 - end]:
                end += 1
            square, hits = _changed(
                text, size, start, size - end, base, table, lengths, weights, delta, -1,
                touched, 0,
            )  # fmt: skip
            growth, hits = _changed(
                copy, length, start, length - end, base, table, lengths, weights, delta, 1,
                touched, hits,
            )  # fmt: skip
            squares[sample] = square + growth
            for coordinate in touched[:hits]:
                delta[coordinate] = 0
        if rank < samples:
            squares.sort()
            result[i] = squares[rank - 1]
        else:
            result[i] = squares.max()  # much faster than sorting
    return result
