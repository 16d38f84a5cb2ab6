"""Consent is the owner's: what it is asked, and what a linkage unit cannot decide for it."""

import os
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path

import pytest

from fake_unit import EXCHANGE, SCHEMA, TOKEN, FakeUnit, mined_by, records_of, schema_of
from gramlink.bundles.sealing import Recipient, new_identity, write_recipient
from gramlink.errors import GramlinkError, InvalidLedger, InvalidParameter, Mismatch
from gramlink.exchange import Choices, Voice, take_part
from gramlink.exchange.client import Client
from gramlink.exchange.status import Place
from gramlink.exchange.terms import keys_code, schema_code
from gramlink.privacy.ledger import Ledger

FOLDER = Path(f"{EXCHANGE}-hospital")
OWN = Path("own.toml")
HOSTILE = SCHEMA.replace("epsilon = 20", "epsilon = 19") + 'column = "diagnosis"\n'


class Asked(Exception):
    """Somebody was asked to agree, or to wait."""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda _: None)
    records = records_of("hospital")
    records.with_columns(diagnosis=records["surname"]).write_csv("hospital.csv")
    OWN.write_text(SCHEMA)


@pytest.fixture
def unit():
    return FakeUnit()


def part(unit, *, agrees=None, said=None, paused=None, **choices):
    """The hospital's part. It agrees, or not; if it does not say, it must not be asked."""

    def ask(_):
        if agrees is None:
            raise Asked
        return agrees

    def pause(_):
        if paused is None:
            raise Asked
        paused()

    say = (lambda _: None) if said is None else said.append
    voice = Voice(say, lambda _: nullcontext(lambda *_: None), ask, say)
    client = Client("http://localhost", TOKEN, transport=unit.transport, pause=pause)
    return take_part(client, Choices(Path("hospital.csv"), **choices), voice)


def spent():
    path = Path("hospital.ledger")
    return Ledger(path, "hospital", Fraction(0)).state.spent if path.exists() else 0


def allow(epsilon):
    """A ledger that its owner made."""
    ledger = Ledger(Path("hospital.ledger"), "hospital", Fraction(epsilon))
    ledger.allow(Fraction(epsilon))


def nothing_left(unit):
    """Nothing was spent, and nothing sent."""
    return not [asked for asked in unit.asked if "PUT" in asked] and spent() == 0


# beforehand


@pytest.mark.parametrize(
    ("choices", "says"),
    [
        ({}, "needs a schema that you know"),
        ({"epsilon": "1"}, "needs a schema that you know"),
        ({"schema": OWN}, "needs the epsilon that you are willing to spend"),
        ({"approved": schema_code(schema_of())}, "needs the epsilon that you are willing to spend"),
    ],
)
def test_a_unit_cannot_say_what_an_owner_agrees_to_beforehand(choices, says):
    unit = FakeUnit(schema=HOSTILE)
    allow(20)
    with pytest.raises(InvalidParameter, match=says):
        part(unit, beforehand=True, **choices)
    assert nothing_left(unit)


@pytest.mark.parametrize("own", [{"schema": OWN}, {"approved": schema_code(schema_of())}])
def test_an_owner_agrees_beforehand_to_what_it_knows(unit, own):
    allow(2)
    part(unit, beforehand=True, epsilon="2", **own)
    assert spent() == 2


def test_a_column_that_the_unit_names_is_not_what_was_approved():
    unit = FakeUnit(schema=HOSTILE)
    allow(20)
    with pytest.raises(Mismatch, match="the code of the schema of the exchange is"):
        part(unit, beforehand=True, epsilon="1", approved=schema_code(schema_of()))
    assert nothing_left(unit)


def test_the_schema_that_the_unit_sent_is_not_an_owners_own():
    unit, received = FakeUnit(schema=HOSTILE), FOLDER / "linkage.toml"
    for _ in range(2):  # before it is there, and then
        with pytest.raises(InvalidParameter, match="is the schema that the linkage unit sent"):
            part(unit, beforehand=True, epsilon="1", schema=received)
    assert nothing_left(unit)


def test_an_approved_code_may_be_typed_in_any_spelling_and_is_of_the_schema_that_is_used(unit):
    OWN.write_text(SCHEMA + "missing = ['-']\n")
    approved = schema_code(schema_of(OWN.read_text()))
    with pytest.raises(Mismatch, match="not the one that you approved"):
        part(unit, schema=OWN, approved=schema_code(schema_of()), agrees=True)
    part(unit, schema=OWN, approved=approved.upper().replace(" ", ""), agrees=True)


def test_what_was_paid_for_needs_no_epsilon_named_beforehand(unit):
    allow(20)
    part(unit, agrees=True)
    again = FakeUnit()
    part(again, beforehand=True, schema=OWN, folder=Path("2"), mined=FOLDER / "mined.json")
    assert spent() == 20


def test_an_exchange_that_mines_anew_is_not_agreed_to_as_one_that_reuses(unit, monkeypatch):
    allow(20)

    def stop(*_):
        raise Asked

    with monkeypatch.context() as stopped:
        stopped.setattr(Ledger, "charge", stop)
        with pytest.raises(Asked):
            part(unit, agrees=True)
    (FOLDER / "consent.json").unlink()
    Path("before.json").write_bytes(mined_by("hospital").to_json())
    with pytest.raises(InvalidParameter, match="mines anew already, and cannot reuse"):
        part(unit, beforehand=True, schema=OWN, mined=Path("before.json"))
    assert spent() == 0


# the ledger


