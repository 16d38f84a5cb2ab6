"""Contributions: the secret that all owners derive from them, and what it has encoded."""

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_unit import EXCHANGE, SCHEMA, VEILED, mined_by, owner, schema_of
from gramlink.embedding.projection import agree
from gramlink.encodings.secret import Secret
from gramlink.errors import GramlinkError, InvalidFile, InvalidParameter, Mismatch
from gramlink.io.locks import alone
from gramlink.parties.contribution import (
    Contribution,
    encode_once,
    erase,
    needs_secret,
    own_contribution,
    secret_of,
)
from systems import posix

OWNERS = ("hospital", "registry")
AGREED = schema_of(VEILED)
PATH = Path("contribution.json")
CONTENT = bytes(range(32))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


class Crash(BaseException):
    """The end of the process, as far as the code can tell."""


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(scope="module")
def projection():
    return agree(*(mined_by(name, VEILED) for name in OWNERS))


def told(name="hospital", content=CONTENT, **changes):
    return replace(Contribution(name, EXCHANGE, AGREED.digest, content), **changes)


def secret(*contributions, projection, exchange=EXCHANGE, schema=AGREED):
    return secret_of(contributions, projection, exchange, schema)


# what is told


def test_each_one_is_random_and_for_one_exchange():
    one, other = (Contribution.new("hospital", EXCHANGE, AGREED) for _ in range(2))
    assert one.content != other.content
    assert len(one.content) == 32
    one.check("hospital", EXCHANGE, AGREED)


@given(
    st.sampled_from(["hospital", "Über Klinik", "a b"]),
    st.sampled_from(["", "stroke-2026"]),
    st.binary(min_size=32, max_size=32),
    st.sampled_from(["", "0" * 64]),
)
def test_what_is_written_is_read_again(name, exchange, content, encoded):
    one = Contribution(name, exchange, AGREED.digest, content, encoded)
    assert Contribution.from_json(one.to_json(), "x") == one
    assert Contribution.told_by(one.told, "x") == replace(one, encoded="")


def test_the_others_are_not_told_what_was_encoded():
    assert "encoded" not in told(encoded="f" * 64).told


def test_it_is_not_shown():
    shown = f"{told()!r} {told()}"
    assert CONTENT.hex() not in shown
    assert repr(CONTENT) not in shown


@given(JSON)
def test_whatever_else_is_sent_is_refused_in_one_line(content):
    with pytest.raises(InvalidFile, match="what registry mined is damaged") as error:
        Contribution.told_by(content, "what registry mined")
    assert "\n" not in str(error.value)


@given(st.sampled_from(["owner", "exchange", "schema", "content"]), JSON)
def test_a_field_that_is_something_else_is_refused_and_not_shown(name, value):
    def received():
        made = Contribution.told_by({**told().told, name: value}, "x")
        made.check("hospital", EXCHANGE, AGREED)

    with pytest.raises(GramlinkError) as error:
        received()
    assert CONTENT.hex() not in f"{error.value} {error.value.hint}"
    assert "\n" not in str(error.value)
    assert error.value.__context__ is None


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": "0" * 20 + "\n"},
        {"schema": "hospital\nagreed"},
        {"schema": "0" * 64 + "\n"},
        {"encoded": "\n"},
        {"encoded": ""},
        {"exchange": None},
        {"exchange": "../x"},
        {"owner": "a\nb"},
        {"content": "é" * 64},
    ],
)
def test_a_text_that_could_say_anything_where_it_is_shown_is_refused(changes):
    with pytest.raises(InvalidFile, match="it is not a contribution"):
        Contribution.told_by({**told().told, **changes}, "x")


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_bytes_of_another_number_are_refused(size):
    with pytest.raises(InvalidFile, match="it is not a contribution"):
        Contribution.from_json(told(content=bytes(size)).to_json(), "x")


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"gramlink": "mined", "version": 1}']
)
def test_a_file_of_something_else_is_refused_in_one_line(data):
    with pytest.raises(InvalidFile) as error:
        Contribution.from_json(data, "x")
    assert "\n" not in str(error.value)


