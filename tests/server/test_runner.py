"""Jobs in processes of their own. What the processes do is made up, as starting a real one takes
a second; real ones are in test_listener."""

import logging
import re
import subprocess
import sys
import time

import pytest

from gramlink.exchange.wire import Summary
from gramlink.io import clock
from gramlink.server import exchanges, runner
from gramlink.server.runner import Runner
from gramlink.server.settings import Settings
from gramlink.server.store.jobs import Jobs
from gramlink.server.unit import prepared
from server.parties import sha256, sql, wait_for

SLEEP = "import time; time.sleep(60)"
DIE = "import os; os.kill(os.getpid(), 9)"
ABIDE = "import sys; sys.stdin.read()"


@pytest.fixture
def scripted(monkeypatch):
    """Have workers run a script; their processes are listed."""
    processes = []

    def script(*texts):
        def started(unit, job):
            text = texts[min(len(processes), len(texts) - 1)]
            process = subprocess.Popen([sys.executable, "-Sc", text], stdin=subprocess.PIPE)
            processes.append(process)
            return runner._Worker(job, process, time.monotonic() + unit.settings.hours * 3600)

        monkeypatch.setattr(runner, "_started", started)
        monkeypatch.setattr(runner, "TICK", 0.02)
        return processes

    return script


def job_row(unit, number=1):
    found = sql(unit, "SELECT * FROM jobs WHERE number = ?", number)
    return found[0] if found else None


@pytest.fixture
def checking(at_bundles):
    at_bundles[0].upload(b"a bundle")
    return at_bundles


def test_a_worker_that_dies_twice_has_its_bundle_refused(unit, checking, scripted, log_of):
    processes = scripted(DIE)
    with Runner(unit).running():
        found = wait_for(lambda: (me := checking[0].me()["bundle"])["state"] == "refused" and me)
    assert "signal 9, most likely for lack of memory" in found["reason"]
    assert len(processes) == 2
    assert (job_row(unit)["state"], job_row(unit)["attempts"]) == ("failed", 2)
    assert ("unit", "will check again") in log_of()


def test_jobs_are_logged_by_number(unit, checking, scripted, caplog):
    caplog.set_level(logging.DEBUG, "gramlink")
    scripted(DIE)
    with Runner(unit).running():
        wait_for(lambda: checking[0].me()["bundle"]["state"] == "refused")
    told = [one for one in caplog.messages if one.startswith("job ")]
    assert told[0] == "job begins, check: job 1, exchange 1"
    assert re.fullmatch(r"job ends, check: exchange 1, \d\.\d{3} s", told[1])


def test_a_worker_that_ends_without_a_word_is_dead_too(unit, checking, scripted):
    scripted("import sys; sys.exit(0)")
    with Runner(unit).running():
        found = wait_for(lambda: (me := checking[0].me()["bundle"])["state"] == "refused" and me)
    assert "ended by itself with code 0" in found["reason"]


def test_a_linkage_whose_worker_dies_twice_has_failed(unit, at_bundles, operator, scripted):
    sql(unit, "UPDATE parties SET state = 'accepted'")
    with unit.store.change() as db:
        db.jobs.queue(1, "link")
    scripted(DIE)
    with Runner(unit).running():
        wait_for(lambda: operator.view()["stage"] == "failed")
    assert "signal 9" in at_bundles[0].view()["reason"]


def test_a_job_over_its_time_is_ended_for_good(settings, make, scripted):
    from dataclasses import replace

    del make
    unit = prepared(replace(settings, data=settings.data.with_name("other"), hours=0.2 / 3600))
    with unit.store.change() as db:
        exchange = db.exchanges.add("x", "", "")
        party = db.parties.add(exchange, "a", "links")
        db.parties.await_check(party)
        db.jobs.queue(exchange, "check", party)
    processes = scripted(SLEEP)
    with Runner(unit).running():
        wait_for(lambda: job_row(unit)["state"] == "failed")
    assert "hours" in job_row(unit)["reason"]
    assert len(processes) == 1
    unit.store.close()


