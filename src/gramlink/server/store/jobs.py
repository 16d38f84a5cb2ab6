"""Jobs: what workers are to do, in the order it came up. One check of an exchange at a time."""

import sqlite3
from dataclasses import dataclass
from typing import Literal

from gramlink.io.clock import now
from gramlink.server.store import log

Kind = Literal["check", "link"]
MOST_DEATHS = 2  # of workers, before a job is given up


@dataclass(frozen=True, slots=True)
class Job:
    """One thing to do for an exchange: check a party's bundle, or link all of them."""

    number: int
    exchange: int
    exchange_name: str
    kind: Kind
    party: int | None


def queue(db: sqlite3.Connection, exchange: int, kind: Kind, party: int | None = None) -> None:
    """Add a job."""
    db.execute("INSERT INTO jobs (exchange, kind, party) VALUES (?, ?, ?)", (exchange, kind, party))


def find(db: sqlite3.Connection, number: int) -> Job | None:
    """A job that is running, or None if it was called off."""
    row = db.execute(
        "SELECT jobs.*, exchanges.name FROM jobs"
        " JOIN exchanges ON exchanges.number = jobs.exchange"
        " WHERE jobs.number = ? AND jobs.state = 'running'",
        (number,),
    ).fetchone()
    return row and Job(row["number"], row["exchange"], row["name"], row["kind"], row["party"])


def is_waiting(db: sqlite3.Connection) -> bool:
    """Whether there is a job to take, perhaps."""
    return bool(db.execute("SELECT 1 FROM jobs WHERE state = 'pending' LIMIT 1").fetchone())


def take(db: sqlite3.Connection) -> Job | None:
    """The next job, which is running from now on.

    Two checks of one exchange at once would each miss the other's bundle.
    """
    row = db.execute(
        "SELECT number FROM jobs WHERE state = 'pending' AND exchange NOT IN"
        " (SELECT exchange FROM jobs WHERE state = 'running') ORDER BY number LIMIT 1"
    ).fetchone()
    if row is None:
        return None
    db.execute(
        "UPDATE jobs SET state = 'running', attempts = attempts + 1, started = ?, reason = NULL,"
        " step = NULL, done = 0, total = 0 WHERE number = ?",
        (now(), row["number"]),
    )
    return find(db, row["number"])


def step(db: sqlite3.Connection, job: Job, what: str, done: int, total: int) -> None:
    """How far a job is."""
    db.execute(
        "UPDATE jobs SET step = ?, done = ?, total = ? WHERE number = ?",
        (what, done, total, job.number),
    )


def end(db: sqlite3.Connection, job: Job, failed: str | None = None) -> None:
    """A job is over, well or not."""
    db.execute(
        "UPDATE jobs SET state = ?, reason = ?, ended = ? WHERE number = ?",
        ("failed" if failed else "done", failed, now(), job.number),
    )


def put_back(db: sqlite3.Connection, job: Job) -> None:
    """A job that was interrupted by us is to be done again."""
    db.execute(
        "UPDATE jobs SET state = 'pending' WHERE number = ? AND state = 'running'", (job.number,)
    )


def put_all_back(db: sqlite3.Connection) -> None:
    """What ran when the server was killed is to be done again."""
    db.execute("UPDATE jobs SET state = 'pending' WHERE state = 'running'")


def died(db: sqlite3.Connection, job: Job, reason: str) -> bool:
    """The worker of a job died; say whether the job is given up, else it is done again."""
    deaths = db.execute(
        "UPDATE jobs SET deaths = deaths + 1, reason = ? WHERE number = ? RETURNING deaths",
        (reason, job.number),
    ).fetchone()[0]
    if deaths < MOST_DEATHS:
        put_back(db, job)
        log.write(db, "unit", f"will {job.kind} again", job.exchange_name, reason)
    return bool(deaths >= MOST_DEATHS)