@pytest.mark.parametrize(
    "choices", [{"agrees": True}, {"approved": schema_code(schema_of()), "epsilon": "1"}]
)
def test_a_unit_cannot_say_what_a_new_ledger_allows(unit, choices):
    with pytest.raises(InvalidLedger, match=r"hospital\.ledger does not exist") as refused:
        part(unit, **choices)
    assert "gramlink ledger new" in refused.value.hint
    assert "--schema" in refused.value.hint
    assert nothing_left(unit)
    assert not Path("hospital.ledger").exists()


def test_an_owners_own_schema_says_what_its_new_ledger_allows():
    OWN.write_text(SCHEMA.replace("20", "3"))
    part(FakeUnit(), schema=OWN, agrees=True)
    state = Ledger(Path("hospital.ledger"), "hospital", Fraction(0)).state
    assert (state.allowance, state.spent) == (3, 3)


def test_an_absurd_epsilon_is_refused_before_anyone_is_joined_unless_the_owner_insists():
    unit = FakeUnit(schema=SCHEMA.replace("20", "1000"))
    allow(2000)
    with pytest.raises(InvalidParameter, match="epsilon 1000 protects nobody"):
        part(unit, agrees=True)
    assert nothing_left(unit)
    part(unit, agrees=True, insists=True)
    assert spent() == 1000


def test_noise_that_cannot_be_drawn_is_refused_before_anyone_is_joined(unit):
    allow(10**30)
    with pytest.raises(InvalidParameter, match="is too large to draw noise with"):
        part(unit, agrees=True, epsilon="1e25", insists=True)
    assert nothing_left(unit)


# what the owners compare


def code_seen_by_registry(unit, schema=SCHEMA, **returns):
    """The code on the other owner's screen, who may be told something else."""
    return keys_code(
        Place(EXCHANGE, "registry", unit.identity.recipient),
        {name: Recipient(key) for name, key in unit.recipients.items()},
        schema_of(schema),
        {**dict.fromkeys(unit.parties, "links"), **returns},
    )


@pytest.mark.parametrize(
    "told",
    [
        {"schema": SCHEMA.replace("40", "41")},
        {"schema": "edits = 2\n" + SCHEMA},
        {"registry": "weights"},
        {"hospital": "counts"},
    ],
)
def test_owners_that_are_told_different_things_see_it_before_they_spend_anything(unit, told):
    allow(20)
    with pytest.raises(GramlinkError, match="you did not agree"):
        part(unit, agrees=False)  # the keys are known now
    other = code_seen_by_registry(unit, **told)
    with pytest.raises(Mismatch, match="the keys code that you typed is not ours"):
        part(unit, keys_code=other)
    assert spent() == 0
    part(unit, keys_code=code_seen_by_registry(unit), agrees=True)


def test_peers_keys_alone_do_not_show_that_they_have_the_same_schema(unit):
    allow(20)
    peer = Path("registry.recipient")
    write_recipient(peer, unit.peers[0].identity.recipient, "registry")
    with pytest.raises(InvalidParameter, match="not that they have the same schema") as refused:
        part(unit, peers=(peer,), agrees=True)
    assert "--schema" in refused.value.hint
    assert nothing_left(unit)
    OWN.write_text(SCHEMA.replace("40", "41"))  # as the owners agreed
    with pytest.raises(Mismatch, match=r"differ in fields\.surname\.size: 40 and 41"):
        part(unit, peers=(peer,), schema=OWN, agrees=True)
    assert nothing_left(unit)
    OWN.write_text(SCHEMA)
    part(unit, peers=(peer,), schema=OWN, agrees=True)


def test_what_is_agreed_to_is_kept_in_the_folder_whoever_has_seen_it():
    unit = FakeUnit(schema=SCHEMA + 'column = "diagnosis"\n')
    allow(20)
    said = []
    part(unit, agrees=True, said=said)
    kept = (FOLDER / "terms.txt").read_text().splitlines()
    assert set(kept) <= set(said)
    text = "\n".join(kept)
    for phrase in (
        "epsilon 20 of the 20 left in hospital.ledger",
        "column diagnosis as surname, text: levelgram, size 40, q 1 to 3",
        "encoding vectors; up to 1 edit; threshold calibrated, recall 0.99, errors uniform",
        "decide one-to-one, accept 0.5, review 0.1; passes as the data suggest; no swaps",
        "to registry: links, without weights",
        f"schema code: {schema_code(schema_of(unit.schema))}",
        f"keys code: {code_seen_by_registry(unit)}",
    ):
        assert phrase in text
    assert len(kept) < 30


def test_other_columns_after_consent_are_refused(unit):
    def stop(request):
        if "/upload" in request.url.path:
            raise Asked

    unit.trouble = stop
    with pytest.raises(Asked):
        part(unit, schema=OWN, agrees=True)
    OWN.write_text(SCHEMA + "missing = ['SMITH']\n")
    with pytest.raises(Mismatch, match="since you agreed, this has changed: the schema, from"):
        part(unit, schema=OWN)


# one token, two folders


def test_a_second_folder_with_the_same_token_hears_of_the_first_when_it_joins(unit):
    unit.peers.clear()  # nobody else joins
    allow(20)
    with pytest.raises(Asked):
        part(unit)
    first = unit.recipients["hospital"]
    with pytest.raises(Mismatch, match="another folder, or somebody else, uses your token") as one:
        part(unit, folder=Path("another"))
    assert Recipient(first).fingerprint in str(one.value)
    assert str(Path("another/recipient")) in one.value.hint
    assert unit.recipients["hospital"] == first
    with pytest.raises(Asked):
        part(unit)  # the first goes on


def test_a_waiting_folder_hears_at_once_that_its_key_was_replaced(unit):
    unit.peers.clear()
    allow(20)

    def replaced():
        unit.recipients["hospital"] = new_identity().recipient.key

    with pytest.raises(Mismatch, match="another folder, or somebody else, uses your token"):
        part(unit, paused=replaced)
