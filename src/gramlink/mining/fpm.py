"""Frequent pattern mining, the paper's first miner (section 4.1), corrected.

After Bhaskar et al. (2010): for each length, choose the k most frequent grams under noise,
then release the counts of the chosen under fresh noise. Where we depart from the paper:
every gram of the alphabet takes part, even if no record contains it; the noise used for
choosing is never released; the scales are those that the proof needs.

Cost. Choosing costs ε_q/2 (see `Budget.top`), the k counts, of L1 sensitivity k, cost
ε_q/2, and the lengths' ε_q sum to ε. Cutting the counts off below b keeps their
sensitivity at 1, since the k-th largest count itself moves by at most 1.
"""

import math
from fractions import Fraction

import numpy as np

from gramlink.mining.estimates import Estimates, top
from gramlink.mining.grams import document_frequencies, spelled
from gramlink.privacy.budget import Budget
from gramlink.records.fields import Field
from gramlink.records.strings import Strings

UNIVERSE = 10**6  # up to here every gram is written out; beyond, the unseen are drawn implicitly
FAILURE = 0.1  # the chance, ρ, that the cut-off loses a frequent gram; utility only


def fpm(strings: Strings, field: Field, budget: Budget) -> Estimates:
    """The most frequent grams of each length, then of all lengths.

    Privacy: spends the whole budget.
    """
    lengths = range(field.q_min, field.q_max + 1)
    released: list[tuple[str, Fraction]] = []
    for q in lengths:
        released += _of_length(q, strings, field, budget, budget.epsilon / len(lengths))
    return top(released, field.size)


def _of_length(
    q: int, strings: Strings, field: Field, budget: Budget, epsilon: Fraction
) -> list[tuple[str, Fraction]]:
    universe = len(field.symbols) ** q
    k = min(field.size, universe)
    grams, counts = document_frequencies(strings, q)
    if universe <= UNIVERSE:
        every = np.zeros(universe, np.int64)
        every[grams] = counts
        grams, counts = np.arange(universe), every
    hidden = universe - len(grams)
    largest = np.sort(counts)[::-1]
    kth = int(largest[k - 1]) if k <= len(largest) else 0
    scale = 4 * k / float(epsilon)
    slack = math.ceil(scale * (math.log(k / FAILURE) + math.log(universe)))
    cut = max(kth - slack, 0)
    chosen, unseen = budget.top(
        np.maximum(counts, cut), k, epsilon=epsilon / 2, hidden=hidden, hidden_value=cut
    )
    names = spelled(
        np.concatenate([grams[chosen], [absent(grams, int(rank)) for rank in unseen]]).astype(
            np.int64
        ),
        q,
        field.symbols,
    )
    true = np.concatenate([counts[chosen], np.zeros(len(unseen), np.int64)])
    noisy = budget.laplace(true, sensitivity=k, epsilon=epsilon / 2)
    return [(name, Fraction(count)) for name, count in zip(names, noisy.tolist(), strict=True)]


def absent(present: "np.ndarray[tuple[int], np.dtype[np.int64]]", rank: int) -> int:
    """The rank-th number, from 0, that is not in an ascending list.

    >>> [absent(np.array([0, 2, 3]), rank) for rank in range(3)]
    [1, 4, 5]
    """
    # present[i] - i numbers below present[i] are absent
    return rank + int(np.searchsorted(present - np.arange(len(present)), rank, side="right"))
