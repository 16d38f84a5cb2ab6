"""Edit distance on the plain text: the quality that privacy is measured against."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gramlink.errors import InvalidParameter
from gramlink.lab.rivals.rival import listed
from gramlink.matching.pairs import MOST_PAIRS, Pairs
from gramlink.records.strings import LONGEST, Strings

if TYPE_CHECKING:
    from gramlink.lab.rivals.kernels import levenshtein

Ints = npt.NDArray[np.int64]

BEYOND = (LONGEST + 1) ** 2  # a missing value's distance: larger than any


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """The texts themselves, as a rival. Distances are squared edit distances.

    >>> one, other = (Texts(Strings.of(names, "AN*")) for names in (["ANNA"], ["NANA"]))
    >>> one.between(other).tolist(), one.near(other, within=4, most=9).squared.tolist()
    ([4], [4])

    Privacy: none. Both sides' plain text in one place.
    """

    strings: Strings

    def __len__(self) -> int:
        return len(self.strings)

    @property
    def bytes_each(self) -> float:
        """A byte for each symbol."""
        return len(self.strings.codes) / max(1, len(self))

    def between(self, other: "Texts") -> Ints:
        """The squared edit distance in each row; `BEYOND` where a value is missing."""
        from gramlink.lab.rivals.kernels.levenshtein import row_by_row

        squared = row_by_row(_arrays(self.strings), _arrays(other.strings)) ** 2
        return np.where(self.strings.missing | other.strings.missing, BEYOND, squared)

    def near(self, other: "Texts", within: int, most: int) -> Pairs:
        """All pairs whose squared edit distance is at most `within`, in the order of `match`."""
        from gramlink.lab.rivals.kernels.levenshtein import Ordered, near

        edits = math.isqrt(min(max(within, 0), BEYOND))
        lengths = other.strings.lengths
        rows = np.argsort(lengths, kind="stable")
        starts = np.searchsorted(lengths[rows], np.arange(LONGEST + 2))
        left, right = (
            _arrays(self.strings),
            Ordered(*_arrays(other.strings.take(rows)), rows, starts),
        )

        def block(start: int, stop: int, room: int) -> tuple[Ints, Ints, Ints]:
            counts, places, distances = near(left, right, edits, start, stop, room)
            return counts, places, distances**2

        return listed(block, len(self) if within >= 0 else 0, most)


def within_edits(left: Strings, right: Strings, edits: int) -> Pairs:
    """All pairs of texts within `edits` edits, in the order of `match`.

    >>> names = Strings.of(["ANNA"], "AN*"), Strings.of(["NANA", "ANN", "AN"], "AN*")
    >>> pairs = within_edits(*names, edits=1)
    >>> pairs.right.tolist(), pairs.squared.tolist()
    ([1], [1])

    Privacy: none. Both sides' plain text in one place.
    """
    if edits < 0:
        raise InvalidParameter(f"edits must not be negative, but are {edits}")
    return Texts(left).near(Texts(right), edits**2, MOST_PAIRS)


def _arrays(strings: Strings) -> "levenshtein.Texts":
    from gramlink.lab.rivals.kernels import levenshtein

    marks = levenshtein.marks(strings.codes, strings.offsets)
    return levenshtein.Texts(strings.codes, strings.offsets, marks)
