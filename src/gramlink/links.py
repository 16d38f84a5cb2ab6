"""Links: the decided pairs. A rule of deciding is a function."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from gramlink.errors import InvalidParameter
from gramlink.matching import Pairs

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Links:
    """The decided pairs by the ids they came with, in the order of `match`.

    `squared` is the squared distance in units of 1 / scale².

    Privacy: the distances of ten links locate a name; they go back only when asked for.
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    squared: tuple[int, ...]
    scale: int = 1

    def __len__(self) -> int:
        return len(self.left)

    def to_polars(self, *, distances: bool = False) -> pl.DataFrame:
        """A frame with columns id_left, id_right and, if asked for, distance."""
        frame = pl.DataFrame(
            {"id_left": self.left, "id_right": self.right},
            schema={"id_left": pl.String, "id_right": pl.String},
        )
        if not distances:
            return frame
        squared = pl.Series(self.squared, dtype=pl.Int64)
        return frame.with_columns(distance=squared.sqrt() / self.scale)


def decide_all(pairs: Pairs, left: Ints, right: Ints) -> Ints:  # noqa: ARG001
    """Every pair, as in the paper."""
    return np.arange(len(pairs))


def best_per_left(pairs: Pairs, left: Ints, right: Ints) -> Ints:
    """For each left record its closest right one; ties by the right one's id."""
    order = np.lexsort((right[pairs.right], pairs.squared, left[pairs.left]))
    owners = pairs.left[order]
    first = np.concatenate([[True], owners[1:] != owners[:-1]])[: len(order)]
    return np.sort(order[first])


def one_to_one(pairs: Pairs, left: Ints, right: Ints) -> Ints:
    """The closest pairs first, each record once; ties by the left id, then the right id."""
    from gramlink.kernels.greedy import take_first

    order = _sorted_by(pairs.squared, left[pairs.left], right[pairs.right])
    return np.sort(take_first(order, pairs.left, pairs.right, len(left), len(right)))


def _sorted_by(squared: Ints, left: Ints, right: Ints) -> Ints:
    """The order by squared distance, then left, then right."""
    sizes = [int(keys.max(initial=0)) + 1 for keys in (squared, left, right)]
    if math.prod(sizes) >= 2**63:
        return np.lexsort((right, left, squared))
    # one key instead of three sorts several times faster
    return np.argsort((squared * sizes[1] + left) * sizes[2] + right)


RULES: dict[str, Callable[[Pairs, Ints, Ints], Ints]] = {
    "one-to-one": one_to_one,
    "best-per-left": best_per_left,
    "all": decide_all,
}


def decide(
    pairs: Pairs, left_ids: Sequence[str], right_ids: Sequence[str], rule: str, scale: int = 1
) -> Links:
    """The pairs that a rule keeps. Ties go by ids, so the order of rows does not matter.

    >>> row = np.array([0, 0])
    >>> links = decide(Pairs(row, np.array([0, 1]), row), ["a"], ["y", "x"], "one-to-one")
    >>> links.left, links.right
    (('a',), ('x',))
    """
    if rule not in RULES:
        raise InvalidParameter(f"no rule {rule!r}", hint="one of " + ", ".join(RULES))
    kept = RULES[rule](pairs, _ranks(left_ids), _ranks(right_ids))
    return Links(
        tuple(left_ids[i] for i in pairs.left[kept].tolist()),
        tuple(right_ids[j] for j in pairs.right[kept].tolist()),
        tuple(pairs.squared[kept].tolist()),
        scale,
    )


def _ranks(ids: Sequence[str]) -> Ints:
    """The place of each id among the sorted ids."""
    ranks = np.empty(len(ids), np.int64)
    ranks[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    return ranks
