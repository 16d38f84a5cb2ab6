import math
from contextlib import suppress
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.encodings.secret import Secret
from gramlink.encodings.veil.sketch import (
    STEEP,
    UNIT,
    Scale,
    made_up,
    masks,
    parities,
    read_cut_offs,
    scales,
)
from gramlink.records.strings import Strings
from reference import veil as definition
from reference.embedding import occurrences, scale
from veiling import BASES, DEFINED, FIELDS, SCALES, SCHEMA, placed

WORDS = {
    "given_name": ["ANNA", "ANN", "MARIANNE", "E", "NNNNNNNN", "MANNEN"],
    "surname": ["MILLER", "MEIER", "MANN", "A", "EEEEEEEE"],
    "born": ["19800214", "19800412", "20311131"],
    "postcode": ["12345", "12354", "99999", "1"],
    "sex": ["F", "M"],
}
BOTH = pytest.mark.parametrize(
    ("field", "defined"), list(zip(FIELDS, DEFINED, strict=True)), ids=[one.name for one in FIELDS]
)
SECRETS = [Secret(bytes([number]) * 32) for number in range(12)]


def sketched(field, texts, secret):
    strings = placed(field, Strings.of(texts, field.spelling))
    base, of = BASES[field.name], SCALES[field.name]
    return parities(strings, field, base, masks(field, base, of, secret)), list(strings)


@BOTH
def test_parities_are_those_of_the_definition(field, defined):
    found, texts = sketched(field, WORDS[field.name], SECRETS[0])
    for words, text in zip(found, texts, strict=True):
        bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
        assert bits.tolist() == definition.parities(SECRETS[0].root, defined, text)


def distance(defined, one, other):
    """The weights of the bits in unary in which two values differ."""
    unit = scale(defined.base)
    return sum(
        abs(
            min(occurrences(one, gram), definition.cap(defined, gram))
            - min(occurrences(other, gram), definition.cap(defined, gram))
        )
        * (unit // len(gram)) ** 2
        for gram in defined.base
    )


@BOTH
def test_as_many_parities_differ_as_the_formula_says(field, defined):
    each = [sketched(field, WORDS[field.name], secret) for secret in SECRETS]
    texts = each[0][1]
    for i, j in combinations(range(len(texts)), 2):
        share = (1 - math.exp(-defined.steepness * distance(defined, texts[i], texts[j]))) / 2
        apart = sum(int(np.bitwise_count(found[i] ^ found[j]).sum()) for found, _ in each)
        number = 256 * len(SECRETS)
        error = math.sqrt(share * (1 - share) / number)
        assert apart / number == pytest.approx(share, abs=5 * error + 1e-12)


def test_parities_of_another_secret_or_field_are_others():
    field = FIELDS[0]
    found = [masks(field, BASES[field.name], SCALES[field.name], one) for one in SECRETS[:2]]
    found.append(masks(FIELDS[1], BASES[field.name], SCALES[field.name], SECRETS[0]))
    for one, other in combinations(found, 2):
        assert (one != other).any()


def test_a_third_of_the_parities_differ_at_two_edits_and_fewer_at_one():
    third = round((1 - math.exp(-STEEP)) / 2 * UNIT)
    for field, of in scales(SCHEMA, BASES).items():
        edits = SCHEMA.edits_of(SCHEMA[field])
        assert len(of.cut_offs) == edits + 1
        assert of.cut_offs[0] == 0
        assert sorted(of.cut_offs) == list(of.cut_offs)
        assert of.cut_offs[2:] == (third,) * (edits - 1)
        assert read_cut_offs(list(of.cut_offs), edits) == of.cut_offs


def test_cut_offs_are_the_same_each_time_and_read_no_record():
    field = FIELDS[0]
    one, other = (Scale.of(field, BASES[field.name], SCHEMA) for _ in range(2))
    assert one == other
    texts = made_up(field, BASES[field.name])
    assert list(texts) == list(made_up(field, BASES[field.name]))
    assert set(texts.lengths.tolist()) != {0}


@pytest.mark.parametrize(
    ("spelt", "why"),
    [
        ([0, 1], "for each number of edits"),
        ([], "for each number of edits"),
        ([1, 2, 3], "do not rise from 0"),
        ([0, 3, 2], "do not rise from 0"),
        ([0, 1, UNIT + 1], "do not rise from 0"),
        ([0, -1, 2], "do not rise from 0"),
        ([0, 1, True], "not whole numbers"),
        ([0, 1.0, 2], "not whole numbers"),
        ({"0": 0, "1": 1, "2": 2}, "not whole numbers"),
        ("012", "not whole numbers"),
        (None, "not whole numbers"),
    ],
)
def test_cut_offs_that_cannot_be_are_refused(spelt, why):
    with pytest.raises(ValueError, match=why):
        read_cut_offs(spelt, 2)


@settings(max_examples=100)
@given(spelt=st.lists(st.integers() | st.floats() | st.none(), max_size=4), edits=st.integers(0, 3))
def test_cut_offs_are_read_or_refused(spelt, edits):
    with suppress(ValueError):
        assert list(read_cut_offs(spelt, edits)) == spelt
