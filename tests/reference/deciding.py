"""What deciding on scored pairs means, pair by pair."""

from collections.abc import Iterator, Sequence
from math import prod

Pair = tuple[int, int, float]  # left row, right row, odds


def competes(one: Pair, other: Pair, rule: str) -> bool:
    """Whether a rule lets at most one of two pairs stand, for a record that they share."""
    left = one[0] == other[0] and rule in ("one-to-one", "best-per-left")
    return left or (one[1] == other[1] and rule in ("one-to-one", "best-per-right"))


def allowed(pairs: Sequence[Pair], rule: str) -> Iterator[tuple[int, ...]]:
    """Every set of pairs, by their places, in which no two compete."""
    sets: list[tuple[int, ...]] = [()]
    for place, pair in enumerate(pairs):
        sets += [
            (*one, place)
            for one in sets
            if not any(competes(pairs[other], pair, rule) for other in one)
        ]
    yield from sets


def probabilities(pairs: Sequence[Pair], rule: str) -> list[float]:
    """The weight of the allowed sets that a pair is in, of the weight of all.

    A set weighs as much as the product of the odds of its pairs.
    """
    if rule == "all":  # no pair has to do with any other
        return [odds / (1 + odds) for _, _, odds in pairs]
    weighed = [(one, prod(pairs[place][2] for place in one)) for one in allowed(pairs, rule)]
    whole = sum(weight for _, weight in weighed)
    return [
        sum(weight for one, weight in weighed if place in one) / whole
        for place in range(len(pairs))
    ]


def most_gain(pairs: Sequence[Pair], chances: Sequence[float], rule: str, accept: float) -> float:
    """By how much the best allowed set of likely pairs is likelier than asked for, in all."""
    good = [
        (*pair[:2], chance) for pair, chance in zip(pairs, chances, strict=True) if chance >= accept
    ]
    if rule == "all":
        return sum(chance - accept for _, _, chance in good)
    return max(sum(good[place][2] - accept for place in one) for one in allowed(good, rule))


def possible(
    pairs: Sequence[Pair],
    chances: Sequence[float],
    chosen: set[tuple[int, int]],
    rule: str,
    review: float,
) -> set[tuple[int, int]]:
    """Pairs that are likely enough to be looked at, and that no link stands in the way of."""
    linked = [pair for pair in pairs if pair[:2] in chosen]
    return {
        pair[:2]
        for pair, chance in zip(pairs, chances, strict=True)
        if chance >= review
        and pair[:2] not in chosen
        and not any(competes(pair, one, rule) for one in linked)
    }
