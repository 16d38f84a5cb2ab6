"""A veiled schema with all parties in one process."""

import tomllib
from decimal import Decimal
from functools import cache
from itertools import count

import numpy as np
import polars as pl
import pytest

from cli.owners import command
from gramlink.deciding.explanation import explain
from gramlink.embedding.projection import agree
from gramlink.errors import InvalidParameter, InvalidSchema
from gramlink.lab.datasets.persons import persons
from gramlink.lab.scores import score
from gramlink.parties import contribution
from gramlink.parties.linkage_unit import LinkageUnit, link_all
from gramlink.parties.one_process import deduplicate, link, new_secret
from gramlink.parties.owner import Owner
from gramlink.records.reading import read_records
from gramlink.records.schema import schema_from
from gramlink.scoring.model import Model
from gramlink.server.plan import Plan
from strategies import frequent_grams

COUNT = 300
PEOPLE = persons(COUNT, overlap=0.7, seed=6)
FIELDS = ("given_name", "surname", "date_of_birth", "postcode")
TEXT = "\n".join(
    f'[fields.{name}]\nminer = "public"\ngrams = {list(grams)}\n'
    for name, grams in (
        ("given_name", frequent_grams(tuple(PEOPLE.left["given_name"].drop_nulls()))),
        ("surname", frequent_grams(tuple(PEOPLE.left["surname"].drop_nulls()))),
    )
)
REST = '[fields.date_of_birth]\nkind = "date"\n\n[fields.postcode]\nkind = "digits"\n'
VEILED = f'encoding = "veiled"\n\n{TEXT}\n{REST}'


@pytest.fixture(autouse=True)
def seeded(monkeypatch):
    """Contributions that are the same in every run."""
    seed(monkeypatch)


def seed(monkeypatch):
    numbers = count(1)
    monkeypatch.setattr(
        contribution.secrets, "token_bytes", lambda size: next(numbers).to_bytes(size)
    )


def schema(text=VEILED, **settings):
    found = {**tomllib.loads(text, parse_float=Decimal), **settings}
    return schema_from(found, "linkage.toml")


def found(links):
    return set(zip(links.left, links.right, strict=True))


def bundles_of(agreed, *frames):
    """What owners send, each its own frame, and the owners."""
    owners = [
        Owner(name, read_records(frame, agreed), agreed, name.encode())
        for name, frame in zip("abc", frames, strict=False)
    ]
    projection = agree(*(owner.mine(None) for owner in owners))
    secret = new_secret(projection, agreed)
    return owners, [owner.embed(projection, secret=secret) for owner in owners]


@cache
def linked():
    """Two owners' bundles, and what the unit makes of them."""
    owners, bundles = bundles_of(schema(), PEOPLE.left, PEOPLE.right)
    unit = LinkageUnit.of(*bundles)
    return owners, unit, unit.link()


# linking


def test_persons_are_linked_under_the_veil_nearly_as_well_as_by_vectors():
    truth = PEOPLE.truth.rows()
    under = link(PEOPLE.left, PEOPLE.right, schema())
    plain = link(PEOPLE.left, PEOPLE.right, schema(encoding="vectors"))
    assert score(found(under), truth).f1 > 0.95
    assert score(found(under), truth).f1 > score(found(plain), truth).f1 - 0.03
    assert under.details.columns == plain.details.columns


def test_a_schema_in_a_file_links_too(tmp_path):
    path = tmp_path / "linkage.toml"
    path.write_text(VEILED)
    assert len(found(link(PEOPLE.left, PEOPLE.right, path))) > 0.6 * COUNT


def test_the_order_of_the_rows_does_not_matter():
    frames = [
        frame.sample(fraction=1, shuffle=True, seed=4) for frame in (PEOPLE.left, PEOPLE.right)
    ]
    (one, other), bundles = bundles_of(schema(), *frames)
    secrets_apart = LinkageUnit.of(*bundles).link().links
    (left, right), _, linkage = linked()
    pairs = found(one.translate(other.translate(secrets_apart)))
    expected = found(left.translate(right.translate(linkage.links)))
    assert len(pairs ^ expected) <= 0.02 * COUNT  # another secret draws other parities


def test_the_same_contributions_make_the_same_links(monkeypatch):
    tables = []
    for _ in range(2):
        seed(monkeypatch)
        tables.append(link(PEOPLE.left, PEOPLE.right, schema()).to_polars())
    assert tables[0].equals(tables[1])


def test_three_owners_make_clusters():
    more = PEOPLE.right.with_columns(pl.col("id").str.replace("B", "C"))
    owners, bundles = bundles_of(schema(), PEOPLE.left, PEOPLE.right, more)
    results, clusters = link_all(bundles)
    assert [(unit.left.owner, unit.right.owner) for unit, _ in results] == [
        ("a", "b"), ("a", "c"), ("b", "c"),
    ]  # fmt: skip
    own = {
        (owner.name, pseudonym): record
        for owner in owners
        for pseudonym, record in zip(owner.pseudonyms, owner.records.ids, strict=True)
    }
    members = [{own[record] for record in one} for one in clusters.members]
    whole = [{one, other, other.replace("B", "C")} for one, other in PEOPLE.truth.rows()]
    assert sum(one in members for one in whole) > 0.9 * len(whole)
    for one in clusters.members:
        assert len({owner for owner, _ in one}) == len(one)


