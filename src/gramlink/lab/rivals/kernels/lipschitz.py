"""The Lipschitz embedding: edit distances to reference strings, and all vectors that are near.

For a reference string of up to 64 symbols, a column of the table of distances fits in one word,
so a text takes a dozen operations per symbol. `near` walks a prefix tree of the right vectors.
"""

import numba
import numpy as np
import numpy.typing as npt

from gramlink.kernels.jit import Int, inlined, parallel, serial
from gramlink.kernels.signatures import popcount
from gramlink.lab.rivals.kernels.levenshtein import (
    WORD,
    bit_parallel_distance,
    distance,
    set_places,
)

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]

ROWS = 512  # texts that share buffers
FEW = 16  # so few vectors are not worth another level of the tree
MOST = 255  # the longest text, and so the greatest distance


@serial
def masks(codes: Bytes, offsets: Ints, symbols: int) -> Words:
    """For each text and symbol, the places where it stands, as bits; none for longer texts."""
    found = np.zeros((len(offsets) - 1, symbols), np.uint64)
    for i in range(len(found)):
        if offsets[i + 1] - offsets[i] <= WORD:
            set_places(codes[offsets[i] : offsets[i + 1]], found[i])
    return found


@serial
def _edits(reference: Bytes, mask: Words, text: Bytes, row: Ints) -> Int:
    """The edit distance of a text to a reference string, whose masks are given."""
    if len(reference) > WORD:
        return distance(text, reference, row)
    return bit_parallel_distance(mask, len(reference), text, 0, len(text))


@parallel
def distances(
    references: Bytes, reference_offsets: Ints, mask: Words, codes: Bytes, offsets: Ints
) -> Bytes:
    """The edit distances of reference strings (rows) to texts (columns)."""
    n = len(offsets) - 1
    found = np.empty((len(mask), n), np.uint8)
    for r in numba.prange(len(mask)):
        row = np.empty(MOST + 1, np.int64)
        reference = references[reference_offsets[r] : reference_offsets[r + 1]]
        for i in range(n):
            found[r, i] = _edits(reference, mask[r], codes[offsets[i] : offsets[i + 1]], row)
    return found


@parallel
def coordinates(
    found: Bytes, apart: Small, members: Ints, begins: Ints, sigma: int, columns: Ints, out: Bytes
) -> None:
    """Each candidate set's coordinate for some texts: `out[c, i]` for the columns i.

    `found` has the edit distances of reference strings to texts, and `apart` their squared
    distances in the coordinates so far. The nearest members are found by exchanges without
    branches, for many texts at once: one number holds how far a member is, its place, and its
    edit distance.
    """
    for c in numba.prange(len(begins) - 1):
        chosen = members[begins[c] : begins[c + 1]]
        key = np.empty(ROWS, np.int64)
        nearest = np.empty((sigma, ROWS), np.int64)
        for start in range(0, len(columns), ROWS):
            part = columns[start : start + ROWS]
            nearest[:] = np.iinfo(np.int64).max
            for place in range(len(chosen)):
                member = chosen[place]
                for j in range(len(part)):
                    i = part[j]
                    key[j] = (np.int64(apart[member, i]) << 32) | (place << 8) | found[member, i]
                for s in range(min(place + 1, sigma)):
                    kept = nearest[s]
                    for j in range(len(part)):
                        one, other = kept[j], key[j]
                        kept[j], key[j] = min(one, other), max(one, other)
            for j in range(len(part)):
                least = MOST
                for s in range(sigma):
                    least = min(least, nearest[s, j] & MOST)
                out[c, part[j]] = least


@parallel
def draw_apart(apart: Small, coordinate: Bytes, own: Bytes) -> None:
    """Add a coordinate to the squared distances of reference strings to texts."""
    for r in numba.prange(len(apart)):
        for i in range(len(coordinate)):
            step = np.int32(coordinate[i]) - np.int32(own[r])
            apart[r, i] += step * step


@parallel
def undecided(values: Bytes, order: Ints, begins: Ints) -> Ints:
    """For each candidate, how many pairs of texts in one group it does not tell apart.

    Group g is the columns `order[begins[g]:begins[g + 1]]`.
    """
    left = np.zeros(len(values), np.int64)
    for c in numba.prange(len(values)):
        counts = np.zeros(MOST + 1, np.int64)
        pairs = 0
        for g in range(len(begins) - 1):
            for place in range(begins[g], begins[g + 1]):
                value = values[c, order[place]]
                pairs += counts[value]
                counts[value] += 1
            for place in range(begins[g], begins[g + 1]):
                counts[values[c, order[place]]] = 0
        left[c] = pairs
    return left


