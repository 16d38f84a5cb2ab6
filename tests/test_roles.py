import io
import json
import zipfile
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from gramlink.bundle import Bundle
from gramlink.errors import BudgetExceeded, InvalidParameter, Mismatch
from gramlink.ledger import Ledger
from gramlink.links import Links
from gramlink.projection import agree
from gramlink.pseudonyms import pseudonyms
from gramlink.records import read_records
from gramlink.roles import LinkageUnit, Owner
from gramlink.roles.owner import for_the_unit
from gramlink.schema import Field, Schema
from gramlink.thresholds import coarse, thresholds
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

    monkeypatch.setattr("gramlink.roles.owner.mine", fail)
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
    with pytest.raises(InvalidParameter, match=f"{miner} miner has no privacy"):
        owner(schema=schema).mine(ledger)
    assert not ledger.path.exists()
    mined = owner(schema=schema).mine(None)
    assert mined.epsilon == {"exact": None, "random": 0}[miner]
    assert (mined.fields["surname"].grams[:2] == ("E", "R")) is (miner == "exact")


def test_a_bundle_holds_pseudonyms_vectors_and_the_left_owners_thresholds():
    one, other = pair()
    left, right = bundles()
    assert left.ids == pseudonyms(LEFT, one.key)
    assert right.ids == pseudonyms(RIGHT, other.key)
    assert left.vectors.missing.tolist() == [False, False, True]
    assert right.vectors.missing.tolist() == [False, False, True, False]
    base = agree(one.mine(None), other.mine(None)).bases["surname"]
    expected = coarse(thresholds(one.records["surname"], base, PUBLIC), base.scale)
    assert left.thresholds.tolist() == expected.tolist()
    assert right.thresholds is None


def test_thresholds_are_multiples_of_a_whole_distance():
    left, _ = bundles()
    assert left.vectors.scale == 6
    assert (left.thresholds % 36 == 0).all()
    assert left.thresholds[:2].min() > 0


def test_the_unit_gets_no_id_no_gram_and_no_base():
    for bundle, people in zip(bundles(), (LEFT, RIGHT), strict=True):
        data = bundle.to_bytes()
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
    assert GRAMS == PUBLIC.field.grams == tuple(PUBLIC.agreed["fields"]["surname"]["grams"])
    assert "grams" not in sent["fields"]["surname"]
    rest = {key: value for key, value in PUBLIC.agreed.items() if key != "fields"}
    assert rest == {key: value for key, value in sent.items() if key != "fields"}
    assert sent["fields"]["surname"].keys() | {"grams"} == PUBLIC.agreed["fields"]["surname"].keys()


def test_the_same_records_make_the_same_bytes_in_whichever_order():
    one, other = pair()
    projection = agree(one.mine(None), other.mine(None))
    turned = owner("clinic", dict(reversed(LEFT.items())))
    assert one.embed(projection).to_bytes() == one.embed(projection).to_bytes()
    assert turned.embed(projection).to_bytes() == one.embed(projection).to_bytes()


def test_an_owner_with_another_schema_is_told_what_differs():
    one, other = pair()
    projection = agree(one.mine(None), other.mine(None))
    schema = PUBLIC.model_copy(update={"edits": 2})
    with pytest.raises(Mismatch, match="the projection and this schema differ in edits: 1 and 2"):
        owner(schema=schema).embed(projection)


def test_an_owner_who_is_not_in_the_projection_is_refused():
    one, other = pair()
    projection = agree(one.mine(None), other.mine(None))
    with pytest.raises(Mismatch, match="of clinic and registry, not of police"):
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
    assert same.embed(projection).to_bytes() == one.embed(projection).to_bytes()


def test_links_are_mapped_back_by_each_owner_and_by_no_one_else():
    one, other = pair()
    left, right = bundles()
    links = LinkageUnit.of(left, right).link()
    assert set(links.left) <= set(left.ids)
    ours = one.translate(links)
    assert set(ours.left) <= set(LEFT)
    assert ours.right == links.right
    both = other.translate(ours)
    assert set(zip(both.left, both.right, strict=True)) == {
        ("PATIENT-001", "0008"),
        ("PATIENT-002", "0007"),
    }
    assert (both.squared, both.scale) == (links.squared, links.scale)
    assert owner("police").translate(links) == links


def test_an_id_that_is_not_the_owners_stays_as_it_is():
    links = Links(("x",), ("y",), (3,), 6)
    assert owner().translate(links) == links


def test_the_unit_takes_the_bundles_in_either_order():
    left, right = bundles()
    one, other = LinkageUnit.of(left, right), LinkageUnit.of(right, left)
    assert one.left is other.left is left
    assert one.right is other.right is right
    assert one.link() == other.link()


def test_the_unit_links_what_it_reads_from_files():
    left, right = bundles()
    sent = [Bundle.from_bytes(one.to_bytes(), "x.bundle") for one in (left, right)]
    found, expected = LinkageUnit.of(*sent).link(), LinkageUnit.of(left, right).link()
    assert set(zip(found.left, found.right, found.squared, strict=True)) == set(
        zip(expected.left, expected.right, expected.squared, strict=True)
    )
    assert len(found) == 2


def test_the_unit_decides_by_the_agreed_rule_unless_told_otherwise():
    schema = PUBLIC.model_copy(update={"decide": "all", "edits": 5, "threshold": "global"})
    unit = LinkageUnit.of(*bundles(schema))
    assert len(unit.link()) == len(unit.match()) == 6
    assert len(unit.link("one-to-one")) == 2
    assert len(unit.link("best-per-left")) == 2


def test_a_missing_value_is_linked_to_nothing():
    schema = PUBLIC.model_copy(update={"decide": "all", "edits": 5, "threshold": "global"})
    links = LinkageUnit.of(*bundles(schema)).link()
    one, other = pair(schema)
    both = one.translate(other.translate(links))
    assert "PATIENT-003" not in both.left
    assert "0009" not in both.right


def test_progress_is_passed_on():
    told = []
    LinkageUnit.of(*bundles()).link(progress=lambda *done: told.append(done))
    assert told == [(2, 2)]


def test_two_bundles_of_the_same_owner_are_refused():
    left, _ = bundles()
    with pytest.raises(Mismatch, match="both bundles are of clinic"):
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


def test_exactly_one_bundle_must_have_thresholds():
    left, right = bundles()
    for one, other in [
        (replace(left, thresholds=None), right),
        (left, replace(right, thresholds=np.zeros(4, np.int64))),
    ]:
        with pytest.raises(Mismatch, match="exactly one"):
            LinkageUnit.of(one, other)


def test_the_manifest_names_the_projection_by_its_digest_only():
    one, other = pair()
    projection = agree(one.mine(None), other.mine(None))
    manifest = one.embed(projection).manifest
    assert manifest["projection"] == projection.digest
    assert json.loads(json.dumps(manifest)) == manifest
