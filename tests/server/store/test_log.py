from dataclasses import replace

import pytest

from gramlink.server.store.log import is_intact
from server.parties import sql


@pytest.fixture
def entries(unit):
    with unit.store.change() as db:
        for number in range(4):
            db.log.write("operator", f"did thing {number}", "x", "detail")
        return db.log.entries()


def test_a_chain_that_nobody_touched_is_intact(entries):
    assert is_intact(entries)
    assert is_intact([])


@pytest.mark.parametrize("part", ["time", "who", "what", "exchange", "detail", "hash"])
@pytest.mark.parametrize("place", [0, 2, -1])
def test_a_changed_entry_breaks_the_chain(entries, part, place):
    entries[place] = replace(entries[place], **{part: "other"})
    assert not is_intact(entries)


def test_a_removed_an_added_and_a_moved_entry_break_the_chain(entries):
    assert not is_intact(entries[1:])
    assert not is_intact([entries[0], *entries[2:]])
    assert not is_intact([*entries, entries[-1]])
    assert not is_intact([entries[1], entries[0], *entries[2:]])


def test_an_entry_that_is_hashed_anew_breaks_the_next(entries):
    changed = replace(entries[1], who="nobody")
    entries[1] = replace(changed, hash=changed.hashed(entries[0].hash))
    assert not is_intact(entries)


def test_the_interface_says_when_the_log_was_tampered_with(unit, operator):
    assert operator.get("/api/log").json()["intact"] is True
    sql(unit, "UPDATE log SET who = 'nobody' WHERE number = 1")
    assert operator.get("/api/log").json()["intact"] is False


def test_only_the_operator_reads_the_log(hospital, anybody):
    hospital.get("/api/log", 403)
    anybody.get("/api/log", 401)


@pytest.mark.usefixtures("at_bundles")
def test_everything_that_is_done_is_in_the_log_with_who_did_it(operator, log_of):
    operator.ask("DELETE", "tokens/hospital", says=204)
    operator.ask("DELETE", says=204)
    assert log_of() == [
        ("operator", "made a token"),
        ("operator", "made the exchange"),
        ("hospital", "gave its recipient"),
        ("registry", "gave its recipient"),
        ("hospital", "sent what it mined, sealed"),
        ("registry", "sent what it mined, sealed"),
        ("operator", "revoked a token"),
        ("operator", "deleted the exchange"),
    ]
    assert operator.get("/api/log").json()["intact"] is True
