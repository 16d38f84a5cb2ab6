"""Values that do not look real: fillers, defaults, and one value throughout."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from gramlink.records.fields import Field, Kind
from gramlink.records.reading import Problem
from gramlink.records.strings import Strings
from gramlink.records.tables import SHOWN

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

# A value that makes up more than this share of all values deserves a look: it may be a system
# default, or what people typed when they did not know.
# text: Smith is 1 % of Britain and of the United States, and few countries have a surname
#   beyond 5 %. Where one does, or for places in a regional file, the owner has to judge.
# digits: a postcode in a regional file is seldom above this, a phone or a number never.
# date: one day is 0.27 % of a year, and dates of birth spread over a hundred years.
# category: any share short of all is plausible.
TOO_COMMON: Mapping[Kind, float] = MappingProxyType({"text": 0.05, "digits": 0.05, "date": 0.005})
LEAST_COMMON = 10  # rows; in a small file fewer equal values than that may be chance
MOST_COMMON = 3  # values named for a field, since in a field of few values all are common
# "0" to "99" may be a house number, and two letters a name; one symbol three times is a filler.
FILLER = 3
FILLER_DIGITS = "09"  # there are postcodes such as 1111


def suspicions(field: Field, values: Strings, kind: Ints, rows: Ints) -> list[Problem]:
    """Values that occur in too many rows to be real values of so many people."""
    counts = np.bincount(kind, minlength=len(values))
    counts[values.missing] = 0
    present = int(counts.sum())

    def problem(what: str, found: Bools) -> Problem:
        places = np.flatnonzero(found)
        return Problem(
            field.source,
            what,
            len(places),
            tuple(rows[places][:SHOWN].tolist()),
            field.name,
            places,
        )

    if not present:
        return [problem("missing throughout, that is,", kind >= 0)]
    if present > 1 and counts.max() == present:
        return [problem("the same value throughout, that is,", kind == counts.argmax())]
    found = []
    filler = _fillers(field, values)
    if filler.any():
        found.append(problem("a filler of one symbol", filler[kind]))
    limit = TOO_COMMON.get(field.kind, 1) * present
    common = np.flatnonzero((counts > limit) & (counts >= LEAST_COMMON) & ~filler)
    common = common[np.argsort(-counts[common], kind="stable")][:MOST_COMMON]
    for value in common.tolist():
        share = 100 * counts[value] / present
        found.append(problem(f"the same value, {share:.1f} % of all,", kind == value))
    return found


def _fillers(field: Field, values: Strings) -> Bools:
    """Which values repeat one symbol, as "XXX" and "0000000" do."""
    symbols = FILLER_DIGITS if field.kind == "digits" else field.alphabet
    repeats = np.array(
        [symbol in symbols and (symbol.isalpha() or symbol in FILLER_DIGITS)
         for symbol in field.spelling]
    )  # fmt: skip
    lengths = values.lengths
    filler = lengths >= FILLER
    if field.placed or not filler.any():
        return np.zeros(len(values), np.bool_)
    first = np.zeros(len(values), np.uint8)
    first[lengths > 0] = values.codes[values.offsets[:-1][lengths > 0]]
    other = np.append(0, np.cumsum(values.codes != np.repeat(first, lengths)))[values.offsets]
    repeated: Bools = filler & (np.diff(other) == 0) & repeats[first]
    return repeated
