"""Links: the decided pairs."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from gramlink.deciding.rules import Contest, Ints, rule_named
from gramlink.matching.pairs import Pairs


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """The decided pairs by the ids they came with, ordered by the rows they came from.

    `details` has a row for each: its distance or, for records of several fields, its match
    weight and probability and how near each field is.

    Privacy: details tell an owner something of the other's record, and about ten such
    distances can reveal a name; they go back only when asked for.
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


def kept(pairs: Pairs, left_ids: Sequence[str], right_ids: Sequence[str], rule: str) -> Ints:
    """Which pairs of one field a rule keeps, the nearest first."""
    contest = Contest.of(pairs.left, pairs.right, pairs.squared, left_ids, right_ids)
    return rule_named(rule).keep(contest)


def decide(pairs: Pairs, left_ids: Sequence[str], right_ids: Sequence[str], rule: str) -> Links:
    """The pairs of one field that a rule keeps by distance alone, with their distances.

    The linkage unit weighs them jointly: see `decide_near`.

    >>> import numpy as np
    >>> row = np.array([0, 0])
    >>> links = decide(Pairs(row, np.array([0, 1]), row), ["a"], ["y", "x"], "one-to-one")
    >>> links.left, links.right
    (('a',), ('x',))
    """
    chosen = kept(pairs, left_ids, right_ids, rule)
    return Links(
        tuple(left_ids[i] for i in pairs.left[chosen].tolist()),
        tuple(right_ids[j] for j in pairs.right[chosen].tolist()),
        pl.DataFrame({"distance": pairs.distances[chosen]}),
    )
