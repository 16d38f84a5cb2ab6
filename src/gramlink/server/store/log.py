"""The table of the log: who did what when, each entry bound to all before it by a hash.

Whoever changes, removes or inserts an entry without rewriting all that follow breaks the
chain. That the last entries were cut off shows only beside a copy of the last hash.
"""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from gramlink.io.clock import now
from gramlink.io.files import digest

START = "0" * 64  # the hash before the first entry


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that was done; `exchange` is a name, or None for the unit as a whole."""

    number: int
    time: str
    who: str
    what: str
    exchange: str | None
    detail: str
    hash: str = ""

    def hashed(self, before: str) -> str:
        """The hash of the entry and, through the entry before, of all earlier ones."""
        content = [before, self.number, self.time, self.who, self.what, self.exchange, self.detail]
        return digest(content)


def is_intact(entries: Iterable[Entry]) -> bool:
    """Whether the entries are an unbroken chain from the first.

    >>> from dataclasses import replace
    >>> entry = Entry(1, "2026-01-01T00:00:00Z", "operator", "made the unit", None, "")
    >>> is_intact([replace(entry, hash=entry.hashed(START))])
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


class Log:
    """What was done, oldest first; nothing is ever removed."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def write(self, who: str, what: str, exchange: str | None = None, detail: str = "") -> None:
        """Add an entry, in the transaction that it describes."""
        query = "SELECT number, hash FROM log ORDER BY number DESC LIMIT 1"
        number, before = self._db.execute(query).fetchone() or (0, START)
        entry = Entry(number + 1, now(), who, what, exchange, detail)
        self._db.execute(
            "INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                *(entry.number, entry.time, entry.who, entry.what, entry.exchange, entry.detail),
                entry.hashed(before),
            ),
        )

    def entries(self) -> list[Entry]:
        """All entries."""
        return [Entry(*row) for row in self._db.execute("SELECT * FROM log ORDER BY number")]
