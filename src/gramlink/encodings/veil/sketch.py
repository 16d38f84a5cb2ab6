"""Sketches: parities of random subsets of a value's gram counts, which say how near values are.

Counts are taken in unary: a gram that occurs twice sets two bits of weight (1 / |g|)², so that the
weights of the bits in which two values differ add up to about their squared distance. A bit of
weight w enters a parity with probability (1 - exp(-λw)) / 2. Then one parity of values at
distance D differs with probability (1 - exp(-λD)) / 2: never if they are equal, and in a half of
all parities if they are far apart, however far.
"""

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from gramlink.embedding.base import Base
from gramlink.embedding.thresholds import Case, calibrated
from gramlink.embedding.vectors import embed
from gramlink.encodings.secret import Secret, scrambled
from gramlink.encodings.veil.population import known_of
from gramlink.records.fields import MARKS, Field
from gramlink.records.schema import Schema
from gramlink.records.strings import Strings

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

PARITIES = 256
STEEP = 1.08  # λ times the squared distance of two edits: a third of the parities differ there
CAPS = {"text": {1: 3, 2: 2}, "digits": {1: 4, 2: 2}}  # how often a gram of a length counts
UNIT = 1 << 16  # cut-offs are in parts of this
MODELS, SEED = 64, 2013
FOLLOWED = 0.5  # how often a made-up text goes on with a gram of the base


@dataclass(frozen=True, slots=True)
class Scale:
    """How a field's sketches are made and read: λ, and what share of parities each edit changes.

    It follows from the base and the public error model, and from no record.
    """

    steepness: float
    cut_offs: tuple[int, ...]  # of no edits, of one, and so on, in parts of `UNIT`

    @classmethod
    def of(cls, field: Field, base: Base, schema: Schema) -> "Scale":
        """The scale of a field."""
        squared = _squared(field, base, schema)
        steepness = STEEP / squared[2]
        shares = [(1 - math.exp(-steepness * one)) / 2 for one in squared]
        edits = schema.edits_of(field)
        return cls(steepness, tuple(round(share * UNIT) for share in shares[: edits + 1]))


def _squared(field: Field, base: Base, schema: Schema) -> tuple[float, ...]:
    """How far, squared and scaled, so many edits take a made-up value of a field."""
    edits = max(2, schema.edits_of(field))
    if field.placed:  # an edit replaces a symbol in its place
        return tuple(2.0 * e * base.scale**2 for e in range(edits + 1))
    texts = made_up(field, base)
    case = Case(texts, base, field, edits, schema.recall, schema.errors)
    found = [float(np.median(calibrated(replace(case, edits=e)))) for e in range(1, edits + 1)]
    return (0.0, *np.maximum.accumulate(np.maximum(found, 1.0)).tolist())


def made_up(field: Field, base: Base) -> Strings:
    """Texts as a field may have them: half their symbols follow from the base, half are random."""
    source = np.random.default_rng(SEED)
    following: dict[str, list[str]] = {}
    for gram in base.grams:
        for one, other in pairwise(gram):
            if not {one, other} & set(MARKS):
                following.setdefault(one, []).append(other)
    symbols = [gram for gram in base.grams if len(gram) == 1] or list(field.alphabet)
    length = min(field.length, known_of(field.name, field.kind).length)
    texts = []
    for _ in range(MODELS):
        text = ""
        while len(text) < length:
            choices = symbols
            if source.random() < FOLLOWED and text:
                choices = following.get(text[-1], symbols)
            text += choices[int(source.integers(len(choices)))]
        texts.append(text)
    return Strings.of(texts, field.spelling)


def caps_of(field: Field, base: Base) -> Ints:
    """How often each gram of a base counts."""
    caps = CAPS.get(field.kind, {})
    return np.array([caps.get(length, 1) for length in base.lengths], np.int64)


def masks(field: Field, base: Base, scale: Scale, secret: Secret) -> Words:
    """For each bit of a value's unary counts, which parities it enters.

    Privacy: follows from the owners' secret; with it, and the base, sketches tell values.
    """
    caps, weights = caps_of(field, base), (base.scale // np.array(base.lengths)) ** 2
    shares = [(1 - math.exp(-scale.steepness * int(one))) / 2 for one in weights]
    limits = np.repeat(np.array([round(one * 2**32) for one in shares], np.uint64), caps)
    blocks = np.zeros((len(limits), PARITIES // 4, 2), np.uint64)
    blocks[:, :, 0] = np.arange(len(limits))[:, None]
    blocks[:, :, 1] = np.arange(PARITIES // 4)
    drawn = scrambled(blocks, secret.key(f"parities {field.name}"))
    entered = drawn.reshape(len(limits), -1).view("<u4") < limits[:, None]
    return np.packbits(entered, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def parities(strings: Strings, field: Field, base: Base, drawn: Words) -> Words:
    """The parities of different values, as four words each."""
    from gramlink.kernels.veil import parities_of

    caps = caps_of(field, base)
    starts = np.concatenate([[0], np.cumsum(caps)[:-1]])
    return parities_of(embed(strings, base).counts, caps, starts, drawn)


def scales(schema: Schema, bases: dict[str, Base]) -> dict[str, Scale]:
    """The scale of each field."""
    return {field.name: Scale.of(field, bases[field.name], schema) for field in schema.fields}


def read_cut_offs(spelt: Any, edits: int) -> tuple[int, ...]:
    """The cut-offs of a field in a manifest; a `ValueError` if they cannot be."""
    if not isinstance(spelt, list) or not all(type(one) is int for one in spelt):
        raise ValueError("cut-offs are not whole numbers")
    if len(spelt) != edits + 1:
        raise ValueError("a field does not have a cut-off for each number of edits")
    if spelt[0] != 0 or spelt != sorted(spelt) or spelt[-1] > UNIT:
        raise ValueError("cut-offs do not rise from 0")
    return tuple(spelt)
