"""What an owner mines to a file is paid for once, and released once, wherever it is stopped."""

from contextlib import suppress
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.embedding.projection import agree
from gramlink.errors import (
    BudgetExceeded,
    InvalidFile,
    InvalidLedger,
    InvalidParameter,
    Mismatch,
)
from gramlink.io.files import written_whole
from gramlink.mining.mined import Mined
from gramlink.parties.owner import Owner
from gramlink.privacy.ledger import Ledger
from gramlink.records.fields import Field
from gramlink.records.reading import read_records
from gramlink.records.schema import Schema
from noise import seeded, silent

PUBLIC = Schema(fields=(Field(name="surname", miner="public", grams=("A", "ER", "MI")),))
MINING = Schema(fields=(Field(name="surname", size=10),), epsilon=Fraction(1, 2))


def owner(name="clinic", schema=MINING):
    frame = pl.DataFrame({"id": ["1", "2", "3"], "surname": ["Miller", "Anders", None]})
    return Owner(name, read_records(frame, schema), schema, key=name.encode() * 5)


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "clinic.ledger", "clinic", Fraction(1), draw=silent)


PURPOSE = {"exchange": "stroke", "for": "registry"}
OTHER = {"exchange": "stroke", "for": "police"}
HALF = Fraction(1, 2)


class Crash(BaseException):
    """The end of a process, at a place where a test wants it."""


def crash(*_, **__):
    raise Crash


@pytest.fixture
def target(tmp_path):
    return tmp_path / "clinic.mined.json"


def noisy(path):
    """A ledger whose noise is never the same, as the system's is not."""
    return Ledger(path, "clinic", Fraction(1))


def test_what_is_mined_to_a_file_is_in_it_and_is_paid_for_once(ledger, target):
    party = owner()
    mined = party.mine_to(target, ledger, PURPOSE)
    assert Mined.from_json(target.read_bytes(), "x") == mined
    assert target.stat().st_mode & 0o777 == 0o600
    [release] = ledger.state.releases
    assert (release.epsilon, release.digest, release.what) == (HALF, mined.digest, "mine surname")
    assert release.parameters == {
        "owner": "clinic",
        "schema": MINING.digest,
        "shares": {"surname": "1/2"},
        **PURPOSE,
    }
    before = target.read_bytes(), ledger.path.read_bytes()
    assert party.mine_to(target, noisy(ledger.path), PURPOSE) == mined
    assert (target.read_bytes(), ledger.path.read_bytes()) == before
    assert sorted(path.name for path in target.parent.iterdir()) == [
        "clinic.ledger",
        "clinic.mined.json",
    ]


def test_another_purpose_is_paid_for_anew(ledger, target):
    party = owner()
    party.mine_to(target, ledger, PURPOSE)
    party.mine_to(target.with_name("other.json"), ledger, OTHER)
    assert ledger.state.spent == 1
    assert [one.parameters["for"] for one in ledger.state.releases] == ["registry", "police"]


def before_the_charge(patch):
    patch.setattr(Ledger, "charge", crash)


def after_the_charge(patch):
    charge = Ledger.charge
    patch.setattr(Ledger, "charge", lambda *args: charge(*args) and crash())


def in_the_draw(patch):
    patch.setattr("gramlink.parties.owner.mine", crash)


def after_the_draw(patch):
    patch.setattr(Mined, "to_json", crash)


def before_the_release(patch):
    patch.setattr(Ledger, "released", crash)


def after_the_release(patch):
    released = Ledger.released
    patch.setattr(Ledger, "released", lambda *args: released(*args) or crash())


def while_the_file_is_named(patch):
    patch.setattr("pathlib.Path.replace", crash)


CRASHES = [
    (before_the_charge, False, False),
    (after_the_charge, True, False),
    (in_the_draw, True, False),
    (after_the_draw, True, False),
    (before_the_release, True, False),
    (after_the_release, True, True),
    (while_the_file_is_named, True, True),
]


@pytest.mark.parametrize(
    ("place", "charged", "released"), CRASHES, ids=[one[0].__name__ for one in CRASHES]
)
def test_wherever_mining_ends_it_is_paid_for_once(
    tmp_path, target, monkeypatch, place, charged, released
):
    ledger = noisy(tmp_path / "clinic.ledger")
    party = owner()
    with monkeypatch.context() as patch:
        place(patch)
        with pytest.raises(Crash):
            party.mine_to(target, ledger, PURPOSE)
    assert not target.exists()
    parts = [path.read_bytes() for path in tmp_path.glob(".*.part")]
    state = ledger.state
    assert state.spent == (HALF if charged else 0)
    assert [one.digest is not None for one in state.releases] == ([released] if charged else [])
    # another process, later
    mined = owner().mine_to(target, noisy(ledger.path), PURPOSE)
    assert not list(tmp_path.glob(".*"))
    if released:
        assert parts == [target.read_bytes()]
    assert Mined.from_json(target.read_bytes(), "x") == mined
    [release] = ledger.state.releases
    assert (ledger.state.spent, release.digest) == (HALF, mined.digest)
    again = target.read_bytes(), ledger.path.read_bytes()
    assert party.mine_to(target, ledger, PURPOSE) == mined
    assert (target.read_bytes(), ledger.path.read_bytes()) == again


