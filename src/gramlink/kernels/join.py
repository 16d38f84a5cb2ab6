"""The join: all pairs of vectors within the left one's limit.

A squared distance is a sum over gram lengths, and steps in short grams weigh most: with grams
of 1 to 3 symbols 36 a step, then 9, then 4. A limit of 53 leaves room for at most one step in
the single symbols, so a few heavy grams rule out nearly all pairs:

    left vector ──┬─ main index: rows within t steps in the heaviest grams ─────────┐
                  ├─ side index: rows within f steps in the next heaviest,          ├─ exact
                  │              for those that are more than t steps off in main ──┤  distance
                  └─ scan: all rows whose signature is near enough ─────────────────┘

The caller plans which way a row goes, and t; f follows from what is left of the limit. Each way
finds every pair within the limit exactly once and computes its distance from all counts. Where
an index gives many candidates, two words of their signatures are checked first.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gramlink.kernels.index import Index, make_scratch, within_steps
from gramlink.kernels.jit import Int, inlined, serial
from gramlink.kernels.signatures import bounds, popcount

Words = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.uint8]
Weights = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]

CHUNK = 16  # coordinates come in multiples of this, so that loops over them have no remainder
BLOCK = 1024  # signatures a scan checks at a time
SCAN, EQUAL = -1, -2  # in place of t


class Left(NamedTuple):
    """Left vectors. Counts are padded with zeros to a multiple of CHUNK."""

    counts: Counts
    limits: Ints
    hashes: Words
    main_keys: Words
    side_keys: Words
    glances: Words
    signatures: Words
    ones: Ints  # bits set in the main grams' part of the signature


class Right(NamedTuple):
    """Distinct right vectors; row j stands for the records members[begins[j]:begins[j + 1]].

    `glances` are two words of each signature, those of the heaviest grams: small enough to
    stay in the cache, and enough to rule out most rows that are too far away.
    `columns`, `order` and `starts` are for scans: word w of all signatures, sorted by how many
    bits are set in the main grams' part; the rows in that order; where each number starts.
    """

    counts: Counts
    squares: Weights  # the squared weight of each coordinate
    begins: Ints
    members: Ints
    glances: Words
    glance_weights: Ints
    columns: Words
    order: Ints
    starts: Ints
    weights: Ints


@inlined
def squared_distance(x: Counts, y: Counts, weights: Weights) -> Int:
    """The squared distance of two vectors of counts; `weights` are squared too."""
    total = np.int64(0)
    for c in range(len(x)):  # no early exit: it would cost more than finishing
        difference = np.int32(x[c]) - np.int32(y[c])
        total += difference * difference * weights[c]
    return total


@inlined
def scan(i: Int, left: Left, right: Right, weight: Int, near: Ints) -> tuple[Int, Ints]:
    """The rows whose signatures do not rule them out."""
    limit = left.limits[i]
    reach = min(limit // weight, len(right.starts))
    low = right.starts[min(max(left.ones[i] - reach, 0), len(right.starts) - 1)]
    high = right.starts[min(left.ones[i] + reach + 1, len(right.starts) - 1)]
    bound = np.empty(BLOCK, np.uint64)
    most = np.uint64(limit)
    size = 0
    for start in range(low, high, BLOCK):
        stop = min(start + BLOCK, high)
        if bounds(left.signatures[i], right.columns, right.weights, start, stop, bound) > most:
            continue
        if size + BLOCK > len(near):
            near = np.concatenate((near, np.empty(len(near) + BLOCK, np.int64)))
        for j in range(stop - start):
            if bound[j] <= most:
                near[size] = right.order[start + j]
                size += 1
    return size, near


@inlined
def steps_between(x: Counts, y: Counts, grams: Ints) -> Int:
    """The squared difference of two vectors in some grams, counting a step as 1."""
    total = np.int64(0)
    for g in grams:
        difference = np.int64(x[g]) - np.int64(y[g])
        total += difference * difference
    return total


@inlined
def not_ruled_out(i: Int, near: Ints, left: Left, right: Right) -> Int:
    """Move the rows that a glance does not rule out to the front; returns how many."""
    p, q = left.glances[i, 0], left.glances[i, 1]
    u, v = right.glance_weights[0], right.glance_weights[1]
    limit = left.limits[i]
    count = np.int64(0)
    for k in range(len(near)):
        j = near[k]
        bound = u * np.int64(popcount(p ^ right.glances[j, 0]))
        bound += v * np.int64(popcount(q ^ right.glances[j, 1]))
        near[count] = j
        count += np.int64(bound <= limit)
    return count


@inlined
def keep(
    i: Int, near: Ints, left: Left, right: Right, main: Index, beyond: Int, found: Ints, size: Int
) -> tuple[Int, Ints]:
    """Append to `found[:size]` the records of those rows that are within the limit.

    Rows at most `beyond` steps away in the main grams are skipped: they were found before.
    A record j at squared distance d is the number d * records + j.
    """
    x, limit = left.counts[i], left.limits[i]
    rows, squares, begins, members = right.counts, right.squares, right.begins, right.members
    records = len(members)
    for j in near:
        square = squared_distance(x, rows[j], squares)
        if square > limit:
            continue
        if beyond >= 0 and steps_between(x, rows[j], main.grams) <= beyond:
            continue
        first, last = begins[j], begins[j + 1]
        while size + last - first > len(found):
            found = np.concatenate((found, np.empty(len(found), np.int64)))
        for place in range(first, last):
            found[size] = square * records + members[place]
            size += 1
    return size, found


@inlined
def without_repeats(found: Ints, start: Int, stop: Int) -> Int:
    """Drop equal neighbours from start..stop; returns the new end.

    A row is found in two ways once in 2^64 keys, or if somebody crafted vectors for that.
    """
    end = min(start + 1, stop)
    for place in range(start + 1, stop):
        if found[place] != found[end - 1]:
            found[end] = found[place]
            end += 1
    return end


@serial
def join_rows(
    left: Left, right: Right, equal: Index, main: Index, side: Index, steps: Ints, room: Int
) -> tuple[Ints, Ints, Ints]:
    """The pairs of left rows: where each row's begin, the pairs, and the effort.

    `steps` is t for each row, or SCAN or EQUAL. A row's pairs are sorted by distance, then by
    right record. Stops after the row that exceeds `room` pairs, so fewer rows may come back.
    """
    begins = np.zeros(len(left.limits) + 1, np.int64)
    found = np.empty(1024, np.int64)
    near = np.empty(1024, np.int64)
    scratch = make_scratch(max(len(main.grams), len(side.grams)))
    effort = np.zeros(2, np.int64)  # keys and glances, distances computed
    glancing = right.glance_weights[0] > 0
    size = 0
    for i in range(len(left.limits)):
        x, limit = left.counts[i], left.limits[i]
        reach = limit // main.weight
        # one place for all ways, so that what they share is compiled once
        index, key, most, beyond = main, left.main_keys[i], min(steps[i], reach), -1
        if steps[i] == EQUAL:
            index, key, most = equal, left.hashes[i], 0
        while True:
            if steps[i] == SCAN:
                count, near = scan(i, left, right, main.weight, near)
                effort[1] += count
            else:
                count, tried, near = within_steps(x, key, index, most, scratch, near)
                if steps[i] != EQUAL:
                    effort[0] += tried + count
                    if glancing:
                        count = not_ruled_out(i, near[:count], left, right)
                    effort[1] += count
            size, found = keep(i, near[:count], left, right, main, beyond, found, size)
            if steps[i] < 0 or beyond >= 0 or most >= reach:
                break
            index, key, beyond = side, left.side_keys[i], most
            most = (limit - main.weight * (most + 1)) // side.weight
        found[begins[i] : size].sort()
        size = without_repeats(found, begins[i], size)
        begins[i + 1] = size
        if size > room:
            return begins[: i + 2], found[:size], effort
    return begins, found[:size], effort
