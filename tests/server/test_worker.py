"""What workers find out, in this process."""

import errno

import pytest

from gramlink.bundles.results import Results
from gramlink.bundles.sealing import new_identity, seal, unseal_from
from gramlink.errors import InvalidFile
from gramlink.server import worker
from gramlink.server.errors import NO_ROOM
from gramlink.server.store.parties import Facts
from server.parties import NAMES, bring_to_bundles, bundle_of, identity_of, sealed_bundle


@pytest.fixture
def work(unit):
    """Do the next job, and say what kind it was."""

    def do():
        with unit.store.change() as db:
            job = db.jobs.take()
        assert job is not None
        worker.main(unit.folder.path, job.number, 0)
        with unit.store.read() as db:
            assert db.jobs.find(job.number) is None
        return job.kind

    return do


def send(unit, party, **options):
    party.upload(sealed_bundle(party.name, unit.recipient, **options))


def test_bundles_are_checked_linked_and_answered(unit, at_bundles, operator, work, log_of):
    for one in at_bundles:
        send(unit, one)
        assert work() == "check"
        found = one.me()["bundle"]
        assert (found["state"], found["rows"], found["epsilon"]) == ("accepted", 30, "20")
    assert operator.view()["stage"] == "linking"
    assert work() == "link"
    assert operator.view()["stage"] == "done"
    for one in at_bundles:
        assert one.me()["results"]["ready"]
        answer = one.get("results")
        assert answer.headers["etag"] == f'"{one.me()["results"]["sha256"]}"'
        opened, _ = unseal_from(answer.content, identity_of(one.name), "results")
        results = Results.from_bytes(opened, "results")
        assert (results.owner, results.exchange) == (one.name, "stroke-2026")
        assert len(results.tables["links"]) == one.view()["summary"]["links"] >= 25
        assert one.me()["results"]["fetched"]
    told = [what for _, what in log_of()]
    assert told[-3:] == ["linked the bundles", "fetched its results", "fetched its results"]
    at_bundles[0].get("results")
    assert len(log_of()) == len(told)


def test_the_operator_sees_pairs_and_a_party_its_own_numbers(unit, at_bundles, operator, work):
    for one in at_bundles:
        send(unit, one)
    for _ in range(3):
        work()
    (pair,) = operator.view()["summary"]["pairs"]
    assert pair["rows"] == {"hospital": 30, "registry": 30}
    found = at_bundles[0].view()["summary"]
    assert found == {key: pair[key] for key in ("links", "possible", "precision", "recall")}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"exchange": "another"}, "exchange is another, not stroke-2026"),
        ({"reply": "somebody"}, "key to reply to"),
    ],
    ids=str,
)
def test_a_bundle_for_another_purpose_is_refused(unit, at_bundles, work, options, says):
    send(unit, at_bundles[0], **options)
    work()
    found = at_bundles[0].me()["bundle"]
    assert found["state"] == "refused"
    assert says in found["reason"]
    send(unit, at_bundles[0])
    work()
    assert at_bundles[0].me()["bundle"]["state"] == "accepted"


def test_a_bundle_of_another_owner_is_refused(unit, at_bundles, work):
    hospital, _ = at_bundles
    hospital.upload(sealed_bundle("registry", unit.recipient))
    work()
    assert "owner is registry, not hospital" in hospital.me()["bundle"]["reason"]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (lambda _: b"nonsense", "not a sealed file"),
        (lambda unit: seal(b"nonsense", [unit.recipient]), "damaged"),
        (lambda _: seal(bundle_of("hospital"), [new_identity().recipient]), "another key"),
        (lambda unit: sealed_bundle("hospital", unit.recipient)[:-1], "cut short or changed"),
    ],
    ids=["clear", "no bundle", "for another", "cut"],
)
def test_what_is_no_bundle_is_refused(unit, at_bundles, work, log_of, data, says):
    at_bundles[0].upload(data(unit))
    work()
    found = at_bundles[0].me()["bundle"]
    assert found["state"] == "refused"
    assert says in found["reason"]
    assert ("unit", "refused the bundle of hospital") in log_of()


def test_bundles_of_other_projections_are_told_apart_before_they_are_linked(unit, at_bundles, work):
    hospital, registry = at_bundles
    send(unit, hospital)
    work()
    other = Facts(rows=30, epsilon="30", created="", projection="other", shape="")
    with unit.store.change() as db:
        db.parties.accept(1, other)
    send(unit, registry)
    work()
    assert "embedded with different projections" in registry.me()["bundle"]["reason"]


