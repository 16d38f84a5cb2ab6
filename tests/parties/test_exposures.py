"""What an owner shows a linkage unit is in its ledger before anybody can see it."""

from fractions import Fraction

import polars as pl
import pytest

from gramlink.bundles.bundle import Bundle
from gramlink.bundles.pseudonyms import key_fingerprint
from gramlink.bundles.sealing import new_identity
from gramlink.embedding.projection import agree
from gramlink.errors import ExposureExceeded, InvalidSchema, Mismatch
from gramlink.parties.contribution import own_contribution
from gramlink.parties.owner import Owner
from gramlink.privacy.exposure import UNSEALED
from gramlink.privacy.ledger import Ledger
from gramlink.records.choices import ENCODINGS, Choice
from gramlink.records.fields import Field
from gramlink.records.reading import read_records
from gramlink.records.schema import Schema
from hashed_records import BUCKETS, HashedRecords

SURNAME = Field(name="surname", size=10)
LEFT, RIGHT = ["Miller", "Anders", "Anders", None], ["Anderson", "Miler", "Nakamura"]


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """An encoding of which exposures add up, though nothing above encodings knows it."""
    monkeypatch.setitem(ENCODINGS, "hashed", Choice("hashed_records:HashedRecords"))


def owner(name="clinic", people=LEFT, schema=None, key=b"k" * 32):
    schema = schema or Schema(fields=(SURNAME,), epsilon=Fraction(30), encoding="hashed")
    frame = pl.DataFrame({"id": [f"{n}" for n in range(len(people))], "surname": people})
    return Owner(name, read_records(frame, schema), schema, key)


@pytest.fixture
def unit():
    return new_identity().recipient


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "clinic.ledger", "clinic", Fraction(30))


@pytest.fixture(scope="module")
def projection():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ENCODINGS, "hashed", Choice("hashed_records:HashedRecords"))
        return agree(owner().mine(None), owner("registry", RIGHT).mine(None))


def test_what_is_shown_is_recorded_with_all_that_adds_up(ledger, unit, projection):
    bundle = owner().embed(projection, ledger=ledger, unit=unit, exchange="stroke")
    (shown,) = ledger.state.exposures
    assert (shown.exchange, shown.unit, shown.encoding) == ("stroke", unit.key, "hashed")
    assert shown.records == len(bundle.ids) == 3  # one of them was there twice
    assert (shown.shown.rows, shown.shown.draws) == (1, {"surname": BUCKETS})
    assert shown.key == key_fingerprint(b"k" * 32)
    assert shown.digest == bundle.digest == Bundle.from_bytes(bundle.to_bytes(), "x").digest
    assert ledger.state.spent == 0


def test_the_ledger_reveals_no_key_no_pseudonym_and_no_value(ledger, unit, projection):
    bundle = owner().embed(projection, ledger=ledger, unit=unit)
    kept = ledger.path.read_text()
    for secret in ((b"k" * 32).hex(), "k" * 32, *bundle.ids, "iller", "ILLER"):
        assert secret not in kept


def test_vectors_are_recorded_as_everything_and_never_refused(ledger, unit):
    vectors = Schema(fields=(SURNAME,), epsilon=Fraction(30))
    parties = owner(schema=vectors), owner("registry", RIGHT, vectors)
    agreed = agree(*(one.mine(None) for one in parties))
    ledger.limit_exposures(0)
    parties[0].embed(agreed, ledger=ledger, unit=unit)
    (total,) = ledger.state.shown
    assert total.everything == ledger.state.exposures
    assert total.draws == {}


def test_it_is_on_disk_before_the_bundle_is_handed_out(ledger, unit, projection, monkeypatch):
    def crash(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "_append", crash)
    with pytest.raises(KeyboardInterrupt):
        owner().embed(projection, ledger=ledger, unit=unit)


def test_beyond_the_limit_nothing_is_encoded(ledger, unit, projection, monkeypatch):
    ledger.limit_exposures(1)
    owner().embed(projection, ledger=ledger, unit=unit, exchange="stroke")

    def encoded(*_):
        raise AssertionError

    monkeypatch.setattr(HashedRecords, "of", encoded)
    before = ledger.path.read_bytes()
    with pytest.raises(ExposureExceeded, match="shown once to the linkage unit with the key"):
        owner().embed(projection, ledger=ledger, unit=unit, exchange="heart")
    assert ledger.path.read_bytes() == before


def test_making_the_same_bundle_again_is_no_exposure_even_at_the_limit(ledger, unit, projection):
    ledger.limit_exposures(1)
    one = owner().embed(projection, ledger=ledger, unit=unit, created="2026-01-01T00:00:00Z")
    before = ledger.path.read_bytes()
    again = owner().embed(projection, ledger=ledger, unit=unit, created="2027-01-01T00:00:00Z")
    assert (again.digest, ledger.path.read_bytes()) == (one.digest, before)
    turned = owner(people=LEFT[::-1])  # other records have these ids
    with pytest.raises(ExposureExceeded):
        turned.embed(projection, ledger=ledger, unit=unit)
    assert ledger.path.read_bytes() == before


def test_another_unit_has_a_count_of_its_own(ledger, unit, projection):
    ledger.limit_exposures(1)
    owner().embed(projection, ledger=ledger, unit=unit)
    owner().embed(projection, ledger=ledger, unit=new_identity().recipient)
    assert [len(one.exposures) for one in ledger.state.shown] == [1, 1]


def test_a_bundle_that_is_not_sealed_counts_for_every_unit(ledger, unit, projection):
    ledger.limit_exposures(1)
    owner().embed(projection, ledger=ledger)
    assert [one.unit for one in ledger.state.exposures] == [UNSEALED]
    with pytest.raises(ExposureExceeded):
        owner().embed(projection, ledger=ledger, unit=unit)


def test_with_the_same_key_the_ledger_says_that_exchanges_can_be_joined(ledger, unit, projection):
    for exchange, key in (("stroke", b"k" * 32), ("heart", b"l" * 32), ("lung", b"k" * 32)):
        owner(key=key).embed(projection, ledger=ledger, unit=unit, exchange=exchange)
    (total,) = ledger.state.shown
    assert [[one.exchange for one in group] for group in total.joined] == [["stroke", "lung"]]
    assert total.draws == {"surname": 3 * BUCKETS}


def test_what_is_refused_for_another_reason_is_no_exposure(ledger, unit, projection):
    with pytest.raises(Mismatch):
        owner("police").embed(projection, ledger=ledger, unit=unit)
    public = Schema(fields=(Field(name="surname", miner="public", grams=("A", "E")),))
    parties = owner(schema=public), owner("registry", RIGHT, public)
    agreed = agree(*(one.mine(None) for one in parties))
    with pytest.raises(InvalidSchema, match="could know the grams"):
        parties[0].embed(agreed, ledger=ledger, unit=unit)
    assert not ledger.path.exists()


def test_what_the_secret_may_not_encode_is_no_exposure(ledger, unit, projection, tmp_path):
    path = tmp_path / "clinic.contribution"
    own_contribution(path, "clinic", "stroke", owner().schema)
    told = {"ledger": ledger, "unit": unit, "exchange": "stroke", "contribution": path}
    owner().embed(projection, **told)
    before = ledger.path.read_bytes()
    with pytest.raises(Mismatch, match="has encoded other records"):
        owner(people=LEFT[::-1]).embed(projection, **told)
    assert ledger.path.read_bytes() == before


def test_without_a_ledger_nothing_is_accounted_for(projection, tmp_path):
    owner().embed(projection)
    assert not list(tmp_path.iterdir())