def test_deleting_an_exchange_kills_its_worker(unit, checking, operator, scripted):
    del checking
    processes = scripted(SLEEP)
    with Runner(unit).running():
        wait_for(lambda: processes)
        wait_for(lambda: job_row(unit)["state"] == "running")
        operator.ask("DELETE", says=204)
        assert processes[0].poll() == -9


def test_another_process_that_deletes_an_exchange_has_its_worker_killed(unit, checking, scripted):
    del checking
    processes = scripted(SLEEP)
    with Runner(unit).running():
        wait_for(lambda: processes)
        with unit.store.change() as db:
            exchanges.delete(db, "stroke-2026")
        wait_for(lambda: processes[0].poll() == -9)


def test_a_server_that_ends_does_its_jobs_again_later(unit, checking, scripted):
    del checking
    processes = scripted(SLEEP)
    with Runner(unit).running():
        wait_for(lambda: processes)
    assert processes[0].poll() == -9
    assert job_row(unit)["state"] == "pending"


def test_what_ran_when_the_server_was_killed_is_done_again(unit, checking, scripted):
    del checking
    with unit.store.change() as db:
        db.jobs.take()
    processes = scripted(SLEEP)
    with Runner(unit).running():
        wait_for(lambda: processes)
        assert job_row(unit)["attempts"] == 2


def test_as_many_workers_as_are_allowed_run_at_once(settings, make, scripted):
    from dataclasses import replace

    del make
    unit = prepared(replace(settings, data=settings.data.with_name("other"), workers=2))
    with unit.store.change() as db:
        for number in (1, 2, 3):
            db.jobs.queue(db.exchanges.add(f"x{number}", "", ""), "link")
    processes = scripted(SLEEP)
    with Runner(unit).running():
        wait_for(lambda: len(processes) == 2)
        time.sleep(0.1)
        assert len(processes) == 2
    unit.store.close()


def test_files_are_erased_when_their_time_has_come(unit, at_bundles, operator, scripted, log_of):
    scripted(SLEEP)
    with unit.store.change() as db:
        db.exchanges.finish(1, clock.now(), '{"pairs": [], "clusters": 0}')
        for number in (1, 2):
            db.parties.give_results(number, 1, sha256(b"x"))
    with Runner(unit).running():
        wait_for(lambda: operator.view()["erase"])
        assert (
            operator.view()["erase"]
            == clock.days_after(clock.now(), 30)[:10] + (operator.view()["erase"][10:])
        )
        assert unit.folder.of(1).exists()
        sql(unit, "UPDATE exchanges SET erase = '2020-01-01T00:00:00Z'")
        wait_for(lambda: not unit.folder.of(1).exists())
    view = at_bundles[0].view()
    assert view["erased"]
    assert view["stage"] == "done"
    assert not view["parties"][0]["results"]["ready"]
    assert "erased" in at_bundles[0].get("results", 410).json()["error"]
    at_bundles[0].get("mined/registry", 410)
    assert ("unit", "erased the files") in log_of()
    prepared(Settings(unit.folder.path)).store.close()


def test_an_exchange_that_never_ends_is_given_up_and_erased(
    unit, checking, operator, scripted, log_of, run_out
):
    processes = scripted(SLEEP)
    hospital = checking[0]
    with Runner(unit).running():
        wait_for(lambda: processes)
        open_until = wait_for(lambda: hospital.view()["erase"])
        assert open_until[:10] == clock.days_after(clock.now(), 180)[:10]
        run_out()
        wait_for(lambda: not unit.folder.of(1).exists())
        assert processes[0].wait() == -9
    view = hospital.view()
    assert (view["stage"], bool(view["erased"])) == ("failed", True)
    assert view["reason"].startswith("it was not linked by 2020-01-01T00:00:00Z")
    assert [what for who, what in log_of()][-2:] == ["gave up the exchange", "erased the files"]
    assert job_row(unit, 1) is None
    hospital.announce(b"other", 409)
    hospital.send_mined("registry", 404)
    assert operator.get("/api/log").json()["intact"]


