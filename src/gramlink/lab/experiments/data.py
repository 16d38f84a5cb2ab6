"""The paper's scenario: a list, and a copy with up to a number of edits in each string."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gramlink.deciding.links import kept
from gramlink.lab.datasets import cities, corrupt, sample, surnames
from gramlink.lab.scores import Scores
from gramlink.matching.pairs import Pairs
from gramlink.records.fields import ALPHABET, CATCH_ALL
from gramlink.records.strings import Strings

Ints = npt.NDArray[np.int64]

LISTS = {"NAMES": surnames, "CITIES": cities}
MOST, CITIES = 149_910, 5000  # all of NAMES, all of CITIES
SMALL = 5000  # of NAMES, where a figure links


@dataclass(frozen=True, slots=True, eq=False)
class Copies:
    """Two owners' strings: row j on the right is a copy of row `order[j]` on the left.

    Where `order[j]` is -1 it is a copy of none.
    """

    left: Strings
    right: Strings
    order: Ints

    @property
    def truth(self) -> int:
        """How many right strings are copies of left ones."""
        return int((self.order >= 0).sum())

    def half(self, draw: int) -> "Copies":
        """Two thirds of either side, at random, so that half of them are on the other side, too."""
        count = len(self.order)
        each = 2 * count // 3
        rows = np.random.default_rng(draw).permutation(count)
        kept = np.sort(rows[:each])
        columns = np.flatnonzero(np.isin(self.order, rows[-each:]))
        places = np.full(count, -1)
        places[kept] = np.arange(each)
        return Copies(self.left.take(kept), self.right.take(columns), places[self.order[columns]])

    def some(self, count: int, draw: int) -> "Copies":
        """`count` of the left strings, at random, and their copies."""
        rows = np.sort(np.random.default_rng(draw).permutation(len(self.order))[:count])
        columns = np.flatnonzero(np.isin(self.order, rows))
        order = np.searchsorted(rows, self.order[columns])
        return Copies(self.left.take(rows), self.right.take(columns), order)

    def scores(self, pairs: Pairs, rule: str) -> Scores:
        """How good the pairs that a rule keeps are."""
        rows = range(len(self.order))
        ids = [str(row) for row in rows]
        chosen = kept(pairs, ids, ids, rule)
        left, right = pairs.left[chosen], pairs.right[chosen]
        correct = int((self.order[right] == left).sum())
        return Scores(links=len(left), truth=self.truth, correct=correct)

    def scores_of_all(self, batches: Iterable[Pairs]) -> Scores:
        """How good all pairs are; there may be more than fit into memory."""
        links, correct = 0, 0
        for pairs in batches:
            links += len(pairs)
            correct += int((self.order[pairs.right] == pairs.left).sum())
        return Scores(links=links, truth=self.truth, correct=correct)


@lru_cache(maxsize=32)
def copies(data: str, count: int, edits: int, draw: int) -> Copies:
    """A random sample of a list, and its shuffled and corrupted copy; `draw` is the seed."""
    left = Strings.of(sample(LISTS[data](), count, draw), ALPHABET + CATCH_ALL)
    typed = corrupt(left, edits, seed=draw)
    order = np.random.default_rng(draw).permutation(count)
    return Copies(left, typed.take(order), order)
