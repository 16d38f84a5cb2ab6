"""Records of several fields from end to end, with what goes wrong in real files."""

from functools import cache

import numpy as np
import polars as pl
import pytest

from gramlink.embedding.projection import agree
from gramlink.errors import InvalidParameter, InvalidRecords, Mismatch
from gramlink.lab.datasets import cities, febrl4, persons, surnames
from gramlink.lab.scores import score
from gramlink.matching import chance
from gramlink.parties.linkage_unit import LinkageUnit, link_all
from gramlink.parties.one_process import deduplicate, link
from gramlink.parties.owner import Owner
from gramlink.records.fields import Field
from gramlink.records.reading import read_records
from gramlink.records.schema import Schema
from strategies import frequent_grams

NAMES = frequent_grams(surnames()[:5000])  # of public lists, so that runs are the same
PLACES = frequent_grams(cities()[:5000])
PERSON = Schema(
    fields=(
        Field(name="given_name", miner="public", grams=NAMES),
        Field(name="surname", miner="public", grams=NAMES),
        Field(name="sex", kind="category", length=1),
        Field(name="date_of_birth", kind="date"),
        Field(name="street", miner="public", grams=NAMES),
        Field(name="city", miner="public", grams=PLACES),
        Field(name="postcode", kind="digits"),
        Field(name="phone", kind="digits"),
    )
)
NONE = pl.lit(None, pl.String)


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    """As many random pairs as small files need."""
    monkeypatch.setattr(chance, "RANDOM_PAIRS", 100_000)


@cache
def people(count=600, overlap=0.5, seed=2):
    return persons(count, overlap=overlap, seed=seed)


def linkage_of(left, right, schema=PERSON):
    one = Owner("left", read_records(left, schema), schema, key=b"left")
    other = Owner("right", read_records(right, schema), schema, key=b"right")
    projection = agree(one.mine(None), other.mine(None))
    linkage = LinkageUnit.of(one.embed(projection), other.embed(projection)).link()
    return linkage, one.translate(other.translate(linkage.links))


def scores_of(left, right, schema=PERSON, truth=None):
    linkage, links = linkage_of(left, right, schema)
    rows = (people().truth if truth is None else truth).filter(
        pl.col("id_left").is_in(left["id"].implode()),
        pl.col("id_right").is_in(right["id"].implode()),
    )
    return score(zip(links.left, links.right, strict=True), rows.rows()), linkage


def some_missing(frame, column, share):
    known = pl.Series(np.random.default_rng(1).random(len(frame)) >= share)
    return frame.with_columns(pl.when(known).then(pl.col(column)).alias(column))


def test_persons_are_linked():
    scores, linkage = scores_of(people().left, people().right)
    assert scores.f1 > 0.97
    assert linkage.warnings == ()


@pytest.mark.parametrize("column", ["sex", "street", "phone"])
def test_a_field_that_is_missing_in_the_left_file_does_not_stop_the_others(column):
    left = people().left.with_columns(NONE.alias(column))
    scores, linkage = scores_of(left, people().right)
    assert scores.f1 > 0.95
    assert linkage.warnings == (f"{column} is missing in nearly all pairs: it says nothing",)


@pytest.mark.parametrize("column", ["sex", "street", "surname"])
def test_nor_does_one_that_is_missing_in_the_right_file(column):
    right = people().right.with_columns(NONE.alias(column))
    scores, linkage = scores_of(people().left, right)
    assert scores.f1 > 0.95
    assert linkage.warnings == (f"{column} is missing in nearly all pairs: it says nothing",)


@pytest.mark.parametrize("column", ["sex", "surname"])
def test_nor_does_one_that_is_mostly_missing_in_the_right_file(column):
    scores, linkage = scores_of(people().left, some_missing(people().right, column, 0.8))
    assert scores.f1 > 0.95
    assert linkage.warnings == ()


def test_nor_does_one_that_is_missing_in_both():
    none = NONE.alias("street")
    scores, linkage = scores_of(people().left.with_columns(none), people().right.with_columns(none))
    assert scores.f1 > 0.95
    assert linkage.warnings == ("street is missing in nearly all pairs: it says nothing",)


def test_where_every_value_of_one_file_is_missing_nothing_is_linked():
    nothing = [NONE.alias(field.name) for field in PERSON.fields]
    linkage, links = linkage_of(people().left, people().right.with_columns(nothing))
    assert len(links) == 0
    assert linkage.warnings == ("no pair looks like a match",)


