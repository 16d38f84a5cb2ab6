"""Links: the decided pairs. A rule of deciding is a function."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from gramlink.errors import InvalidParameter
from gramlink.matching.pairs import Pairs

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """The decided pairs by the ids they came with, ordered by the rows they came from.

    `details` has a row for each: its distance or, for records of several fields, its match
    weight and probability and how near each field is.

    Privacy: details tell an owner something of the other's record, and the distances of ten
    links locate a name; they go back only when asked for.
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    details: pl.DataFrame = field(default_factory=pl.DataFrame)

    def __len__(self) -> int:
        return len(self.left)

    @property
    def bare(self) -> "Links":
        """The same without details."""
        return replace(self, details=pl.DataFrame())

    def ordered(self, left: Sequence[str], right: Sequence[str]) -> "Links":
        """The same in the order of these ids, of the left ones first."""
        places = [{one: place for place, one in enumerate(ids)} for ids in (left, right)]
        order = sorted(
            range(len(self)),
            key=lambda row: (places[0][self.left[row]], places[1][self.right[row]]),
        )
        return Links(
            tuple(self.left[row] for row in order),
            tuple(self.right[row] for row in order),
            self.details[order] if self.details.width else self.details,
        )

    def to_polars(self) -> pl.DataFrame:
        """A frame with columns id_left and id_right, and the details if there are any."""
        frame = pl.DataFrame(
            {"id_left": self.left, "id_right": self.right},
            schema={"id_left": pl.String, "id_right": pl.String},
        )
        return frame.hstack(self.details) if self.details.width else frame


def decide_all(pairs: Pairs, left: Ints, right: Ints) -> Ints:  # noqa: ARG001
    """Every pair, as in the paper."""
    return np.arange(len(pairs))


def best_per_left(pairs: Pairs, left: Ints, right: Ints) -> Ints:
    """For each left record its closest right one; ties by the right one's id."""
    return _best(pairs.left, pairs.squared, left[pairs.left], right[pairs.right])


def best_per_right(pairs: Pairs, left: Ints, right: Ints) -> Ints:
    """For each right record its closest left one; ties by the left one's id."""
    return _best(pairs.right, pairs.squared, right[pairs.right], left[pairs.left])


def _best(records: Ints, squared: Ints, own: Ints, other: Ints) -> Ints:
    order = np.lexsort((other, squared, own))
    owners = records[order]
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
    "best-per-right": best_per_right,
    "all": decide_all,
}


def kept(pairs: Pairs, left_ids: Sequence[str], right_ids: Sequence[str], rule: str) -> Ints:
    """Which pairs a rule keeps. Ties go by ids, so the order of rows does not matter."""
    if rule not in RULES:
        raise InvalidParameter(f"no rule {rule!r}", hint="one of " + ", ".join(RULES))
    left, right = _ranks(left_ids, pairs.left), _ranks(right_ids, pairs.right)
    return RULES[rule](pairs, left, right)


def decide(
    pairs: Pairs, left_ids: Sequence[str], right_ids: Sequence[str], rule: str, scale: int = 1
) -> Links:
    """The pairs of one field that a rule keeps, with their distances.

    >>> row = np.array([0, 0])
    >>> links = decide(Pairs(row, np.array([0, 1]), row), ["a"], ["y", "x"], "one-to-one")
    >>> links.left, links.right
    (('a',), ('x',))
    """
    chosen = kept(pairs, left_ids, right_ids, rule)
    return Links(
        tuple(left_ids[i] for i in pairs.left[chosen].tolist()),
        tuple(right_ids[j] for j in pairs.right[chosen].tolist()),
        pl.DataFrame({"distance": np.sqrt(pairs.squared[chosen]) / scale}),
    )


def _ranks(ids: Sequence[str], rows: Ints) -> Ints:
    """The place of each id among the sorted ids of these rows; of other rows, 0."""
    involved = np.zeros(len(ids), np.bool_)
    involved[rows] = True
    places = np.flatnonzero(involved)
    names = pl.Series([ids[place] for place in places.tolist()], dtype=pl.String)
    ranks = np.zeros(len(ids), np.int64)
    ranks[places[names.arg_sort().to_numpy()]] = np.arange(len(places))
    return ranks
