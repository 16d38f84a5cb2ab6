"""An index of vectors by their counts of several grams at once.

The key of a vector is the sum of count * multiplier over those grams, modulo 2^64, with a
random multiplier for each gram. If one count differs by one, the key differs by that gram's
multiplier. So looking up a few keys finds all vectors within a few such steps, and hardly any
others.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gramlink.kernels.jit import Int, inlined, serial

Words = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

MOST_STEPS = 3  # beyond that, one count could change by two, and there are too many keys anyway


class Index(NamedTuple):
    """Right vectors by key.

    `keys` are ascending; `rows` are the vectors they belong to. A key's highest bits are its
    place both in `there`, a filter with 16 bits for each key that rules out most absent keys in
    one read, and in `first`, a hash table of the first place of each key.
    """

    grams: Ints
    multipliers: Words
    weight: int  # what one step adds to the squared distance
    keys: Words
    rows: Ints
    there: Words
    first: npt.NDArray[np.int32]
    shifts: Words


@serial
def keys_of(counts: Counts, grams: Ints, multipliers: Words) -> Words:
    """The key of each vector."""
    keys = np.zeros(len(counts), np.uint64)
    for i in range(len(counts)):
        key = np.uint64(0)
        for c in range(len(grams)):
            key += np.uint64(counts[i, grams[c]]) * multipliers[c]
        keys[i] = key
    return keys


@serial
def hash_table(keys: Words) -> tuple[Words, npt.NDArray[np.int32], Words]:
    """`there`, `first` and `shifts` for ascending keys."""
    bits, slots = 6, 4
    while (1 << bits) < 16 * len(keys):
        bits += 1
    while (1 << slots) < 2 * len(keys):
        slots += 1
    there = np.zeros(1 << (bits - 6), np.uint64)
    first = np.full(1 << slots, -1, np.int32)
    shifts = np.array([64 - bits, 64 - slots], np.uint64)
    for i in range(len(keys)):
        if i and keys[i] == keys[i - 1]:
            continue
        place = keys[i] >> shifts[0]
        there[place >> np.uint64(6)] |= np.uint64(1) << (place & np.uint64(63))
        slot = np.int64(keys[i] >> shifts[1])
        while first[slot] >= 0:
            slot = (slot + 1) & (len(first) - 1)
        first[slot] = i
    return there, first, shifts


class Scratch(NamedTuple):
    """Working space, allocated once for many vectors."""

    moves: Words  # what each step adds to a key
    moved: Ints  # and which gram it changes
    keys: Words
    spots: Ints


@serial
def make_scratch(grams: Int) -> Scratch:
    """Working space for an index by this many grams."""
    most = 2 * grams
    keys = 4096 + 2 * most
    return Scratch(
        np.empty(most, np.uint64),
        np.empty(most, np.int64),
        np.empty(keys, np.uint64),
        np.empty(keys, np.int64),
    )


@inlined
def rows_of(count: Int, index: Index, scratch: Scratch, near: Ints, size: Int) -> tuple[Int, Ints]:
    """Append to `near[:size]` the rows, if any, of the first `count` keys in `scratch`.

    Each pass over the keys is a run of independent reads, which the processor can overlap.
    """
    mask = len(index.first) - 1
    shift = index.shifts[1]
    for i in range(count):
        scratch.spots[i] = index.first[np.int64(scratch.keys[i] >> shift)]
    for i in range(count):
        key, spot = scratch.keys[i], scratch.spots[i]
        if spot >= 0 and index.keys[spot] != key:  # another key holds this slot
            slot = (np.int64(key >> shift) + 1) & mask
            while index.first[slot] >= 0 and index.keys[index.first[slot]] != key:
                slot = (slot + 1) & mask
            spot = np.int64(index.first[slot])
        if spot < 0:
            continue
        while spot < len(index.keys) and index.keys[spot] == key:
            if size == len(near):
                near = np.concatenate((near, np.empty_like(near)))
            near[size] = index.rows[spot]
            size += 1
            spot += 1
    return size, near


@inlined
def steps_from(counts: Counts, index: Index, scratch: Scratch) -> Int:
    """List what each step from a vector adds to its key; returns how many steps there are."""
    m = 0
    for c in range(len(index.grams)):
        scratch.moves[m] = index.multipliers[c]
        scratch.moved[m] = c
        m += 1
        if counts[index.grams[c]]:
            scratch.moves[m] = np.uint64(0) - index.multipliers[c]
            scratch.moved[m] = c
            m += 1
    return m


@inlined
def add_present(key: Int, upto: Int, last: Int, index: Index, scratch: Scratch, count: Int) -> Int:
    """Append to the first `count` keys those one step further that the filter does not rule out.

    Only steps before `upto` are taken, and none that changes the gram `last` again.
    """
    there, shift = index.there, index.shifts[0]
    for i in range(upto):
        one = key + scratch.moves[i]
        place = one >> shift
        word = there[place >> np.uint64(6)]
        scratch.keys[count] = one
        fits = (word >> (place & np.uint64(63))) & np.uint64(1)
        count += np.int64(fits) * (scratch.moved[i] != last)
    return count


@inlined
def within_steps(
    counts: Counts, key: Int, index: Index, steps: Int, scratch: Scratch, near: Ints
) -> tuple[Int, Int, Ints]:
    """All rows whose squared difference in the index's grams is at most `steps`, up to 3.

    Returns how many there are, how many keys were tried, and the rows.
    """
    scratch.keys[0] = key
    count = tried = 1
    size = 0
    m = steps_from(counts, index, scratch) if steps >= 1 else 0
    if steps >= 1:
        count = add_present(key, m, -1, index, scratch, count)
        tried += m
    if steps >= 2:
        for a in range(m):
            if count + a >= len(scratch.keys):
                size, near = rows_of(count, index, scratch, near, size)
                count = 0
            one = key + scratch.moves[a]
            count = add_present(one, a, scratch.moved[a], index, scratch, count)
            tried += a
    if steps >= 3:
        for a in range(m):
            for b in range(a):
                if scratch.moved[b] == scratch.moved[a]:
                    continue
                if count + b >= len(scratch.keys):
                    size, near = rows_of(count, index, scratch, near, size)
                    count = 0
                # steps are in the order of the grams, so those before b do not change gram a
                two = key + scratch.moves[a] + scratch.moves[b]
                count = add_present(two, b, scratch.moved[b], index, scratch, count)
                tried += b
    size, near = rows_of(count, index, scratch, near, size)
    return size, tried, near
