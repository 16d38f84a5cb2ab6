"""Matching: all pairs of vectors within the left one's threshold."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from polars.io.plugins import register_io_source

from gramlink.embedding.vectors import Vectors
from gramlink.errors import InvalidParameter, Mismatch
from gramlink.io.files import written_whole

Ints = npt.NDArray[np.int64]
Progress = Callable[[int, int], None]  # records done, of how many

# 2.4 GB as arrays, twice that while they are put together: more is a mistake in a threshold
MOST_PAIRS = 10**8


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of rows with their squared distance, ordered by left, then distance, then right.

    Distances are in units of 1 / scale, and their squares in units of 1 / scale².
    """

    left: Ints
    right: Ints
    squared: Ints
    scale: int = 1

    def __len__(self) -> int:
        return len(self.left)

    @property
    def distances(self) -> npt.NDArray[np.float64]:
        """The distance of each pair."""
        return np.asarray(np.sqrt(self.squared) / self.scale)

    def to_polars(self) -> pl.DataFrame:
        """A frame with columns left, right and squared."""
        return pl.DataFrame({"left": self.left, "right": self.right, "squared": self.squared})


def match(
    left: Vectors,
    thresholds: Ints,
    right: Vectors,
    progress: Progress | None = None,
    *,
    most: int = MOST_PAIRS,
) -> Pairs:
    """All pairs whose squared distance is at most the left record's threshold, exactly.

    A missing value is near to nothing, not even to another missing value. More than `most`
    pairs are refused.

    Privacy: what the linkage unit computes; it needs vectors and thresholds, no base.
    """
    parts = list(match_batches(left, thresholds, right, progress, most=most))
    nothing = np.empty(0, np.int64)
    return Pairs(
        np.concatenate([nothing, *(part.left for part in parts)]),
        np.concatenate([nothing, *(part.right for part in parts)]),
        np.concatenate([nothing, *(part.squared for part in parts)]),
        left.scale,
    )


def match_batches(
    left: Vectors,
    thresholds: Ints,
    right: Vectors,
    progress: Progress | None = None,
    *,
    most: int = MOST_PAIRS,
) -> Iterator[Pairs]:
    """What `match` returns, in its order, up to a few million pairs at a time.

    Memory is that of the vectors and of a batch for each core, whatever the number of pairs.

    Privacy: as `match`.
    """
    if left.lengths != right.lengths:
        raise Mismatch("the two sides were embedded with different bases")
    if len(thresholds) != len(left) or (len(thresholds) and thresholds.min() < 0):
        raise InvalidParameter("there is one threshold of at least 0 for each left record")
    return _batches(left, thresholds, right, progress, most)


def match_to_parquet(
    path: Path,
    left: Vectors,
    thresholds: Ints,
    right: Vectors,
    progress: Progress | None = None,
    *,
    most: int = MOST_PAIRS,
) -> int:
    """Write what `match` returns to a Parquet file, whole or not at all; returns how many.

    Columns are left, right and squared. Pairs go to disk as they are found.

    Privacy: as `match`; distances on disk are the linkage unit's alone.
    """
    batches = match_batches(left, thresholds, right, progress, most=most)
    written = 0
    wrong: list[BaseException] = []

    def frames(*_: object) -> Iterator[pl.DataFrame]:
        nonlocal written
        try:
            for batch in batches:
                written += len(batch)
                yield batch.to_polars()
        except BaseException as error:
            wrong.append(error)  # polars would wrap it beyond recognition
            raise

    columns = dict.fromkeys(("left", "right", "squared"), pl.Int64)
    with written_whole(path) as file:
        try:
            register_io_source(frames, schema=columns).sink_parquet(file)
        except pl.exceptions.PolarsError as error:
            raise (wrong[0] if wrong else error) from None
    return written


def _batches(
    left: Vectors, thresholds: Ints, right: Vectors, progress: Progress | None, most: int
) -> Iterator[Pairs]:
    from gramlink.matching.join import Full, Join

    rows, columns = np.flatnonzero(~left.missing), np.flatnonzero(~right.missing)
    if not (len(rows) and len(columns)):
        return
    join = Join(_some(left, rows), thresholds[rows], _some(right, columns))
    room = most
    try:
        for block in join.blocks(most):
            room -= len(block.found)
            if room < 0:
                raise Full
            squared = block.found // len(columns)
            found = block.found - squared * len(columns)
            yield Pairs(rows[block.left], columns[found], squared, left.scale)
            if progress:
                progress(block.stop, len(rows))
    except Full as error:
        raise InvalidParameter(
            f"more than {most:,} pairs lie within the thresholds",
            hint="allow fewer edits, or link on a longer field",
        ) from error


def _some(vectors: Vectors, rows: Ints) -> Vectors:
    if len(rows) == len(vectors):
        return vectors
    return Vectors(vectors.counts[rows], vectors.lengths, vectors.missing[rows])