@settings(deadline=None, max_examples=15)
@given(places=st.lists(st.sampled_from([one[0] for one in CRASHES]), max_size=6))
def test_however_often_mining_ends_it_is_paid_for_once(tmp_path_factory, places):
    folder = tmp_path_factory.mktemp("mined")
    path, ledger = folder / "mined.json", noisy(folder / "clinic.ledger")
    for place in places:
        with pytest.MonkeyPatch.context() as patch:
            place(patch)
            seen = path.read_bytes() if path.exists() else None
            try:
                owner().mine_to(path, ledger, PURPOSE)
            except Crash:
                assert ledger.state.spent in (0, HALF)
            assert seen is None or seen == path.read_bytes()
    owner().mine_to(path, ledger, PURPOSE)
    [release] = ledger.state.releases
    assert (ledger.state.spent, release.digest) == (
        HALF,
        Mined.from_json(path.read_bytes(), "x").digest,
    )


def test_a_charge_for_one_purpose_pays_for_no_other(ledger, target, monkeypatch):
    party = owner()
    with monkeypatch.context() as patch:
        after_the_charge(patch)
        with pytest.raises(Crash):
            party.mine_to(target, ledger, PURPOSE)
    party.mine_to(target.with_name("other.json"), ledger, OTHER)
    assert ledger.state.spent == 1
    assert [one.digest is None for one in ledger.state.releases] == [True, False]
    party.mine_to(target, ledger, PURPOSE)
    assert ledger.state.spent == 1
    assert all(one.digest for one in ledger.state.releases)


def test_a_charge_of_plain_mining_is_not_taken_for_one_with_a_purpose(ledger, target, monkeypatch):
    with monkeypatch.context() as patch:
        in_the_draw(patch)
        with pytest.raises(Crash):
            owner().mine(ledger)
    owner().mine_to(target, ledger, PURPOSE)
    assert ledger.state.spent == 1


def test_a_file_that_was_lost_after_its_release_is_paid_for_anew_only_if_asked(ledger, target):
    """Somebody may have seen it, and what is drawn now is another."""
    owner().mine_to(target, ledger, PURPOSE)
    target.unlink()
    with pytest.raises(InvalidFile, match="is missing, though it is paid for"):
        owner().mine_to(target, ledger, PURPOSE)
    owner().mine_to(target, ledger, PURPOSE, anew=True)
    assert ledger.state.spent == 1
    with pytest.raises(BudgetExceeded):
        owner().mine_to(target, ledger, PURPOSE, anew=True)


@pytest.mark.parametrize("place", [one[0] for one in CRASHES])
def test_a_charge_never_pays_for_two_files_wherever_they_go(tmp_path, target, monkeypatch, place):
    """As when what is there is moved away after a kill, and it is mined again."""
    ledger, out = noisy(tmp_path / "clinic.ledger"), []
    for crashes in (True, False, False):
        with monkeypatch.context() as patch:
            if crashes:
                place(patch)
            with suppress(Crash, BudgetExceeded):
                owner().mine_to(target, ledger, PURPOSE, anew=True)
        if target.exists():
            out.append(Mined.from_json(target.read_bytes(), "x").digest)
            target.unlink()
    assert out == [one.digest for one in ledger.state.releases]
    assert ledger.state.spent == 1 == HALF * len(set(out))


def test_a_release_whose_part_is_gone_too_is_not_drawn_again(ledger, target, monkeypatch):
    with monkeypatch.context() as patch:
        while_the_file_is_named(patch)
        with pytest.raises(Crash):
            owner().mine_to(target, ledger, PURPOSE)
    for part in target.parent.glob(".*.part"):
        part.unlink()
    with pytest.raises(InvalidFile, match="is missing, though it is paid for"):
        owner().mine_to(target, ledger, PURPOSE)
    assert ledger.state.spent == HALF


