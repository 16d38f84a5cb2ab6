"""Alignment: how names are encoded, learnt from a register, with neither base nor key.

A few records stand out by how frequent their values are. Taken for the persons whose values are as
frequent, they show roughly how grams of names become numbers: a linear map, field by field. With
it, more records are recognised, and the map gets better, until nearly all are. A key, a rotation
or a salt that is the same for all records of a file does not prevent it.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from gramlink.audit import frequencies
from gramlink.audit.known import Known
from gramlink.audit.scores import Table, added, coded, padded, squares, weighed
from gramlink.audit.seen import Coded
from gramlink.records.strings import Strings

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# attempts: how many records to learn from, what share of them to trust at first, and its growth
ATTEMPTS = ((400, 0.15, 1.7), (800, 0.3, 1.4), (1000, 0.2, 1.3))
MOST_TRUSTED = 0.9
AHEAD, ENOUGH = 5.0, 0.4  # an attempt has worked if so many are so far ahead of the second best
DIMENSIONS = 64  # that codes are projected on, where they have more
BUCKETS = 400  # that grams are hashed into
RIDGE = 3.0
FARTHEST = 8.0
CHUNK = 256
SEED = 2013


def chances(seen: Coded, known: Known, victims: Ints) -> Iterator[Floats]:
    """For each of these records, the chance that it is of each person, the last of nobody."""
    source = np.random.default_rng(SEED)
    codes = [_projected(one.features, source) for one in seen.fields]
    values = [grams(texts) for texts, _ in known.fields]
    best: tuple[float, list[_Fit]] = (-1.0, [])
    for count, trusted, growth in ATTEMPTS:
        pupils = source.choice(len(seen), min(count, len(seen)), replace=False)
        found = _learnt(seen, known, pupils, codes, values, trusted, growth)
        best = max(best, found, key=lambda one: one[0])
        if best[0] >= ENOUGH:
            break
    for start in range(0, len(victims), CHUNK):
        rows = victims[start : start + CHUNK]
        yield from weighed(_scores(seen, known, best[1], rows), known, -2.5 * FARTHEST)


def _learnt(
    seen: Coded, known: Known, pupils: Ints, codes: list[Table], values: list[Table],
    trusted: float, growth: float,
) -> tuple[float, list["_Fit"]]:  # fmt: skip
    """The maps that some records teach, and the share of them whose person is far ahead."""
    scores = np.concatenate(
        [
            frequencies.scores(seen, known, pupils[at : at + CHUNK])
            for at in range(0, len(pupils), CHUNK)
        ]
    )
    fit: list[_Fit] = []
    last = False
    while not last:
        last = trusted >= MOST_TRUSTED
        rows, persons = _surest(scores, pupils, min(trusted, MOST_TRUSTED))
        fit = [
            _Fit.of(codes[f], seen.fields[f].place[rows], values[f], known.values[persons, f])
            for f in range(len(codes))
        ]
        scores = _scores(seen, known, fit, pupils)
        trusted *= growth
    return float((_ahead(scores) > AHEAD).mean()), fit


class _Fit:
    """What the values of a field are expected to look like, and how far they are from it."""

    def __init__(self, codes: Table, expected: Table, spread: float) -> None:
        self.codes, self.expected, self.spread = codes, expected, spread

    @classmethod
    def of(cls, codes: Table, place: Ints, values: Table, whose: Ints) -> "_Fit":
        """A linear map from grams to codes, by ridge regression on those who are trusted."""
        both = (place >= 0) & (whose >= 0)
        x, y = values[whose[both]], codes[place[both]]
        if not len(x):
            return cls(codes, np.zeros((len(values), codes.shape[1]), np.float32), 1.0)
        mean, center = x.mean(axis=0), y.mean(axis=0)
        x, y = x - mean, y - center
        grammar = x.T @ x + RIDGE * np.eye(x.shape[1], dtype=np.float32)
        weights = np.linalg.solve(grammar, x.T @ y)
        expected = (values - mean) @ weights + center
        residual = ((x @ weights - y) ** 2).sum(axis=1)
        return cls(codes, expected.astype(np.float32), float(np.median(residual)) + 0.05)

    def table(self, codes: Ints) -> Table:
        """How near each of these codes is to what each value should look like."""
        apart = squares(self.codes[codes], self.expected)
        near = np.minimum(apart.min(axis=1, keepdims=True), 4 * self.spread)
        return padded(-np.minimum((apart - near) / (2 * self.spread), FARTHEST))


def _scores(seen: Coded, known: Known, fit: list[_Fit], rows: Ints) -> Table:
    tables = []
    for field, one in enumerate(fit):
        codes = coded(seen, field, rows)
        tables.append((codes, one.table(codes).astype(np.float32)))
    return added(seen, known, tables, rows)


def _surest(scores: Table, rows: Ints, share: float) -> tuple[Ints, Ints]:
    """The records whose best person is farthest ahead of the second, with these persons."""
    best = scores.argmax(axis=1)
    chosen = np.argsort(-_ahead(scores), kind="stable")[: max(8, round(share * len(rows)))]
    return rows[chosen], best[chosen].astype(np.int64)


def _ahead(scores: Table) -> Table:
    """How far the best person of each record is ahead of the second."""
    two = np.partition(scores, -2, axis=1)[:, -2:]
    return np.asarray(two[:, 1] - two[:, 0], np.float32)


def grams(texts: Strings) -> Table:
    """Counts of each text's symbols and pairs of symbols, hashed; both ends count as symbols."""
    result = np.zeros((len(texts), BUCKETS), np.float32)
    size = len(texts.symbols) + 2
    lengths = texts.lengths
    text = np.repeat(np.arange(len(texts)), lengths)
    codes = texts.codes.astype(np.int64) + 1
    first = np.ones(len(codes), bool)
    first[1:] = text[1:] != text[:-1]
    last = np.append(first[1:], True) if len(first) else first
    before = np.where(first, 0, np.roll(codes, 1))
    np.add.at(result, (text, codes % BUCKETS), 1)
    np.add.at(result, (text, _hashed(before * size + codes)), 1)
    np.add.at(result, (text[last], _hashed(codes[last] * size)), 1)
    return result


def _hashed(numbers: Ints) -> Ints:
    return (numbers * 2_654_435_761 >> 7) % BUCKETS


def _projected(features: Table, source: np.random.Generator) -> Table:
    wide = features.shape[1]
    if wide <= DIMENSIONS:
        return features
    signs = source.choice(np.array([-1, 1], np.float32), (wide, DIMENSIONS))
    return np.asarray(features @ signs / np.sqrt(DIMENSIONS), np.float32)
