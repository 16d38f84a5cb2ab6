"""Edit distance on plain text: what linkage with nothing to hide would use.

Right texts are sorted by length, so a left text is compared only with those whose length its
edits allow. Most of these are ruled out by their `marks`, a word for each text; the rest are
compared with a column of the table of distances held in one word (Myers 1999).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gramlink.kernels.jit import Int, inlined, serial
from gramlink.kernels.signatures import popcount

Codes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]

WORD = 64
CLASSES = 32  # symbols this far apart are the same to `marks`
BLOCK = 128  # marks checked at a time


class Texts(NamedTuple):
    """Texts one after the other, and the marks of each."""

    codes: Codes
    offsets: Ints
    marks: Words


class Ordered(NamedTuple):
    """Texts sorted by length: `rows` is where each came from; length n begins at `starts[n]`."""

    codes: Codes
    offsets: Ints
    marks: Words
    rows: Ints
    starts: Ints


@serial
def distance(x: Codes, y: Codes, row: Ints) -> Int:
    """The Levenshtein distance; `row` has room for len(y) + 1 numbers."""
    for j in range(len(y) + 1):
        row[j] = j
    for i in range(len(x)):
        diagonal = row[0]
        row[0] = i + 1
        for j in range(len(y)):
            above = row[j + 1]
            cost = diagonal if x[i] == y[j] else diagonal + 1
            row[j + 1] = min(cost, above + 1, row[j] + 1)
            diagonal = above
    return row[len(y)]


@serial
def set_places(x: Codes, places: Words) -> None:
    """Set the bits of `places[symbol]` where the symbol stands in x."""
    for place in range(len(x)):
        places[x[place]] |= np.uint64(1) << np.uint64(place)


@inlined
def bit_parallel_distance(places: Words, size: Int, codes: Codes, begin: Int, end: Int) -> Int:
    """The Levenshtein distance of codes[begin:end] to a text of 1 to 64 symbols in these places.

    A column of the table of distances is held as its downward steps, +1 in `more` and -1 in `less`
    (Myers 1999, as Hyyrö 2003 writes it).
    """
    one = np.uint64(1)
    last = np.uint64(size - 1)
    more, less = ~np.uint64(0), np.uint64(0)
    total = np.int64(size)
    for place in range(begin, end):
        same = places[codes[place]]
        diagonal = (((same & more) + more) ^ more) | same | less
        right_more = less | ~(diagonal | more)
        right_less = more & diagonal
        total += np.int64((right_more >> last) & one) - np.int64((right_less >> last) & one)
        right_more = (right_more << one) | one
        right_less <<= one
        more = right_less | ~(diagonal | right_more)
        less = right_more & diagonal
    return total


@serial
def marks(codes: Codes, offsets: Ints) -> Words:
    """A word for each text: which classes of symbols occur, and which occur twice.

    An edit removes a symbol, adds one, or both, so it changes at most 2 bits.
    """
    n = len(offsets) - 1
    result = np.zeros(n, np.uint64)
    for i in range(n):
        once, twice = np.uint64(0), np.uint64(0)
        for code in codes[offsets[i] : offsets[i + 1]]:
            bit = np.uint64(1) << np.uint64(code % CLASSES)
            twice |= once & bit
            once |= bit
        result[i] = once | (twice << np.uint64(CLASSES))
    return result


@inlined
def alike(own: Int, others: Words, most: Int, found: Ints) -> Int:
    """Write to `found` which marks differ in at most `most` bits; returns how many do."""
    fewest = np.uint64(WORD)
    for j in range(len(others)):
        fewest = min(fewest, popcount(own ^ others[j]))
    count = np.int64(0)
    if fewest <= most:
        for j in range(len(others)):
            found[count] = j
            count += np.int64(popcount(own ^ others[j]) <= most)
    return count


@serial
def near(
    left: Texts, right: Ordered, edits: Int, start: Int, stop: Int, room: Int
) -> tuple[Ints, Ints, Ints]:
    """For each left text from start to stop, how many right texts are within `edits` edits;
    which, and how far. Empty texts are near nothing. Stops after the text that exceeds
    `room` pairs.
    """
    counts = np.zeros(stop - start, np.int64)
    rows, distances = np.empty(1024, np.int64), np.empty(1024, np.int64)
    places = np.zeros(256, np.uint64)
    table = np.empty(256, np.int64)
    found = np.empty(BLOCK, np.int64)
    longest = len(right.starts) - 2
    size = 0
    for i in range(start, stop):
        x = left.codes[left.offsets[i] : left.offsets[i + 1]]
        low = right.starts[min(max(len(x) - edits, 1), longest + 1)]
        high = right.starts[min(len(x) + edits, longest) + 1]
        short = len(x) <= WORD
        if len(x) == 0 or size > room:
            continue
        if short:
            set_places(x, places)
        before = size
        for first in range(low, high, BLOCK):
            others = right.marks[first : min(first + BLOCK, high)]
            count = alike(left.marks[i], others, np.uint64(2 * edits), found)
            if size + count > len(rows):
                rows = np.concatenate((rows, np.empty(len(rows), np.int64)))
                distances = np.concatenate((distances, np.empty(len(distances), np.int64)))
            for place in range(count):
                j = first + found[place]
                begin, end = right.offsets[j], right.offsets[j + 1]
                if short:
                    far = bit_parallel_distance(places, len(x), right.codes, begin, end)
                else:
                    far = distance(x, right.codes[begin:end], table)
                rows[size] = right.rows[j]
                distances[size] = far
                size += far <= edits
        counts[i - start] = size - before
        for symbol in x:
            places[symbol] = 0
    return counts, rows[:size], distances[:size]


@serial
def row_by_row(left: Texts, right: Texts) -> Ints:
    """The distance of each text to the right one in the same row."""
    n = len(left.offsets) - 1
    result = np.empty(n, np.int64)
    table = np.empty(256, np.int64)
    for i in range(n):
        x = left.codes[left.offsets[i] : left.offsets[i + 1]]
        y = right.codes[right.offsets[i] : right.offsets[i + 1]]
        result[i] = distance(x, y, table)
    return result
