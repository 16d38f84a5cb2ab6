"""TF-IDF of grams on the plain text, compared by cosine: what search engines do with names."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gramlink.errors import Mismatch
from gramlink.lab.rivals.padding import padded_grams
from gramlink.lab.rivals.rival import ONE, listed
from gramlink.matching.pairs import Pairs
from gramlink.records.strings import Strings

if TYPE_CHECKING:
    from gramlink.lab.rivals.kernels.overlap import Bags

Ints = npt.NDArray[np.int64]

UNIT = 2**15  # a weight of 1, so that ONE is the product of two
BEYOND = 2 * ONE  # a missing value's distance: larger than any


@dataclass(frozen=True, slots=True, eq=False)
class Weighted:
    """The grams of each text, ascending, and their weights: unit vectors, except for rounding.

    Text i has grams[offsets[i]:offsets[i + 1]]; both sides number grams in the same way.

    Weights are in units of 1 / UNIT, rounded down. For vectors x and y of length 1 the distance
    1 - x·y is |x - y|² / 2, and that is computed from the rounded ones, in units of 1 / ONE:
    exactly, and 0 for equal texts. For texts of 9 grams, as names have, it differs by less than
    0.0003 from what the weights would give before rounding.
    """

    offsets: Ints
    grams: Ints
    weights: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def bytes_each(self) -> float:
        """8 bytes for each gram: 4 for its number, 4 for its weight."""
        return 8 * len(self.grams) / max(1, len(self))

    def between(self, other: "Weighted") -> Ints:
        """The distance in each row; `BEYOND` where a value is missing."""
        from gramlink.lab.rivals.kernels.overlap import row_by_row

        left, right = self._bags(), other._bags()
        return _distances(left.squares, right.squares, row_by_row(left, right))

    def near(self, other: "Weighted", within: int, most: int) -> Pairs:
        """All pairs at most `within` apart, in the order of `match`; more than `most` fail."""
        from gramlink.lab.rivals.kernels.overlap import Bar, make_index, near

        left, right = self._bags(), other._bags()
        grams = max(int(side.grams.max(initial=-1)) for side in (left, right)) + 1
        index = make_index(right, grams)
        # (|x|² + |y|² - 2x·y) // 2 <= within, without the division
        bar = Bar(1, 2, 2 * (min(max(within, -1), ONE) + 1))

        def block(start: int, stop: int, room: int) -> tuple[Ints, Ints, Ints]:
            counts, places, products = near(left, index, bar, start, stop, room)
            own = np.repeat(left.squares[start:stop], counts)
            return counts, places, _distances(own, right.squares[places], products)

        return listed(block, len(self), most)

    def _bags(self) -> "Bags":
        from gramlink.lab.rivals.kernels.overlap import make_bags

        return make_bags(self.offsets, self.grams, self.weights)


def encode(left: Strings, right: Strings, *, q: int = 2) -> tuple[Weighted, Weighted]:
    """Both sides' texts as weighted grams of q symbols, with q - 1 pads before and after.

    A gram's weight is how often it is in the text, times ln((1 + n) / (1 + d)) + 1, where d of
    the n texts of both sides have it; then a text's weights are divided by their length.

    >>> sides = (Strings.of([name], "AN*") for name in ("ANNA", "ANN"))
    >>> one, other = encode(*sides)
    >>> round(1 - int(one.between(other)[0]) / ONE, 2)
    0.51

    Privacy: none. The weights need both sides' plain text in one place.
    """
    if left.symbols != right.symbols:
        raise Mismatch("the two sides have different alphabets")
    owners, found = zip(*(padded_grams(side, q) for side in (left, right)), strict=True)
    texts = np.concatenate([owners[0], owners[1] + len(left)])
    distinct, places = np.unique(np.concatenate(found), return_inverse=True)
    held, times = np.unique(texts * len(distinct) + places, return_counts=True)
    texts, grams = np.divmod(held, max(1, len(distinct)))
    present = np.sum(~left.missing) + np.sum(~right.missing)
    rarity = np.log((1 + present) / (1 + np.bincount(grams, minlength=len(distinct)))) + 1
    raw = times * rarity[grams]
    rows = len(left) + len(right)
    lengths = np.sqrt(np.bincount(texts, raw**2, rows))
    weights = np.floor(raw / lengths[texts] * UNIT).astype(np.int32)
    offsets = np.searchsorted(texts, np.arange(rows + 1))
    middle = offsets[len(left)]
    return (
        Weighted(offsets[: len(left) + 1], grams[:middle], weights[:middle]),
        Weighted(offsets[len(left) :] - middle, grams[middle:], weights[middle:]),
    )


def _distances(left: Ints, right: Ints, products: Ints) -> Ints:
    """From |x|², |y|² and x·y; a vector of length 0 is a missing value."""
    far = (left + right - 2 * products) // 2
    return np.where((left > 0) & (right > 0), far, BEYOND)
