from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.embedding.projection import agree
from gramlink.encodings.secret import Secret
from gramlink.encodings.veil.keys import EITHER
from gramlink.encodings.veil.veiled import VeiledRecords
from gramlink.errors import GramlinkError, InvalidParameter
from gramlink.lab.datasets import persons
from gramlink.lab.datasets.populations import NAMES_AND_BIRTH, Population
from gramlink.parties.linkage_unit import LinkageUnit
from gramlink.parties.owner import Owner
from gramlink.records.fields import Field
from gramlink.records.reading import read_records
from gramlink.records.schema import Schema
from veiling import KEYS, NAMES, SCHEMA, SECRET, SOME_KEYS, Party, parties, veiled

PARTY = Party("clinic", b"key", (("ANNA", "MILLER", "19800214", "12345", "F"),) * 2)
SENT = veiled(PARTY, KEYS)
WORDS = st.sampled_from([*NAMES, "keys", "cut_offs", "check", "whole"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=10,
)


@settings(max_examples=30)
@given(owners=parties(1), keys=SOME_KEYS)
def test_what_was_sent_is_read_again(owners, keys):
    one = veiled(owners[0], keys)
    rows = pl.DataFrame(one.columns())
    assert VeiledRecords.columns_of(one.shape, SCHEMA, ["rows"]) == dict(rows.schema)
    assert VeiledRecords.least(one.shape, SCHEMA) == one.rows.shape[1]
    again = VeiledRecords.read(rows, one.shape, SCHEMA)
    assert again.rows.tolist() == one.rows.tolist()
    assert again.shape == one.shape
    assert len(again) == len(owners[0].records)
    assert again.leads


def torn(part, name):
    """A shape, of which a part is something else."""
    if name in SENT.shape:
        return {**SENT.shape, name: part}
    return {**SENT.shape, "cut_offs": {**SENT.shape["cut_offs"], name: part}}


SHAPES = st.fixed_dictionaries({"keys": JSON, "cut_offs": JSON, "check": JSON})
TORN = st.builds(torn, JSON, st.sampled_from([*SENT.shape, *NAMES]))


@settings(max_examples=200)
@given(shape=JSON | SHAPES | TORN)
def test_a_shape_is_read_or_refused_whatever_it_is(shape):
    try:
        VeiledRecords.columns_of(shape, SCHEMA, ["rows"])
    except ValueError:
        return
    assert shape.keys() == SENT.shape.keys()
    assert set(shape["cut_offs"]) == set(NAMES)


@pytest.mark.parametrize(
    ("check", "cut_offs"),
    [("A" * 64, None), ("\u0661" * 64, None), ("0" * 63, None), (None, list(NAMES)), (None, {})],
)
def test_a_shape_that_cannot_be_is_refused(check, cut_offs):
    shape = dict(SENT.shape)
    shape |= {} if check is None else {"check": check}
    shape |= {} if cut_offs is None else {"cut_offs": cut_offs}
    with pytest.raises(ValueError, match=r"which secret|its fields"):
        VeiledRecords.read(pl.DataFrame(SENT.columns()), shape, SCHEMA)


WIDTH = SENT.layout.width


@pytest.mark.parametrize(
    "rows",
    [[b""], [bytes(WIDTH - 1)], [bytes(WIDTH), bytes(WIDTH + 1)], [bytes(WIDTH), None], [None]],
    ids=["empty", "short", "long", "one null", "null"],
)
def test_records_of_another_width_are_refused(rows):
    frame = pl.DataFrame({"rows": pl.Series(rows, dtype=pl.Binary)})
    with pytest.raises(ValueError, match=f"does not have {WIDTH} bytes"):
        VeiledRecords.read(frame, SENT.shape, SCHEMA)


@settings(max_examples=20)
@given(data=st.data(), count=st.integers(0, 3))
def test_any_bytes_of_the_right_width_are_compared_without_an_error(data, count):
    rows = data.draw(
        st.lists(st.binary(min_size=WIDTH, max_size=WIDTH), min_size=count, max_size=count)
    )
    frame = pl.DataFrame({"rows": pl.Series(rows, dtype=pl.Binary)})
    try:
        one = VeiledRecords.read(frame, SENT.shape, SCHEMA)
    except ValueError:
        return
    levels = one.compare(one).shared.levels
    assert (levels == 0).all()


def test_it_needs_a_secret():
    with pytest.raises(InvalidParameter, match="needs a secret"):
        VeiledRecords.of(replace(PARTY.material, secret=None))


def test_records_of_one_field_cannot_be_linked():
    for ask in (lambda: SENT.lengths, lambda: SENT.near(SENT)):
        with pytest.raises(GramlinkError, match="one field"):
            ask()


@settings(max_examples=25)
@given(owners=parties(2), keys=SOME_KEYS)
def test_pairs_that_share_no_key_miss_everything(owners, keys):
    one, other = (veiled(party, keys) for party in owners)
    compared = one.compare(other)
    found = compared.candidates(())
    known = dict(
        zip(
            zip(found.left.tolist(), found.right.tolist(), strict=True),
            found.levels.tolist(),
            strict=True,
        )
    )
    missing = [of.missing for of in compared.levels]
    for i in range(len(one)):
        for j in range(len(other)):
            levels = compared.levels_of(np.array([i]), np.array([j]))[0].tolist()
            assert levels == known.get((i, j), missing)
    assert sum(found.added) == len(found)
    assert all(added <= share for added, share in zip(found.added, found.found, strict=True))
    assert compared.sizes == (len(one), len(other))
    assert compared.within_left(10).pairs == 0
    assert len(compared.frequencies().shares) == len(NAMES)


def test_fields_that_differ_and_are_the_same_either_way_round_are_swapped():
    either, born = [["given_name", "surname", EITHER]], [["born", "whole"]]
    rest = ("19800214", "12345", "F")
    ours = (("ANNA", "MILLER", *rest), ("JOHN", "ADAM", "19700101", "", ""))
    theirs = (("MILLER", "ANNA", *rest), ("JOHN", "ADAM", "19700102", "", ""))
    one, other = (
        veiled(Party(name, b"key", rows), [either, born])
        for name, rows in (("clinic", ours), ("office", theirs))
    )
    compared = one.compare(other)
    found = compared.candidates(())
    names = [
        [of.names[code] for of, code in zip(compared.levels, row, strict=True)]
        for row in found.levels.tolist()
    ]
    assert [row[:2] for row in names] == [["swapped", "swapped"], ["equal", "equal"]]
    assert [of.partner for of in compared.levels[:3]] == ["surname", "given_name", ""]
    chances = compared.by_chance()
    assert [len(one.counts) for one in chances] == list(map(len, compared.levels))
    assert chances[0].swapped > 0 == chances[2].swapped
    plain = veiled(Party("clinic", b"key", ours), [born])
    assert not any(of.partner for of in plain.compare(plain).levels)


def test_people_whose_names_are_swapped_are_linked_under_the_veil():
    fields = (
        Field(name="given_name", miner="exact", size=30),
        Field(name="surname", miner="exact", size=30),
        Field(name="date_of_birth", kind="date"),
        Field(name="sex", kind="category", length=1),
    )
    schema = Schema(fields=fields, encoding="veiled")
    files = Population(600, overlap=0.8, columns=NAMES_AND_BIRTH, swapped=0.1).draw(seed=1)
    owners = [
        Owner(name, read_records(file, schema), schema, name.encode())
        for name, file in (("clinic", files.left), ("office", files.right))
    ]
    projection = agree(*(owner.mine(None) for owner in owners))
    linkage = LinkageUnit.of(*(one.embed(projection, secret=SECRET) for one in owners)).link()
    links = owners[0].translate(owners[1].translate(linkage.links))
    found, truth = set(zip(links.left, links.right, strict=True)), set(files.truth.rows())
    assert (linkage.links.details["level_given_name"] == "swapped").sum() > 40
    assert 2 * len(found & truth) / (len(found) + len(truth)) > 0.95


def test_persons_are_linked_under_the_veil_by_three_owners_and_by_two():
    fields = (
        Field(name="given_name", miner="exact", size=30),
        Field(name="surname", miner="exact", size=30),
        Field(name="date_of_birth", kind="date"),
        Field(name="postcode", kind="digits"),
        Field(name="phone", kind="digits"),
    )
    schema = Schema(fields=fields, encoding="veiled")
    people = persons(500, overlap=0.5, seed=2)
    files = {"clinic": people.left, "office": people.right, "school": people.left}
    owners = [
        Owner(name, read_records(file, schema), schema, name.encode())
        for name, file in files.items()
    ]
    projection = agree(*(owner.mine(None) for owner in owners))
    bundles = [owner.embed(projection, secret=SECRET) for owner in owners]
    truth = set(people.truth.rows())
    for left, right in ((0, 1), (1, 2)):
        linkage = LinkageUnit.of(bundles[left], bundles[right]).link()
        links = owners[left].translate(owners[right].translate(linkage.links))
        found = {tuple(sorted(pair)) for pair in zip(links.left, links.right, strict=True)}
        true = {tuple(sorted(pair)) for pair in truth}
        assert 2 * len(found & true) / (len(found) + len(true)) > 0.95


def test_bundles_of_two_secrets_are_not_of_one_shape():
    other = veiled(PARTY, KEYS, Secret(bytes(32)))
    assert other.shape != SENT.shape
    assert {**other.shape, "check": SENT.check} == SENT.shape
