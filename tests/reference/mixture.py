"""What fitting a mixture of sorts of pairs means: expectation maximisation, pair by pair.

A sort is how many pairs it has, and for each field the share of each level among the pairs whose
values are known. A pattern is a level for each field; the last level of a field is *missing*,
which says nothing: its share is 1. Of a sort's pairs a part `seen` has patterns that are counted
at all; the patterns of the others are among none of those given.
"""

import math
from collections.abc import Mapping, Sequence

Pattern = tuple[int, ...]
Shares = list[list[float]]
Sort = tuple[float, Shares]

PRIOR = 0.5


def expected(sort: Sort, pattern: Pattern) -> float:
    """How many pairs of a pattern a sort should have."""
    count, shares = sort
    return count * math.prod(share[level] for share, level in zip(shares, pattern, strict=True))


def step(
    counts: Mapping[Pattern, int],
    known: Mapping[Pattern, float],
    sorts: Sequence[Sort],
    unseen: float = 0,
    seen: Sequence[float] = (),
) -> list[Sort]:
    """Share out the pairs of each pattern by what each sort expects of it; count them again.

    What is found of a sort of which only a part is `seen` stands for as many more.

    Pairs that are equal in every field may not be counted: then the first sort gets as many as it
    expects among the share `unseen` of all pairs, which miss nothing.
    """
    found = []
    for number_of_sort, sort in enumerate(sorts):
        alike = (0,) * len(sort[1])
        weights = {
            pattern: number
            * expected(sort, pattern)
            / (known[pattern] + sum(expected(one, pattern) for one in sorts))
            for pattern, number in counts.items()
        }
        if unseen and number_of_sort == 0:
            weights[alike] = unseen * expected(sort, alike)
        shares = []
        for field, levels in enumerate(sort[1]):
            known_levels = len(levels) - 1
            sums = [
                PRIOR / known_levels
                + sum(w for pattern, w in weights.items() if pattern[field] == n)
                for n in range(known_levels)
            ]
            shares.append([*(one / sum(sums) for one in sums), 1.0])
        part = seen[number_of_sort] if seen else 1
        found.append((sum(weights.values()) / part, shares))
    return found


def log_posterior(
    counts: Mapping[Pattern, int],
    known: Mapping[Pattern, float],
    sorts: Sequence[Sort],
    seen: Sequence[float] = (),
) -> float:
    """The logarithm of how likely the counts are, as Poisson numbers, and of the prior."""
    total = sum(
        number * math.log(known[pattern] + sum(expected(one, pattern) for one in sorts))
        for pattern, number in counts.items()
    )
    # summed over all patterns, seen or not, a sort expects its count
    parts = zip(sorts, seen or [1] * len(sorts), strict=False)
    total -= sum(count * part for (count, _), part in parts)
    for _, shares in sorts:
        total += sum(PRIOR / (len(share) - 1) * math.log(one) for share in shares for one in share)
    return total
