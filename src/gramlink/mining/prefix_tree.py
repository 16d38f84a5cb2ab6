"""The prefix tree miner, the paper's second (section 4.2, Algorithm 1), corrected.

Where we depart from the paper:
- every kept node asks for the count of every symbol of the alphabet, even where no record
  continues: if only observed children were asked for, keeping one would prove a record;
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

from gramlink.mining.allocation import Allocation, exponential, hybrid, linear
from gramlink.mining.estimates import GRID, Estimates, top
from gramlink.mining.prefixes import Tree
from gramlink.privacy.budget import Budget
from gramlink.records.fields import Field
from gramlink.records.strings import Strings


@dataclass(frozen=True, slots=True)
class Strategy:
    """An allocation, and when a prefix of few records spends all that is left at once.

    It does if its noisy count is below this multiple of what its children would need to be
    kept. Twice is the method's rule; in an exponential allocation that is what the prefix
    itself needed to be kept, so that the rule would never apply, and we take four times.
    """

    allocate: Allocation
    enough: int = 0


STRATEGIES = {
    "tree-linear": Strategy(linear),
    "tree-exponential": Strategy(exponential),
    "tree-adaptive": Strategy(exponential, enough=4),
    "tree-hybrid": Strategy(hybrid, enough=2),
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
    # The prefixes of the level above whose children are asked for, and which of them are
    # hurried: those spend all that is left of their path, and their children are leaves.
    prefixes, hurried = [""], np.array([False])
    node = np.zeros(len(strings), np.int64)  # each record's place among the prefixes
    for level, share in enumerate(shares, start=1):
        alive = np.flatnonzero((strings.lengths >= level) & (node >= 0))
        strings, node = strings.take(alive), node[alive]
        symbol = strings.codes[strings.offsets[:-1] + level - 1]
        counts = np.bincount(node * base + symbol, minlength=len(prefixes) * base)
        counts = counts.reshape(-1, base)
        rest = budget.branch()  # hurried prefixes hold records that the others do not
        keep = np.zeros(counts.shape, np.bool_)
        for group, purse, epsilon in ((~hurried, budget, share), (hurried, rest, rest.left)):
            # asked even of an empty group, so that every draw there can be is tried in a rehearsal
            noisy = purse.laplace(counts[group].ravel(), sensitivity=1, epsilon=epsilon)
            counts[group] = noisy.reshape(-1, base)
            keep[group] = counts[group] >= threshold(epsilon, base)
        parent, child = np.nonzero(keep)
        names = [prefixes[p] + field.symbols[c] for p, c in zip(parent, child, strict=True)]
        kept.update(zip(names, counts[keep].tolist(), strict=True))
        asked = np.flatnonzero(~hurried[parent])
        place = np.full(counts.shape, -1)
        place[parent[asked], child[asked]] = np.arange(len(asked))
        node = place[node, symbol]
        prefixes = [names[i] for i in asked]
        hurried = np.zeros(len(asked), np.bool_)
        if level < field.height:
            few = strategy.enough * threshold(shares[level], base)
            hurried = counts[parent[asked], child[asked]] < few
    return Tree(kept)