def test_a_field_of_one_value_says_nothing_and_is_named():
    one = pl.lit("F").alias("sex")
    scores, linkage = scores_of(people().left.with_columns(one), people().right.with_columns(one))
    assert scores.f1 > 0.97
    assert linkage.warnings == ("sex is equal in nearly all pairs: it says nothing",)
    for weights in linkage.model.weights.values():
        assert np.isfinite(list(weights.values())).all()


def test_a_file_of_women_on_the_right_is_linked_with_one_of_everybody():
    scores, _ = scores_of(people().left, people().right.filter(pl.col("sex") == "F"))
    assert scores.f1 > 0.96


def test_a_file_of_women_on_the_left_is_linked_with_one_of_everybody():
    scores, _ = scores_of(people().left.filter(pl.col("sex") == "F"), people().right)
    assert scores.f1 > 0.96


def test_columns_that_one_owner_has_swapped_are_named_and_the_others_link():
    swapped = people().right.rename({"given_name": "surname", "surname": "given_name"})
    scores, linkage = scores_of(people().left, swapped)
    said = "is seldom equal in matches: does one of the owners use another"
    named = [one for one in linkage.warnings if said in one]
    assert [one.split()[0] for one in named] == ["given_name", "surname"]
    assert scores.f1 > 0.8


def test_dates_may_be_written_otherwise_at_each_owner():
    day = pl.col("date_of_birth").str.to_date()
    left = people().left.with_columns(date_of_birth=day.dt.strftime("%m/%d/%Y"))
    right = people().right.with_columns(date_of_birth=day.dt.strftime("%d.%m.%Y"))
    plain, found = linkage_of(people().left, people().right)[1], linkage_of(left, right)[1]
    assert (found.left, found.right) == (plain.left, plain.right)


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_column_that_is_not_there_is_named(side):
    frames = {"left": people().left, "right": people().right}
    frames[side] = frames[side].drop("postcode")
    with pytest.raises(InvalidRecords, match="postcode"):
        link(frames["left"], frames["right"], PERSON)


def test_files_without_a_common_person_are_hardly_linked():
    both = people(600, 0.0)
    _, links = linkage_of(both.left, both.right)
    assert len(links) <= 8


@pytest.mark.parametrize("records", [(1, 600), (600, 1), (2, 2)])
def test_tiny_files_are_linked_without_a_fuss(records):
    rows = people().truth.head(min(records))
    left = people().left.filter(pl.col("id").is_in(rows["id_left"].implode()))
    right = people().right.filter(pl.col("id").is_in(rows["id_right"].implode()))
    left = people().left if records[0] == 600 else left
    right = people().right if records[1] == 600 else right
    _, links = linkage_of(left, right)
    found = set(zip(links.left, links.right, strict=True))
    assert found <= set(people().truth.rows())


def test_one_record_each_is_compared():
    row = people().left.head(1)
    linkage, _ = linkage_of(row, row.with_columns(id=pl.lit("x")))
    assert np.isfinite(linkage.model.prior)


def test_passes_that_a_schema_states_are_used():
    schema = PERSON.model_copy(
        update={"passes": ({"surname": 1, "date_of_birth": 0}, {"phone": 0})}
    )
    scores, linkage = scores_of(people().left, people().right, schema)
    assert [str(one) for one, _, _ in linkage.passes] == [
        "surname within 1, date_of_birth equal",
        "phone equal",
    ]
    assert scores.precision > 0.95
    assert linkage.recall == pytest.approx(scores.recall, abs=0.05)


@pytest.mark.parametrize("rule", ["best-per-left", "best-per-right", "all"])
def test_other_rules_link_too(rule):
    schema = PERSON.model_copy(update={"decide": rule})
    scores, _ = scores_of(people().left, people().right, schema)
    assert scores.f1 > 0.9


# three owners


def three():
    """Owners a, b and c; a person's number is the end of its id."""
    two, more = people(), people(600, 0.5, 3)
    names = dict(two.truth.rows())
    third = two.left.filter(pl.col("id").is_in(list(names)[:200])).with_columns(
        id=pl.col("id").str.replace("A", "C")
    )
    extra = more.left.head(150).with_columns(id=pl.col("id").str.replace("A", "X"))
    third = pl.concat([third, extra])
    truth = {one: (other, one.replace("A", "C")) for one, other in list(names.items())[:200]}
    return (two.left, two.right, third), truth


