import os
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import given, settings
from pydantic import ValidationError

from gramlink.errors import GramlinkError, InvalidParameter, Mismatch
from gramlink.mining.mined import Mined
from gramlink.parties.owner import Owner
from gramlink.parties.price import MOST_EPSILON
from gramlink.privacy.ledger import Ledger
from gramlink.records.choices import MINERS
from gramlink.records.fields import Field
from gramlink.records.reading import read_records
from gramlink.records.schema import Schema

NOISY = sorted(name for name, miner in MINERS.items() if miner.noisy)
ROUTES = ["mine", "mine_to"]
FRAME = pl.DataFrame({"id": ["1", "2", "3"], "name": ["ANNA", "BOB", ""], "town": ["B", "A", "A"]})
NUMBERS = st.fractions(Fraction(1, 10**31), 10**30) | st.builds(
    lambda sign, power: Fraction(10) ** (sign * power), st.sampled_from([-1, 1]), st.integers(0, 30)
)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)


def schema(epsilon, *fields):
    return Schema(fields=fields or (Field(name="name"),), epsilon=epsilon)


def mined(route, owner, ledger):
    if route == "mine":
        return owner.mine(ledger)
    return owner.mine_to(ledger.path.with_name("mined.json"), ledger, {"exchange": "stroke"})


@st.composite
def fields(draw, name):
    low = draw(st.integers(1, 6))
    return {
        "name": name,
        "miner": draw(st.sampled_from(NOISY)),
        "alphabet": draw(st.sampled_from(["A", "AB"])),
        "size": draw(st.sampled_from([1, 75, 1000])),
        "q_min": low,
        "q_max": draw(st.integers(low, 6)),
        "height": draw(st.sampled_from([1, 3, 7, 32])),
        "share": draw(NUMBERS),
    }


@pytest.mark.parametrize("route", ROUTES)
@settings(deadline=None, max_examples=40)
@given(first=fields("name"), second=st.none() | fields("town"), epsilon=NUMBERS)
def test_either_mining_succeeds_or_the_ledger_is_unchanged(route, first, second, epsilon):
    try:
        agreed = schema(epsilon, *(Field(**one) for one in (first, second) if one))
    except ValidationError:
        return
    owner = Owner("clinic", read_records(FRAME, agreed), agreed, b"", insists=True)
    with TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder, "clinic.ledger"), "clinic", epsilon)
        try:
            assert isinstance(mined(route, owner, ledger), Mined)
            (release,) = ledger.state.releases
            assert (ledger.state.spent, release.digest is None) == (epsilon, False)
        except GramlinkError:
            assert not list(Path(folder).iterdir())


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    ("epsilon", "field", "says"),
    [
        (10**25, {}, "name cannot be mined: .* is too large to draw noise with"),
        (Fraction(1, 10**9), {}, "name cannot be mined: .* is too small to draw noise with"),
        (
            Fraction(1, 10**5),
            {"miner": "tree-exponential", "height": 32},
            "name cannot be mined: .* is too small to draw noise with",
        ),
        (
            Fraction(3 * 2**39),  # each level can be drawn; all that is left of a path cannot
            {"miner": "tree-adaptive", "height": 32},
            "name cannot be mined: .* is too large to draw noise with",
        ),
    ],
    ids=["too much", "too little", "a high tree", "what a hurried path has left"],
)
def test_noise_that_cannot_be_drawn_is_refused_before_it_is_paid_for(
    tmp_path, route, epsilon, field, says
):
    agreed = schema(epsilon, Field(name="name", **field))
    owner = Owner("clinic", read_records(FRAME, agreed), agreed, b"", insists=True)
    ledger = Ledger(tmp_path / "clinic.ledger", "clinic", epsilon)
    with pytest.raises(InvalidParameter, match=says):
        mined(route, owner, ledger)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("route", ROUTES)
def test_more_than_twenty_is_spent_only_by_who_insists(tmp_path, route):
    agreed = schema(MOST_EPSILON + Fraction(1, 100))
    records = read_records(FRAME, agreed)
    ledger = Ledger(tmp_path / "clinic.ledger", "clinic", Fraction(30))
    with pytest.raises(InvalidParameter, match=r"epsilon 20\.01 protects nobody") as refused:
        mined(route, Owner("clinic", records, agreed, b""), ledger)
    assert "--insist" in refused.value.hint
    assert not list(tmp_path.iterdir())
    mined(route, Owner("clinic", records, agreed, b"", insists=True), ledger)
    assert ledger.state.spent == agreed.epsilon


def test_twenty_needs_no_insisting(tmp_path):
    agreed = schema(MOST_EPSILON)
    ledger = Ledger(tmp_path / "clinic.ledger", "clinic", Fraction(20))
    Owner("clinic", read_records(FRAME, agreed), agreed, b"").mine(ledger)
    assert ledger.state.left == 0


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (Field(name="town"), "no column for the field name"),
        (Field(name="name", alphabet="ABC"), "name was read with another alphabet"),
    ],
)
def test_records_of_another_schema_are_refused_before_they_are_paid_for(tmp_path, other, says):
    ledger = Ledger(tmp_path / "clinic.ledger", "clinic", Fraction(1))
    records = read_records(FRAME, schema(1, other))
    with pytest.raises(Mismatch, match=says):
        Owner("clinic", records, schema(1), b"").mine(ledger)
    assert not list(tmp_path.iterdir())
