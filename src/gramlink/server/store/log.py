"""The log: who did what when, each entry bound to all before it by a hash.

Whoever changes, removes or inserts an entry without rewriting all that follow breaks the
chain. That the last entries were cut off shows only beside a copy of the last hash.
"""

import sqlite3
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from gramlink.io.clock import now
from gramlink.io.files import digest

START = "0" * 64  # what the first entry follows


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that was done; exchange is its name, or None where it is about the unit."""

    number: int
    time: str
    who: str
    what: str
    exchange: str | None
    detail: str
    hash: str = ""

    def hashed(self, before: str) -> str:
        """The hash of the entry and, by that of the entry before, of all earlier ones."""
        content = [before, self.number, self.time, self.who, self.what, self.exchange, self.detail]
        return digest(content)


def is_intact(entries: Iterable[Entry]) -> bool:
    """Whether the entries are a whole chain from the first one on.

    >>> entry = Entry(1, "2026-01-01T00:00:00Z", "operator", "made the unit", None, "")
    >>> is_intact([Entry(*list(asdict(entry).values())[:-1], hash=entry.hashed(START))])
    True
    >>> is_intact([entry])
    False
    """
    before = START
    for place, entry in enumerate(entries, 1):
        if entry.number != place or entry.hash != entry.hashed(before):
            return False
        before = entry.hash
    return True


def write(
    db: sqlite3.Connection, who: str, what: str, exchange: str | None = None, detail: str = ""
) -> None:
    """Add an entry, in the transaction of what it tells of."""
    last = db.execute("SELECT number, hash FROM log ORDER BY number DESC LIMIT 1").fetchone()
    number, before = (last["number"], last["hash"]) if last else (0, START)
    entry = Entry(number + 1, now(), who, what, exchange, detail)
    content = {**asdict(entry), "hash": entry.hashed(before)}
    db.execute(
        "INSERT INTO log VALUES (:number, :time, :who, :what, :exchange, :detail, :hash)", content
    )


def read(db: sqlite3.Connection) -> list[Entry]:
    """All entries, the first first."""
    return [Entry(*row) for row in db.execute("SELECT * FROM log ORDER BY number")]


def document(entries: list[Entry]) -> dict[str, Any]:
    """The log as the interface gives it."""
    return {"entries": [asdict(entry) for entry in entries], "intact": is_intact(entries)}
