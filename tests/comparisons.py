"""Small files of several fields, ready to be compared."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from gramlink.embedding.base import Base
from gramlink.embedding.vectors import Encoded, Vectors, embed
from gramlink.matching.comparison import Comparison
from gramlink.records.strings import Strings
from strategies import AB, bases, texts

NAMES = ("first", "second", "third", "fourth", "fifth", "sixth")


@dataclass(frozen=True)
class Files:
    """Two files of texts, field by field; "" is missing. `limits[f][i]` are of left record i."""

    left: tuple[tuple[str, ...], ...]
    right: tuple[tuple[str, ...], ...]
    bases: tuple[tuple[str, ...], ...]
    limits: tuple[tuple[tuple[int, ...], ...], ...]
    swaps: tuple[tuple[int, int], ...] = ()  # fields whose values people swap

    @property
    def edits(self) -> tuple[int, ...]:
        """How many edits of each field are told apart."""
        return tuple(len(one[0]) - 1 for one in self.limits)

    @property
    def comparison(self) -> Comparison:
        """The files as the linkage unit sees them."""
        ours = [encoded(*one) for one in zip(self.left, self.bases, self.limits, strict=True)]
        theirs = [encoded(*one) for one in zip(self.right, self.bases, strict=True)]
        tags = {
            (NAMES[one], NAMES[other]): tuple(
                tags_of(side[one], side[other]) for side in (self.left, self.right)
            )
            for one, other in self.swaps
        }
        return Comparison.of(
            dict(zip(NAMES, ours, strict=False)), dict(zip(NAMES, theirs, strict=False)), tags
        )


def tags_of(one, other):
    """A number for each two texts, in any order; 0 if one is missing."""
    numbers = [
        [sum((AB.index(x) + 1) * 4**place for place, x in enumerate(text)) for text in both]
        for both in zip(one, other, strict=True)
    ]
    found = [(min(both) * 4**12 + max(both)) * (min(both) > 0) for both in numbers]
    return np.array(found, np.uint64)


def encoded(column, base, limits=None):
    """A field of an owner; of the left one if there are limits."""
    thresholds = None if limits is None else np.array(limits, np.int64).reshape(len(column), -1)
    return Encoded(embed(Strings.of(list(column), AB), Base(base)), thresholds)


@st.composite
def files(draw, most_fields=4, most_records=8, least=1):
    """Files with missing and equal values, and limits of their own for each left record."""
    fields = draw(st.integers(1, most_fields))
    count, other = (draw(st.integers(least, most_records)) for _ in range(2))
    left, right, grams, limits = [], [], [], []
    for _ in range(fields):
        some = draw(st.lists(texts(max_size=6), min_size=1, max_size=5))  # so values repeat
        column = st.sampled_from(["", *some])
        left.append(tuple(draw(st.lists(column, min_size=count, max_size=count))))
        right.append(tuple(draw(st.lists(column, min_size=other, max_size=other))))
        base = draw(bases(longest=3))
        grams.append(base)
        edits = draw(st.integers(0, 3))
        step = st.integers(0, 4 * Base(base).scale ** 2)
        rows = [
            (0, *np.cumsum(draw(st.lists(step, min_size=edits, max_size=edits))).tolist())
            for _ in range(count)
        ]
        limits.append(tuple(rows))
    return Files(tuple(left), tuple(right), tuple(grams), tuple(limits))


@st.composite
def swapping_files(draw, least=1):
    """Files in which some right records have the first two values of a left one, swapped or not."""
    two = draw(files(least=least).filter(lambda one: len(one.bases) > 1))
    first, second, *rest = map(list, two.right)
    for row in range(len(first)):
        i = draw(st.integers(0, len(two.left[0]) - 1))
        a, b = two.left[0][i], two.left[1][i]
        way = draw(st.sampled_from(["other", "same", "swapped"]))
        if way != "other":
            first[row], second[row] = (a, b) if way == "same" else (b, a)
    right = tuple(map(tuple, (first, second, *rest)))
    return replace(two, right=right, swaps=((0, 1),))


def numbered(left: Sequence[Sequence[int]], right: Sequence[Sequence[int]], edits=1):
    """Files whose values are whole numbers, column by column; -1 is missing, and a neighbour near.

    Values are told apart exactly, and up to `edits` apart is within so many edits.
    """

    def one(values, limits):
        values = np.asarray(values, np.int64)
        known = np.maximum(values, 0)
        # the far part moves in steps that no edits reach
        counts = np.stack([known % 250, known // 250 * 5], axis=1).astype(np.uint8)
        thresholds = np.tile(np.arange(edits + 1, dtype=np.int64) ** 2, (len(values), 1))
        return Encoded(Vectors(counts, (1, 1), values < 0), thresholds if limits else None)

    ours = {name: one(column, True) for name, column in zip(NAMES, left, strict=False)}
    theirs = {name: one(column, False) for name, column in zip(NAMES, right, strict=False)}
    return Comparison.of(ours, theirs)
