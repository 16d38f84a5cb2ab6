"""What comparing records of several fields means, by trying all pairs.

A record is a text for each field, and "" is missing. A pass says for some fields, by their
places, how many edits each may have.
"""

from collections.abc import Iterator, Mapping, Sequence

from reference.embedding import squared_distance

Record = Sequence[str]
Pass = Mapping[int, int]


def squares(one: Record, other: Record, bases: Sequence[Sequence[str]]) -> list[int]:
    """The squared distance in each field, -1 if a value is missing."""
    return [
        squared_distance(a, b, base) if a and b else -1
        for a, b, base in zip(one, other, bases, strict=True)
    ]


def level(square: int, limits: Sequence[int]) -> int:
    """The fewest edits that a distance is within; one more if none; two more if missing."""
    if square < 0:
        return len(limits) + 1
    return next((e for e, limit in enumerate(limits) if square <= limit), len(limits))


def swapped(one: Record, other: Record, fields: tuple[int, int]) -> bool:
    """Whether a record has two values of another the other way round, and is known to."""
    f, g = fields
    known = all((one[f], one[g], other[f], other[g]))
    return known and one[f] == other[g] and one[g] == other[f]


def levels(
    one: Record,
    other: Record,
    limits: Sequence[Sequence[int]],
    bases: Sequence[Sequence[str]],
    swaps: Sequence[tuple[int, int]] = (),
) -> list[int]:
    """The levels of a pair in all fields.

    Two fields with values that people swap have one level more, between those of distances and
    missing: the two are swapped, and neither is as near as if it were equal.
    """
    found = [level(*both) for both in zip(squares(one, other, bases), limits, strict=True)]
    for f, g in swaps:
        apart = found[f] > 0 and found[g] > 0
        for field in (f, g):
            if apart and swapped(one, other, (f, g)):
                found[field] = len(limits[field]) + 1
            elif found[field] == len(limits[field]) + 1:
                found[field] += 1
    return found


def satisfies(found: Sequence[int], limits: Sequence[Sequence[int]], one: Pass) -> bool:
    """Whether every field that a pass names is known, and within the limit of its edits."""
    return all(0 <= found[field] <= limits[field][edits] for field, edits in one.items())


def pairs(left: int, right: int, same: bool) -> Iterator[tuple[int, int]]:
    """All pairs of rows; of one file, each two of its rows once."""
    for i in range(left):
        for j in range(right):
            if not same or i < j:
                yield i, j


def candidates(
    left: Sequence[Record],
    limits: Sequence[Sequence[Sequence[int]]],
    right: Sequence[Record],
    bases: Sequence[Sequence[str]],
    passes: Sequence[Pass],
    same: bool = False,
) -> tuple[list[tuple[int, int, list[int]]], list[int], list[int]]:
    """The pairs that meet a pass, how many each pass finds, and how many none before it did.

    `limits[i][f]` are those of left record i in field f.
    """
    kept, found, added = [], [0] * len(passes), [0] * len(passes)
    for i, j in pairs(len(left), len(right), same):
        apart = squares(left[i], right[j], bases)
        meets = [n for n, one in enumerate(passes) if satisfies(apart, limits[i], one)]
        if meets:
            kept.append((i, j, apart))
            added[meets[0]] += 1
        for n in meets:
            found[n] += 1
    return kept, found, added
