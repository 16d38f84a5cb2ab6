"""Thresholds: how far, squared, a record's match may lie after so many edits.

All in units of 1 / scale², so whole numbers. Each policy is a function of a `Case`, in a module of
its own or here; a line in `records.choices` gives it its name.

| policy | promise |
|---|---|
| calibrated | a share `recall` of the copies corrupted by the error model lies within it |
| worst-case | no string within the edits is missed |
| paper | none: Algorithm 2, which counts the grams an edit loses and not those it gains |
| global | no string within the edits is missed; one threshold for all |
| global-paper | none: the paper's Δ_q·ed, whose proof is invalid |

The promises are about strings as the schema normalises them. With no edits, every
threshold is 0. In a field whose symbols count with their places, such as a date, every
edit replaces one symbol and moves by 2, whatever the policy.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gramlink.embedding.base import Base
from gramlink.embedding.typos import MODELS
from gramlink.records.choices import POLICIES
from gramlink.records.fields import Field
from gramlink.records.schema import Schema
from gramlink.records.strings import Strings, distinct

Ints = npt.NDArray[np.int64]

SAMPLES = 128
SEED = 2013  # thresholds depend on the string alone, so the seed is a constant


@dataclass(frozen=True, slots=True)
class Case:
    """What a policy decides from."""

    strings: Strings
    base: Base
    field: Field
    edits: int
    recall: float = 0.99
    errors: str = "uniform"

    @property
    def arrays(self) -> tuple[npt.NDArray[np.uint8], Ints, int, Ints, Ints, Ints]:
        """The strings and the base as kernels read them; marks stand at their ends."""
        texts = self.base.ready(self.strings)
        coded = self.base.coded(texts.symbols)
        grams = coded.table, coded.lengths, coded.weights
        return (texts.codes, texts.offsets, coded.symbols, *grams)

    @property
    def ends(self) -> int:
        """How many symbols at each end of a string are a mark, which no edit touches."""
        return int(self.base.marked)

    def same_for_all(self, squared: int) -> Ints:
        """One threshold for every record."""
        return np.full(len(self.strings), squared, np.int64)


def one_edit_bound(base: Base) -> int:
    """The largest squared distance one edit can make to any string: Σ (1 + 1/q), scaled.

    A substitution loses q grams of length q and gains q, in coordinates of 1/q. If all lost
    ones are the same gram they make 1, and then the gained ones all differ and make 1/q.

    >>> one_edit_bound(Base(("A", "AB", "ABC"))) / 36
    4.833333333333333
    """
    return sum(base.scale**2 * (q + 1) // q for q in set(base.lengths))


def highest(edits: int, lengths: Sequence[int]) -> int:
    """The largest squared threshold that any policy sets: (6·ed)², for six lengths, scaled."""
    return (6 * edits * math.lcm(*lengths)) ** 2


def global_paper(case: Case) -> Ints:
    """Δ_q·ed for every record (section 5.1). False for Δ_q = 1: 'A' to 'B' is √2."""
    span = case.field.q_max - case.field.q_min + 1
    return case.same_for_all((span * case.edits * case.base.scale) ** 2)


def global_bound(case: Case) -> Ints:
    """ed·√Σ(1 + 1/q) over the lengths in use, for every record."""
    return case.same_for_all(case.edits**2 * one_edit_bound(case.base))


def paper(case: Case) -> Ints:
    """Algorithm 2 as the paper means it: the heaviest grams that the edits can lose."""
    from gramlink.kernels.thresholds import lost_grams

    return lost_grams(*case.arrays, case.ends, case.edits)


def worst_case(case: Case) -> Ints:
    """The farthest that any one edit can lead, found by trying them all; a bound for the rest."""
    from gramlink.kernels.thresholds import farthest_edit

    first = farthest_edit(*case.arrays, case.ends)
    further = (case.edits - 1) ** 2 * one_edit_bound(case.base)
    # (√a + √b)² = a + b + √(4ab); distances are whole, so rounding down loses none.
    totals = {a: a + further + math.isqrt(4 * a * further) for a in np.unique(first).tolist()}
    return np.array([totals[a] for a in first.tolist()], np.int64)


def calibrated(case: Case) -> Ints:
    """The distance within which a share `recall` of this string's corrupted copies stays."""
    from gramlink.kernels.thresholds import sampled_edits

    typos = MODELS[case.errors](case.strings.symbols)
    # The r-th of n samples covers r/(n+1) of fresh ones on average.
    samples = max(SAMPLES, math.ceil(case.recall / (1 - case.recall)))
    rank = min(samples, math.ceil(case.recall * (samples + 1)))
    return sampled_edits(
        *case.arrays,
        case.ends,
        case.edits,
        case.field.length,
        samples,
        rank,
        SEED,
        typos.substitutes,
        typos.insertions,
    )


def thresholds(strings: Strings, base: Base, field: Field, schema: Schema) -> Ints:
    """The squared thresholds of each text: column e is for e edits, from 0 to the field's.

    >>> from gramlink.records.schema import checked_schema
    >>> names = Strings.of(["ANNA"], "AN*")
    >>> schema = checked_schema(fields=({"name": "x", "alphabet": "AN"},), threshold="global")
    >>> thresholds(names, Base(("A", "N")), schema.fields[0], schema).tolist()
    [[0, 2]]

    Privacy: reads raw records. A threshold tells the linkage unit something of its string
    (about two bits); `coarse` takes most of that away.
    """
    most = schema.edits_of(field)
    result = np.zeros((len(strings), most + 1), np.int64)
    if field.placed:
        result[:] = 2 * np.arange(most + 1)
        return result
    different, place = distinct(strings)
    for edits in range(1, most + 1):
        case = Case(different, base, field, edits, schema.recall, schema.errors)
        # more edits never allow a smaller distance, whatever the samples of a calibration say
        result[:, edits] = np.maximum(POLICIES[schema.threshold](case)[place], result[:, edits - 1])
    return result


def coarse(squared: Ints, scale: int) -> Ints:
    """Thresholds rounded up to whole distances squared, so that they tell less.

    >>> coarse(np.array([0, 30, 36, 40]), 6).tolist()
    [0, 36, 36, 72]
    """
    step = scale**2
    return -(-squared // step) * step
