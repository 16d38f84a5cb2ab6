"""Values that look like no real ones: fillers, defaults, and one value throughout."""

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

# A value that more than this share of the values equal is one to look at: a default of the
# system, or what somebody typed who did not know.
# text: Smith is 1 % of Britain and of the United States, and few countries have a surname
#   beyond 5 %. Where they do, or for places in a regional file, it is for the owner to tell.
# digits: a postcode of a regional file is seldom above, a phone or a number never.
# date: one day is 0.27 % of a year, and dates of birth lie in a hundred of them.
# category: any share is plausible but all.
TOO_COMMON: Mapping[Kind, float] = MappingProxyType({"text": 0.05, "digits": 0.05, "date": 0.005})
LEAST_COMMON = 10  # rows; in a small file fewer equal values than that come by chance
MOST_COMMON = 3  # values named for a field, as a field of few values has all of them common
# "0" to "99" may be a house number, and two letters a name; three times the same is a filler.
FILLER = 3
FILLER_DIGITS = "09"  # there are postcodes such as 1111


def suspicions(field: Field, values: Strings, kind: Ints, rows: Ints) -> list[Problem]:
    """Values that are in too many rows to be those of so many people."""
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
