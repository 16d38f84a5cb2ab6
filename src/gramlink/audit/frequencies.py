"""Frequencies: a value that is as frequent in the file as a name is among people may be that name.

So are two values together, such as a surname in a street. The attacker needs no base.
"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import numpy.typing as npt

from gramlink.audit.known import Known
from gramlink.audit.scores import weighed
from gramlink.audit.seen import Coded

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Table = npt.NDArray[np.float32]

CHUNK = 200
SHARPEST = 6.0  # evidence against a person that one count can be


def chances(seen: Coded, known: Known, victims: Ints) -> Iterator[Floats]:
    """For each of these records, the chance that it is of each person, the last of nobody."""
    for start in range(0, len(victims), CHUNK):
        rows = victims[start : start + CHUNK]
        yield from weighed(scores(seen, known, rows), known, -SHARPEST)


def scores(seen: Coded, known: Known, rows: Ints) -> Table:
    """How well the counts of each record's values fit those of each person's."""
    fields = range(len(seen.fields))
    ours = np.stack([one.place for one in seen.fields], axis=1)
    share = len(seen) / len(known)
    result = np.zeros((len(rows), len(known)), np.float32)
    for some in [(field,) for field in fields] + list(combinations(fields, 2)):
        here, there = counts(ours[:, some]), counts(known.values[:, some])
        found, place = np.unique(here[rows], return_inverse=True)
        expected, other = np.unique(there, return_inverse=True)
        table = _fit(found, expected, share)
        table[found == 0] = 0
        result += table[place.ravel()][:, other.ravel()]
    return result


def counts(values: Ints) -> Ints:
    """In how many rows each row's values are found together, 0 where one is missing."""
    _, place, sizes = np.unique(values, axis=0, return_inverse=True, return_counts=True)
    return np.where((values < 0).any(axis=1), 0, sizes[place.ravel()])


def _fit(found: Ints, expected: Ints, share: float) -> Table:
    """The logarithm of about how likely so many are found where so many are expected.

    Of those whom the register has beside a person, the file has its share, or all: what is rare in
    both, such as a household, may be in the file as a whole.
    """
    tables = []
    for part in (share, 1.0):
        mean = 1 + part * np.maximum(expected - 1, 0) + 0.02
        spread = np.sqrt(mean * max(1 - part, 0.15) + (0.1 * mean) ** 2 + 0.05)
        apart = (found[:, None] - mean) / spread
        tables.append(-(apart**2) / 2 - np.log(spread))
    table = np.maximum(np.logaddexp(*tables) - np.log(2), -SHARPEST)
    table[:, expected == 0] = 0
    return np.asarray(table, np.float32)
