from dataclasses import replace
from fractions import Fraction

import polars as pl
import pytest

from gramlink.bundles.results import Results
from gramlink.bundles.sealing import new_identity
from gramlink.embedding.projection import agree
from gramlink.errors import Mismatch
from gramlink.lab.datasets.persons import persons
from gramlink.parties.admission import admit
from gramlink.parties.answers import answer, facts
from gramlink.parties.linkage_unit import LinkageUnit, link_all
from gramlink.parties.owner import Owner, for_the_unit
from gramlink.records.fields import Field
from gramlink.records.reading import read_records
from gramlink.records.schema import Schema

NAMES = Schema(
    fields=(Field(name="surname", miner="public", grams=("A", "E", "I", "R", "AN", "ER", "MI")),)
)
PERSON = Schema(
    fields=(
        Field(name="given", miner="public", grams=("A", "E", "I", "N", "L")),
        Field(name="surname", miner="public", grams=("A", "E", "I", "R", "AN", "ER", "MI")),
        Field(name="born", kind="date"),
        Field(name="phone", kind="digits", edits=0),
    ),
)
REPLY = new_identity().recipient
CREATED = "2026-03-14T15:09:26Z"
LEVELS = [f"level_{field.name}" for field in PERSON.fields]
WEIGHTS = ["match_weight", "match_probability", *LEVELS]


def party(name, frame, schema):
    return Owner(name, read_records(frame, schema), schema, key=name.encode() * 5)


def embedded(parties, **about):
    projection = agree(*(one.mine(None) for one in parties))
    return [one.embed(projection, **about) for one in parties]


