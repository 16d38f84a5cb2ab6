"""The miners by their definitions, on lists of texts over the symbols, one gram at a time.

A source of noise is called as the package calls its own: `noise(values, scale)` gives the
values with noise. Values are in the order of the symbols, and each miner says in which
order it asks, so that both see the same noise if both are handed a source of one seed.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from reference.grams import distinct, every, frequency, ranked

UNIT = 1024  # what a record counts for a gram, and the grid of all counts
Noise = Any


class Recording:
    """A source of noise that keeps what it was handed."""

    def __init__(self, noise: Noise) -> None:
        self.noise = noise
        self.calls: list[tuple[list[int], Fraction]] = []

    def __call__(self, values: Sequence[int], scale: Fraction) -> Sequence[int]:
        self.calls.append(([int(value) for value in values], scale))
        return self.noise(values, scale)

    def largest(self, count: int, of: int, scale: Fraction) -> Sequence[int]:
        return self.noise.largest(count, of, scale)

    def ranks(self, count: int, of: int) -> Sequence[int]:
        return self.noise.ranks(count, of)

    @property
    def lengths(self) -> list[int]:
        return [len(values) for values, _ in self.calls]

    def loss(self, other: "Recording") -> Fraction:
        """The privacy loss of two runs on neighbouring data: L1 changes over the scales."""
        assert self.lengths == other.lengths
        return sum(
            (
                sum(abs(x - y) for x, y in zip(ours, theirs, strict=True)) / Fraction(scale)
                for (ours, scale), (theirs, _) in zip(self.calls, other.calls, strict=True)
            ),
            Fraction(0),
        )


def exact(
    texts: Sequence[str], symbols: str, size: int, q_min: int, q_max: int, marks: str = ""
) -> dict[str, Fraction]:
    """The true top k; a mark by itself is in every text and tells nothing."""
    start, end = marks or ("", "")
    texts = [f"{start}{text}{end}" for text in texts if text]
    every_one = [gram for q in range(q_min, q_max + 1) for gram in every(symbols + marks, q)]
    grams = [gram for gram in every_one if gram not in (start, end)]
    return ranked({gram: Fraction(frequency(gram, texts)) for gram in grams}, size)


# levelgram


def stage_shares(q_max: int) -> list[Fraction]:
    """The middle stage has half; from length 3 on, what is left is shared equally."""
    first = {1: ["1"], 2: ["1/3", "2/3"]}.get(q_max, ["1/4", "1/2"])
    longer = [Fraction(1, 4 * (q_max - 2)) for _ in range(3, q_max + 1)]
    return [Fraction(share) for share in first] + longer


def bounded(texts: Iterable[str], q: int, candidates: Sequence[str], bound: int) -> dict[str, int]:
    """The candidates' counts in units, where no text gives more than `bound` times a unit."""
    counts = dict.fromkeys(candidates, 0)
    for text in texts:
        held = distinct(text, q) & counts.keys()
        for gram in held:
            counts[gram] += min(UNIT, bound * UNIT // len(held))
    return counts


def levelgram(
    texts: Sequence[str],
    symbols: str,
    epsilon: Fraction,
    size: int,
    q_min: int,
    q_max: int,
    noise: Noise,
    *,
    marks: bool = False,
) -> dict[str, Fraction]:
    """One call for noise for each length, with all candidates.

    Marks stand in every text, so that they are frequent without being counted.
    """
    start, end = "\u22a2\u22a3" if marks else ("", "")
    texts = [f"{start}{text}{end}" for text in texts if text]
    candidates = list(symbols)
    estimate: dict[str, Fraction] = {}
    certain = dict.fromkeys([start, end] if marks else [], Fraction(2**62, UNIT))
    for q in range(1, q_max + 1):
        bound = 6 if q <= 2 else 3
        scale = bound / (stage_shares(q_max)[q - 1] * epsilon)
        counts = bounded(texts, q, candidates, bound)
        noisy = noise(list(counts.values()), scale * UNIT)
        for gram, count in zip(candidates, noisy, strict=True):
            parts = [(certain | estimate)[part] for part in (gram[:-1], gram[1:])] if q > 1 else []
            estimate[gram] = min([Fraction(int(count), UNIT), *parts])
        # Only lengths in use compete for a place, so only they set the bar.
        so_far = sorted(estimate[gram] for gram in estimate if len(gram) >= q_min)
        if len(so_far) >= size:
            bar = max(scale, so_far[-size])
        else:
            bar = scale * max(1.0, math.log(max(1, len(candidates))))
        frequent = {gram for gram in candidates if estimate[gram] >= bar}
        if q == 1:
            frequent |= certain.keys()
        candidates = [
            gram
            for gram in every(symbols + start + end, q + 1)
            if {gram[:-1], gram[1:]} <= frequent
            and not (marks and (end in gram[:-1] or start in gram[1:] or gram == start + end))
        ]
    return ranked({gram: estimate[gram] for gram in estimate if len(gram) >= q_min}, size)


# the prefix tree


def proportional(total: Fraction, weights: Sequence[int]) -> list[Fraction]:
    return [total * weight / sum(weights) for weight in weights]


def linear(epsilon: Fraction, height: int, q_max: int) -> list[Fraction]:  # noqa: ARG001
    return proportional(epsilon, [1] * height)


def exponential(epsilon: Fraction, height: int, q_max: int) -> list[Fraction]:  # noqa: ARG001
    return proportional(epsilon, [2**level for level in range(height)])


def hybrid(epsilon: Fraction, height: int, q_max: int) -> list[Fraction]:
    upper = proportional(epsilon / 2, range(1, q_max + 1))
    return upper + proportional(epsilon / 2, [2**level for level in range(height - q_max)])


STRATEGIES: dict[str, tuple[Callable[..., list[Fraction]], int]] = {
    "tree-linear": (linear, 0),
    "tree-exponential": (exponential, 0),
    "tree-adaptive": (exponential, 4),
    "tree-hybrid": (hybrid, 2),
}


def threshold(epsilon: Fraction, symbols: str) -> float:
    return max(2 * math.sqrt(2), math.log(len(symbols))) / float(epsilon)


def tree(
    texts: Sequence[str],
    symbols: str,
    epsilon: Fraction,
    height: int,
    q_max: int,
    strategy: str,
    noise: Noise,
) -> dict[str, int]:
    """The kept prefixes with their noisy counts.

    For each level one call with the children of the nodes on schedule, then one with the
    children of the nodes that spend all they have left; none where there are no such nodes.
    """
    allocate, times = STRATEGIES[strategy]
    shares = allocate(epsilon, height, q_max)

    def children(parents: list[str], share: Fraction) -> dict[str, int]:
        asked = [parent + symbol for parent in parents for symbol in symbols]
        counts = [sum(text.startswith(prefix) for text in texts) for prefix in asked]
        noisy = [int(count) for count in noise(counts, 1 / share)] if asked else []
        bar = threshold(share, symbols)
        return {node: y for node, y in zip(asked, noisy, strict=True) if y >= bar}

    kept: dict[str, int] = {}
    on_schedule, hurried = [""], []
    for level in range(height):
        grown = children(on_schedule, shares[level])
        leaves = children(hurried, epsilon - sum(shares[:level]))
        kept |= grown | leaves
        hurried = []
        if level + 1 < height:
            enough = times * threshold(shares[level + 1], symbols)
            hurried = [prefix for prefix in grown if grown[prefix] < enough]
        on_schedule = [prefix for prefix in grown if prefix not in hurried]
    return kept


def decreasing(values: Sequence[Fraction]) -> list[Fraction]:
    """Isotonic regression by the min-max formula."""

    def mean(first: int, last: int) -> Fraction:
        return Fraction(sum(values[first : last + 1]), last + 1 - first)

    n = len(values)
    return [min(max(mean(a, b) for b in range(i, n)) for a in range(i + 1)) for i in range(n)]


def project(values: Sequence[Fraction], limit: Fraction) -> list[Fraction]:
    """The closest point with x >= 0 and a sum of at most `limit`: all go down by one cut."""

    def lowered(cut: Fraction) -> list[Fraction]:
        return [max(value - cut, Fraction(0)) for value in values]

    if sum(lowered(Fraction(0))) <= limit:
        return lowered(Fraction(0))
    # the m largest stay above 0, for some m
    falling = sorted(values, reverse=True)
    cuts = [Fraction(sum(falling[:m]) - limit, m) for m in range(1, len(values) + 1)]
    return next(lowered(cut) for cut in cuts if cut >= 0 and sum(lowered(cut)) == limit)


def consistent(counts: dict[str, int]) -> dict[str, Fraction]:
    """No count above its parent's, nor the sum of siblings above their parent's."""
    leaves = [prefix for prefix in counts if not any(p[:-1] == prefix for p in counts)]
    along: dict[str, list[Fraction]] = {prefix: [] for prefix in counts}
    for leaf in leaves:
        path = [leaf[:end] for end in range(1, len(leaf) + 1)]
        values = decreasing([Fraction(counts[prefix]) for prefix in path])
        for prefix, value in zip(path, values, strict=True):
            along[prefix].append(value)
    smooth = {prefix: sum(values) / len(values) for prefix, values in along.items()}
    result: dict[str, Fraction] = {}
    for parent in ["", *sorted(counts, key=len)]:
        siblings = [prefix for prefix in counts if prefix[:-1] == parent]
        values = [smooth[prefix] for prefix in siblings]
        # the root's count is private: nothing limits the first level from above
        limit = result[parent] if parent else sum(max(value, Fraction(0)) for value in values)
        result.update(zip(siblings, project(values, limit), strict=True))
    return result


def tree_grams(counts: dict[str, int], q_min: int, q_max: int) -> dict[str, Fraction]:
    """Each gram with the sum of the counts of the prefixes that end in it."""
    grams: dict[str, Fraction] = {}
    for prefix, count in consistent(counts).items():
        for q in range(q_min, q_max + 1):
            if q <= len(prefix):
                gram = prefix[len(prefix) - q :]
                grams[gram] = grams.get(gram, Fraction(0)) + count
    return grams


# fpm


def fpm(
    texts: Sequence[str],
    symbols: str,
    epsilon: Fraction,
    size: int,
    q_min: int,
    q_max: int,
    noise: Noise,
    written: int,
) -> dict[str, Fraction]:
    """For each length a call for the noise that chooses, and one for that of the chosen.

    In a universe of more than `written` grams only those that occur get a noise of their
    own; of the others, the source draws the largest noises and who has them.
    """
    released: dict[str, Fraction] = {}
    share = epsilon / (q_max - q_min + 1)
    for q in range(q_min, q_max + 1):
        universe = every(symbols, q)
        count = {gram: frequency(gram, texts) for gram in universe}
        k = min(size, len(universe))
        slack = math.ceil(4 * k / share * (math.log(k / 0.1) + math.log(len(universe))))
        cut = max(sorted(count.values())[-k] - slack, 0)
        explicit = [gram for gram in universe if count[gram] or len(universe) <= written]
        implicit = [gram for gram in universe if gram not in explicit]
        scale = 4 * k / share
        noisy = noise([max(count[gram], cut) for gram in explicit], scale)
        entries = [(-int(noisy[place]), place, gram) for place, gram in enumerate(explicit)]
        if implicit:
            tops = noise.largest(min(k, len(implicit)), len(implicit), scale)
            entries += [(-(cut + int(y)), len(universe), "") for y in tops]
        best = sorted(entries)[:k]
        found = [gram for gram in explicit if gram in {gram for _, _, gram in best}]
        strangers = sum(gram == "" for _, _, gram in best)
        chosen = found + [implicit[rank] for rank in noise.ranks(strangers, len(implicit))]
        counts = noise([count[gram] for gram in chosen], 2 * k / share)
        released |= {gram: Fraction(int(y)) for gram, y in zip(chosen, counts, strict=True)}
    return ranked(released, size)
