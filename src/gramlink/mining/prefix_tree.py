"""The prefix tree miner, the paper's second (section 4.2, Algorithm 1), corrected.

Where we leave the paper:
- every kept node asks the count of every symbol of the alphabet, also where no record
  goes on: asking only for observed children would prove a record by keeping one;
- the printed `while` never ends, since its condition does not change: it is an `if`, and
  here a loop over levels; the budget accumulates from the parent and is checked first;
- the threshold knows the alphabet: at 2√2/ε_i alone, phantom subtrees grow without bound
  from about 34 symbols;
- no rule reads a true count.

Cost. The nodes of one level hold disjoint records, so a level costs its ε_i once; the
levels of a path add up to ε.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gramlink.mining.allocation import Allocation, exponential, hybrid, linear
from gramlink.mining.estimates import GRID, Estimates, top
from gramlink.mining.grams import spelled
from gramlink.mining.prefixes import Tree
from gramlink.privacy import Budget
from gramlink.schema import Field
from gramlink.strings import Strings

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Strategy:
    """An allocation, and whether a node of few records spends all that is left at once."""

    allocate: Allocation
    adaptive: bool


STRATEGIES = {
    "tree-linear": Strategy(linear, adaptive=False),
    "tree-exponential": Strategy(exponential, adaptive=False),
    "tree-adaptive": Strategy(exponential, adaptive=True),
    "tree-hybrid": Strategy(hybrid, adaptive=True),
}


def prefix_tree(strings: Strings, field: Field, budget: Budget) -> Estimates:
    """The most frequent grams, read off a noisy prefix tree.

    Privacy: spends the whole budget; the tree in the result can be read again for free.
    """
    tree = grow(strings, field, budget)
    return top(tree.grams(field.q_min, field.q_max, GRID), field.size, tree)


def threshold(epsilon: Fraction, symbols: int) -> float:
    """What a noisy count must reach for its prefix to be kept."""
    return max(2 * math.sqrt(2), math.log(symbols)) / float(epsilon)


def grow(strings: Strings, field: Field, budget: Budget) -> Tree:
    """The noisy prefix tree of the strings, to the field's height."""
    base = len(field.symbols)
    strategy = STRATEGIES[field.miner]
    shares = strategy.allocate(budget.epsilon, field.height, field.q_max)
    kept: dict[str, int] = {}
    # The nodes of the level above: those on schedule, and those that spend all they have
    # left on their children. Each is the number its prefix spells, ascending.
    regular, hurried = np.zeros(1, np.int64), np.empty(0, np.int64)
    node = np.zeros(len(strings), np.int64)  # each record's prefix so far
    for level, share in enumerate(shares, start=1):
        alive = strings.lengths >= level
        symbol = strings.codes[strings.offsets[:-1][alive] + level - 1]
        strings, node = strings.take(np.flatnonzero(alive)), node[alive]
        rest = budget.branch()  # hurried nodes hold records that regular ones do not
        children, counts = _ask(regular, node, symbol, base, budget, share)
        last, last_counts = _ask(hurried, node, symbol, base, rest, rest.left)
        node = node * base + symbol
        grown = np.concatenate([children, last])
        order = np.argsort(grown)
        names = spelled(grown[order], level, field.symbols)
        kept.update(zip(names, np.concatenate([counts, last_counts])[order].tolist(), strict=True))
        regular, hurried = children, last[:0]
        if strategy.adaptive and level < field.height:
            few = counts < 2 * threshold(shares[level], base)
            regular, hurried = children[~few], children[few]
    return Tree(kept)


def _ask(
    parents: Ints, node: Ints, symbol: npt.NDArray[np.uint8], base: int, budget: Budget,
    epsilon: Fraction,
) -> tuple[Ints, Ints]:  # fmt: skip
    """The kept children of some nodes, ascending, and their noisy counts."""
    if not len(parents):
        return parents, parents
    place = np.minimum(np.searchsorted(parents, node), len(parents) - 1)
    inside = parents[place] == node
    child = place[inside] * base + symbol[inside]
    counts = np.bincount(child, minlength=len(parents) * base)
    noisy = budget.laplace(counts, sensitivity=1, epsilon=epsilon)
    chosen = np.flatnonzero(noisy >= threshold(epsilon, base))
    return parents[chosen // base] * base + chosen % base, noisy[chosen]
