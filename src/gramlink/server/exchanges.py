"""Exchanges: what may happen to one, each with its entry in the log.

All functions work within a transaction of the caller's, which has written the files that
a change tells of before.
"""

import json
import sqlite3
from collections.abc import Mapping
from itertools import permutations
from typing import Any

from gramlink.io.clock import days_after, now
from gramlink.server import auth
from gramlink.server.auth import Party
from gramlink.server.errors import Refusal, unknown
from gramlink.server.folder import Folder
from gramlink.server.plan import Plan
from gramlink.server.store import jobs, log
from gramlink.server.store.jobs import Job
from gramlink.server.tokens import Token

Row = sqlite3.Row


def create(db: sqlite3.Connection, folder: Folder, plan: Plan) -> dict[str, Token]:
    """Make an exchange, and a token for each party."""
    if db.execute("SELECT 1 FROM exchanges WHERE name = ?", (plan.name,)).fetchone():
        raise Refusal(
            f"there is, or was, an exchange {plan.name} already",
            hint="names are never used again, since bundles name the exchange they are for",
        )
    number = db.execute(
        "INSERT INTO exchanges (name, schema, created) VALUES (?, ?, ?)",
        (plan.name, plan.schema, now()),
    ).lastrowid
    assert number is not None  # noqa: S101  # a row was inserted
    given = {}
    for party in plan.parties:
        row = db.execute(
            "INSERT INTO parties (exchange, name, returns) VALUES (?, ?, ?)",
            (number, party, plan.returns[party]),
        )
        given[party], _ = auth.give(db, row.lastrowid, plan.days)
    folder.of(number).mkdir(mode=0o700, exist_ok=True)
    returned = ", ".join(f"{party} gets {kind}" for party, kind in plan.returns.items())
    log.write(db, "operator", "made the exchange", plan.name, returned)
    return given


def find(db: sqlite3.Connection, name: str) -> Row:
    """The exchange of a name."""
    row: Row | None = db.execute(
        "SELECT * FROM exchanges WHERE name = ? AND deleted IS NULL", (name,)
    ).fetchone()
    if row is None:
        raise unknown("there is no such exchange")
    return row


def parties(db: sqlite3.Connection, exchange: int) -> list[Row]:
    """The parties of an exchange, in the order they were named in."""
    found = db.execute("SELECT * FROM parties WHERE exchange = ? ORDER BY number", (exchange,))
    return found.fetchall()


def party(db: sqlite3.Connection, who: Party) -> Row:
    """A party's row, if its exchange was not deleted meanwhile."""
    row: Row | None = db.execute("SELECT * FROM parties WHERE number = ?", (who.number,)).fetchone()
    if row is None:
        raise unknown("there is no such exchange")
    return row


def facts_of(row: Row) -> dict[str, Any]:
    """What is known of a party's accepted bundle; nothing if there is none."""
    return json.loads(row["facts"]) if row["facts"] else {}


def sealed(db: sqlite3.Connection, exchange: int) -> dict[tuple[int, int], str]:
    """The digests of the bases that were sent, by the numbers of sender and receiver."""
    rows = db.execute(
        "SELECT bases.* FROM bases JOIN parties ON parties.number = bases.sender"
        " WHERE parties.exchange = ? ORDER BY receiver",
        (exchange,),
    )
    return {(row["sender"], row["receiver"]): row["sha256"] for row in rows}


def stage(db: sqlite3.Connection, exchange: Row) -> str:
    """How far an exchange is."""
    if exchange["failed"]:
        return "failed"
    if exchange["ended"]:
        return "done"
    rows = parties(db, exchange["number"])
    if not all(row["recipient"] for row in rows):
        return "joining"
    every = permutations([row["number"] for row in rows], 2)
    if not sealed(db, exchange["number"]).keys() >= set(every):
        return "bases"
    return "linking" if all(row["state"] == "accepted" for row in rows) else "bundles"


def join(db: sqlite3.Connection, who: Party, recipient: str) -> None:
    """A party says whom to seal to; it may say otherwise until the first base is sealed."""
    before = party(db, who)["recipient"]
    if before == recipient:
        return
    if before and sealed(db, who.exchange):
        raise Refusal(
            "bases were sealed to another recipient of this party already",
            hint="use the identity that this party joined with, or ask for a new exchange",
        )
    db.execute("UPDATE parties SET recipient = ? WHERE number = ?", (recipient, who.number))
    log.write(db, who.name, "gave its recipient", who.exchange_name, recipient)


def require_joined(db: sqlite3.Connection, receiver: Party) -> None:
    """Refuse to send to whom nothing can be sealed yet."""
    if not party(db, receiver)["recipient"]:
        raise Refusal(
            f"{receiver.name} has not joined yet", hint="wait until it has given its recipient"
        )


def has_base(db: sqlite3.Connection, sender: Party, receiver: Party, sha256: str) -> bool:
    """Whether this very base was sent already; another one is refused."""
    before = sealed(db, party(db, sender)["exchange"]).get((sender.number, receiver.number))
    if before is not None and before != sha256:
        raise Refusal(
            f"another base was sent to {receiver.name} already",
            hint="send the same file again, or ask for a new exchange",
        )
    return before is not None


def relay(db: sqlite3.Connection, sender: Party, receiver: Party, sha256: str) -> None:
    """A base is there for another party to fetch."""
    require_joined(db, receiver)
    if not has_base(db, sender, receiver, sha256):
        db.execute("INSERT INTO bases VALUES (?, ?, ?)", (sender.number, receiver.number, sha256))
        detail = f"to {receiver.name}, sha256 {sha256}"
        log.write(db, sender.name, "sent a sealed base", sender.exchange_name, detail)