def test_what_is_being_linked_is_not_given_up(unit, at_bundles, scripted, run_out):
    """It ends soon, and only then is it known how long its results are kept."""
    sql(unit, "UPDATE parties SET state = 'accepted'")
    with unit.store.change() as db:
        db.jobs.queue(1, "link")
    processes = scripted(SLEEP)
    with Runner(unit).running():
        wait_for(lambda: processes and at_bundles[0].view()["erase"])
        run_out()
        looks = len(processes)
        with unit.store.read() as db:
            assert not db.exchanges.is_erasing_due(clock.now())
        with unit.store.change() as db:
            exchanges.finish(db, db.jobs.find(1), Summary(pairs=(), clusters=0), {})
        kept = wait_for(lambda: at_bundles[0].view()["erase"])
    assert kept[:10] == clock.days_after(clock.now(), 30)[:10]
    assert at_bundles[0].view()["stage"] == "done"
    assert unit.folder.of(1).exists()
    assert looks == len(processes) == 1


@pytest.fixture
def run_out(unit):
    """Let the time of all exchanges be over."""
    return lambda: sql(unit, "UPDATE exchanges SET erase = '2020-01-01T00:00:00Z'")


FULL = "import sys; sys.exit(75)"


def test_a_job_that_lacks_room_waits_for_it_and_says_so(
    unit, checking, operator, scripted, monkeypatch, log_of
):
    monkeypatch.setattr(runner, "_later", lambda _: "2020-01-01T00:00:00Z")
    processes = scripted(FULL, FULL, SLEEP)
    monkeypatch.setattr(type(unit.folder), "free", lambda _: 10**9 if len(processes) < 2 else 0)
    with Runner(unit).running():
        wait_for(lambda: job_row(unit)["waits"] == 2)
        unit.told()
        assert checking[0].me()["bundle"]["state"] == "checking"
        assert operator.view()["progress"]["step"] == "waiting for room on the unit's disk"
        page = operator.get("/exchanges/stroke-2026", headers={"Accept": "text/html"}).text
        assert "Waiting for room on the unit&#39;s disk" in page
        assert len(processes) == 2
        monkeypatch.setattr(type(unit.folder), "free", lambda _: 10**9)
        wait_for(lambda: len(processes) == 3)
    assert log_of().count(("unit", "will check again")) == 1


def test_a_job_that_always_lacks_room_ends_in_the_end(unit, checking, scripted, monkeypatch):
    monkeypatch.setattr(runner, "_later", lambda _: "2020-01-01T00:00:00Z")
    monkeypatch.setattr(runner, "MOST_WAITS", 3)
    processes = scripted(FULL)
    with Runner(unit).running():
        found = wait_for(lambda: (me := checking[0].me()["bundle"])["state"] == "refused" and me)
    assert found["reason"].startswith("the linkage unit's disk is full, and still was")
    assert len(processes) == 3


def test_attempts_at_a_job_that_lacks_room_come_less_and_less_often():
    waits = [clock.seconds_until(runner._later(number)) for number in range(1, 21)]
    assert waits[0] <= 5
    assert waits == sorted(waits)
    assert 595 <= waits[-1] <= 600
    assert 2 * 3600 < sum(waits) < 4 * 3600


def test_trouble_with_the_tables_does_not_stop_the_runner(
    unit, checking, scripted, monkeypatch, capsys
):
    processes = scripted(SLEEP)
    real, calls = Jobs.is_waiting, []

    def troubled(jobs, **options):
        calls.append(1)
        if len(calls) < 3:
            raise OSError(28, "MILLER")
        return real(jobs, **options)

    monkeypatch.setattr(Jobs, "is_waiting", troubled)
    with Runner(unit).running():
        wait_for(lambda: processes)
    err = capsys.readouterr().err
    assert err.count("unexpected OSError in test_runner.py") == 1
    assert "MILLER" not in err
    del checking
