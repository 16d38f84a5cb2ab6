"""How alike two texts are by their grams, and which pairs are near, by trying all."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

ONE = 2**30
PAD = "\uffff"

Pair = tuple[int, int, int]  # left row, right row, distance


def padded(text: str, q: int) -> list[str]:
    """The grams of a text with q - 1 pads before and after it; none of a missing value."""
    whole = PAD * (q - 1) + text + PAD * (q - 1)
    return [whole[place : place + q] for place in range(len(text) + q - 1)] if text else []


def jaccard_distance(one: str, other: str, q: int) -> int:
    """1 - similarity in units of 1 / ONE, rounded down."""
    a, b = set(padded(one, q)), set(padded(other, q))
    return math.floor((1 - Fraction(len(a & b), len(a | b))) * ONE)


def cosines(left: Sequence[str], right: Sequence[str], q: int) -> list[list[float]]:
    """The cosine of each left text with each right one, weighed by term and document frequency."""
    bags = [[Counter(padded(text, q)) for text in side] for side in (left, right)]
    documents = [bag for side in bags for bag in side if bag]
    having = Counter(gram for bag in documents for gram in bag)

    def unit(bag: Counter[str]) -> dict[str, float]:
        raw = {
            gram: times * (math.log((1 + len(documents)) / (1 + having[gram])) + 1)
            for gram, times in bag.items()
        }
        length = math.hypot(*raw.values())
        return {gram: weight / length for gram, weight in raw.items()}

    vectors = [[unit(bag) for bag in side] for side in bags]
    return [
        [math.fsum(x[gram] * y[gram] for gram in x if gram in y) for y in vectors[1]]
        for x in vectors[0]
    ]


def all_near(
    left: Sequence[str], right: Sequence[str], within: int, distance: Callable[[int, int], int]
) -> list[Pair]:
    """The pairs of rows at most so far apart, by left, then distance, then right."""
    apart = [
        (i, j, distance(i, j))
        for i, one in enumerate(left)
        for j, other in enumerate(right)
        if one and other  # an empty text is a missing value
    ]
    near = [pair for pair in apart if pair[2] <= within]
    return sorted(near, key=lambda pair: (pair[0], pair[2], pair[1]))