def test_of_two_that_draw_for_one_charge_one_is_released(tmp_path, target, monkeypatch):
    ledger, mined = noisy(tmp_path / "clinic.ledger"), Owner._mined
    elsewhere = target.with_name("elsewhere.json")

    def overtaken(party, budget):
        monkeypatch.setattr(Owner, "_mined", mined)
        owner().mine_to(elsewhere, noisy(ledger.path), PURPOSE)
        return mined(party, budget)

    monkeypatch.setattr(Owner, "_mined", overtaken)
    with pytest.raises(InvalidLedger, match="not a charge that is waiting"):
        owner().mine_to(target, ledger, PURPOSE)
    assert not target.exists()
    [release] = ledger.state.releases
    assert release.digest == Mined.from_json(elsewhere.read_bytes(), "x").digest


def test_a_file_that_another_process_is_writing_is_not_mined_to(ledger, target):
    with (
        written_whole(target),
        pytest.raises(InvalidFile, match=r"another process is writing .*clinic\.mined\.json"),
    ):
        owner().mine_to(target, ledger, PURPOSE)
    assert not ledger.path.exists()


def test_too_little_left_is_refused_and_nothing_written(tmp_path, target):
    ledger = Ledger(tmp_path / "clinic.ledger", "clinic", Fraction(1, 3), draw=silent)
    with pytest.raises(BudgetExceeded, match=r"costs epsilon 0\.5, only 1/3 is left"):
        owner().mine_to(target, ledger, PURPOSE)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content", [b"", b"{", b"id,surname\n", b'{"gramlink": "projection", "version": 1}', None]
)
def test_a_file_that_is_not_what_was_mined_is_an_error_and_costs_nothing(ledger, target, content):
    if content is None:
        owner().mine_to(target, seedless(target), PURPOSE)
        content = target.read_bytes()[:-20]
    target.write_bytes(content)
    with pytest.raises(InvalidFile, match=r"clinic\.mined\.json"):
        owner().mine_to(target, ledger, PURPOSE)
    assert target.read_bytes() == content
    assert not ledger.path.exists()


def seedless(target):
    """A ledger elsewhere, for a file that is then damaged."""
    return Ledger(target.with_name("elsewhere"), "clinic", Fraction(1), draw=seeded(1))


def test_what_another_owner_mined_is_not_recorded_as_the_release_of_a_charge(
    ledger, target, monkeypatch
):
    party = owner()
    with monkeypatch.context() as patch:
        after_the_charge(patch)
        with pytest.raises(Crash):
            party.mine_to(target, ledger, PURPOSE)
    target.write_bytes(owner("police").mine(None).to_json())
    with pytest.raises((InvalidFile, Mismatch)):
        party.mine_to(target, ledger, PURPOSE)
    assert [one.digest for one in ledger.state.releases] == [None]


@pytest.mark.parametrize("wrong", ["owner", "schema"])
def test_a_file_of_another_owner_or_schema_is_not_passed_off_as_this(ledger, target, wrong):
    party = owner()
    other = owner("police") if wrong == "owner" else owner(
        schema=MINING.model_copy(update={"edits": 2})
    )  # fmt: skip
    target.write_bytes(other.mine(None).to_json())
    with pytest.raises((InvalidFile, Mismatch)):
        party.mine_to(target, ledger, PURPOSE)
    assert not ledger.path.exists()


def test_a_folder_that_cannot_be_written_to_costs_nothing(ledger, tmp_path):
    with pytest.raises(InvalidFile, match="cannot be written"):
        owner().mine_to(tmp_path / "nowhere" / "x.json", ledger, PURPOSE)
    assert not ledger.path.exists()


def test_a_damaged_ledger_pays_for_no_file(ledger, target):
    ledger.path.write_bytes(b"not a ledger")
    with pytest.raises(InvalidLedger):
        owner().mine_to(target, ledger, PURPOSE)
    assert not target.exists()


def test_what_costs_nothing_is_written_without_a_ledger(ledger, target):
    mined = owner(schema=PUBLIC).mine_to(target, ledger, PURPOSE)
    assert Mined.from_json(target.read_bytes(), "x") == mined
    assert mined.epsilon == 0
    assert owner(schema=PUBLIC).mine_to(target, ledger, PURPOSE) == mined
    assert not ledger.path.exists()


@pytest.mark.parametrize("miner", ["exact", "random"])
def test_a_miner_for_experiments_writes_no_file(ledger, target, miner):
    schema = Schema(fields=(Field(name="surname", miner=miner),))
    with pytest.raises(InvalidParameter, match=f"{miner} miner offers no privacy"):
        owner(schema=schema).mine_to(target, ledger, PURPOSE)
    assert not target.exists()
    assert not ledger.path.exists()


# an older copy of the ledger


