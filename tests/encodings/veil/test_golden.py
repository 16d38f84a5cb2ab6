"""Rows are what they always were, and what the definition makes of the same keys and records."""

import json
from pathlib import Path

import pytest

from golden import make_veil
from gramlink.records.strings import Strings
from reference import veil as definition

GOLDEN = json.loads(Path(make_veil.FILE).read_text("utf-8"))
OWNERS = {one["owner"]: one for one in GOLDEN["owners"]}
FIELDS = make_veil.schema().fields


def test_the_file_is_made_again_byte_for_byte():
    assert make_veil.document() == GOLDEN


@pytest.mark.parametrize("owner", OWNERS)
def test_an_owner_sends_what_the_file_says(owner):
    key, records = bytes.fromhex(OWNERS[owner]["key"]), OWNERS[owner]["records"]
    sent = make_veil.veiled(owner, key, records)
    assert [row.tobytes().hex() for row in sent.rows] == OWNERS[owner]["rows"]


@pytest.mark.parametrize("owner", OWNERS)
def test_the_definition_needs_nothing_but_the_file(owner):
    fields = [
        definition.Field(
            field.name,
            field.kind,
            tuple(GOLDEN["bases"].get(field.name, field.public_grams)),
            GOLDEN["steepness"][field.name],
        )
        for field in FIELDS
    ]
    records = [
        {field.name: text for field, text in zip(FIELDS, map(placed, FIELDS, row), strict=True)}
        for row in OWNERS[owner]["records"]
    ]
    root, own = (bytes.fromhex(one) for one in (GOLDEN["secret"], OWNERS[owner]["private"]))
    rows = definition.sent(root, own, records, fields, GOLDEN["shape"]["keys"])
    assert [row.hex() for row in rows] == OWNERS[owner]["rows"]


def placed(field, text):
    """A value whose symbols count with their places, if the field's do."""
    strings = Strings.of([text], field.spelling)
    return (strings.placed(field.symbols) if field.placed else strings)[0]


def test_three_owners_share_what_their_records_have_in_common():
    """Who reads the file can see that it has what matters in it."""
    tags = {
        owner: [row[:16] for row in one["rows"]] for owner, one in OWNERS.items()
    }  # of the first key, colour and born
    assert tags["clinic"][1] != tags["office"][1]  # MARE and MORE
    assert tags["clinic"][1] == tags["school"][0]
    assert len(set(tags["clinic"])) == len(tags["clinic"])  # two are the same, so neither is sent
    assert tags["office"][0] not in tags["clinic"]
