"""Comparing records of several fields: the pairs that a pass finds, with all their distances.

Every field's different values have numbers, and a record is a row of such numbers, -1 where
the value is missing. Two equal numbers are two equal vectors; the distance of two others is
computed from their counts.

A pair that an earlier pass finds, too, is seen to be so from its distances, so every pair is
kept once and no set of pairs has to be remembered.
"""

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from gramlink.kernels.jit import Int, inlined, parallel, serial
from gramlink.kernels.signatures import popcount

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.integer]

MISSING = -1
FARTHEST = 2**31 - 1  # farther counts as so far; no limit reaches it


class Values(NamedTuple):
    """The different values of all fields: that of number v of field f has its counts at
    counts[starts[f] + v * widths[f]:][:widths[f]].
    """

    counts: Bytes
    starts: Ints
    widths: Ints
    squares: Numbers  # the squared weight of each coordinate, one field after the other
    offsets: Ints  # where a field's weights start
    glances: Words  # two words of a value's signature: bits of the grams that occur in it
    firsts: Ints  # where a field's glances start
    glance_weights: Ints  # the least squared weight of a gram in each word, for each field


@inlined
def field_squared(values: Values, field: Int, a: Int, b: Int) -> Int:
    """The squared distance of two values, by their numbers."""
    if a < 0 or b < 0:
        return np.int64(MISSING)
    if a == b:
        return np.int64(0)
    width = values.widths[field]
    start = values.starts[field]
    x = values.counts[start + a * width : start + (a + 1) * width]
    y = values.counts[start + b * width : start + (b + 1) * width]
    weights = values.squares[values.offsets[field] : values.offsets[field] + width]
    total = np.int64(0)
    for c in range(width):
        difference = np.int32(x[c]) - np.int32(y[c])
        total += difference * difference * weights[c]
    return min(total, np.int64(FARTHEST))


@inlined
def satisfies(squared: Numbers, limits: Numbers, needs: Numbers) -> bool:
    """Whether distances meet a pass: each field it needs is within the limit of its edits."""
    for field in range(len(needs)):
        edits = needs[field]
        if edits >= 0 and (squared[field] < 0 or squared[field] > limits[field, edits]):
            return False
    return True


@inlined
def level(squared: Int, limits: Numbers, edits: Int) -> Int:
    """The code of a level: the edits a distance is within; edits + 1; edits + 2 if missing."""
    if squared < 0:
        return np.uint8(edits + 2)
    code = np.int64(0)
    while code <= edits and squared > limits[code]:
        code += 1
    return np.uint8(code)


class Bucket(NamedTuple):
    """Left records, each with right ones to look at: those of rows[k] are others[lows[k]:highs[k]].

    `right` has the values of others. Where pass g of the group glances at a field, the two words
    of each value there are `glances[layers[g]]`.
    """

    rows: Ints
    lows: Ints
    highs: Ints
    others: Ints
    right: Numbers
    glances: Words
    layers: Ints


@inlined
def least_squared(a: Int, b: Int, c: Int, d: Int, weights: Ints) -> Int:
    """A lower bound of the squared distance of values whose glances are a, b and c, d."""
    least = weights[0] * np.int64(popcount(a ^ c))
    return least + weights[1] * np.int64(popcount(b ^ d))


@serial
def glances_of(numbers: Numbers, values: Values, field: Int) -> Words:
    """Two words of the signature of each record's value; of a missing one, nothing set."""
    result = np.zeros((len(numbers), 2), np.uint64)
    for place in range(len(numbers)):
        number = numbers[place, field]
        if number >= 0:
            result[place] = values.glances[values.firsts[field] + number]
    return result


