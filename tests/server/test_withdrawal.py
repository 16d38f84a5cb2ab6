"""Bundles that are taken back."""

import pytest

from gramlink.server import worker
from server.parties import Asker, sealed_bundle


@pytest.fixture
def accepted(unit, at_bundles, work):
    """The parties, when the first bundle is accepted."""
    at_bundles[0].upload(sealed_bundle("hospital", unit.recipient))
    work()
    return at_bundles


@pytest.fixture
def work(unit):
    """Do the next job."""

    def do():
        with unit.store.change() as db:
            job = db.jobs.take()
        worker.main(unit.folder.path, job.number, 0)

    return do


def withdraw(party, says=204):
    return party.ask("DELETE", "bundle", says=says)


def test_an_accepted_bundle_is_erased_and_can_be_sent_again(unit, accepted, operator, work):
    hospital, registry = accepted
    digest = hospital.me()["bundle"]["sha256"]
    assert unit.folder.bundle(1, 1).exists()
    withdraw(hospital)
    assert not unit.folder.bundle(1, 1).exists()
    found = hospital.me()["bundle"]
    assert (found["state"], found["sha256"], found["rows"]) == ("none", None, None)
    assert found["withdrawn"]
    assert operator.view()["stage"] == "bundles"
    page = operator.get("/exchanges/stroke-2026", headers={"Accept": "text/html"}).text
    assert "withdrawn" in page
    entry = operator.get("/api/log").json()["entries"][-1]
    assert (entry["who"], entry["what"]) == ("hospital", "withdrew its bundle")
    assert entry["detail"] == f"sha256 {digest}"

    registry.upload(sealed_bundle("registry", unit.recipient))
    work()
    assert operator.view()["stage"] == "bundles"
    hospital.upload(sealed_bundle("hospital", unit.recipient))
    assert hospital.me()["bundle"]["withdrawn"] is None
    work()
    work()
    assert operator.view()["stage"] == "done"
    assert "the exchange has ended" in withdraw(hospital, 409).json()["error"]


def test_withdrawing_twice_is_the_same_as_once(accepted, log_of):
    withdraw(accepted[0])
    before = log_of()
    withdraw(accepted[0])
    assert log_of() == before


def test_there_must_be_something_to_withdraw(at_bundles):
    assert "no bundle" in withdraw(at_bundles[0], 409).json()["error"]


def test_part_of_a_bundle_is_withdrawn_too(unit, at_bundles):
    hospital = at_bundles[0]
    hospital.announce(bytes(100))
    hospital.patch(bytes(50))
    withdraw(hospital)
    assert not unit.folder.part(1, 1).exists()
    hospital.patch(bytes(50), 50, says=409)


def test_a_bundle_that_is_being_checked_is_called_off(unit, at_bundles):
    hospital = at_bundles[0]
    hospital.upload(sealed_bundle("hospital", unit.recipient))
    with unit.store.change() as db:
        job = db.jobs.take()
    withdraw(hospital)
    with unit.store.read() as db:
        assert db.jobs.find(job.number) is None  # so that its worker is ended
    worker.main(unit.folder.path, job.number, 0)
    assert hospital.me()["bundle"]["state"] == "none"


def test_a_bundle_is_withdrawn_until_linking_begins(unit, accepted, operator, work):
    hospital, registry = accepted
    registry.upload(sealed_bundle("registry", unit.recipient))
    work()
    assert operator.view()["stage"] == "linking"
    withdraw(registry)
    with unit.store.read() as db:
        assert not db.jobs.is_waiting()
    assert operator.view()["stage"] == "bundles"
    registry.upload(sealed_bundle("registry", unit.recipient))
    work()
    with unit.store.change() as db:
        db.jobs.take()
    assert "linking has begun" in withdraw(hospital, 409).json()["error"]
    assert unit.folder.bundle(1, 1).exists()


def test_only_the_party_itself_withdraws_its_bundle(accepted, operator, anybody, make):
    withdraw(operator, 403)
    stranger = make("another")[0]
    Asker(accepted[0].client.app, stranger.token).ask("DELETE", "bundle", says=404)
    anybody.ask("DELETE", "bundle", says=401)
    assert accepted[0].me()["bundle"]["state"] == "accepted"


def test_what_a_killed_server_had_no_time_to_erase_is_erased_at_its_start(unit, accepted, again):
    path = unit.folder.bundle(1, 1)
    content = path.read_bytes()
    withdraw(accepted[0])
    path.write_bytes(content)
    again()
    assert not path.exists()
