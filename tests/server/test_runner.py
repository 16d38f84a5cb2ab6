"""Jobs in processes of their own. What the processes do is made up, as starting a real one takes
a second; real ones are in test_listener."""

import logging
import re
import subprocess
import sys
import time

import pytest

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
    return sql(unit, "SELECT * FROM jobs WHERE number = ?", number)[0]


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


def test_trouble_with_the_tables_does_not_stop_the_runner(
    unit, checking, scripted, monkeypatch, capsys
):
    processes = scripted(SLEEP)
    real, calls = Jobs.is_waiting, []

    def troubled(jobs):
        calls.append(1)
        if len(calls) < 3:
            raise OSError(28, "MILLER")
        return real(jobs)

    monkeypatch.setattr(Jobs, "is_waiting", troubled)
    with Runner(unit).running():
        wait_for(lambda: processes)
    err = capsys.readouterr().err
    assert err.count("unexpected OSError in test_runner.py") == 1
    assert "MILLER" not in err
    del checking
