"""What matching and deciding mean, by trying all pairs."""

from collections.abc import Sequence

from reference.embedding import squared_distance

Pair = tuple[int, int, int]  # left row, right row, squared distance


def match(
    left: Sequence[str], thresholds: Sequence[int], right: Sequence[str], base: Sequence[str]
) -> list[Pair]:
    """All pairs within the left one's threshold, by left, then distance, then right."""
    pairs = [
        (i, j, squared_distance(one, other, base))
        for i, one in enumerate(left)
        for j, other in enumerate(right)
        if one and other  # an empty text is a missing value
    ]
    near = [(i, j, square) for i, j, square in pairs if square <= thresholds[i]]
    return sorted(near, key=lambda pair: (pair[0], pair[2], pair[1]))


def everything(pairs: list[Pair], left: Sequence[str], right: Sequence[str]) -> set[Pair]:  # noqa: ARG001
    """Every pair."""
    return set(pairs)


def best_per_left(pairs: list[Pair], left: Sequence[str], right: Sequence[str]) -> set[Pair]:  # noqa: ARG001
    """For each left record the closest, and of those the one whose id comes first."""
    return {
        min((pair for pair in pairs if pair[0] == row), key=lambda pair: (pair[2], right[pair[1]]))
        for row in {pair[0] for pair in pairs}
    }


def best_per_right(pairs: list[Pair], left: Sequence[str], right: Sequence[str]) -> set[Pair]:  # noqa: ARG001
    """For each right record the closest, and of those the one whose id comes first."""
    return {
        min((pair for pair in pairs if pair[1] == row), key=lambda pair: (pair[2], left[pair[0]]))
        for row in {pair[1] for pair in pairs}
    }


def one_to_one(pairs: list[Pair], left: Sequence[str], right: Sequence[str]) -> set[Pair]:
    """Take the closest pair, drop all others of its two records, and start over."""
    chosen, rest = set(), list(pairs)
    while rest:
        best = min(rest, key=lambda pair: (pair[2], left[pair[0]], right[pair[1]]))
        chosen.add(best)
        rest = [pair for pair in rest if pair[0] != best[0] and pair[1] != best[1]]
    return chosen


RULES = {
    "all": everything,
    "best-per-left": best_per_left,
    "best-per-right": best_per_right,
    "one-to-one": one_to_one,
}
