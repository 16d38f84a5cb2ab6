"""Embedding: each record as its gram counts."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gramlink.embedding.base import Base
from gramlink.errors import InvalidParameter
from gramlink.records.strings import Strings


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """Gram counts of each record: row i, coordinate g is how often gram g occurs in record i.

    The paper's coordinate is count / |g|. Times `scale`, the least common multiple of the
    lengths, it is an integer, and so is every squared distance in units of 1 / scale²:
    decisions are exact, on every machine.

    Privacy: shows the linkage unit how often each unnamed gram occurs in each record. With
    the base, or with enough vectors and a public list of names, that is the record itself.
    """

    counts: npt.NDArray[np.uint8]
    lengths: tuple[int, ...]
    missing: npt.NDArray[np.bool_]

    def __post_init__(self) -> None:
        if self.counts.shape != (len(self.missing), len(self.lengths)) or not self.lengths:
            raise InvalidParameter("vectors need a count for each gram and a row for each record")

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def scale(self) -> int:
        """What coordinates are multiplied by to be whole."""
        return math.lcm(*self.lengths)

    @property
    def coordinates(self) -> npt.NDArray[np.int16]:
        """The scaled coordinates, count * scale / |g|."""
        weights = self.scale // np.array(self.lengths)
        return self.counts.astype(np.int16) * weights.astype(np.int16)


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """One field of all records: vectors and, from the left owner, thresholds.

    Column e of the thresholds is for e edits, so the first is 0 and they never decrease.

    Privacy: as `Vectors`; thresholds add a little.
    """

    vectors: Vectors
    thresholds: npt.NDArray[np.int64] | None = None


def embed(strings: Strings, base: Base) -> Vectors:
    """Count the base's grams in each text, overlapping occurrences included.

    >>> embed(Strings.of(["ANANA", "MA"], "AMN*"), Base(("A", "ANA"))).counts.tolist()
    [[3, 2], [1, 0]]

    Privacy: reads raw records; the vectors go to the linkage unit only.
    """
    from gramlink.kernels.occurrences import count_grams

    texts = base.ready(strings)
    coded = base.coded(texts.symbols)
    counts = count_grams(
        texts.codes,
        texts.offsets,
        coded.symbols,
        coded.table,
        coded.lengths,
        len(base.grams),
    )
    return Vectors(counts, base.lengths, strings.missing)
