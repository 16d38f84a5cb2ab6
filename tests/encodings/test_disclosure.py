"""Each encoding says what it shows of a record, so that ledgers can add it up."""

from functools import cache

import polars as pl
import pytest

from gramlink.embedding.projection import agree
from gramlink.encodings.encoding import encoding_of
from gramlink.encodings.secret import Secret
from gramlink.kernels.cells import CELL, DRAWS, TAG
from gramlink.parties.owner import Owner
from gramlink.records.fields import Field
from gramlink.records.reading import read_records
from gramlink.records.schema import Schema

PERSON = Schema(
    fields=(
        Field(name="given_name"),
        Field(name="surname"),
        Field(name="date_of_birth", kind="date"),
    )
)
PEOPLE = {
    "id": ["1", "2", "3"],
    "given_name": ["Ann", "Bob", None],
    "surname": ["Miller", "Anders", "Nakamura"],
    "date_of_birth": ["1980-01-31", "1975-12-01", "2001-07-14"],
}


def schema(encoding):
    return Schema(fields=PERSON.fields, encoding=encoding)


def owner(name, people=PEOPLE):
    agreed = schema("veiled")
    return Owner(name, read_records(pl.DataFrame(people), agreed), agreed, name.encode() * 5)


@cache
def projection():
    return agree(owner("clinic").mine(None), owner("office").mine(None))


def veiled(secret, people=PEOPLE):
    return owner("clinic", people).embed(projection(), exchange="stroke", secret=secret).records


@pytest.fixture
def secret():
    contributions = {"clinic": bytes(range(32)), "office": bytes(range(32, 64))}
    return Secret.of(contributions, exchange="stroke", schema="5f0c")


def test_vectors_show_everything():
    shown = encoding_of("vectors").disclosure(schema("vectors"))
    assert (shown.rows, shown.draws, shown.adds_up) == (1, None, False)


def test_the_veil_shows_the_draws_that_the_bytes_of_a_record_have_room_for(secret):
    shown = encoding_of("veiled").disclosure(schema("veiled"))
    assert shown.adds_up
    assert shown.draws.keys() == {field.name for field in PERSON.fields}
    assert all(number % DRAWS == 0 for number in shown.draws.values())
    cells = sum(shown.draws.values()) // DRAWS
    (column,) = veiled(secret).columns().values()
    assert set(column.bin.size()) == {TAG * shown.rows + CELL * cells}


def test_the_veil_shows_the_fields_that_a_key_fixes_in_no_draw(secret):
    shown = encoding_of("veiled").disclosure(schema("veiled"))
    keys = veiled(secret).layout.keys
    for name, number in shown.draws.items():
        assert number == DRAWS * sum(name not in key.fixed for key in keys)


def test_the_same_records_have_the_same_digest_and_others_another(secret):
    digest = veiled(secret).digest
    assert veiled(secret).digest == digest
    changed = {**PEOPLE, "surname": ["Miller", "Anders", "Nakamora"]}
    assert veiled(secret, changed).digest != digest