def test_duplicates_are_found_as_without_the_veil():
    """They stay with their owner, so nothing has to be hidden."""
    extra = PEOPLE.left.head(40).with_columns(pl.col("id").str.replace("A", "X"))
    file = pl.concat([PEOPLE.left, extra])
    agreed, plain = schema(), schema(encoding="vectors")
    under = deduplicate(read_records(file, agreed), agreed)
    assert found(under.links) == found(deduplicate(read_records(file, plain), plain).links)
    pairs = {(one, one.replace("A", "X")) for one in PEOPLE.left["id"].head(40)}
    assert len(pairs & found(under.links)) > 35


# passes that the owners state


def test_stated_passes_are_the_keys():
    passes = [{"surname": 0, "date_of_birth": 0}, {"given_name": 0, "postcode": 0}]
    _, bundles = bundles_of(schema(passes=passes), PEOPLE.left, PEOPLE.right)
    assert [one.manifest["shape"]["keys"] for one in bundles] == 2 * [
        [
            [["surname", "whole"], ["date_of_birth", "whole"]],
            [["given_name", "whole"], ["postcode", "whole"]],
        ]
    ]
    linkage = LinkageUnit.of(*bundles).link()
    assert len(linkage.passes) == 2
    assert len(linkage.links) > 0.5 * COUNT


PASSES = "\n[[passes]]\nsurname = 1\ndate_of_birth = 0\n"
BAD = {
    "one field": (
        'encoding = "veiled"\n[fields.surname]\n',
        "the veiled encoding cannot link records of one field",
    ),
    "an address": (
        'encoding = "veiled"\n[fields.street]\n[fields.postcode]\nkind = "digits"\n',
        "no field tells the members of a household apart",
    ),
    "passes within edits": (VEILED + PASSES, "under the veil, fields of a pass are equal"),
}
FILE = "id,given_name,surname,date_of_birth,street,postcode\n1,ANNA,MILLER,1980-01-31,X,12345\n"


@pytest.fixture(params=BAD)
def bad(request, tmp_path, monkeypatch):
    """A schema that cannot be veiled beside the records, and why; nothing is spent on it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "linkage.toml").write_text(BAD[request.param][0])
    (tmp_path / "hospital.csv").write_text(FILE)
    yield BAD[request.param]
    left = {path.name for path in tmp_path.iterdir() if path.is_file()}
    assert left == {"linkage.toml", "hospital.csv"}


def test_a_schema_that_cannot_be_veiled_makes_no_owner(bad):
    text, says = bad
    records = read_records("hospital.csv", schema(text))
    with pytest.raises(InvalidSchema, match=says) as error:
        Owner("hospital", records, schema(text), b"")
    assert error.value.hint


def test_nor_are_its_records_linked_in_one_process(bad):
    with pytest.raises(InvalidSchema, match=bad[1]):
        link("hospital.csv", "hospital.csv", "linkage.toml")


def test_nor_is_an_exchange_made_of_it(bad):
    with pytest.raises(InvalidSchema, match=bad[1]):
        Plan("stroke", bad[0], ("hospital", "registry"))


@pytest.mark.parametrize(
    "args",
    [
        ("mine", "hospital.csv"),
        ("contribute", "hospital"),
        ("unit", "new", "stroke", "linkage.toml", "hospital", "registry", "--data", "unit"),
    ],
    ids=lambda args: args[0],
)
def test_nor_does_any_command_take_it(bad, args, capsys, monkeypatch):
    result = command(capsys, monkeypatch, args)
    assert result.code == 1, result
    assert bad[1] in result.err
    assert "gramlink: hint: " in result.err


# explaining


def test_a_link_is_explained_by_its_fields():
    _, unit, linkage = linked()
    compared, places = unit.compare(), [unit.left.ids.index, unit.right.ids.index]
    weights = linkage.links.details["match_weight"]
    for row in range(0, len(linkage.links), 20):
        pair = places[0](linkage.links.left[row]), places[1](linkage.links.right[row])
        told = explain(compared, linkage.model, *pair)
        assert [one.field for one in told.reasons] == list(FIELDS)
        total = told.together + told.related
        total += sum(one.weight + one.rarity for one in told.reasons)
        assert total == pytest.approx(told.weight)
        assert told.weight == pytest.approx(weights[row], abs=1e-3)


def test_of_two_records_that_share_no_key_nothing_can_be_told():
    _, unit, linkage = linked()
    compared = unit.compare()
    shared = set(zip(compared.shared.left.tolist(), compared.shared.right.tolist(), strict=True))
    left, right = next((0, row) for row in range(COUNT) if (0, row) not in shared)
    with pytest.raises(InvalidParameter, match="share no key, so nothing can be told") as error:
        explain(compared, linkage.model, left, right)
    assert "only records that share a key are compared" in error.value.hint
    assert all(compared.tells(*pair) for pair in shared)


def test_a_model_under_the_veil_comes_back_from_its_file():
    _, unit, linkage = linked()
    model = linkage.model
    back = Model.from_json(model.to_json(), "model.json")
    assert back.to_json() == model.to_json()
    assert [(one.label, one.share) for one in back.passes] == [
        (one.label, one.share) for one in model.passes
    ]
    assert all(one.label for one in back.passes)
    assert {one.share for one in back.passes} != {1.0}
    assert len(back.known) == len(model.known) > 0
    for one, other in zip(back.known, model.known, strict=True):
        assert one.count == other.count
        for ours, theirs in zip(one.shares, other.shares, strict=True):
            assert np.array_equal(ours, theirs)
    pair = unit.left.ids.index(linkage.links.left[0]), unit.right.ids.index(linkage.links.right[0])
    compared = unit.compare()
    assert explain(compared, back, *pair) == explain(compared, model, *pair)