def test_a_linkage_that_cannot_be_is_failed_for_good(unit, at_bundles, operator, work):
    for one in at_bundles:
        send(unit, one)
        work()
    unit.folder.bundle(1, 2).unlink()
    assert work() == "link"
    view = operator.view()
    assert view["stage"] == "failed"
    assert "trouble with its disk: No such file" in view["reason"]
    for one in at_bundles:
        one.announce(b"other", 409)


def test_what_nobody_foresaw_is_told_without_its_content(unit, at_bundles, work, monkeypatch):
    def broken(*_args, **_options):
        raise ValueError("MILLER")

    monkeypatch.setattr(worker, "admit", broken)
    send(unit, at_bundles[0])
    work()
    reason = at_bundles[0].me()["bundle"]["reason"]
    assert reason.startswith("an unexpected ValueError in test_worker.py, line ")
    assert "MILLER" not in reason


def test_a_lack_of_memory_is_told(unit, at_bundles, work, monkeypatch):
    def hungry(*_args, **_options):
        raise MemoryError

    monkeypatch.setattr(worker, "admit", hungry)
    send(unit, at_bundles[0])
    work()
    assert "not enough memory" in at_bundles[0].me()["bundle"]["reason"]


@pytest.mark.parametrize(
    ("error", "waits"),
    [
        (OSError(errno.ENOSPC, "no space"), True),
        (OSError(errno.EDQUOT, "over quota"), True),
        (OSError(errno.EIO, "broken"), False),
        (MemoryError(), False),
    ],
    ids=["full", "quota", "broken", "memory"],
)
def test_only_a_full_disk_is_waited_for(
    unit, at_bundles, operator, work, monkeypatch, error, waits
):
    for one in at_bundles:
        send(unit, one)
        work()

    def failing(*_args, **_options):
        try:
            raise error
        except OSError as cause:
            raise InvalidFile("results cannot be written") from cause

    monkeypatch.setattr(worker, "written_whole", failing)
    if not waits:
        work()
        assert operator.view()["stage"] == "failed"
        return
    with unit.store.change() as db:
        job = db.jobs.take()
    with pytest.raises(SystemExit) as ended:
        worker.main(unit.folder.path, job.number, 0)
    assert ended.value.code == NO_ROOM
    assert operator.view()["stage"] == "linking"


@pytest.mark.parametrize("moment", ["before", "after"])
def test_an_exchange_that_is_deleted_meanwhile_is_let_go(
    unit, at_bundles, operator, monkeypatch, moment
):
    send(unit, at_bundles[0])
    with unit.store.change() as db:
        job = db.jobs.take()
    real = worker.admit

    def deleting(*args, **options):
        operator.ask("DELETE", says=204)
        real(*args, **options)

    if moment == "before":
        operator.ask("DELETE", says=204)
    else:
        monkeypatch.setattr(worker, "admit", deleting)
    worker.main(unit.folder.path, job.number, 0)
    operator.get(says=404)
    assert not unit.folder.of(1).exists()


def test_progress_is_there_to_be_seen(unit, at_bundles, operator, work, monkeypatch):
    seen = []
    real = worker.answer

    def watched(*args, progress, **options):
        progress(3, 10)
        seen.append(operator.view()["progress"])
        return real(*args, progress=progress, **options)

    monkeypatch.setattr(worker, "answer", watched)
    for one in at_bundles:
        send(unit, one)
        work()
    work()
    assert seen == [{"step": "matching", "done": 3, "total": 10}]
    assert operator.view()["progress"] == {"step": None, "done": 0, "total": 0}


def test_only_one_job_of_an_exchange_runs_at_a_time(unit, at_bundles):
    for one in at_bundles:
        send(unit, one)
    with unit.store.change() as db:
        first = db.jobs.take()
        assert db.jobs.take() is None
        db.jobs.put_back(first)
        assert db.jobs.take() == first


def test_three_parties_get_what_each_may_have(unit, make, operator, work):
    names = ("clinic", *NAMES)
    returns = {"clinic": "counts", "hospital": "weights"}
    parties = make(parties=names, returns=returns)
    bring_to_bundles(parties)
    for one in parties:
        send(unit, one, names=names)
        work()
    work()
    assert operator.view()["stage"] == "done", operator.view()["reason"]
    tables = {}
    for one in parties:
        opened, _ = unseal_from(one.get("results").content, identity_of(one.name), "results")
        tables[one.name] = Results.from_bytes(opened, "results").tables
    assert tables["clinic"] == {}
    assert "clusters" in tables["hospital"]
    summary = parties[0].view()["summary"]
    assert summary["links"] >= 50