@cache
def clusters_of_three():
    frames, truth = three()
    owners = [
        Owner(name, read_records(frame, PERSON), PERSON, key=name.encode())
        for name, frame in zip("abc", frames, strict=True)
    ]
    projection = agree(*(owner.mine(None) for owner in owners))
    bundles = [owner.embed(projection) for owner in owners]
    own = {
        (owner.name, pseudonym): record
        for owner, bundle in zip(owners, bundles, strict=True)
        for pseudonym, record in zip(owner.pseudonyms, owner.records.ids, strict=True)
    }
    results, clusters = link_all(bundles)
    members = [tuple((record[0], own[record]) for record in one) for one in clusters.members]
    return results, members, truth, bundles


def test_three_owners_make_three_linkages_and_clusters_of_one_record_each():
    results, members, truth, _ = clusters_of_three()
    assert [(unit.left.owner, unit.right.owner) for unit, _ in results] == [
        ("a", "b"), ("a", "c"), ("b", "c"),
    ]  # fmt: skip
    for cluster in members:
        assert len({owner for owner, _ in cluster}) == len(cluster)
    whole = {(("a", one), ("b", other), ("c", third)) for one, (other, third) in truth.items()}
    assert len(whole & {tuple(sorted(one)) for one in members}) > 0.93 * len(whole)


def test_the_order_of_the_bundles_does_not_matter():
    _, members, _, bundles = clusters_of_three()
    again = link_all(bundles[::-1])[1]
    assert sorted(map(len, again.members)) == sorted(map(len, members))


def test_an_owner_is_not_linked_with_itself():
    *_, bundles = clusters_of_three()
    with pytest.raises(Mismatch, match="there are two bundles from a"):
        link_all([bundles[0], bundles[1], bundles[0]])


# duplicates


def with_duplicates(count):
    some = people().truth.head(count)
    again = people().right.filter(pl.col("id").is_in(some["id_right"].implode()))
    return pl.concat([people().left, again]), set(some.rows())


def test_planted_duplicates_are_found():
    frame, truth = with_duplicates(250)
    found = deduplicate(read_records(frame, PERSON), PERSON)
    pairs = {tuple(sorted(one)) for one in zip(found.links.left, found.links.right, strict=True)}
    assert score(pairs, truth).f1 > 0.9


@pytest.mark.parametrize("planted", [0, 300])
def test_members_of_a_household_are_no_duplicates(planted):
    many = people(3000, 0.5, 1)
    some = many.truth.head(planted)
    again = many.right.filter(pl.col("id").is_in(some["id_right"].implode()))
    frame, truth = pl.concat([many.left, again]), set(some.rows())
    found = deduplicate(read_records(frame, PERSON), PERSON)
    pairs = {tuple(sorted(one)) for one in zip(found.links.left, found.links.right, strict=True)}
    assert len(pairs - truth) <= 30
    assert len(pairs & truth) >= 0.8 * planted


def test_one_record_has_no_duplicates():
    found = deduplicate(read_records(people().left.head(1), PERSON), PERSON)
    assert len(found.links) == 0


def test_records_that_are_the_same_in_all_fields_share_their_links():
    some = people().left.head(40)
    copies = some.with_columns(id="Z" + pl.col("id"))
    linkage, links = linkage_of(pl.concat([people().left, copies]), people().right)
    alone, once = linkage_of(people().left, people().right)
    assert len(linkage.links) == len(alone.links)
    expected = set(zip(once.left, once.right, strict=True))
    expected |= {(f"Z{one}", other) for one, other in expected if one in set(some["id"])}
    assert len(expected) > len(once) + 10
    assert set(zip(links.left, links.right, strict=True)) == expected


def test_duplicates_within_one_field_are_refused():
    schema = Schema(fields=(PERSON["surname"],))
    with pytest.raises(InvalidParameter, match="several fields"):
        deduplicate(read_records(people().left, schema), schema)


# FEBRL

FEBRL = Schema(
    id="rec_id",
    edits=2,
    fields=(
        Field(name="given_name", miner="public", grams=NAMES),
        Field(name="surname", miner="public", grams=NAMES),
        Field(name="address_1", miner="public", grams=PLACES),
        Field(name="suburb", miner="public", grams=PLACES),
        Field(name="postcode", kind="digits"),
        Field(name="date_of_birth", kind="date"),
        Field(name="soc_sec_id", kind="digits"),
    ),
)


def test_1000_persons_of_febrl_4_are_linked():
    data = febrl4()
    some = data.truth.sample(1000, seed=1)
    left = data.left.filter(pl.col("rec_id").is_in(some["id_left"].implode()))
    right = data.right.filter(pl.col("rec_id").is_in(some["id_right"].implode()))
    linkage, links = linkage_of(left, right, FEBRL)
    assert score(zip(links.left, links.right, strict=True), some.rows()).f1 >= 0.99
    assert linkage.precision > 0.98
