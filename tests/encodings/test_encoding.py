"""All that is above the encodings works with another one than the paper's."""

from dataclasses import replace
from functools import cache

import pytest

from gramlink.bundles.bundle import Bundle
from gramlink.deciding.explanation import explain
from gramlink.embedding.projection import agree
from gramlink.errors import InvalidFile, Mismatch
from gramlink.lab.datasets import persons
from gramlink.parties.linkage_unit import LinkageUnit
from gramlink.parties.owner import Owner
from gramlink.records.choices import ENCODINGS, Choice
from gramlink.records.fields import Field
from gramlink.records.reading import read_records
from gramlink.records.schema import Schema

PERSON = Schema(
    fields=(
        Field(name="given_name"),
        Field(name="surname"),
        Field(name="date_of_birth", kind="date"),
        Field(name="postcode", kind="digits"),
    )
)
SURNAME = Schema(fields=(PERSON["surname"],))


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(ENCODINGS, "hashed", Choice("hashed_records:HashedRecords"))


@cache
def sent(schema_fields):
    people = persons(300, overlap=0.5, seed=2)
    schema = Schema(fields=tuple(PERSON[name] for name in schema_fields), encoding="hashed")
    sides = [("hospital", people.left), ("registry", people.right)]
    parties = [Owner(name, read_records(file, schema), schema, b"key") for name, file in sides]
    projection = agree(*(party.mine(None) for party in parties))
    bundles = [party.embed(projection, exchange="heart").to_bytes() for party in parties]
    truth = set(people.truth.rows())
    return parties, projection, bundles, truth


def received(*names):
    parties, projection, bundles, truth = sent(names)
    return parties, projection, [Bundle.from_bytes(one, "x") for one in bundles], truth


def own_ids(parties, links):
    one, other = parties
    translated = one.translate(other.translate(links))
    return set(zip(translated.left, translated.right, strict=True))


EVERY = tuple(field.name for field in PERSON.fields)


def test_persons_are_linked_by_way_of_another_encoding():
    parties, _, bundles, truth = received(*EVERY)
    linkage = LinkageUnit.of(*bundles).link()
    links = own_ids(parties, linkage.links)
    assert 2 * len(links & truth) / (len(links) + len(truth)) > 0.9
    assert linkage.precision > 0.8
    assert linkage.model.within is not None
    assert linkage.links.details.columns[-1] == "level_postcode"


def test_surnames_are_linked_by_way_of_another_encoding():
    parties, _, bundles, truth = received("surname")
    links = own_ids(parties, LinkageUnit.of(*bundles).link("best-per-left").links)
    assert len(links & truth) > 0.5 * len(truth)


def test_a_pair_is_explained_by_way_of_another_encoding():
    _, _, bundles, _ = received(*EVERY)
    unit = LinkageUnit.of(*bundles)
    model = unit.link().model
    told = explain(unit.compare(), model, 0, 0)
    assert [reason.field for reason in told.reasons] == list(EVERY)


def test_a_manifest_names_the_encoding_and_what_it_has_the_shape_of():
    _, _, (bundle, _), _ = received(*EVERY)
    assert bundle.manifest["encoding"] == "hashed"
    assert bundle.manifest["shape"] == {"buckets": 48}
    assert bundle.rows().columns == ["id", *(f"{name}.hashed" for name in EVERY)]


def test_bundles_of_two_encodings_are_not_compared():
    _, _, (one, other), _ = received(*EVERY)
    other = replace(other, settings={**other.settings, "encoding": "vectors"})
    with pytest.raises(Mismatch, match="differ in encoding: hashed and vectors"):
        LinkageUnit.of(one, other)


def test_a_bundle_of_another_encoding_than_its_settings_say_is_refused():
    _, _, (bundle, _), _ = received(*EVERY)
    torn = replace(bundle, settings={**bundle.settings, "encoding": "vectors"}).to_bytes()
    with pytest.raises(InvalidFile, match="its settings say that it is 'vectors'"):
        Bundle.from_bytes(torn, "x")


def test_an_encoding_that_is_not_known_is_refused(monkeypatch):
    monkeypatch.delitem(ENCODINGS, "hashed")
    _, _, bundles, _ = sent(EVERY)
    with pytest.raises(InvalidFile, match="its encoding is 'hashed', not vectors"):
        Bundle.from_bytes(bundles[0], "x")


def test_what_an_encoding_refuses_to_read_is_an_error_of_the_file(monkeypatch):
    _, _, bundles, _ = sent(EVERY)
    monkeypatch.setattr("hashed_records.BUCKETS", 50)
    with pytest.raises(InvalidFile, match="it has other buckets"):
        Bundle.from_bytes(bundles[0], "x")