@parallel
def embed(
    codes: Bytes, offsets: Ints, references: Bytes, reference_offsets: Ints, mask: Words,
    begins: Ints, mapped: Bytes, sigma: int,
) -> Bytes:  # fmt: skip
    """Each text's coordinates; `mapped` has those of the reference strings.

    Set c is the reference strings from `begins[c]` to `begins[c + 1]`.
    """
    n, size = len(offsets) - 1, len(begins) - 1
    vectors = np.zeros((n, size), np.uint8)
    for part in numba.prange((n + ROWS - 1) // ROWS):
        row, far = np.empty(MOST + 1, np.int64), np.empty(sigma, np.int64)
        nearest = np.empty(sigma, np.int64)
        for i in range(part * ROWS, min(n, part * ROWS + ROWS)):
            text = codes[offsets[i] : offsets[i + 1]]
            for c in range(size if len(text) else 0):
                begin, end = begins[c], begins[c + 1]
                count = min(end - begin, sigma)
                for place in range(count):
                    nearest[place] = begin + place
                if end - begin > sigma:
                    _rank(vectors[i, :c], mapped[begin:end], far, nearest, begin)
                least = MOST
                for r in nearest[:count]:
                    reference = references[reference_offsets[r] : reference_offsets[r + 1]]
                    least = min(least, _edits(reference, mask[r], text, row))
                vectors[i, c] = least
    return vectors


@serial
def _rank(vector: Bytes, mapped: Bytes, far: Ints, nearest: Ints, begin: Int) -> None:
    """Sort the nearest members, the earlier first where they tie."""
    far[:] = np.iinfo(np.int64).max
    for place in range(len(mapped)):
        apart = np.int64(0)
        for c in range(len(vector)):
            step = np.int64(vector[c]) - np.int64(mapped[place, c])
            apart += step * step
        at = len(far)
        while at > 0 and far[at - 1] > apart:
            if at < len(far):
                far[at], nearest[at] = far[at - 1], nearest[at - 1]
            at -= 1
        if at < len(far):
            far[at], nearest[at] = apart, begin + place


@serial
def tree(rows: Bytes, deepest: int) -> Small:
    """The prefix tree of sorted rows: nodes, each before those below it.

    A node is its depth, the value there, the next node that is not below it, and the rows
    that it stands for, as start and stop; it has no rows if there are nodes below it.
    """
    nodes = np.empty((len(rows) + 1, 5), np.int32)
    above = np.zeros(deepest + 1, np.int64)  # the open node at each depth, ...
    begins, ends = np.zeros(deepest + 1, np.int64), np.zeros(deepest + 1, np.int64)
    ends[0] = len(rows)  # ... and its rows that are below no node yet
    count = depth = 0
    while depth >= 0:
        begin = end = begins[depth]
        if begin == ends[depth]:
            if depth:
                nodes[above[depth], 2] = count
            depth -= 1
            continue
        value = rows[begin, depth]
        while end < ends[depth] and rows[end, depth] == value:
            end += 1
        begins[depth] = end
        if count == len(nodes):
            nodes = np.concatenate((nodes, np.empty_like(nodes)))
        nodes[count, 0], nodes[count, 1], nodes[count, 2] = depth, value, count + 1
        nodes[count, 3], nodes[count, 4] = begin, end
        if end - begin > FEW and depth + 1 < deepest:
            nodes[count, 4] = begin
            depth += 1
            above[depth], begins[depth], ends[depth] = count, begin, end
        count += 1
    return nodes[:count].copy()


@serial
def near(
    left: Bytes, left_signs: Words, missing: npt.NDArray[np.bool_], right: Bytes,
    right_signs: Words, order: Ints, nodes: Small, within: int, start: int, stop: int, room: int,
) -> tuple[Ints, Ints, Ints]:  # fmt: skip
    """For left vectors, how many right ones are within a squared distance, which, and how far.

    The right ones are sorted; `order` has their places and `nodes` their tree. `signs[w, i]`
    are bits of vector i's coordinates below the tree; the squared distance is at least the
    number of bits that differ.
    """
    counts = np.zeros(stop - start, np.int64)
    places, squared = np.empty(1024, np.int64), np.empty(1024, np.int64)
    sums = np.zeros(left.shape[1] + 1, np.int64)
    found = 0
    for i in range(start, stop):
        node = len(nodes) if missing[i] else 0
        while node < len(nodes):
            depth = nodes[node, 0]
            step = np.int64(left[i, depth]) - nodes[node, 1]
            apart = sums[depth] + step * step
            if apart > within:
                node = nodes[node, 2]
                continue
            sums[depth + 1] = apart
            for r in range(nodes[node, 3], nodes[node, 4]):
                bits = popcount(left_signs[0, i] ^ right_signs[0, r])
                if apart + np.int64(bits) > within:
                    continue
                whole = _whole(left, left_signs, right, right_signs, i, r, depth + 1, apart, bits,
                               within)  # fmt: skip
                if whole <= within:
                    if found == len(places):
                        places = np.concatenate((places, places))
                        squared = np.concatenate((squared, squared))
                    places[found], squared[found] = order[r], whole
                    counts[i - start] += 1
                    found += 1
            if found > room:
                return counts, places[:found], squared[:found]
            node += 1
    return counts, places[:found], squared[:found]


@inlined
def _whole(
    left: Bytes, left_signs: Words, right: Bytes, right_signs: Words, i: Int, r: Int, begin: Int,
    apart: Int, bits: Int, within: Int,
) -> Int:  # fmt: skip
    """The squared distance, from coordinate `begin` on added to `apart`; or more than `within`."""
    w = 1
    while w < len(left_signs) and apart + np.int64(bits) <= within:
        bits += popcount(left_signs[w, i] ^ right_signs[w, r])
        w += 1
    if apart + np.int64(bits) > within:
        apart = within + 1
    c = begin
    while c < left.shape[1] and apart <= within:
        step = np.int64(left[i, c]) - np.int64(right[r, c])
        apart += step * step
        c += 1
    return apart
