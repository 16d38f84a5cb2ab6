"""Sums of products over the grams that two records share: sets, and weighted bags.

Both rivals that count shared grams compare x and y by |x|², |y|² and their dot product x·y,
which is the number of shared grams if all weights are 1. An index lists for each gram the
right records that have it. For a left record the products are added up over the lists of its
grams; a record that shares nothing with it costs only a look at its sum, which is 0.

A prefix filter, which skips the lists of the most common grams and checks what could still be
near, saves a fifth on names at high thresholds and costs as much at low ones.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gramlink.kernels.jit import Int, inlined, serial

Ints = npt.NDArray[np.int64]
Weights = npt.NDArray[np.int32]

BLOCK = 128  # sums checked at a time


class Bags(NamedTuple):
    """Records as grams with weights, ascending in each: record i has begins[i]:begins[i + 1].

    Dot products must be below 2^31.
    """

    begins: Ints
    grams: Ints
    weights: Weights
    squares: Ints  # |x|² of each


class Index(NamedTuple):
    """Records sorted by |y|², without those that have no grams: place p is record rows[p].

    Gram g is at places[begins[g]:begins[g + 1]], with these weights.
    """

    begins: Ints
    places: npt.NDArray[np.uint32]
    weights: Weights
    rows: Ints
    squares: Ints  # padded with zeros to a multiple of BLOCK


class Bar(NamedTuple):
    """Records are near if `square` * (|x|² + |y|²) < `product` * x·y + `slack`."""

    square: int
    product: int
    slack: int


def make_bags(begins: Ints, grams: Ints, weights: Weights) -> Bags:
    """Records with the squares of their lengths."""
    totals = np.concatenate([[0], np.cumsum(weights.astype(np.int64) ** 2)])
    return Bags(begins, grams, weights, np.diff(totals[begins]))


def make_index(bags: Bags, grams: int) -> Index:
    """An index of the records, by grams numbered below `grams`."""
    rows = np.argsort(bags.squares, kind="stable")
    rows = rows[bags.squares[rows] > 0]
    place_of = np.zeros(len(bags.squares), np.uint32)
    place_of[rows] = np.arange(len(rows))
    places = np.repeat(place_of, np.diff(bags.begins))
    order = np.lexsort((places, bags.grams))
    return Index(
        np.concatenate([[0], np.cumsum(np.bincount(bags.grams, minlength=grams))]),
        places[order],
        bags.weights[order],
        rows,
        np.pad(bags.squares[rows], (0, -len(rows) % BLOCK)),
    )


@serial
def row_by_row(left: Bags, right: Bags) -> Ints:
    """The dot product of each record with the right one in the same row."""
    n = len(left.squares)
    result = np.zeros(n, np.int64)
    for i in range(n):
        x, y = left.begins[i], right.begins[i]
        while x < left.begins[i + 1] and y < right.begins[i + 1]:
            if left.grams[x] < right.grams[y]:
                x += 1
            elif left.grams[x] > right.grams[y]:
                y += 1
            else:
                result[i] += np.int64(left.weights[x]) * np.int64(right.weights[y])
                x += 1
                y += 1
    return result


@inlined
def near_sums(sums: Weights, own: Int, squares: Ints, bar: Bar, found: Ints) -> Int:
    """Write to `found` the places that are near a record with |x|² = own; returns how many."""
    count = np.int64(0)
    for first in range(0, len(sums), BLOCK):
        block, theirs = sums[first : first + BLOCK], squares[first : first + BLOCK]
        largest = np.int32(0)
        for j in range(BLOCK):
            largest = max(largest, block[j])
        # the first |y|² of a block is its smallest
        if bar.square * (own + theirs[0]) < bar.product * np.int64(largest) + bar.slack:
            for j in range(BLOCK):
                reach = bar.product * np.int64(block[j]) + bar.slack
                found[count] = first + j
                count += np.int64((bar.square * (own + theirs[j]) < reach) & (theirs[j] > 0))
    return count


@serial
def near(
    left: Bags, right: Index, bar: Bar, start: Int, stop: Int, room: Int
) -> tuple[Ints, Ints, Ints]:
    """For each left record from start to stop, how many right ones are near; which, and their
    dot products. Records without grams are near nothing. Stops after the record that
    exceeds `room` pairs.
    """
    counts = np.zeros(stop - start, np.int64)
    rows, products = np.empty(1024, np.int64), np.empty(1024, np.int64)
    sums = np.zeros(len(right.squares), np.int32)
    found = np.empty(len(right.squares) + 1, np.int64)
    size = 0
    for i in range(start, stop):
        if left.squares[i] == 0 or size > room:
            continue
        for k in range(left.begins[i], left.begins[i + 1]):
            gram, weight = left.grams[k], left.weights[k]
            for entry in range(right.begins[gram], right.begins[gram + 1]):
                sums[right.places[entry]] += weight * right.weights[entry]
        count = near_sums(sums, left.squares[i], right.squares, bar, found)
        while size + count > len(rows):
            rows = np.concatenate((rows, np.empty(len(rows), np.int64)))
            products = np.concatenate((products, np.empty(len(products), np.int64)))
        for place in found[:count]:
            rows[size] = right.rows[place]
            products[size] = sums[place]
            size += 1
        counts[i - start] = count
        sums[:] = 0
    return counts, rows[:size], products[:size]
