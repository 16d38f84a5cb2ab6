"""Runner: the thread that runs jobs, each in its own process, and erases files when due.

A worker's standard input is a pipe from this process: when this process ends, for whatever
reason, the worker sees the end of the pipe and ends too.
"""

import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from gramlink.io.clock import now, seconds_after
from gramlink.io.steps import note
from gramlink.server import exchanges
from gramlink.server.errors import NO_ROOM
from gramlink.server.folder import SPARE
from gramlink.server.guard import report
from gramlink.server.store.jobs import Job
from gramlink.server.unit import Unit

MOST_DEATHS = 2  # worker deaths before a job is given up
MOST_WAITS = 20  # attempts at a job for which there is no room on the disk
FIRST_WAIT, LONGEST_WAIT = 5, 600  # seconds between these
FULL = "the linkage unit's disk is full"
TICK = 0.5  # seconds between checks of the tables, which other processes change too


@dataclass(slots=True)
class _Worker:
    job: Job
    process: "subprocess.Popen[bytes]"
    deadline: float
    verdict: str = ""  # why we ended it, if we did


class Runner:
    """Runs the jobs of a unit while it is served."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._workers: list[_Worker] = []
        self._turn = threading.Lock()
        self._news, self._over = threading.Event(), threading.Event()
        self._said = ""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run jobs until the context ends; those still running then are run again later."""
        with self.unit.store.change() as db:
            db.jobs.put_all_back()
        self.unit.wake.append(self._news.set)
        self.unit.forget.append(self.forget)
        thread = threading.Thread(target=self._run, name="jobs", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.unit.wake.remove(self._news.set)
            self.unit.forget.remove(self.forget)
            self._over.set()
            self._news.set()
            thread.join()

    def forget(self, exchange: int) -> None:
        """End the workers of a deleted exchange."""
        with self._turn:
            for worker in [one for one in self._workers if one.job.exchange == exchange]:
                _end(worker)
                self._workers.remove(worker)

    def _run(self) -> None:
        while not self._over.is_set():
            self._news.wait(TICK)
            self._news.clear()
            try:
                with self._turn:
                    self._look()
                self._said = ""
            except Exception as error:  # noqa: BLE001  # a full disk must not stop it for good
                if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
                    continue  # a back-up, which ends
                if self._said != type(error).__name__:
                    report(error)
                self._said = type(error).__name__
        with self._turn:
            for worker in self._workers:
                _end(worker)
                with suppress(sqlite3.Error), self.unit.store.change() as db:
                    db.jobs.put_back(worker.job)

    def _look(self) -> None:
        for worker in list(self._workers):
            self._supervise(worker)
        self._erase()
        while len(self._workers) < self.unit.settings.workers and not self._over.is_set():
            room = self.unit.folder.free() >= SPARE
            with self.unit.store.read() as db:
                waiting = db.jobs.is_waiting(room=room)
            if not waiting:
                break
            with self.unit.store.change() as db:
                job = db.jobs.take(room=room)
            if job is None:
                break
            try:
                self._workers.append(_started(self.unit, job))
                note(f"job begins, {job.kind}", job=job.number, exchange=job.exchange)
            except OSError:  # too little memory or too few files, which passes
                with self.unit.store.change() as db:
                    db.jobs.put_back(job)
                raise

    def _supervise(self, worker: _Worker) -> None:
        with self.unit.store.read() as db:
            wanted = db.jobs.find(worker.job.number)
        if worker.process.poll() is None:
            if time.monotonic() > worker.deadline:
                worker.verdict = f"it took more than {self.unit.settings.hours:g} hours"
            if wanted is None or worker.verdict:
                _end(worker)
            else:
                return
        if wanted is not None:  # a worker that finished its job has noted so in the tables
            self._bury(worker)
        _end(worker)
        self._workers.remove(worker)
        took = self.unit.settings.hours * 3600 - (worker.deadline - time.monotonic())
        note(f"job ends, {worker.job.kind}", took, exchange=worker.job.exchange)

    def _bury(self, worker: _Worker) -> None:
        job, reason = worker.job, worker.verdict or _cause(worker.process.returncode)
        with self.unit.store.change() as db:
            if db.jobs.find(job.number) is None:
                return
            if worker.process.returncode == NO_ROOM and not worker.verdict:
                waits = db.jobs.await_room(job, _later)
                if waits == 1:
                    db.log.write("unit", f"will {job.kind} again", job.exchange_name, FULL)
                if waits < MOST_WAITS:
                    return
                reason = f"{FULL}, and still was at the last of {MOST_WAITS} attempts"
            elif not worker.verdict and db.jobs.count_death(job, reason) < MOST_DEATHS:
                db.jobs.put_back(job)
                db.log.write("unit", f"will {job.kind} again", job.exchange_name, reason)
                return
            if job.kind == "check":
                exchanges.refuse(db, job, reason, failed=True)
            else:
                exchanges.fail(db, job, reason)
            self.unit.folder.drop_refused(job)

    def _erase(self) -> None:
        with self.unit.store.read() as db:
            if not db.exchanges.is_erasing_due(now()):
                return
        with self.unit.store.change() as db:
            exchanges.plan_erasing(db, self.unit.settings.keep_days, self.unit.settings.open_days)
            due = exchanges.erase_due(db)
        for exchange in due:
            self.unit.folder.erase(exchange)


def _started(unit: Unit, job: Job) -> _Worker:
    command = [
        *(sys.executable, "-P", "-m", "gramlink.server.worker"),
        *(str(unit.folder.path.resolve()), str(job.number), str(unit.settings.memory)),
    ]
    # what libraries print may quote records
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(  # noqa: S603
        command, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere, start_new_session=True
    )
    return _Worker(job, process, time.monotonic() + unit.settings.hours * 3600)


def _end(worker: _Worker) -> None:
    worker.process.kill()
    worker.process.wait()
    if worker.process.stdin:
        worker.process.stdin.close()


def _later(waits: int) -> str:
    """When to try again a job that has waited for room so often."""
    return seconds_after(now(), min(FIRST_WAIT * 2 ** (waits - 1), LONGEST_WAIT))


def _cause(code: int) -> str:
    if code >= 0:
        return f"the worker ended by itself with code {code}"
    why = ", most likely for lack of memory" if code in (-9, -6) else ""
    return f"the worker was stopped by signal {-code}{why}"
