"""Rows are, byte for byte, what the definition says; so is what the unit makes of them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.encodings.secret import Secret
from reference import veil as definition
from veiling import (
    DEFINED,
    KEYS,
    NAMES,
    SCALES,
    SOME_KEYS,
    VALUES,
    Party,
    by_definition,
    parties,
    veiled,
)

CUT_OFFS = {name: SCALES[name].cut_offs for name in NAMES}


def as_bytes(records):
    return [row.tobytes() for row in records.rows]


@settings(max_examples=25)
@given(owners=parties(3), keys=SOME_KEYS, root=st.binary(min_size=32, max_size=32))
def test_what_an_owner_sends_is_the_definition_byte_for_byte(owners, keys, root):
    for one in owners:
        secret = Secret(root)
        assert as_bytes(veiled(one, keys, secret)) == by_definition(one, keys, secret)


def test_every_key_and_many_records_are_the_definition_byte_for_byte():
    source = np.random.default_rng(1)
    records = tuple(
        tuple(VALUES[name][source.integers(len(VALUES[name]))] for name in NAMES) for _ in range(25)
    )
    party = Party("clinic", b"key", records)
    assert as_bytes(veiled(party, KEYS)) == by_definition(party, KEYS)


@settings(max_examples=40)
@given(owners=parties(2), keys=SOME_KEYS)
def test_what_the_unit_finds_is_the_definition_pair_by_pair(owners, keys):
    one, other = (veiled(party, keys) for party in owners)
    shared = one.compare(other).shared
    found = {
        (int(i), int(j)): (levels.tolist(), which.tolist())
        for i, j, levels, which in zip(
            shared.left, shared.right, shared.levels, shared.keys, strict=True
        )
    }
    expected = definition.compared(as_bytes(one), as_bytes(other), DEFINED, keys, CUT_OFFS)
    assert found == expected
    assert list(found) == sorted(found)


@settings(max_examples=40)
@given(owners=parties(2), keys=SOME_KEYS)
def test_two_records_share_a_key_if_they_have_it_and_nobody_else_in_either_file(owners, keys):
    one, other = owners
    shared = veiled(one, keys).compare(veiled(other, keys)).shared
    found = set(zip(shared.left.tolist(), shared.right.tolist(), strict=True))
    expected = set()
    for key in keys:
        sides = []
        for party in owners:
            parts = [plain_key(key, record) for record in party.plain]
            sides.append({part: row for row, part in enumerate(parts) if parts.count(part) == 1})
        both = sides[0].keys() & sides[1].keys() - {None}
        expected |= {(sides[0][part], sides[1][part]) for part in both}
    assert found == expected


def plain_key(key, record):
    """What a record has of a key, without any hash."""
    found = []
    for *names, part in key:
        parts = [definition.part_of(record[name], part) for name in names]
        if None in parts or (len(parts) == 2 and parts[0] == parts[1]):
            return None
        found.append(tuple(sorted(parts)))
    return tuple(found)
