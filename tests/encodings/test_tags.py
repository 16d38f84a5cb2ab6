from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlink.bundles.bundle import Bundle
from gramlink.embedding.projection import agree
from gramlink.encodings.tags import NONE, nickname_tags, swap_tags
from gramlink.encodings.vectors import VectorRecords
from gramlink.lab.datasets.populations import NAMES_AND_ADDRESS, Population
from gramlink.parties.linkage_unit import LinkageUnit
from gramlink.parties.owner import Owner
from gramlink.records.fields import Field
from gramlink.records.reading import read_records
from gramlink.records.schema import Schema
from gramlink.records.strings import Strings
from gramlink.scoring.model import Model
from strategies import AB, texts

KEY = bytes(range(32))
NAMES = ("given_name", "surname")
PERSON = Schema(
    fields=(
        *(Field(name=name) for name in NAMES),
        Field(name="date_of_birth", kind="date"),
        Field(name="sex", kind="category", length=1),
    ),
    swaps=(NAMES,),
)


def tags_of(rows, key=KEY):
    one, other = zip(*rows, strict=True)
    return swap_tags(Strings.of(one, AB), Strings.of(other, AB), key).tolist()


@given(rows=st.lists(st.tuples(texts(max_size=3), texts(max_size=3)), min_size=1, max_size=20))
def test_a_tag_is_that_of_the_same_two_values_in_any_order(rows):
    found = tags_of(rows)
    for a, tag in zip(rows, found, strict=True):
        assert (tag == NONE) == (not all(a))
        for b, other in zip(rows, found, strict=True):
            if all(a) and all(b):
                assert (tag == other) == (sorted(a) == sorted(b))


def test_tags_under_another_key_are_others():
    rows = [("A", "B"), ("B", "AB")]
    both = bytes(16) + KEY[16:], KEY[:16] + bytes(16)
    for other in both:
        assert not set(tags_of(rows)) & set(tags_of(rows, other))


def test_tags_are_what_they_are_on_every_machine():
    (found,) = tags_of([("A", "BA")])
    assert found == 6523759689723558213
    names = Strings.of(["ABBEY"], "ABEY*")  # of the first group
    assert nickname_tags(names, "en", KEY).tolist() == [16456760469300488906]


def people():
    """Of all that any schema here asks for."""
    return Population(600, overlap=0.8, swapped=0.1).draw(seed=1)


def parties_of(schema, files=None):
    files = files or people()
    sides = (("a", files.left), ("b", files.right))
    parties = [Owner(name, read_records(file, schema), schema, b"key") for name, file in sides]
    projection = agree(*(party.mine(None) for party in parties))
    return parties, projection


def f1(schema, files=None):
    files = files or people()
    (one, other), projection = parties_of(schema, files)
    linkage = LinkageUnit.of(one.embed(projection), other.embed(projection)).link()
    links = one.translate(other.translate(linkage.links))
    found, truth = set(zip(links.left, links.right, strict=True)), set(files.truth.rows())
    return 2 * len(found & truth) / (len(found) + len(truth)), linkage


def test_people_whose_names_are_swapped_are_found_by_way_of_their_tags():
    plain, _ = f1(replaced(swaps=()))
    better, linkage = f1(PERSON)
    assert better > plain + 0.04
    levels = linkage.links.details["level_given_name"]
    assert (levels == linkage.links.details["level_surname"]).filter(levels == "swapped").all()
    assert (levels == "swapped").sum() > 40
    assert "given_name swapped, surname swapped" in map(str, linkage.model.passes)
    again = Model.from_json(linkage.model.to_json(), "x")
    assert again.levels == linkage.model.levels


def replaced(**changes):
    return Schema.model_validate({**dict(PERSON), **changes})