def people(*names, count=80):
    """Owners of files of the same persons, as one or the other writes them down."""
    two = persons(count, overlap=0.7, seed=6)
    frames = [two.left, two.right, two.right.tail(count // 2)]
    return [
        party(name, frame.rename({"given_name": "given", "date_of_birth": "born"}), PERSON)
        for name, frame in zip(names, frames, strict=False)
    ]


def surnames(**files):
    return [
        party(name, pl.DataFrame({"id": list(one), "surname": list(one.values())}), NAMES)
        for name, one in files.items()
    ]


@pytest.fixture(scope="module")
def two():
    return embedded(people("clinic", "registry"), exchange="stroke")


@pytest.fixture(scope="module")
def linkage(two):
    return LinkageUnit.of(*two).link()


@pytest.fixture(scope="module")
def three():
    return embedded(people("clinic", "office", "police"), exchange="stroke")


@pytest.fixture(scope="module")
def linked(three):
    return link_all(three)


@pytest.fixture(scope="module")
def one_field():
    left = {"1": "Miller", "2": "Anders", "3": None}
    right = {"7": "Anderson", "8": "Miler", "9": ""}
    return embedded(surnames(clinic=left, registry=right))


# what is taken

AGREED = {
    "exchange": "stroke",
    "owner": "clinic",
    "owners": ("clinic", "registry"),
    "settings": for_the_unit(NAMES),
    "key": REPLY,
}


@pytest.fixture(scope="module")
def sent():
    files = {"clinic": {"1": "Miller"}, "registry": {"8": "Miler"}}
    return replace(embedded(surnames(**files), exchange="stroke", reply=REPLY)[0], sender=REPLY)


def test_a_bundle_that_is_as_agreed_is_taken(sent):
    admit(sent, **AGREED)
    admit(sent, **{**AGREED, "owners": ["registry", "clinic"]})


OTHER = new_identity().recipient
MISMATCHES = [
    ("exchange", {"exchange": "cancer"}, "the bundle's exchange is stroke, not cancer"),
    ("owner", {"owner": "registry"}, "the bundle's owner is clinic, not registry"),
    ("owners", {"owners": ("clinic", "police")}, "the bundle's owners are clinic, registry, not "),
    ("owners", {"owners": ("clinic",)}, "the bundle's owners are clinic, registry, not "),
    (
        "owners",
        {"owners": ("clinic", "office", "registry")},
        "the bundle's owners are clinic, registry, not ",
    ),
    ("key", {"key": OTHER}, f"the bundle's key to reply to is {REPLY.key}, not {OTHER.key}"),
    (
        "settings",
        {"settings": {**for_the_unit(NAMES), "edits": 2}},
        "the bundle and the exchange differ in edits: 1 and 2",
    ),
    (
        "settings",
        {"settings": {**for_the_unit(NAMES), "edits": 2, "recall": 0.5}},
        "edits: 1 and 2; recall: 0.99 and 0.5",
    ),
    ("settings", {"settings": for_the_unit(PERSON)}, "differ in fields.born"),
]


@pytest.mark.parametrize(
    ("changed", "says"), [one[1:] for one in MISMATCHES], ids=[one[0] for one in MISMATCHES]
)
def test_a_bundle_for_something_else_is_refused_and_what_differs_named(sent, changed, says):
    with pytest.raises(Mismatch) as caught:
        admit(sent, **{**AGREED, **changed})
    assert says in str(caught.value)
    assert caught.value.hint


def test_a_bundle_for_no_exchange_or_without_a_key_is_refused(sent):
    with pytest.raises(Mismatch, match="the bundle's exchange is none, not stroke"):
        admit(replace(sent, exchange=""), **AGREED)
    with pytest.raises(Mismatch, match="the bundle's key to reply to is none, not age1"):
        admit(replace(sent, reply=None), **AGREED)
    with pytest.raises(Mismatch, match="the bundle's owners are none"):
        admit(replace(sent, owners=()), **AGREED)


def test_a_bundle_without_rows_is_refused(sent):
    with pytest.raises(Mismatch, match="the bundle has no rows"):
        admit(replace(sent, ids=()), **AGREED)


def test_what_an_owner_spent_and_when_is_its_own_business(sent):
    admit(replace(sent, epsilon=Fraction(5), created="yesterday", unique=False), **AGREED)


# what goes back to two owners


def returns(bundles, **special):
    return {bundle.owner: special.get(bundle.owner, "links") for bundle in bundles}


def test_each_of_two_owners_gets_the_links(two, linkage):
    answers = answer(two, returns(two), created=CREATED)
    assert answers.results.keys() == {"clinic", "registry"}
    for owner, sent in answers.results.items():
        assert (sent.owner, sent.owners) == (owner, ("clinic", "registry"))
        assert (sent.exchange, sent.created, sent.returns) == ("stroke", CREATED, "links")
        assert sent.projection == two[0].projection
        assert list(sent.tables) == ["links", "possible"]
        assert sent.tables["links"].equals(linkage.links.bare.to_polars())
        assert sent.tables["possible"].equals(linkage.possible.bare.to_polars())
        assert len(sent.tables["links"]) > 40
        [count] = sent.counts
        assert count == {
            "left": "clinic",
            "right": "registry",
            "links": len(linkage.links),
            "possible": len(linkage.possible),
            "precision": linkage.precision,
            "recall": linkage.recall,
        }


def test_an_owner_gets_weights_only_if_it_was_asked_for(two, linkage):
    answers = answer(two, returns(two, registry="weights"))
    bare, full = answers.results["clinic"].tables, answers.results["registry"].tables
    for table in ("links", "possible"):
        assert bare[table].columns == ["id_left", "id_right"]
        assert full[table].columns == ["id_left", "id_right", *WEIGHTS]
        assert full[table].select("id_left", "id_right").equals(bare[table])
    assert full["links"].equals(linkage.links.to_polars())


def test_who_gets_counts_gets_no_table(two):
    answers = answer(two, returns(two, clinic="counts", registry="weights"))
    assert answers.results["clinic"].tables == {}
    assert answers.results["clinic"].counts == answers.results["registry"].counts
    assert answers.results["clinic"].returns == "counts"
    with_ids = answers.results["clinic"].to_bytes()
    assert not any(one.encode() in with_ids for bundle in two for one in bundle.ids)


def test_one_field_has_links_with_distances(one_field):
    answers = answer(one_field, returns(one_field, registry="weights"))
    assert list(answers.results["clinic"].tables) == ["links", "possible"]
    assert answers.results["clinic"].tables["links"].columns == ["id_left", "id_right"]
    full = answers.results["registry"].tables["links"]
    assert full.columns == ["id_left", "id_right", "distance", "match_probability"]
    [count] = answers.results["clinic"].counts
    assert (count["links"], count["possible"]) == (len(full), 0)
    assert 0.5 < count["precision"] < 1
    assert len(full) == 2


def test_no_link_is_an_answer_too():
    bundles = embedded(surnames(a={"1": "Miller"}, b={"2": "Zzzzzz"}))
    answers = answer(bundles, returns(bundles))
    assert answers.results["a"].tables["links"].shape == (0, 2)
    assert answers.summary["pairs"][0]["links"] == answers.summary["clusters"] == 0


def test_the_order_of_the_bundles_does_not_matter(two):
    one, other = (answer(turn, returns(two), created=CREATED) for turn in (two, two[::-1]))
    assert one.summary == other.summary
    for owner in one.results:
        assert one.results[owner].to_bytes() == other.results[owner].to_bytes()


def test_every_answer_can_be_sent_and_read(two, answered, one_field):
    for answers in (
        answered,
        answer(two, returns(two, registry="weights")),
        answer(one_field, returns(one_field, registry="weights")),
    ):
        for sent in answers.results.values():
            got = Results.from_bytes(sent.to_bytes(), "x")
            assert got.to_bytes() == sent.to_bytes()
            assert got.counts == sent.counts
            assert got.tables.keys() == sent.tables.keys()
            for name, table in sent.tables.items():
                assert got.tables[name].equals(table)


# what goes back to three owners


@pytest.fixture(scope="module")
def answered(three):
    return answer(three, returns(three, office="weights", police="counts"), created=CREATED)


def test_each_of_three_owners_gets_clusters_of_its_own_records_only(linked, answered):
    _, clusters = linked
    whole = clusters.to_polars()
    for owner in ("clinic", "office"):
        sent = answered.results[owner]
        assert sent.owners == ("clinic", "office", "police")
        assert list(sent.tables) == ["clusters", "possible"]
        expected = [
            [tuple(record) for record in group]
            for group in clusters.members
            if owner in {name for name, _ in group}
        ]
        got = sent.tables["clusters"]
        assert got.columns == ["cluster", "owner", "id"]
        groups = [
            list(group.select("owner", "id").rows())
            for _, group in got.group_by("cluster", maintain_order=True)
        ]
        assert groups == expected
        assert set(got.filter(pl.col("owner") == owner)["id"]) == set(
            whole.filter(pl.col("owner") == owner)["id"]
        )
    others = [group for group in clusters.members if "clinic" not in {name for name, _ in group}]
    assert others  # else the test says nothing
    mine = set(answered.results["clinic"].tables["clusters"].select("owner", "id").rows())
    assert not mine & {tuple(record) for group in others for record in group}
    assert answered.results["police"].tables == {}


def test_possible_links_of_three_owners_name_the_owners_and_are_the_owners_own(linked, answered):
    results, _ = linked
    for owner in ("clinic", "office"):
        possible = answered.results[owner].tables["possible"]
        expected = [
            (left, right, unit.left.owner, unit.right.owner)
            for unit, linkage in results
            if owner in (unit.left.owner, unit.right.owner)
            for left, right in zip(linkage.possible.left, linkage.possible.right, strict=True)
        ]
        names = ["id_left", "id_right", "owner_left", "owner_right"]
        assert possible.select(names).rows() == expected
    assert set(answered.results["clinic"].tables["possible"].columns) == set(names)
    assert set(answered.results["office"].tables["possible"].columns) == {*names, *WEIGHTS}


def test_counts_are_of_the_owners_own_pairs_only(answered):
    pairs = {
        owner: [(count["left"], count["right"]) for count in sent.counts]
        for owner, sent in answered.results.items()
    }
    assert pairs == {
        "clinic": [("clinic", "office"), ("clinic", "police")],
        "office": [("clinic", "office"), ("office", "police")],
        "police": [("clinic", "police"), ("office", "police")],
    }


def test_the_numbers_of_clusters_do_not_tell_how_many_others_there_are():
    files = {"a": {"1": "Miller"}, "b": {"2": "Nakamura"}, "c": {"3": "Miller", "4": "Nakamura"}}
    bundles = embedded(surnames(**files))
    for owner, sent in answer(bundles, returns(bundles)).results.items():
        numbers = sent.tables["clusters"]["cluster"].unique(maintain_order=True).to_list()
        assert numbers == ([1, 2] if owner == "c" else [1])


def test_three_owners_of_one_field_get_clusters_too():
    files = {"a": {"1": "Miller"}, "b": {"2": "Miler"}, "c": {"3": "Miller", "4": "Nakamura"}}
    bundles = embedded(surnames(**files))
    answers = answer(bundles, returns(bundles, b="weights"))
    for sent in answers.results.values():
        assert sent.tables["clusters"]["id"].n_unique() == 3
        assert sent.tables["possible"].columns == [
            *("id_left", "id_right"),
            *(("distance", "match_probability") if sent.returns == "weights" else ()),
            *("owner_left", "owner_right"),
        ]
        assert len(sent.tables["possible"]) == 0


# what the unit keeps


def texts(value):
    """Every text anywhere in a JSON value."""
    if isinstance(value, dict):
        return {one for pair in value.items() for part in pair for one in texts(part)}
    if isinstance(value, list | tuple):
        return {one for part in value for one in texts(part)}
    return {value} if isinstance(value, str) else set()


def test_the_summary_has_no_pseudonym(three, linked, answered):
    ids = {one for bundle in three for one in bundle.ids}
    assert not ids & texts(answered.summary)
    assert len(answered.summary["pairs"]) == 3
    assert answered.summary["clusters"] == len(linked[1])


def test_facts_of_a_linkage_are_those_of_its_model(two, linkage):
    told = facts(LinkageUnit.of(*two), linkage)
    assert told["rows"] == {"clinic": len(two[0].ids), "registry": len(two[1].ids)}
    assert (told["links"], told["possible"]) == (len(linkage.links), len(linkage.possible))
    assert told["weights"] == linkage.model.weights
    assert [one["pass"] for one in told["passes"]] == [
        dict(one.edits) for one, _, _ in linkage.passes
    ]
    assert told["histogram"] == [list(one) for one in linkage.histogram]
    assert told["warnings"] == list(linkage.warnings)


def test_facts_of_one_field_are_counts(one_field):
    unit = LinkageUnit.of(*one_field)
    told = facts(unit, unit.link())
    assert (told["weights"], told["histogram"], told["passes"]) == ({}, [], [])
    assert 0.5 < told["precision"] < 1
    assert 0.5 < told["recall"] < 1


def test_progress_is_passed_on(one_field):
    seen = []
    answer(one_field, returns(one_field), progress=lambda *done: seen.append(done))
    assert seen


def test_bundles_that_differ_are_refused(two):
    wrong = replace(two[1], projection="0" * 64)
    with pytest.raises(Mismatch, match="embedded with different projections"):
        answer([two[0], wrong], returns(two))
