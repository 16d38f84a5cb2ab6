"""Rules: which of the pairs that are good enough become links.

A line in `records.choices` gives a rule its name in `linkage.toml`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from gramlink.errors import InvalidParameter
from gramlink.records.choices import RULES

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Contest:
    """Pairs of rows that may become links, each with its rank: the best have the lowest.

    Pairs of equal rank are told apart by the ids of their records, whose places in the order of
    all ids are `left_place` and `right_place`. So the order of rows in a file does not matter.
    """

    left: Ints
    right: Ints
    rank: Ints
    left_place: Ints  # of each left record
    right_place: Ints

    @classmethod
    def of(
        cls,
        left: Ints,
        right: Ints,
        rank: Ints,
        left_ids: Sequence[str],
        right_ids: Sequence[str],
    ) -> "Contest":
        """The contest of pairs between records with these ids."""
        return cls(left, right, rank, _places(left_ids, left), _places(right_ids, right))


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, and how many links a record may have under it.

    `keep` says which pairs of a contest become links, ascending. The linkage unit has weighed its
    pairs jointly before, so that these are the best set that the limits allow.
    """

    name: str
    one_per_left: bool
    one_per_right: bool
    keep: Callable[[Contest], Ints]


def keep_all(contest: Contest) -> Ints:
    """Every pair, as in the paper."""
    return np.arange(len(contest.rank))


def keep_best_per_left(contest: Contest) -> Ints:
    """For each left record its best pair; ties by the right one's id."""
    return _best(contest.left, contest.rank, contest.right_place[contest.right])


def keep_best_per_right(contest: Contest) -> Ints:
    """For each right record its best pair; ties by the left one's id."""
    return _best(contest.right, contest.rank, contest.left_place[contest.left])


def _best(records: Ints, rank: Ints, other: Ints) -> Ints:
    order = np.lexsort((other, rank, records))
    owners = records[order]
    first = np.concatenate([[True], owners[1:] != owners[:-1]])[: len(order)]
    return np.sort(order[first])


def keep_one_to_one(contest: Contest) -> Ints:
    """The best pairs first, each record once; ties by the left id, then the right id."""
    from gramlink.kernels.greedy import take_first

    left, right = contest.left_place[contest.left], contest.right_place[contest.right]
    order = _sorted_by(contest.rank, left, right)
    sizes = len(contest.left_place), len(contest.right_place)
    return np.sort(take_first(order, contest.left, contest.right, *sizes))


def _sorted_by(rank: Ints, left: Ints, right: Ints) -> Ints:
    """The order by rank, then left, then right."""
    sizes = [int(keys.max(initial=0)) + 1 for keys in (rank, left, right)]
    if math.prod(sizes) >= 2**63:
        return np.lexsort((right, left, rank))
    # one key instead of three sorts several times faster
    return np.argsort((rank * sizes[1] + left) * sizes[2] + right)


ONE_TO_ONE = Rule("one-to-one", one_per_left=True, one_per_right=True, keep=keep_one_to_one)
BEST_PER_LEFT = Rule(
    "best-per-left", one_per_left=True, one_per_right=False, keep=keep_best_per_left
)
BEST_PER_RIGHT = Rule(
    "best-per-right", one_per_left=False, one_per_right=True, keep=keep_best_per_right
)
ALL = Rule("all", one_per_left=False, one_per_right=False, keep=keep_all)


def rule_named(name: str) -> Rule:
    """The rule of a name."""
    if name not in RULES:
        raise InvalidParameter(
            f"there is no rule {name!r}", hint="choose one of " + ", ".join(RULES)
        )
    rule: Rule = RULES[name].value
    return rule


def _places(ids: Sequence[str], rows: Ints) -> Ints:
    """The place of each id among the sorted ids of these rows; of other rows, 0."""
    involved = np.zeros(len(ids), np.bool_)
    involved[rows] = True
    chosen = np.flatnonzero(involved)
    names = pl.Series([ids[row] for row in chosen.tolist()], dtype=pl.String)
    places = np.zeros(len(ids), np.int64)
    places[chosen[names.arg_sort().to_numpy()]] = np.arange(len(chosen))
    return places