@pytest.fixture
def set_back(tmp_path, target):
    """A ledger that was set back to what it was before something was mined."""
    ledger = Ledger.create(tmp_path / "clinic.ledger", "clinic", Fraction(5))
    older = ledger.path.read_bytes()
    owner().mine_to(target, ledger, PURPOSE)
    latest = ledger.path.read_bytes()
    ledger.path.write_bytes(older)
    yield ledger
    assert ledger.path.read_bytes() == older
    ledger.path.write_bytes(latest)
    owner().mine(ledger)


@pytest.mark.parametrize(
    "spend",
    [
        lambda ledger, _: owner().mine(ledger),
        lambda ledger, target: owner().mine_to(target, ledger, PURPOSE, anew=True),
        lambda ledger, target: owner().mine_to(target, ledger, PURPOSE),
        lambda ledger, target: owner().mine_to(target.with_name("new.json"), ledger, OTHER),
    ],
)
def test_a_ledger_set_back_pays_for_nothing_where_a_release_is_at_hand(set_back, target, spend):
    with pytest.raises(
        InvalidLedger, match=r"older copy: the release in .*clinic\.mined\.json is m"
    ):
        spend(set_back, target)


def test_a_ledger_set_back_shows_nothing_either(set_back, target):
    mined = Mined.from_json(target.read_bytes(), "x")
    projection = agree(mined, owner("registry").mine(None))
    with pytest.raises(InvalidLedger, match="older copy"):
        owner().embed(projection, ledger=set_back)


def test_a_ledger_set_back_is_noticed_by_a_file_of_any_name_that_is_mined_to(tmp_path):
    ledger = Ledger.create(tmp_path / "clinic.ledger", "clinic", Fraction(5))
    older, target = ledger.path.read_bytes(), tmp_path / "grams"
    owner().mine_to(target, ledger, PURPOSE)
    ledger.path.write_bytes(older)
    with pytest.raises(InvalidLedger, match="older copy"):
        owner().mine_to(target, ledger, PURPOSE, anew=True)


def test_a_ledger_that_is_gone_is_not_made_again_beside_what_it_paid_for(ledger, target):
    owner().mine_to(target, ledger, PURPOSE)
    ledger.path.rename(target.with_name("away"))
    for spend in (owner().mine, lambda one: owner().mine_to(target, one, OTHER, anew=True)):
        with pytest.raises(
            InvalidLedger, match=r"does not exist, though .*clinic\.mined\.json was"
        ):
            spend(ledger)
    assert not ledger.path.exists()
    Ledger.create(ledger.path, "clinic", Fraction(1))  # which is for the owner to decide
    owner().mine(ledger)


def test_what_other_ledgers_paid_for_says_nothing_about_this_one(ledger, tmp_path, target):
    owner().mine_to(target, Ledger(tmp_path / "other.ledger", "other", Fraction(1)), PURPOSE)
    opening = b'{"gramlink": "mined", "version": 1, "owner": "clinic", "ledger": '
    for number, rest in enumerate([b"", b"3}", b'{"head": "a", "mark": 7}}', b"{}}", b"null}"]):
        (tmp_path / f"{number}.mined.json").write_bytes(opening + rest)
    owner().mine(ledger)
    owner().mine(ledger)
    assert ledger.state.spent == 1


def test_a_stamp_tells_nobody_but_its_ledger_where_it_is_from(ledger):
    stamps = [owner().mine(ledger).stamp for _ in "12"]
    assert len({one.head for one in stamps} | {one.mark for one in stamps}) == 4
    assert not any(one.mark in ledger.path.read_text() for one in stamps)
    assert all(one.is_of(ledger.state.nonce) for one in stamps)
    assert not any(one.is_of("0" * 32) for one in stamps)


def test_without_a_ledger_there_is_no_stamp(ledger, target):
    assert owner().mine(None).stamp is None
    assert '"ledger"' not in owner().mine(None).to_json().decode()
    assert owner().mine_to(target, ledger, PURPOSE).stamp is not None


def test_of_two_files_drawn_at_once_for_one_charge_the_later_one_is_deleted(
    ledger, target, monkeypatch
):
    party, released, elsewhere = owner(), Ledger.released, target.parent / "elsewhere"
    elsewhere.mkdir()

    def beaten(self, charge, digest):
        monkeypatch.setattr(Ledger, "released", released)
        party.mine_to(elsewhere / target.name, noisy(ledger.path), PURPOSE, anew=True)
        released(self, charge, digest)

    monkeypatch.setattr(Ledger, "released", beaten)
    with pytest.raises(InvalidLedger, match="is not a charge that is waiting") as refused:
        party.mine_to(target, ledger, PURPOSE, anew=True)
    assert "another process" in refused.value.hint
    assert [path.name for path in target.parent.iterdir() if path.is_file()] == [ledger.path.name]
    assert (ledger.state.spent, len(ledger.state.releases)) == (HALF, 1)
