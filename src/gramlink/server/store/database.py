"""Database: one SQLite file that several processes use at the same time.

Whatever changes is changed within one transaction, together with its entry in the log; a
process that is killed leaves all of a change or none of it.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gramlink.errors import InvalidFile
from gramlink.server.store.exchanges import Exchanges
from gramlink.server.store.jobs import Jobs
from gramlink.server.store.log import Log
from gramlink.server.store.migrations import bring_up_to_date, require_up_to_date
from gramlink.server.store.parties import Mined, Parties
from gramlink.server.store.standings import Standings
from gramlink.server.store.tokens import Tokens

BUSY = 30  # seconds to wait for another process's transaction
SYNCHRONOUS = "FULL"  # what is committed survives a power cut


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables, for as long as a transaction lasts."""

    exchanges: Exchanges
    parties: Parties
    standings: Standings
    mined: Mined
    tokens: Tokens
    jobs: Jobs
    log: Log

    @classmethod
    def of(cls, db: sqlite3.Connection) -> "Tables":
        """The tables of a connection."""
        return cls(
            Exchanges(db),
            Parties(db),
            Standings(db),
            Mined(db),
            Tokens(db),
            Jobs(db),
            Log(db),
        )


class Store:
    """The database of a unit, which threads share and use in turn.

    The process that serves a unit makes and migrates the tables. Other processes, whose gramlink
    may be newer than the running server's, only use them.
    """

    def __init__(self, path: Path, *, migrate: bool = False) -> None:
        self._turn, self._reading_turn = threading.RLock(), threading.RLock()
        try:
            self._db = _connected(path)
            self._tables = Tables.of(self._db)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")
            self._db.execute("PRAGMA foreign_keys = ON")
            self._db.execute("PRAGMA secure_delete = ON")
            if migrate:
                self._migrate(path)
            require_up_to_date(self._db, path)
            # of its own, so that those who read do not wait until a change is on the disk
            self._reading = _connected(path)
            self._reading.execute("PRAGMA query_only = ON")
            self._read_tables = Tables.of(self._reading)
        except sqlite3.Error as error:
            raise InvalidFile(
                f"{path} cannot be used: {error}", hint="restore the data folder from its back-up"
            ) from error

    def _migrate(self, path: Path) -> None:
        with self.change() as tables:
            before, after = bring_up_to_date(self._db, path)
            if 0 < before < after:
                versions = f"from version {before} to {after}"
                tables.log.write("unit", "brought the tables up to date", detail=versions)

    @contextmanager
    def change(self) -> Iterator[Tables]:
        """A transaction with no other change beside it; undone if anything is raised."""
        with self._turn, _transaction(self._db, "BEGIN IMMEDIATE"):
            yield self._tables

    @contextmanager
    def read(self) -> Iterator[Tables]:
        """The tables as they are at one moment."""
        with self._reading_turn, _transaction(self._reading, "BEGIN"):
            yield self._read_tables

    def close(self) -> None:
        """Close the file."""
        with self._turn, self._reading_turn:
            self._reading.close()
            self._db.close()


def _connected(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=BUSY, isolation_level=None, check_same_thread=False)
    db.row_factory = sqlite3.Row
    return db


@contextmanager
def _transaction(db: sqlite3.Connection, begin: str) -> Iterator[None]:
    db.execute(begin)
    try:
        yield
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