def uploaded(db: sqlite3.Connection, who: Party) -> None:
    """All of a bundle is there, to be checked."""
    row = party(db, who)
    if row["state"] == "uploading":
        db.execute(
            "UPDATE parties SET state = 'checking', reason = NULL WHERE number = ?", (who.number,)
        )
        jobs.queue(db, who.exchange, "check", who.number)
        detail = f"{row['size']} bytes, sha256 {row['sha256']}"
        log.write(db, who.name, "uploaded its bundle", who.exchange_name, detail)


def accept(db: sqlite3.Connection, job: Job, facts: Mapping[str, Any]) -> None:
    """A bundle can be linked; when it was the last one, they are."""
    db.execute(
        "UPDATE parties SET state = 'accepted', reason = NULL, facts = ? WHERE number = ?",
        (json.dumps(facts), job.party),
    )
    _log_bundle(db, job, "accepted the bundle")
    exchange = db.execute("SELECT * FROM exchanges WHERE number = ?", (job.exchange,)).fetchone()
    if stage(db, exchange) == "linking":
        jobs.queue(db, job.exchange, "link")
    jobs.end(db, job)


def refuse(db: sqlite3.Connection, job: Job, reason: str, *, failed: bool = False) -> None:
    """A bundle cannot be linked; its party may upload another."""
    db.execute(
        "UPDATE parties SET state = 'refused', reason = ?, facts = NULL WHERE number = ?",
        (reason, job.party),
    )
    _log_bundle(db, job, "refused the bundle")  # why may quote the bundle, so it is not logged
    jobs.end(db, job, reason if failed else None)


def _log_bundle(db: sqlite3.Connection, job: Job, what: str) -> None:
    row = db.execute("SELECT * FROM parties WHERE number = ?", (job.party,)).fetchone()
    log.write(db, "unit", f"{what} of {row['name']}", job.exchange_name, f"sha256 {row['sha256']}")


def finish(
    db: sqlite3.Connection,
    job: Job,
    summary: Mapping[str, Any],
    results: Mapping[int, tuple[int, str]],
) -> None:
    """Results are there for each party, with their sizes and digests."""
    for number, (size, sha256) in results.items():
        db.execute(
            "UPDATE parties SET results_bytes = ?, results_sha256 = ? WHERE number = ?",
            (size, sha256, number),
        )
    db.execute(
        "UPDATE exchanges SET ended = ?, summary = ? WHERE number = ?",
        (now(), json.dumps(summary), job.exchange),
    )
    log.write(db, "unit", "linked the bundles", job.exchange_name)
    jobs.end(db, job)


def fail(db: sqlite3.Connection, job: Job, reason: str) -> None:
    """The bundles cannot be linked, which is final."""
    db.execute(
        "UPDATE exchanges SET ended = ?, failed = ? WHERE number = ?",
        (now(), reason, job.exchange),
    )
    log.write(db, "unit", "could not link the bundles", job.exchange_name)
    jobs.end(db, job, reason)


def fetched(db: sqlite3.Connection, who: Party) -> None:
    """A party has its results; the first time counts."""
    row = party(db, who)
    if row["fetched"] is None:
        db.execute("UPDATE parties SET fetched = ? WHERE number = ?", (now(), who.number))
        detail = f"sha256 {row['results_sha256']}"
        log.write(db, who.name, "fetched its results", who.exchange_name, detail)


def delete(db: sqlite3.Connection, name: str) -> int:
    """Forget an exchange but for its name and its log; the caller erases its files."""
    number = int(find(db, name)["number"])
    db.execute("DELETE FROM jobs WHERE exchange = ?", (number,))
    db.execute("DELETE FROM parties WHERE exchange = ?", (number,))
    db.execute(
        "UPDATE exchanges SET deleted = ?, schema = '', summary = NULL, failed = NULL,"
        " ended = NULL, erase = NULL, erased = NULL WHERE number = ?",
        (now(), number),
    )
    log.write(db, "operator", "deleted the exchange", name)
    return number


def is_erasing_due(db: sqlite3.Connection) -> bool:
    """Whether there is something to plan or to erase."""
    found = db.execute(
        "SELECT 1 FROM exchanges WHERE deleted IS NULL AND erased IS NULL"
        " AND ended IS NOT NULL AND (erase IS NULL OR erase <= ?) LIMIT 1",
        (now(),),
    ).fetchone()
    return found is not None


def plan_erasing(db: sqlite3.Connection, days: int) -> None:
    """Say of exchanges that have ended when their files will be erased."""
    ended = db.execute("SELECT * FROM exchanges WHERE ended IS NOT NULL AND erase IS NULL")
    for row in ended.fetchall():
        db.execute(
            "UPDATE exchanges SET erase = ? WHERE number = ?",
            (days_after(row["ended"], days), row["number"]),
        )


def erase_due(db: sqlite3.Connection) -> list[int]:
    """The exchanges whose files are to be erased now, which the caller does."""
    due = db.execute(
        "SELECT * FROM exchanges WHERE erase <= ? AND erased IS NULL AND deleted IS NULL", (now(),)
    ).fetchall()
    for row in due:
        db.execute("UPDATE exchanges SET erased = ? WHERE number = ?", (now(), row["number"]))
        log.write(db, "unit", "erased the files", row["name"])
    return [row["number"] for row in due]
