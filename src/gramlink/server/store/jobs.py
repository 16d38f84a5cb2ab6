"""The table of jobs: what workers must do, in the order it came up."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from gramlink.io.clock import now

Kind = Literal["check", "link"]
NO_ROOM = "waiting for room on the unit's disk"  # for people to read
_TAKEABLE = "state = 'pending' AND (later IS NULL OR later <= ?) AND (waits = 0 OR ?)"


@dataclass(frozen=True, slots=True)
class Job:
    """One thing to do for an exchange: check a party's bundle, or link all of them."""

    number: int
    exchange: int
    exchange_name: str
    kind: Kind
    party: int | None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a running job has come."""

    step: str | None
    done: int
    total: int


class Jobs:
    """Jobs to do, under way and done. An exchange has one job under way at a time."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def queue(self, exchange: int, kind: Kind, party: int | None = None) -> None:
        """Add a job."""
        self._db.execute(
            "INSERT INTO jobs (exchange, kind, party) VALUES (?, ?, ?)", (exchange, kind, party)
        )

    def find(self, number: int) -> Job | None:
        """A running job, or None if it was called off."""
        row = self._db.execute(
            "SELECT jobs.number, exchange, exchanges.name, kind, party FROM jobs"
            " JOIN exchanges ON exchanges.number = jobs.exchange"
            " WHERE jobs.number = ? AND state = 'running'",
            (number,),
        ).fetchone()
        return row and Job(*row)

    def is_waiting(self, *, room: bool = True) -> bool:
        """Whether there may be a job to take; without room, none that has waited for it."""
        query = f"SELECT 1 FROM jobs WHERE {_TAKEABLE} LIMIT 1"  # noqa: S608
        return self._db.execute(query, (now(), room)).fetchone() is not None

    def take(self, *, room: bool = True) -> Job | None:
        """The next job, marked as running; without room, none that has waited for it.

        Two checks of one exchange at once would each miss the other's bundle.
        """
        row = self._db.execute(
            f"SELECT number FROM jobs WHERE {_TAKEABLE} AND exchange NOT IN"  # noqa: S608
            " (SELECT exchange FROM jobs WHERE state = 'running') ORDER BY number LIMIT 1",
            (now(), room),
        ).fetchone()
        if row is None:
            return None
        self._db.execute(
            "UPDATE jobs SET state = 'running', later = NULL, attempts = attempts + 1, started = ?,"
            " reason = NULL, step = NULL, done = 0, total = 0 WHERE number = ?",
            (now(), row["number"]),
        )
        return self.find(row["number"])

    def note(self, job: Job, progress: Progress) -> None:
        """Note how far a job has come."""
        self._db.execute(
            "UPDATE jobs SET step = ?, done = ?, total = ? WHERE number = ?",
            (progress.step, progress.done, progress.total, job.number),
        )

    def progress_of(self, exchange: int) -> Progress | None:
        """How far the job of an exchange has come that runs or waits for room, if there is one."""
        row = self._db.execute(
            "SELECT step, done, total FROM jobs WHERE exchange = ?"
            " AND (state = 'running' OR state = 'pending' AND waits > 0)"
            " ORDER BY state = 'running' DESC LIMIT 1",
            (exchange,),
        ).fetchone()
        return row and Progress(*row)

    def end(self, job: Job, failed: str | None = None) -> None:
        """A job is over, well or not."""
        self._db.execute(
            "UPDATE jobs SET state = ?, reason = ?, ended = ? WHERE number = ?",
            ("failed" if failed else "done", failed, now(), job.number),
        )

    def put_back(self, job: Job) -> None:
        """An interrupted job must be done again."""
        self._db.execute(
            "UPDATE jobs SET state = 'pending' WHERE number = ? AND state = 'running'",
            (job.number,),
        )

    def await_room(self, job: Job, later: Callable[[int], str]) -> int:
        """A job that lacked room must be done again; return how often it has waited for it.

        `later` says from this number when to try again.
        """
        query = "SELECT waits FROM jobs WHERE number = ?"
        waits = int(self._db.execute(query, (job.number,)).fetchone()["waits"]) + 1
        self._db.execute(
            "UPDATE jobs SET state = 'pending', waits = ?, later = ?, step = ?, done = 0, total = 0"
            " WHERE number = ?",
            (waits, later(waits), NO_ROOM, job.number),
        )
        return waits

    def call_off(self, exchange: int, party: int) -> bool:
        """Drop what waits to be done for an exchange with a party's bundle, or runs to check it.

        False, and nothing is dropped, if the bundles are being linked.
        """
        query = "SELECT 1 FROM jobs WHERE exchange = ? AND kind = 'link' AND state = 'running'"
        if self._db.execute(query, (exchange,)).fetchone():
            return False
        self._db.execute(
            "DELETE FROM jobs WHERE exchange = ? AND state IN ('pending', 'running')"
            " AND (kind = 'link' OR party = ?)",
            (exchange, party),
        )
        return True

    def call_all_off(self, exchange: int) -> None:
        """Drop all that is to be done for an exchange."""
        query = "DELETE FROM jobs WHERE exchange = ? AND state IN ('pending', 'running')"
        self._db.execute(query, (exchange,))

    def put_all_back(self) -> None:
        """Jobs that were running when the server was killed must be done again."""
        self._db.execute("UPDATE jobs SET state = 'pending' WHERE state = 'running'")

    def count_death(self, job: Job, reason: str) -> int:
        """The worker of a job died; return how many have died of it."""
        row = self._db.execute(
            "UPDATE jobs SET deaths = deaths + 1, reason = ? WHERE number = ? RETURNING deaths",
            (reason, job.number),
        ).fetchone()
        return int(row["deaths"])
