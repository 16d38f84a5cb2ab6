"""levelgram: grow grams symbol by symbol from the ones that are frequent.

Ours, and the default. Every stage q adds noise to the count of every candidate gram of
length q, even of those that no record contains. Only grams whose two parts of length q are
frequent become candidates of length q + 1, which costs nothing: the candidates depend on
released numbers alone.

Marks at the ends of texts are in every text, so they need no count: they are frequent, and
tell nothing until another symbol stands beside them.

Cost. A record gives its m candidates min(F, c*F // m) each, F = 1024, so it moves the
counts of a stage by at most c*F in all; noise of scale c*F/ε_q makes the stage cost ε_q,
and the stages' shares sum to 1.
"""

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gramlink.mining.estimates import GRID, Estimates, top
from gramlink.mining.grams import spelled
from gramlink.privacy.budget import Budget
from gramlink.records.fields import MARKS, Field
from gramlink.records.strings import Strings, distinct

Ints = npt.NDArray[np.int64]

EVERY = 2**62  # above any count


def shares(q_max: int) -> tuple[Fraction, ...]:
    """Each stage's share of the budget: (1/4, 1/2, 1/4) for three.

    >>> sum(shares(5))
    Fraction(1, 1)
    """
    if q_max == 1:
        return (Fraction(1),)
    if q_max == 2:
        return (Fraction(1, 3), Fraction(2, 3))
    return (Fraction(1, 4), Fraction(1, 2), *[Fraction(1, 4) / (q_max - 2)] * (q_max - 2))


def contribution(q: int) -> int:
    """The number of grams of length q that one record may count for in full."""
    return 6 if q <= 2 else 3


def levelgram(strings: Strings, field: Field, budget: Budget) -> Estimates:
    """The most frequent grams, by stages of growing length.

    Privacy: spends the whole budget.
    """
    from gramlink.kernels.occurrences import bounded_counts, distinct_grams

    different, place = distinct(strings)  # names repeat, and equal ones count alike
    times = np.bincount(place, minlength=len(different))
    candidates = np.arange(len(different.symbols), dtype=np.int64)
    if field.marks:
        different = different.marked(MARKS)
    base = len(different.symbols)
    previous, estimated = candidates, candidates  # of the stage before
    released: list[tuple[str, Fraction]] = []
    for q, share in enumerate(shares(field.q_max), start=1):
        grams, begins = distinct_grams(different.codes, different.offsets, q, base)
        bound = contribution(q)
        counts = bounded_counts(grams, begins, times, candidates, bound, GRID)
        epsilon = share * budget.epsilon
        noisy = budget.laplace(counts, sensitivity=bound * GRID, epsilon=epsilon)
        if q > 1:
            # a gram is no more frequent than its parts
            for part in (candidates // base, candidates % base ** (q - 1)):
                noisy = np.minimum(noisy, estimated[np.searchsorted(previous, part)])
        if q >= field.q_min:
            names = spelled(candidates, q, field.symbols)
            released += ((g, Fraction(y, GRID)) for g, y in zip(names, noisy.tolist(), strict=True))
        floor = _floor([y for _, y in released], field.size, bound / epsilon, len(candidates))
        frequent = candidates[noisy >= floor * GRID]
        previous, estimated = candidates, noisy
        if q == 1 and field.marks:
            marks = [base - 2, base - 1]
            frequent, previous = np.append(frequent, marks), np.append(previous, marks)
            estimated = np.append(noisy, [EVERY, EVERY])
        candidates = extended(frequent, q, base)
        if q == 1 and field.marks:
            candidates = candidates[_possible(candidates, base)]
    return top(released, field.size)


def _possible(pairs: Ints, base: int) -> npt.NDArray[np.bool_]:
    """Which pairs of symbols, marks among them, a text can contain.

    Nothing stands before the start nor after the end, and no text is empty.
    """
    start, end = base - 2, base - 1
    first, last = pairs // base, pairs % base
    return np.asarray((first != end) & (last != start) & ~((first == start) & (last == end)))


def _floor(so_far: list[Fraction], size: int, scale: Fraction, values: int) -> float:
    """What a gram's estimate must reach for the gram to be extended."""
    if len(so_far) >= size:
        return float(max(scale, sorted(so_far, reverse=True)[size - 1]))
    # The largest of n noise values lies around scale * ln n: below that, an estimate says nothing.
    return float(scale) * max(1.0, math.log(max(values, 1)))


def extended(frequent: Ints, q: int, base: int) -> Ints:
    """The grams of q + 1 symbols whose first q and last q symbols are both frequent."""
    if not len(frequent):
        return frequent
    last = (frequent % base ** (q - 1))[:, None] * base + np.arange(base)
    grams = frequent[:, None] * base + np.arange(base)
    return grams[np.isin(last, frequent)]
