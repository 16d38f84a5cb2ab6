"""What each threshold policy means, squared and in units of 1 / scale²."""

import math
from collections.abc import Sequence
from fractions import Fraction

from reference.edits import Choices, Random, neighbours, random_edit, seed_of
from reference.embedding import marked, scale, squared_distance


def paper(text: str, base: Sequence[str], edits: int) -> int:
    """Algorithm 2 of the paper (section 5.1) with its D, P and T; no edit is on a mark."""
    text, places = marked(text), range(1, len(text) + 1)

    def covers(gram: str, *positions: int) -> bool:
        """Whether one occurrence of the gram covers all these positions."""
        return any(
            text[start : start + len(gram)] == gram
            and all(start <= position < start + len(gram) for position in positions)
            for start in range(len(text) - len(gram) + 1)
        )

    def impact(j: int) -> Fraction:  # D[j]
        return sum((Fraction(1, len(g) ** 2) for g in base if covers(g, j)), Fraction(0))

    def independent(j: int) -> int:  # P[j], or the mark
        free = [i for i in range(j) if not any(covers(g, i, j) for g in base)]
        return max(free, default=0)

    total = [Fraction(0)] * (len(places) + 1)  # T[0]; nothing is lost up to the mark
    for _ in range(edits):
        before, total = total, [Fraction(0)]
        for j in places:
            total.append(max(total[-1], before[independent(j)] + impact(j)))
    return int(total[-1] * scale(base) ** 2)


def one_edit_bound(base: Sequence[str]) -> int:
    """Σ (1 + 1/q) over the lengths in use."""
    lengths = {len(gram) for gram in base}
    return int(sum(1 + Fraction(1, q) for q in lengths) * scale(base) ** 2)


def global_bound(base: Sequence[str], edits: int) -> int:
    """The square of ed·√Σ(1 + 1/q)."""
    return edits**2 * one_edit_bound(base)


def global_paper(q_min: int, q_max: int, base: Sequence[str], edits: int) -> int:
    """The square of Δ_q·ed."""
    return ((q_max - q_min + 1) * edits * scale(base)) ** 2


def worst_case(text: str, base: Sequence[str], symbols: str, edits: int) -> int:
    """The farthest neighbour and, for each further edit, the global bound."""
    if not text or not edits:
        return 0
    farthest = max(squared_distance(text, other, base) for other in neighbours(text, symbols))
    return largest_within(farthest, one_edit_bound(base), edits - 1)


def largest_within(first: int, step: int, steps: int) -> int:
    """The largest whole t with √t <= √first + steps·√step."""
    t = first + steps**2 * step
    while (t + 1 - first - steps**2 * step) ** 2 <= 4 * first * steps**2 * step:
        t += 1
    return t


def calibrated(
    text: str,
    base: Sequence[str],
    symbols: str,
    edits: int,
    *,
    recall: Fraction,
    errors: tuple[Choices, Choices],
    length: int,
    seed: int,
) -> int:
    """The distance that a share of the corrupted copies stay within.

    Of n copies the r-th nearest is taken, with the least r that covers the share: r / (n + 1).
    """
    if not text or not edits:
        return 0
    copies = max(128, math.ceil(recall / (1 - recall)))
    random = Random(seed_of([symbols.index(s) for s in text], seed))
    distances = []
    for _ in range(copies):
        copy = text
        for _ in range(edits):
            copy = random_edit(copy, random, *errors)
        distances.append(squared_distance(text, copy[:length], base))
    return sorted(distances)[min(copies, math.ceil(recall * (copies + 1))) - 1]


def coarse(squared: int, step: int) -> int:
    """The least multiple of a step that is not below."""
    return next(t for t in range(0, squared + step, step) if t >= squared)
