"""What deciding on scored pairs means, pair by pair."""

from collections.abc import Sequence

Pair = tuple[int, int, float]  # left row, right row, odds


def competes(one: Pair, other: Pair, rule: str) -> bool:
    """Whether a rule lets at most one of two pairs stand, for a record that they share."""
    left = one[0] == other[0] and rule in ("one-to-one", "best-per-left")
    return left or (one[1] == other[1] and rule in ("one-to-one", "best-per-right"))


def probabilities(pairs: Sequence[Pair], rule: str) -> list[float]:
    """The odds of each against those of the pairs that compete with it, and of no match at all."""
    result = []
    for one in pairs:
        against = sum(other[2] for other in pairs if other != one and competes(one, other, rule))
        result.append(one[2] / (1 + one[2] + against))
    return result


def links(
    pairs: Sequence[Pair],
    chances: Sequence[float],
    left: Sequence[str],
    right: Sequence[str],
    rule: str,
    accept: float,
) -> set[tuple[int, int]]:
    """The best pair of those likely enough, then the best that can stand beside it, and so on."""
    rest = [pair for pair, chance in zip(pairs, chances, strict=True) if chance >= accept]
    chosen = set()
    while rest:
        best = min(rest, key=lambda pair: (-pair[2], left[pair[0]], right[pair[1]]))
        chosen.add(best[:2])
        rest = [pair for pair in rest if pair != best and not competes(pair, best, rule)]
    return chosen


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
