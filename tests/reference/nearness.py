"""What deciding on records of one field means, pair by pair."""

import math
from collections.abc import Mapping, Sequence

from reference.deciding import probabilities

Near = tuple[int, int, int]  # left row, right row, squared distance


def classes(pairs: Sequence[Near], within: Sequence[Near], scale: int) -> dict[int, int]:
    """The class of each squared distance: four of them in a distance of 1, or 128 in all."""
    every = {squared for _, _, squared in [*pairs, *within]}
    width = max(scale**2, math.ceil(4 * max(every, default=0) / 128))
    return {squared: math.ceil(4 * squared / width) for squared in every}


def groups(lengths: Sequence[int]) -> list[int]:
    """For each record a number: records of about the same length, an eighth of them in a group."""
    eighths = {}
    for length in set(lengths):
        shorter = sum(other < length for other in lengths)
        middle = shorter + lengths.count(length) / 2
        eighths[length] = min(int(8 * middle / len(lengths)), 7)
    used = sorted(set(eighths.values()))
    return [used.index(eighths[length]) for length in lengths]


def chance(
    within: Sequence[Near], class_of: Mapping[int, int], lengths: Sequence[int], count: int
) -> list[list[float]]:
    """For each left record and class: how likely a right record that is no match is in it."""
    records, group = len(lengths), groups(lengths)
    near = [[0] * count for _ in range(records)]
    for one, other, squared in within:
        if one != other and class_of[squared] < count:
            near[one][class_of[squared]] += 1
    others = max(records - 1, 1)
    among = records * (records - 1) + 1000
    of_all = [(sum(row[c] for row in near) + 1) / among * others for c in range(count)]
    result = []
    for row, ours in zip(near, group, strict=True):
        alike = [other for other, its in zip(near, group, strict=True) if its == ours]
        usual = [
            (sum(other[c] for other in alike) + 20 * of_all[c]) / (len(alike) + 20)
            for c in range(count)
        ]
        totals = [sum(other) for other in alike]
        average = sum(totals) / len(totals)
        variance = sum((total - average) ** 2 for total in totals) / len(totals)
        mean = max(average, sum(usual))
        shape = mean**2 / max(variance - mean, 0.01 * mean)
        rates = [one * (sum(row) + shape) / (mean + shape) for one in usual]
        result.append(
            [(n + 1) / (1 + 1 / rate) / others for n, rate in zip(row, rates, strict=True)]
        )
    return result


def judge(
    pairs: Sequence[Near],
    within: Sequence[Near],
    lengths: Sequence[int],
    sizes: tuple[int, int],
    scale: int,
    rule: str,
    coverage: float,
    rounds: int = 300,
) -> tuple[list[float], float]:
    """The probability of each pair, and how many matches there are."""
    if not pairs:
        return [], 0.0
    class_of = classes(pairs, within, scale)
    of_pairs = [class_of[squared] for _, _, squared in pairs]
    count = 1 + max(of_pairs)
    likely = chance(within, class_of, lengths, count)
    guess = [0.5, *[0.5 / (count - 1)] * (count - 1)] if count > 1 else [0.5]
    exclusive = [
        size
        for size, rules in zip(
            sizes, ({"one-to-one", "best-per-left"}, {"one-to-one", "best-per-right"}), strict=True
        )
        if rule in rules
    ]
    most = min(exclusive, default=sizes[0] * sizes[1])
    shares, factor, matches = guess, [1.0] * count, min(sizes) / 2
    found: list[float] = []

    def now() -> list[float]:
        spread = matches / sizes[0] / sizes[1]
        for size in exclusive:
            spread *= size / max(size - matches, 0.5)
        odds = [
            (i, j, spread * shares[c] / factor[c] / likely[i][c])
            for (i, j, _), c in zip(pairs, of_pairs, strict=True)
        ]
        return probabilities(odds, rule)

    for _ in range(rounds):
        found = now()
        sums = [
            sum(p for p, c in zip(found, of_pairs, strict=True) if c == k) for k in range(count)
        ]
        matches = min(sum(sums) / coverage, most - 0.5)
        shares = [(one + a) / (sum(sums) + sum(guess)) for one, a in zip(sums, guess, strict=True)]
        factor = [
            (of_pairs.count(k) - sums[k] + 20) / (sum(row[k] for row in likely) * sizes[1] + 20)
            for k in range(count)
        ]
    found = now()
    return found, min(sum(found) / coverage, most)