@serial
def pairs_of_passes(
    bucket: Bucket, left: Numbers, limits: Numbers, edits: Numbers, values: Values,
    passes: Numbers, group: Ints, near: Ints, same: bool, room: Int,
) -> tuple[Ints, Ints, Numbers, Numbers, Bytes]:  # fmt: skip
    """The pairs that a group of passes finds and no earlier pass, with their levels.

    Pass group[g] asks for field near[g] to be within some edits, which a glance at the two
    signatures rules out for most pairs; -1 if all that it asks for is to be equal. Of a file
    compared with itself (`same`), pairs have left < right. For each pass comes back how many
    pairs it finds, and how many of these no earlier one does. Stops after `room` pairs, which
    counts as one more that is added.
    """
    fields = left.shape[1]
    firsts = np.empty(1024, np.int32)
    seconds = np.empty(1024, np.int32)
    levels = np.empty((1024, fields), np.uint8)
    squared = np.empty(fields, np.int32)
    found = np.zeros(len(passes), np.int64)
    added = np.zeros(len(passes), np.int64)
    size = 0
    for k in range(len(bucket.rows)):
        i = bucket.rows[k]
        for g in range(len(group)):
            p, f, layer = group[g], near[g], bucket.layers[g]
            limit = np.int64(0)
            weights = values.glance_weights[max(f, 0)]
            x = y = np.uint64(0)
            if f >= 0:
                if left[i, f] < 0:
                    continue
                limit = np.int64(limits[i, f, passes[p, f]])
                x, y = values.glances[values.firsts[f] + left[i, f]]
            for place in range(bucket.lows[k], bucket.highs[k]):
                if f >= 0:
                    c, d = bucket.glances[layer, place, 0], bucket.glances[layer, place, 1]
                    if least_squared(x, y, c, d, weights) > limit:
                        continue
                j = bucket.others[place]
                if same and j <= i:
                    continue
                finds = True
                for h in range(fields):
                    e = passes[p, h]
                    if e >= 0:
                        squared[h] = field_squared(values, h, left[i, h], bucket.right[place, h])
                        if squared[h] < 0 or squared[h] > limits[i, h, e]:
                            finds = False
                            break
                if not finds:
                    continue
                found[p] += 1
                for h in range(fields):
                    if passes[p, h] < 0:
                        squared[h] = field_squared(values, h, left[i, h], bucket.right[place, h])
                earlier = False
                for q in range(p):
                    if satisfies(squared, limits[i], passes[q]):
                        earlier = True
                        break
                if earlier:
                    continue
                added[p] += 1
                if size == room:
                    return found, added, firsts[:size], seconds[:size], levels[:size]
                if size == len(firsts):
                    firsts = np.concatenate((firsts, np.empty(size, np.int32)))
                    seconds = np.concatenate((seconds, np.empty(size, np.int32)))
                    levels = np.concatenate((levels, np.empty((size, fields), np.uint8)))
                firsts[size] = i
                seconds[size] = j
                for h in range(fields):
                    levels[size, h] = level(squared[h], limits[i, h], edits[h])
                size += 1
    return found, added, firsts[:size], seconds[:size], levels[:size]


@parallel
def squared_of(
    firsts: Rows, seconds: Rows, left: Numbers, right: Numbers, values: Values
) -> Numbers:
    """The squared distance of given pairs in every field; -1 where a value is missing."""
    result = np.empty((len(firsts), left.shape[1]), np.int32)
    for k in numba.prange(len(firsts)):
        for f in range(left.shape[1]):
            a, b = left[firsts[k], f], right[seconds[k], f]
            result[k, f] = field_squared(values, f, a, b)
    return result


@parallel
def levels_of(firsts: Rows, squared: Numbers, limits: Numbers, edits: Numbers) -> Bytes:
    """The level of each pair in each field, by its left row and its squared distances."""
    result = np.empty(squared.shape, np.uint8)
    for k in numba.prange(len(firsts)):
        for f in range(len(edits)):
            result[k, f] = level(squared[k, f], limits[firsts[k], f], edits[f])
    return result


@serial
def keys_of_rows(numbers: Numbers, fields: Ints) -> Ints:
    """One number for the values of some fields together; -1 where one of them is missing.

    Equal values have equal keys; other values almost never do, and are told apart later.
    """
    result = np.empty(len(numbers), np.int64)
    for i in range(len(numbers)):
        key = np.uint64(0x9E3779B97F4A7C15)
        missing = False
        for f in fields:
            missing |= numbers[i, f] < 0
            key = (key ^ np.uint64(numbers[i, f])) * np.uint64(0xBF58476D1CE4E5B9)
            key ^= key >> np.uint64(27)
        result[i] = -1 if missing else np.int64(key >> np.uint64(1))
    return result
