"""Nearest neighbour: who in a register has the vectors of a record, with the bases known."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from gramlink.audit.known import Known
from gramlink.audit.scores import Table, added, coded, padded, squares, weighed
from gramlink.audit.seen import Coded
from gramlink.embedding.vectors import embed

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

FARTHEST = 9.0  # evidence against a person that one field can be: it may have changed
EDIT = 2.0  # the squared distance, in units of one symbol, that counts as one unit of evidence
CHUNK = 256


def chances(seen: Coded, known: Known, victims: Ints) -> Iterator[Floats]:
    """For each of these records, the chance that it is of each person, the last of nobody."""
    for start in range(0, len(victims), CHUNK):
        rows = victims[start : start + CHUNK]
        tables = [_table(seen, known, field, rows) for field in range(len(seen.fields))]
        yield from weighed(added(seen, known, tables, rows), known, -2.5 * FARTHEST)


def _table(seen: Coded, known: Known, field: int, rows: Ints) -> tuple[Ints, Table]:
    codes, ours = coded(seen, field, rows), seen.fields[field]
    base = known.bases[known.schema.fields[field].name]
    if ours.lengths != base.lengths:
        raise ValueError("the base is not the one that these vectors were made with")
    weights = (base.scale / np.array(base.lengths)).astype(np.float32)
    values = embed(known.fields[field][0], base).counts.astype(np.float32) * weights
    apart = squares(ours.features[codes] * weights, values) / (EDIT * base.scale**2)
    return codes, padded(-np.minimum(apart, FARTHEST).astype(np.float32))
