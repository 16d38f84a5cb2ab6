"""What one owner hands another: what it mined and, for some encodings, its contribution."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_unit import EXCHANGE, SCHEMA, VEILED, mined_by, schema_of
from gramlink.errors import InvalidFile
from gramlink.mining.mined import Mined
from gramlink.parties.contribution import Contribution
from gramlink.parties.handover import Handover
from parties.test_contribution import JSON

CONTRIBUTION = Contribution(
    "hospital", EXCHANGE, schema_of(VEILED).digest, bytes(range(32)), "f" * 64
)


@pytest.fixture(scope="module")
def mined():
    return mined_by("hospital", VEILED)


@pytest.fixture(scope="module")
def handed(mined):
    return Handover(mined, CONTRIBUTION)


def test_without_a_contribution_it_is_what_was_mined(mined):
    """So that owners of an older gramlink read it."""
    assert Handover(mined).to_json() == mined.to_json()
    assert Handover.from_json(mined.to_json(), "x", with_secret=False) == Handover(mined)


def test_with_a_contribution_both_come_through_and_not_what_was_encoded(handed):
    got = Handover.from_json(handed.to_json(), "x", with_secret=True)
    assert got.mined == handed.mined
    assert got.mined.digest == handed.mined.digest
    assert got.contribution.told == CONTRIBUTION.told
    assert not got.contribution.encoded


def test_what_was_mined_holds_no_contribution(handed):
    assert CONTRIBUTION.content.hex().encode() not in handed.mined.to_json()
    assert CONTRIBUTION.content.hex().encode() in handed.to_json()


def test_it_is_not_shown(handed):
    assert CONTRIBUTION.content.hex() not in repr(handed)


@pytest.mark.parametrize(
    ("with_secret", "says"),
    [
        (True, "x is not a handover file but a mined file"),
        (False, "x is not a mined file but a handover file"),
    ],
)
def test_one_of_another_encoding_is_refused(handed, with_secret, says):
    data = (handed.mined if with_secret else handed).to_json()
    with pytest.raises(InvalidFile, match=says):
        Handover.from_json(data, "x", with_secret=with_secret)


@pytest.mark.parametrize("missing", ["mined", "contribution"])
def test_half_of_it_is_refused(handed, missing):
    content = json.loads(handed.to_json())
    del content[missing]
    with pytest.raises(InvalidFile, match=f"x is damaged: it has no '{missing}'"):
        Handover.from_json(json.dumps(content).encode(), "x", with_secret=True)


@given(st.sampled_from(["mined", "contribution"]), JSON)
def test_whatever_else_is_sent_is_refused_and_what_is_secret_is_not_shown(name, value):
    document = json.loads(Handover(mined_by("hospital", VEILED), CONTRIBUTION).to_json())
    data = json.dumps({**document, name: value}).encode()
    with pytest.raises(InvalidFile) as error:
        Handover.from_json(data, "what hospital mined", with_secret=True)
    assert "\n" not in str(error.value)
    assert CONTRIBUTION.content.hex() not in f"{error.value} {error.value.hint}"


@given(st.binary(max_size=40) | JSON.map(lambda one: json.dumps(one).encode()))
def test_what_is_no_handover_at_all_is_refused(data):
    for with_secret in (True, False):
        with pytest.raises(InvalidFile):
            Handover.from_json(data, "x", with_secret=with_secret)


def test_what_is_mined_for_vectors_is_unchanged():
    vectors = mined_by("hospital", SCHEMA)
    assert Handover(vectors).to_json() == vectors.to_json()
    assert isinstance(Handover.from_json(vectors.to_json(), "x", with_secret=False).mined, Mined)