def test_tags_are_sent_and_come_back():
    (one, _), projection = parties_of(PERSON)
    sent = one.embed(projection)
    column = sent.rows()["given_name+surname.tags"]
    assert column.dtype == pl.UInt64
    missing = [sent.rows()[f"{name}.counts"].is_null() for name in NAMES]
    assert (column.is_null() == (missing[0] | missing[1])).all()
    back = Bundle.from_bytes(sent.to_bytes(), "x")
    assert np.array_equal(back.records.tags[NAMES], sent.records.tags[NAMES])


def test_tags_follow_from_the_base():
    (one, other), projection = parties_of(PERSON)
    grams = projection.bases["surname"].grams
    bases = projection.bases | {"surname": type(projection.bases["surname"])(grams[::-1])}
    turned = replace(projection, bases=bases)
    first, second = (party.embed(projection).records.tags[NAMES] for party in (one, other))
    assert set(first) & set(second) - {NONE}
    assert not set(first) & set(one.embed(turned).records.tags[NAMES]) - {NONE}


@pytest.mark.parametrize("spoilt", ["missing", "invented", "none"])
def test_tags_that_do_not_fit_their_values_are_refused(spoilt):
    (one, _), projection = parties_of(PERSON)
    rows = one.embed(projection).rows()
    tags = rows["given_name+surname.tags"].to_list()
    known = next(row for row, tag in enumerate(tags) if tag is not None)
    unknown = tags.index(None)
    place, tag = {"missing": (known, None), "invented": (unknown, 5), "none": (known, 0)}[spoilt]
    tags[place] = tag
    rows = rows.with_columns(pl.Series("given_name+surname.tags", tags, dtype=pl.UInt64))
    shape = one.embed(projection).records.shape
    with pytest.raises(ValueError, match="a tag"):
        VectorRecords.read(rows, shape, PERSON)


NICKNAMED = Schema(
    fields=(
        Field(name="given_name", nicknames="en"),
        *(Field(name=name) for name in ("surname", "street")),
        Field(name="postcode", kind="digits"),
    )
)


def test_people_who_go_by_a_nickname_are_found_by_way_of_their_group():
    files = Population(1000, overlap=0.8, columns=NAMES_AND_ADDRESS, called=0.3).draw(seed=2)
    plain = NICKNAMED.model_copy(update={"fields": tuple(map(forgotten, NICKNAMED.fields))})
    before, _ = f1(plain, files)
    after, linkage = f1(NICKNAMED, files)
    assert after > before + 0.02
    assert (linkage.links.details["level_given_name"] == "nickname").sum() > 30
    assert linkage.model.weights["given_name"]["nickname"] > 3
    assert Model.from_json(linkage.model.to_json(), "x").levels == linkage.model.levels


def forgotten(field):
    return field.model_copy(update={"nicknames": ""})


def test_groups_are_sent_and_come_back():
    (one, _), projection = parties_of(NICKNAMED)
    sent = one.embed(projection)
    column = sent.rows()["given_name.nicknames"]
    assert column.dtype == pl.UInt64
    assert 0.3 < column.is_not_null().mean() < 1
    back = Bundle.from_bytes(sent.to_bytes(), "x")
    groups = [records.groups["given_name"] for records in (back.records, sent.records)]
    assert np.array_equal(*groups)
    assert back.records.compare(back.records).levels == sent.records.compare(sent.records).levels


@pytest.mark.parametrize("tag", [5, 0])
def test_a_group_of_a_missing_name_is_refused(tag):
    (one, _), projection = parties_of(NICKNAMED)
    sent = one.embed(projection)
    rows = sent.rows()
    tags = rows["given_name.nicknames"].to_list()
    unknown = rows["given_name.counts"].is_null().to_list().index(True)
    tags[unknown if tag else tags.index(None)] = tag
    rows = rows.with_columns(pl.Series("given_name.nicknames", tags, dtype=pl.UInt64))
    with pytest.raises(ValueError, match="a missing name has a group"):
        VectorRecords.read(rows, sent.records.shape, NICKNAMED)
