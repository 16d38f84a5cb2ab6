import io
import json
import zipfile
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.bundles.bundle import Bundle
from gramlink.bundles.pseudonyms import pseudonyms
from gramlink.bundles.sealing import new_identity
from gramlink.deciding.links import Links
from gramlink.embedding.projection import agree
from gramlink.embedding.thresholds import coarse, thresholds
from gramlink.encodings.vectors import VectorRecords
from gramlink.errors import (
    BudgetExceeded,
    InvalidParameter,
    InvalidRecords,
    Mismatch,
)
from gramlink.lab.datasets.persons import persons
from gramlink.parties.linkage_unit import LinkageUnit, link_all
from gramlink.parties.owner import Owner, for_the_unit
from gramlink.privacy.ledger import Ledger
from gramlink.records.fields import Field
from gramlink.records.reading import read_records
from gramlink.records.schema import Schema
from mined import as_if_mined
from noise import silent

GRAMS = ("A", "E", "I", "R", "AN", "ER", "MI", "ZQX", "JKW")
PUBLIC = Schema(fields=(Field(name="surname", miner="public", grams=GRAMS),))
MINING = Schema(fields=(Field(name="surname", size=10),), epsilon=Fraction(1, 2))
LEFT = {"PATIENT-001": "Miller", "PATIENT-002": "Anders", "PATIENT-003": None}
RIGHT = {"0007": "Anderson", "0008": "Miler", "0009": "", "0010": "Nakamura"}


def owner(name="clinic", people=LEFT, schema=PUBLIC):
    frame = pl.DataFrame({"id": list(people), "surname": list(people.values())})
    return Owner(name, read_records(frame, schema), schema, key=name.encode() * 5)


def pair(schema=PUBLIC):
    return owner("clinic", LEFT, schema), owner("registry", RIGHT, schema)


def bundles(schema=PUBLIC):
    one, other = pair(schema)
    projection = agree(one.mine(None), other.mine(None))
    return one.embed(projection), other.embed(projection)


def same(one, other):
    """Whether links are the same, in the same order and with the same details."""
    return one.to_polars().equals(other.to_polars())


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "clinic.ledger", "clinic", Fraction(1), draw=silent)


def test_mining_is_charged_to_the_ledger_once(ledger):
    mined = owner(schema=MINING).mine(ledger)
    assert mined.epsilon == Fraction(1, 2)
    assert ledger.state.spent == Fraction(1, 2)
    [release] = ledger.state.releases
    assert release.epsilon == Fraction(1, 2)
    assert release.digest == mined.digest
    assert release.what == "mine surname"
    assert release.parameters["owner"] == "clinic"
    assert release.parameters["schema"] == MINING.digest
    assert release.parameters["shares"] == {"surname": "1/2"}


def test_the_charge_is_on_disk_before_any_noise_is_drawn(tmp_path):
    seen = []

    class Watching(type(silent)):
        def __call__(self, values, scale):
            seen.append(Ledger.open(path).state.spent)
            return super().__call__(values, scale)

    path = tmp_path / "clinic.ledger"
    owner(schema=MINING).mine(Ledger(path, "clinic", Fraction(1), draw=Watching(0)))
    assert set(seen) == {Fraction(1, 2)}