def test_a_value_that_is_given_twice_is_refused_and_not_shown():
    data = told().to_json().replace(b'"content"', b'"owner": "hospital", "content"')
    with pytest.raises(InvalidFile, match="it says 'owner' twice") as error:
        Contribution.from_json(data, "x")
    assert CONTENT.hex() not in f"{error.value} {error.value.__cause__}"


# the secret


def test_all_owners_derive_the_same_secret_in_any_order(projection):
    both = told(), told("registry", bytes(32))
    made = secret(*both, projection=projection)
    assert secret(*reversed(both), projection=projection) == made
    contents = {"hospital": CONTENT, "registry": bytes(32)}
    assert made == Secret.of(contents, exchange=EXCHANGE, schema=AGREED.digest)
    assert made.root.hex() not in repr(made)


@pytest.mark.parametrize(
    ("contributions", "says"),
    [
        ((), "contributions are from nobody, but the owners are hospital, registry"),
        ((told(),), "contributions are from hospital, but the owners are hospital, registry"),
        ((told(), told("clinic")), "are from clinic, hospital, but the owners are hospital, reg"),
        ((told(), told("registry"), told("clinic")), "are from clinic, hospital, registry, but"),
        ((told(), told(content=bytes(32))), "there are two contributions of hospital"),
        ((told(), told("registry", exchange="heart")), "exchange is heart, not stroke-2026"),
        ((told(), told("registry", exchange="")), "exchange is none, not stroke-2026"),
        ((told(), told("registry", schema="0" * 64)), "settings are 0000000000000000, not "),
    ],
)
def test_contributions_that_do_not_belong_together_make_no_secret(contributions, says, projection):
    with pytest.raises(Mismatch, match=says) as error:
        secret(*contributions, projection=projection)
    assert error.value.hint
    assert CONTENT.hex() not in f"{error.value} {error.value.hint}"


def test_only_an_encoding_that_hides_records_from_the_unit_needs_one():
    assert needs_secret(AGREED)
    assert not needs_secret(schema_of(SCHEMA))


# the file


def test_it_is_made_once():
    made = own_contribution(PATH, "hospital", EXCHANGE, AGREED)
    written = PATH.read_bytes()
    assert own_contribution(PATH, "hospital", EXCHANGE, AGREED) == made
    assert PATH.read_bytes() == written


@posix
def test_the_file_is_for_its_owner_alone_before_and_after_it_notes_what_was_encoded(rows):
    for _ in range(2):
        own_contribution(PATH, "hospital", EXCHANGE, AGREED)
        assert stat.S_IMODE(PATH.stat().st_mode) == 0o600
        encode_once(PATH, rows("hospital"))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"owner": "registry"}, "owner is registry, not hospital"),
        ({"exchange": "heart"}, "exchange is heart, not stroke-2026"),
        ({"schema": "0" * 64}, "settings are 0000000000000000"),
    ],
)
def test_a_file_of_another_owner_exchange_or_schema_is_not_used(changes, says):
    PATH.write_bytes(told(**changes).to_json())
    with pytest.raises(Mismatch, match=says) as error:
        own_contribution(PATH, "hospital", EXCHANGE, AGREED)
    assert "agree on a new exchange" in error.value.hint
    assert told(**changes).to_json() == PATH.read_bytes()


def test_what_goes_back_on_disk_is_never_half_a_file(monkeypatch):
    def crash(*_):
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", crash)
        with pytest.raises(Crash):
            own_contribution(PATH, "hospital", EXCHANGE, AGREED)
    assert not PATH.exists()
    own_contribution(PATH, "hospital", EXCHANGE, AGREED)


# what the secret has encoded


@pytest.fixture(scope="module")
def encoded(projection):
    made = Secret.of(
        {"hospital": CONTENT, "registry": bytes(32)}, exchange=EXCHANGE, schema=AGREED.digest
    )
    return {name: owner(name, VEILED).embed(projection, secret=made).records for name in OWNERS}


