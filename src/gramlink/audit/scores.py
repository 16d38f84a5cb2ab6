"""Scores of single values, added up over the fields of a record."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from gramlink.audit.known import Known
from gramlink.audit.seen import Coded

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Table = npt.NDArray[np.float32]


def squares(one: Table, other: Table) -> Table:
    """The squared distance of each row to each row of the other."""
    found = (one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1) - 2 * (one @ other.T)
    return np.asarray(np.maximum(found, 0), np.float32)


def added(seen: Coded, known: Known, tables: Sequence[tuple[Ints, Table]], rows: Ints) -> Table:
    """The sum over fields of the scores of these records' values, for each person.

    A table has a row for each code listed, and a column for each value of the register, and one
    of zeros for none.
    """
    result = np.zeros((len(rows), len(known)), np.float32)
    for field, (codes, table) in enumerate(tables):
        place = seen.fields[field].place[rows]
        there = np.flatnonzero(place >= 0)
        wide = np.take(table, known.values[:, field], axis=1)  # -1 is the column of zeros
        result[there] += wide[np.searchsorted(codes, place[there])]
    return result


def coded(seen: Coded, field: int, rows: Ints) -> Ints:
    """The different codes that these records have in a field, ascending."""
    found = np.unique(seen.fields[field].place[rows])
    return found[found >= 0]


def padded(table: Table) -> Table:
    """A table with a column for those who have no value."""
    return np.hstack([table, np.zeros((len(table), 1), np.float32)])


def weighed(scores: Table, known: Known, nobody: float) -> Iterator[Floats]:
    """Chances from scores, the last being that of nobody, who has as good a score as `nobody`."""
    prior = np.log(known.coverage / len(known))
    for row in scores.astype(np.float64):
        whole = np.append(row + prior, nobody + np.log(1 - known.coverage))
        chances = np.exp(whole - whole.max())
        yield chances / chances.sum()