def test_mining_that_fails_is_paid_for_all_the_same(ledger, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError

    monkeypatch.setattr("gramlink.parties.owner.mine", fail)
    with pytest.raises(RuntimeError):
        owner(schema=MINING).mine(ledger)
    assert ledger.state.spent == Fraction(1, 2)
    assert ledger.state.releases[0].digest is None


def test_mining_beyond_the_allowance_is_refused(ledger):
    for _ in range(2):
        owner(schema=MINING).mine(ledger)
    with pytest.raises(BudgetExceeded, match="only 0 is left"):
        owner(schema=MINING).mine(ledger)
    assert len(ledger.state.releases) == 2


@pytest.mark.parametrize("miner", ["public", "random"])
def test_mining_that_reads_no_record_spends_nothing(ledger, miner):
    grams = GRAMS if miner == "public" else ()
    schema = Schema(fields=(Field(name="surname", miner=miner, grams=grams),))
    mined = owner(schema=schema).mine(ledger if miner == "public" else None)
    assert mined.epsilon == 0
    assert not ledger.path.exists()
    assert mined.fields == owner(people=RIGHT, schema=schema).mine(None).fields


@pytest.mark.parametrize("miner", ["exact", "random"])
def test_a_miner_for_experiments_is_refused_where_a_ledger_is_kept(ledger, miner):
    schema = Schema(fields=(Field(name="surname", miner=miner),))
    with pytest.raises(InvalidParameter, match=f"{miner} miner offers no privacy"):
        owner(schema=schema).mine(ledger)
    assert not ledger.path.exists()
    mined = owner(schema=schema).mine(None)
    assert mined.epsilon == {"exact": None, "random": 0}[miner]
    assert (mined.fields["surname"].grams[:2] == ("E", "R")) is (miner == "exact")


def test_a_bundle_holds_pseudonyms_vectors_and_the_left_owners_thresholds():
    one, other = pair()
    left, right = bundles()
    ids = dict(zip(pseudonyms(LEFT, one.key), LEFT, strict=True))
    assert left.ids == tuple(sorted(ids))
    assert right.ids == tuple(sorted(pseudonyms(RIGHT, other.key)))
    assert list(left.records.fields) == list(right.records.fields) == ["surname"]
    ours, theirs = left.records.fields["surname"], right.records.fields["surname"]
    assert ours.vectors.missing.tolist() == [ids[one] == "PATIENT-003" for one in left.ids]
    assert theirs.vectors.missing.sum() == 1
    base = agree(one.mine(None), other.mine(None)).bases["surname"]
    limits = thresholds(one.records["surname"], base, PUBLIC["surname"], PUBLIC)
    rows = [list(LEFT).index(ids[one]) for one in left.ids]
    assert ours.thresholds.tolist() == coarse(limits[rows], base.scale).tolist()
    assert theirs.thresholds is None
    assert (left.records.leads, right.records.leads) == (True, False)


def test_thresholds_are_multiples_of_a_whole_distance():
    left, _ = bundles()
    field = left.records.fields["surname"]
    assert field.vectors.scale == 6
    assert (field.thresholds % 36 == 0).all()
    assert field.thresholds[~field.vectors.missing, 1].min() > 0
    assert not field.thresholds[:, 0].any()


def test_the_unit_gets_no_id_no_gram_and_no_base():
    for bundle, people in zip(bundles(), (LEFT, RIGHT), strict=True):
        data = as_if_mined(bundle).to_bytes()
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            manifest = archive.read("manifest.json").decode()
            rows = pl.read_parquet(io.BytesIO(archive.read("records.parquet")))
        everything = manifest + rows.write_json()
        assert not any(gram in everything for gram in GRAMS if len(gram) == 3)
        assert '"grams"' not in manifest
        if people is LEFT:
            assert "PATIENT" not in everything
            assert b"PATIENT" not in data
        assert not {*people, *filter(None, people.values())} & set(rows["id"])
        assert not any(name.upper() in everything for name in people.values() if name)


def test_the_settings_for_the_unit_are_the_agreed_ones_without_grams():
    sent = for_the_unit(PUBLIC)
    assert GRAMS == PUBLIC["surname"].grams == tuple(PUBLIC.agreed["fields"]["surname"]["grams"])
    assert "grams" not in sent["fields"]["surname"]
    rest = {key: value for key, value in PUBLIC.agreed.items() if key != "fields"}
    assert rest == {key: value for key, value in sent.items() if key != "fields"}
    assert sent["fields"]["surname"].keys() | {"grams"} == PUBLIC.agreed["fields"]["surname"].keys()


def test_the_same_records_make_the_same_bytes_in_whichever_order():
    one, other = pair()
    projection = agree(one.mine(None), other.mine(None))
    turned = owner("clinic", dict(reversed(LEFT.items())))
    assert (
        as_if_mined(one.embed(projection)).to_bytes()
        == as_if_mined(one.embed(projection)).to_bytes()
    )
    assert (
        as_if_mined(turned.embed(projection)).to_bytes()
        == as_if_mined(one.embed(projection)).to_bytes()
    )


def test_an_owner_with_another_schema_is_told_what_differs():
    one, other = pair()
    projection = agree(one.mine(None), other.mine(None))
    schema = PUBLIC.model_copy(update={"edits": 2})
    with pytest.raises(Mismatch, match="the projection and this schema differ in edits: 1 and 2"):
        owner(schema=schema).embed(projection)


def test_an_owner_who_is_not_in_the_projection_is_refused():
    one, other = pair()
    projection = agree(one.mine(None), other.mine(None))
    with pytest.raises(Mismatch, match="to clinic and registry, not to police"):
        owner("police").embed(projection)


def test_owners_may_name_their_columns_as_they_like():
    one, other = pair()
    own = Schema(
        fields=(Field(name="surname", column="nom", miner="public", grams=GRAMS),),
        id="numéro",
        epsilon=Fraction(1, 9),
    )
    frame = pl.DataFrame({"numéro": list(LEFT), "nom": list(LEFT.values())})
    same = Owner("clinic", read_records(frame, own), own, key=one.key)
    projection = agree(same.mine(None), other.mine(None))
    assert projection.digest == agree(one.mine(None), other.mine(None)).digest
    assert (
        as_if_mined(same.embed(projection)).to_bytes()
        == as_if_mined(one.embed(projection)).to_bytes()
    )


def test_links_are_mapped_back_by_each_owner_and_by_no_one_else():
    one, other = pair()
    left, right = bundles()
    links = LinkageUnit.of(left, right).link().links
    assert set(links.left) <= set(left.ids)
    ours = one.translate(links)
    assert set(ours.left) <= set(LEFT)
    assert ours.right == links.right
    both = other.translate(ours)
    assert set(zip(both.left, both.right, strict=True)) == {
        ("PATIENT-001", "0008"),
        ("PATIENT-002", "0007"),
    }
    assert both.details.equals(links.details)
    assert same(owner("police").translate(links), links)


def test_an_id_that_is_not_the_owners_stays_as_it_is():
    links = Links(("x",), ("y",), pl.DataFrame({"distance": [0.5]}))
    assert same(owner().translate(links), links)


def test_the_unit_takes_the_bundles_in_either_order():
    left, right = bundles()
    one, other = LinkageUnit.of(left, right), LinkageUnit.of(right, left)
    assert one.left is other.left is left
    assert one.right is other.right is right
    assert same(one.link().links, other.link().links)


def test_the_unit_links_what_it_reads_from_files():
    left, right = bundles()
    sent = [Bundle.from_bytes(as_if_mined(one).to_bytes(), "x.bundle") for one in (left, right)]
    found, expected = LinkageUnit.of(*sent).link().links, LinkageUnit.of(left, right).link().links
    assert same(found, expected)
    assert len(found) == 2


def test_one_field_is_linked_by_distance_and_has_no_model():
    linkage = LinkageUnit.of(*bundles()).link()
    assert linkage.links.details.columns == ["distance", "match_probability"]
    assert len(linkage.possible) == 0
    assert linkage.model is None
    assert linkage.passes == linkage.histogram == ()
    assert 0.5 < linkage.precision < 1
    assert 0.5 < linkage.recall < 1
    assert [warning.split(":")[1] for warning in linkage.warnings] == [
        " the estimates are rough"
    ] * 2


def test_the_unit_decides_by_the_agreed_rule_unless_told_otherwise():
    settings = {"decide": "all", "accept": 0.0, "review": 0.0, "edits": 5, "threshold": "global"}
    unit = LinkageUnit.of(*bundles(PUBLIC.model_copy(update=settings)))
    assert len(unit.link().links) == len(unit.match()) == 6
    assert len(unit.link("one-to-one").links) == 2
    assert len(unit.link("best-per-left").links) == 2
    assert len(unit.link("best-per-right").links) == 3


def test_a_missing_value_is_linked_to_nothing():
    schema = PUBLIC.model_copy(update={"decide": "all", "edits": 5, "threshold": "global"})
    links = LinkageUnit.of(*bundles(schema)).link().links
    one, other = pair(schema)
    both = one.translate(other.translate(links))
    assert "PATIENT-003" not in both.left
    assert "0009" not in both.right


def test_progress_is_passed_on():
    told = []
    LinkageUnit.of(*bundles()).link(progress=lambda *done: told.append(done))
    assert told == [(2, 2), (2, 2)]  # between the files, and within the left one


def test_two_bundles_of_the_same_owner_are_refused():
    left, _ = bundles()
    with pytest.raises(Mismatch, match="there are two bundles from clinic"):
        LinkageUnit.of(left, left)


@pytest.mark.parametrize("turned", [False, True])
def test_bundles_of_different_settings_are_refused_and_the_settings_named(turned):
    left, right = bundles()
    other = replace(right, settings={**right.settings, "edits": 2})
    with pytest.raises(Mismatch, match=r"differ in edits: (1 and 2|2 and 1)"):
        LinkageUnit.of(*((other, left) if turned else (left, other)))


def test_bundles_of_different_projections_are_refused():
    left, right = bundles()
    with pytest.raises(Mismatch, match="clinic and registry embedded with different projections"):
        LinkageUnit.of(left, replace(right, projection="0" * 64))


def without_thresholds(bundle, *names):
    return replace(
        bundle,
        records=VectorRecords(
            {
                name: replace(field, thresholds=None) if name in names else field
                for name, field in bundle.records.fields.items()
            }
        ),
    )


def test_the_left_bundle_must_have_thresholds():
    left, right = bundles()
    for one, other in [(without_thresholds(left, "surname"), right),
                       (right, without_thresholds(left, "surname"))]:  # fmt: skip
        with pytest.raises(
            Mismatch, match="of clinic, who is left to another owner, has no thresholds"
        ):
            LinkageUnit.of(one, other)


def test_thresholds_of_the_right_bundle_are_for_owners_further_right():
    """Of three owners the second is right to the first, and left to the third."""
    left, right = bundles()
    limits = np.zeros((4, 2), np.int64)
    surname = replace(right.records.fields["surname"], thresholds=limits)
    both = replace(right, records=VectorRecords({"surname": surname}))
    found, expected = (LinkageUnit.of(left, other).link().links for other in (both, right))
    assert same(found, expected)


def test_the_manifest_names_the_projection_by_its_digest_only():
    one, other = pair()
    projection = agree(one.mine(None), other.mine(None))
    manifest = one.embed(projection).manifest
    assert manifest["projection"] == projection.digest
    assert json.loads(json.dumps(manifest)) == manifest


def test_a_bundle_says_what_it_is_for_and_what_was_spent():
    one, other = pair()
    projection = agree(one.mine(None), other.mine(None))
    reply = new_identity().recipient
    bundle = one.embed(projection, exchange="stroke", reply=reply, created="2026-01-31T00:00:00Z")
    assert (bundle.exchange, bundle.reply) == ("stroke", reply)
    assert bundle.created == "2026-01-31T00:00:00Z"
    assert bundle.owners == ("clinic", "registry")
    assert bundle.epsilon == projection.epsilon["clinic"] == 0
    plain = one.embed(projection)
    assert (plain.exchange, plain.reply, plain.created) == ("", None, "")
    assert plain.rows().equals(bundle.rows())


def test_what_an_owner_spent_is_in_its_own_bundle_only():
    ours = owner("clinic", LEFT, Schema(fields=MINING.fields, epsilon=Fraction(1, 3)))
    theirs = owner("registry", RIGHT, Schema(fields=MINING.fields, epsilon=Fraction(2)))
    projection = agree(ours.mine(None), theirs.mine(None))
    assert ours.embed(projection).epsilon == Fraction(1, 3)
    assert theirs.embed(projection).epsilon == 2
    assert '"2"' not in json.dumps(ours.embed(projection).manifest)


def test_checking_a_projection_reads_no_record():
    one, other = pair()
    projection = agree(one.mine(None), other.mine(None))
    nobody = Owner("clinic", None, PUBLIC, key=b"k")
    nobody.check(projection)
    with pytest.raises(Mismatch, match="not to police"):
        replace(nobody, name="police").check(projection)
    with pytest.raises(Mismatch, match="differ in edits: 1 and 2"):
        replace(nobody, schema=PUBLIC.model_copy(update={"edits": 2})).check(projection)


# records that are the same are sent once

NAMES = st.sampled_from(["Miller", "MILLER", "Anders", "Nakamura", "", None])
FILES = st.dictionaries(st.text("0123", min_size=1, max_size=3), NAMES, min_size=1, max_size=9)


def projection_of(*parties):
    return agree(*(party.mine(None) for party in parties))


def by_definition(party):
    """The ids of each kind of record, as one would find them with a dictionary."""
    groups = {}
    texts = [list(party.records[field.name]) for field in party.schema.fields]
    for one, *values in zip(party.records.ids, *texts, strict=True):
        groups.setdefault(tuple(values), []).append(one)
    return groups


@settings(deadline=None, max_examples=30)
@given(people=FILES)
def test_each_different_record_is_sent_once_in_the_order_of_pseudonyms(people):
    party, other = owner("clinic", people), owner("registry", RIGHT)
    bundle = party.embed(projection_of(party, other))
    groups = by_definition(party)
    expected = {pseudonyms([min(ids)], party.key)[0]: values for values, ids in groups.items()}
    assert list(bundle.ids) == sorted(expected)
    vectors, limits = (
        bundle.records.fields["surname"].vectors,
        bundle.records.fields["surname"].thresholds,
    )
    everyone = party.embedded(projection_of(party, other))["surname"]
    place = {one: row for row, one in enumerate(party.records.ids)}
    for row, one in enumerate(bundle.ids):
        source = place[min(groups[expected[one]])]
        assert vectors.counts[row].tolist() == everyone.vectors.counts[source].tolist()
        assert vectors.missing[row] == everyone.vectors.missing[source]
        assert limits[row].tolist() == everyone.thresholds[source].tolist()


@settings(deadline=None, max_examples=30)
@given(people=FILES, order=st.randoms(use_true_random=False))
def test_the_order_of_the_file_leaves_no_trace_in_a_bundle(people, order):
    turned = dict(order.sample(list(people.items()), len(people)))
    one, other = owner("clinic", people), owner("clinic", turned)
    projection = projection_of(one, owner("registry", RIGHT))
    assert (
        as_if_mined(one.embed(projection)).to_bytes()
        == as_if_mined(other.embed(projection)).to_bytes()
    )
    assert dict(zip(one.records.ids, one.pseudonyms, strict=True)) == dict(
        zip(other.records.ids, other.pseudonyms, strict=True)
    )


@settings(deadline=None, max_examples=30)
@given(people=FILES, data=st.data())
def test_how_often_a_record_is_in_the_file_leaves_no_trace_in_a_bundle(people, data):
    """As long as the id that sorts first among the same ones stays the first."""
    copies = data.draw(st.lists(st.sampled_from(sorted(people)), max_size=9))
    more = {f"9{n}": people[one] for n, one in enumerate(copies)}  # 9 sorts behind all
    one, other = owner("clinic", people), owner("clinic", {**more, **people})
    projection = projection_of(one, owner("registry", RIGHT))
    assert (
        as_if_mined(one.embed(projection)).to_bytes()
        == as_if_mined(other.embed(projection)).to_bytes()
    )


@settings(deadline=None, max_examples=30)
@given(people=FILES, data=st.data())
def test_each_id_of_the_same_records_comes_back_from_one_pseudonym(people, data):
    party = owner("clinic", people)
    groups = by_definition(party)
    sent = {pseudonyms([min(ids)], party.key)[0]: ids for ids in groups.values()}
    assert party.pseudonyms == tuple(
        pseudonyms([min(ids)], party.key)[0]
        for one in party.records.ids
        for ids in groups.values()
        if one in ids
    )
    column = st.lists(st.sampled_from([*sent, "unknown", ""]), max_size=6)
    left, right = data.draw(column), data.draw(column)
    count = min(len(left), len(right))
    frame = pl.DataFrame(
        {"id_left": left[:count], "x": list(range(count)), "id_right": right[:count]},
        schema={"id_left": pl.String, "x": pl.Int64, "id_right": pl.String},
    )

    def own(one):
        return sent.get(one, [one])  # in the order of the file

    expected = [(a, x, b) for c, x, d in frame.rows() for a in own(c) for b in own(d)]
    found = party.with_own_ids(frame, "id_left", "id_right")
    assert found.columns == frame.columns
    assert found.rows() == expected
    half = [(a, x, b) for c, x, b in frame.rows() for a in own(c)]
    assert party.with_own_ids(frame, "id_left").rows() == half
    assert party.with_own_ids(frame).equals(frame)


def test_a_link_of_a_record_that_is_there_twice_is_a_link_of_both():
    twice = {"1": "Miller", "2": "Anders", "3": " miller"}
    one, other = owner("clinic", twice), owner("registry", {"8": "Miler", "9": "Miler"})
    projection = projection_of(one, other)
    bundles = [one.embed(projection), other.embed(projection)]
    assert [len(bundle.ids) for bundle in bundles] == [2, 1]
    links = LinkageUnit.of(*bundles).link().links
    assert len(links) == 1
    ours = one.translate(links)
    assert list(zip(ours.left, ours.right, strict=True)) == [
        ("1", links.right[0]),
        ("3", links.right[0]),
    ]
    assert ours.details["distance"].to_list() == links.details["distance"].to_list() * 2
    both = other.translate(ours)
    pairs = set(zip(both.left, both.right, strict=True))
    assert pairs == {("1", "8"), ("1", "9"), ("3", "8"), ("3", "9")}


def test_records_are_the_same_only_if_they_are_in_all_fields():
    frame, _ = people("left")
    some = frame.head(20)
    again = some.with_columns(id="Z" + pl.col("id"))
    moved = some.with_columns(id="Y" + pl.col("id"), phone=pl.lit("0000"))
    party = Owner("clinic", read_records(pl.concat([again, moved, some]), PERSON), PERSON, b"k")
    alone = Owner("clinic", read_records(pl.concat([some, moved]), PERSON), PERSON, b"k")
    assert len(set(party.pseudonyms)) == len(by_definition(party)) == 40
    [other] = owners("registry")
    projection = projection_of(party, other)
    assert (
        as_if_mined(party.embed(projection)).to_bytes()
        == as_if_mined(alone.embed(projection)).to_bytes()
    )


# several fields

PERSON = Schema(
    fields=(
        Field(name="given", miner="public", grams=("A", "E", "I", "N", "L")),
        Field(name="surname", miner="public", grams=GRAMS, edits=2),
        Field(name="born", kind="date"),
        Field(name="sex", kind="category"),
        Field(name="phone", kind="digits", edits=0),
    ),
)
CUSTOM = Schema(fields=tuple(reversed(PERSON.fields)))


def people(side):
    """The same persons as one of two files has them, and whose is whose."""
    two = persons(200, overlap=1, seed=4)
    frame = two.left if side == "left" else two.right
    return frame.rename({"given_name": "given", "date_of_birth": "born"}), two.truth


def owners(*names, schema=PERSON):
    """Each owner with the file of the left or the right side, in turns."""
    frames = [people("left" if n % 2 == 0 else "right")[0] for n in range(len(names))]
    return [
        Owner(name, read_records(frame, schema), schema, key=name.encode() * 5)
        for name, frame in zip(names, frames, strict=True)
    ]


def embedded(parties):
    projection = agree(*(party.mine(None) for party in parties))
    return [party.embed(projection) for party in parties]


@pytest.fixture(scope="module")
def linked():
    parties = owners("clinic", "registry")
    unit = LinkageUnit.of(*embedded(parties))
    return parties, unit, unit.link()


def test_every_field_of_a_bundle_has_vectors_and_the_left_owners_thresholds(linked):
    _, unit, _ = linked
    assert unit.fields == tuple(field.name for field in PERSON.fields)
    for field in PERSON.fields:
        ours, theirs = unit.left.records.fields[field.name], unit.right.records.fields[field.name]
        assert ours.vectors.lengths == theirs.vectors.lengths
        assert ours.thresholds.shape == (200, PERSON.edits_of(field) + 1)
        assert theirs.thresholds is None
    assert len(unit.left.records.fields["born"].vectors.lengths) == 80
    assert len(unit.left.records.fields["phone"].vectors.lengths) == 110


def test_several_fields_are_linked_by_weight_and_say_how_well(linked):
    (one, other), _, linkage = linked
    both = one.translate(other.translate(linkage.links))
    truth = set(people("left")[1].rows())
    found = set(zip(both.left, both.right, strict=True))
    assert len(found & truth) > 0.9 * len(truth)
    assert len(found & truth) > 0.97 * len(found)
    assert linkage.model.names == tuple(field.name for field in PERSON.fields)
    assert 0.9 < linkage.precision <= 1
    assert 0.9 < linkage.recall <= 1.0001
    assert sum(count for _, count in linkage.histogram) >= len(linkage.links)
    assert linkage.passes
    assert linkage.warnings == ()


def test_possible_links_are_of_records_that_no_link_has(linked):
    _, unit, linkage = linked
    possible = linkage.possible
    assert not set(possible.left) & set(linkage.links.left)
    assert not set(possible.right) & set(linkage.links.right)
    probability = possible.details["match_probability"]
    assert probability.is_between(0.1, 0.5).all() or not len(possible)
    assert set(unit.left.ids) >= {*possible.left, *linkage.links.left}


def test_the_unit_links_several_fields_as_it_reads_them_from_files(linked):
    _, unit, linkage = linked
    sent = [
        Bundle.from_bytes(as_if_mined(one).to_bytes(), "x.bundle")
        for one in (unit.right, unit.left)
    ]
    found, again = (LinkageUnit.of(*turn).link() for turn in (sent, sent[::-1]))
    assert same(found.links, again.links)
    assert same(found.possible, again.possible)
    assert same(found.links, linkage.links)
    assert same(found.possible, linkage.possible)


def test_the_passes_of_the_schema_are_used(linked):
    parties, _, _ = linked
    passes = ({"surname": 1, "born": 0}, {"phone": 0})
    schema = PERSON.model_copy(update={"passes": passes})
    linkage = LinkageUnit.of(*embedded(owners("clinic", "registry", schema=schema))).link()
    assert [dict(one.edits) for one, _, _ in linkage.passes] == list(passes)
    assert parties[0].schema.passes == ()


def test_owners_may_list_their_fields_in_any_order(linked):
    _, _, linkage = linked
    one, other = owners("clinic", "registry")
    turned = Owner("registry", read_records(people("right")[0], CUSTOM), CUSTOM, key=other.key)
    projection = agree(one.mine(None), turned.mine(None))
    assert projection.digest == agree(one.mine(None), other.mine(None)).digest
    found = LinkageUnit.of(one.embed(projection), turned.embed(projection)).link()
    assert same(found.links, linkage.links)


@pytest.mark.parametrize("name", [field.name for field in PERSON.fields])
def test_the_left_bundle_must_have_thresholds_of_every_field(linked, name):
    _, unit, _ = linked
    with pytest.raises(Mismatch, match="has no thresholds"):
        LinkageUnit.of(without_thresholds(unit.left, name), unit.right)


def test_an_owner_who_names_a_column_that_is_not_there_is_told_which():
    schema = Schema(fields=(*PERSON.fields, Field(name="job", column="profession")))
    with pytest.raises(InvalidRecords, match="no column profession; it has id, given, surname"):
        read_records(people("left")[0], schema)


def test_the_shares_of_several_mined_fields_are_in_the_ledger(ledger):
    fields = (Field(name="given", share=3), Field(name="surname"), PERSON["born"])
    schema = Schema(fields=fields, epsilon=Fraction(1, 2))
    party = Owner("clinic", read_records(people("left")[0], schema), schema, key=b"k")
    mined = party.mine(ledger)
    assert list(mined.fields) == ["given", "surname"]
    [release] = ledger.state.releases
    assert release.epsilon == ledger.state.spent == mined.epsilon == Fraction(1, 2)
    assert release.what == "mine given, surname"
    assert release.parameters["shares"] == {"given": "3/8", "surname": "1/8"}
    assert release.digest == mined.digest


def test_fields_that_are_not_mined_need_no_ledger(ledger):
    mined = owners("clinic")[0].mine(ledger)
    assert (mined.fields, mined.epsilon) == ({}, 0)
    assert not ledger.path.exists()


def test_one_miner_for_experiments_among_several_fields_is_refused_where_a_ledger_is_kept(ledger):
    schema = Schema(
        fields=(PERSON["born"], Field(name="given"), Field(name="surname", miner="exact"))
    )
    party = Owner("clinic", read_records(people("left")[0], schema), schema, key=b"k")
    with pytest.raises(InvalidParameter, match="exact miner offers no privacy"):
        party.mine(ledger)
    assert not ledger.path.exists()


# several owners


@pytest.fixture(scope="module")
def three():
    parties = owners("a", "b", "c")
    return parties, *link_all(embedded(parties))


def test_each_two_owners_are_linked(three):
    _, results, _ = three
    assert [(u.left.owner, u.right.owner) for u, _ in results] == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    assert all(len(linkage.links) > 150 for _, linkage in results)


def test_of_three_owners_two_send_thresholds(three):
    parties, _, _ = three
    assert [bundle.records.leads for bundle in embedded(parties)] == [True, True, False]


def test_clusters_hold_at_most_one_record_of_an_owner_and_the_right_ones(three):
    parties, _, clusters = three
    own = {
        (party.name, name): record
        for party in parties
        for name, record in zip(
            pseudonyms(party.records.ids, party.key), party.records.ids, strict=True
        )
    }
    assert len(clusters) > 180
    right = dict(people("left")[1].rows())
    good = 0
    for members in clusters.members:
        names = [name for name, _ in members]
        assert len(set(names)) == len(names) > 1
        ids = {name: own[name, one] for name, one in members}
        good += len(ids) == 3 and ids["a"] == ids["c"] and right[ids["a"]] == ids["b"]
    assert good > 0.9 * len(clusters)


def test_the_order_of_the_bundles_does_not_matter(three):
    parties, _, clusters = three
    _, turned = link_all(embedded(parties)[::-1])
    assert turned == clusters


def test_one_field_makes_clusters_too():
    files = {"a": LEFT, "b": RIGHT, "c": {"9": "Andersen", "8": "Millar", "7": "Sato"}}
    parties = [owner(name, people) for name, people in files.items()]
    results, clusters = link_all(embedded(parties))
    assert len(results) == 3
    own = {one: record for party in parties
           for one, record in zip(pseudonyms(party.records.ids, party.key), party.records.ids,
                                  strict=True)}  # fmt: skip
    found = [sorted(own[one] for _, one in members) for members in clusters.members]
    assert ["0008", "8", "PATIENT-001"] in found


def test_several_owners_who_differ_are_told_which_two_and_in_what():
    one, other, third = embedded(owners("a", "b", "c"))
    wrong = replace(third, settings={**third.settings, "accept": 0.9})
    with pytest.raises(Mismatch, match=r"a and c differ in accept: 0\.5 and 0\.9"):
        link_all([one, other, wrong])