@pytest.fixture
def rows(encoded):
    return encoded.__getitem__


@pytest.fixture
def own():
    return own_contribution(PATH, "hospital", EXCHANGE, AGREED)


def noted():
    return json.loads(PATH.read_bytes()).get("encoded", "")


def test_the_same_records_may_be_encoded_again(own, rows):
    encode_once(PATH, rows("hospital"))
    before = PATH.read_bytes()
    encode_once(PATH, rows("hospital"))
    assert PATH.read_bytes() == before
    assert noted() == rows("hospital").digest
    assert own_contribution(PATH, "hospital", EXCHANGE, AGREED).content == own.content


@pytest.mark.usefixtures("own")
def test_other_records_are_refused_and_the_first_ones_are_not_forgotten(rows):
    encode_once(PATH, rows("hospital"))
    with pytest.raises(Mismatch, match="has encoded other records") as error:
        encode_once(PATH, rows("registry"))
    assert "restore the data" in error.value.hint
    assert noted() == rows("hospital").digest
    encode_once(PATH, rows("hospital"))


@pytest.mark.parametrize("change", ["a bit", "a record", "the order"])
@pytest.mark.usefixtures("own")
def test_any_change_of_the_rows_is_another_encoding(rows, change):
    first = rows("hospital")
    encode_once(PATH, first)
    other = first.rows.copy()
    if change == "a bit":
        other[3, 5] ^= 1
    other = other[:-1] if change == "a record" else other
    other = other[::-1] if change == "the order" else other
    with pytest.raises(Mismatch, match="may not encode these"):
        encode_once(PATH, replace(first, rows=other))


def test_another_key_of_the_owner_is_another_encoding(own, projection, rows):
    """Its dummies would differ, and so show which rows are dummies."""
    encode_once(PATH, rows("hospital"))
    made = secret(own, told("registry"), projection=projection)
    other = replace(owner("hospital", VEILED), key=b"another key").embed(projection, secret=made)
    with pytest.raises(Mismatch, match="or the same under another key"):
        encode_once(PATH, other.records)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_while_it_is_noted_loses_nothing(own, rows, monkeypatch, when):
    renamed = Path.replace

    def crash(path, target):
        if when == "after":
            renamed(path, target)
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", crash)
        with pytest.raises(Crash):
            encode_once(PATH, rows("hospital"))
    assert noted() == (rows("hospital").digest if when == "after" else "")
    encode_once(PATH, rows("hospital"))
    assert own_contribution(PATH, "hospital", EXCHANGE, AGREED).content == own.content
    with pytest.raises(Mismatch, match="has encoded other records"):
        encode_once(PATH, rows("registry"))


@pytest.mark.usefixtures("own")
def test_of_two_processes_at_once_one_is_refused(rows):
    with (
        alone(Path(".contribution.json.lock"), "encoding"),
        pytest.raises(InvalidFile, match="another process is encoding"),
    ):
        encode_once(PATH, rows("hospital"))
    assert not noted()
    encode_once(PATH, rows("hospital"))


def test_nothing_is_encoded_without_a_contribution(rows):
    with pytest.raises(InvalidFile, match=r"contribution\.json cannot be read"):
        encode_once(PATH, rows("hospital"))


def test_the_veil_is_not_made_without_a_secret(projection):
    with pytest.raises(InvalidParameter, match="needs a secret that the owners"):
        owner("hospital", VEILED).embed(projection)


# the end


@pytest.mark.usefixtures("own")
def test_what_is_erased_is_gone_with_its_lock_and_may_be_erased_again(rows):
    encode_once(PATH, rows("hospital"))
    for _ in range(2):
        erase(PATH, Path("never.json"))
        assert not list(Path.cwd().iterdir())


@posix
@pytest.mark.usefixtures("own")
def test_what_cannot_be_erased_is_said(monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", denied)
    with pytest.raises(InvalidFile, match=r"contribution\.json cannot be deleted: Perm") as error:
        erase(PATH)
    assert "must not outlive the exchange" in error.value.hint
