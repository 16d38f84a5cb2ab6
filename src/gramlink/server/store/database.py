"""Store: the tables of a unit, in one SQLite file that other processes use at the same time.

Whatever changes is changed within one transaction, together with its entry in the log; a
process that is killed leaves all of a change or none of it.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gramlink.errors import InvalidFile

VERSION = 1
BUSY = 30  # seconds to wait for another process's transaction
SYNCHRONOUS = "FULL"  # what is committed survives a power cut
_TABLES = (
    """CREATE TABLE exchanges (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,  -- never used again, so a deleted exchange keeps its row
        schema TEXT NOT NULL,
        created TEXT NOT NULL,
        ended TEXT,
        failed TEXT,  -- why, if it has failed
        summary TEXT,
        erase TEXT,
        erased TEXT,
        deleted TEXT
    ) STRICT""",
    """CREATE TABLE parties (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        exchange INTEGER NOT NULL REFERENCES exchanges ON DELETE CASCADE,
        name TEXT NOT NULL,
        returns TEXT NOT NULL,
        recipient TEXT,
        state TEXT NOT NULL DEFAULT 'none'
            CHECK (state IN ('none', 'uploading', 'checking', 'accepted', 'refused')),
        reason TEXT,
        size INTEGER,
        sha256 TEXT,
        facts TEXT,  -- of an accepted bundle, as JSON
        results_bytes INTEGER,
        results_sha256 TEXT,
        fetched TEXT,
        UNIQUE (exchange, name)
    ) STRICT""",
    """CREATE TABLE bases (
        sender INTEGER NOT NULL REFERENCES parties ON DELETE CASCADE,
        receiver INTEGER NOT NULL REFERENCES parties ON DELETE CASCADE,
        sha256 TEXT NOT NULL,
        PRIMARY KEY (sender, receiver)
    ) STRICT""",
    """CREATE TABLE tokens (
        id TEXT PRIMARY KEY,
        digest TEXT NOT NULL,
        party INTEGER REFERENCES parties ON DELETE CASCADE,  -- null: the operator's
        expires TEXT NOT NULL,
        revoked TEXT
    ) STRICT""",
    """CREATE TABLE jobs (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        exchange INTEGER NOT NULL REFERENCES exchanges ON DELETE CASCADE,
        kind TEXT NOT NULL CHECK (kind IN ('check', 'link')),
        party INTEGER REFERENCES parties ON DELETE CASCADE,
        state TEXT NOT NULL DEFAULT 'pending'
            CHECK (state IN ('pending', 'running', 'done', 'failed')),
        attempts INTEGER NOT NULL DEFAULT 0,
        deaths INTEGER NOT NULL DEFAULT 0,  -- of its workers
        reason TEXT,
        step TEXT,
        done INTEGER NOT NULL DEFAULT 0,
        total INTEGER NOT NULL DEFAULT 0,
        started TEXT,
        ended TEXT
    ) STRICT""",
    """CREATE TABLE log (
        number INTEGER PRIMARY KEY,
        time TEXT NOT NULL,
        who TEXT NOT NULL,
        what TEXT NOT NULL,
        exchange TEXT,
        detail TEXT NOT NULL,
        hash TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX tokens_of_party ON tokens (party)",
    "CREATE INDEX jobs_of_exchange ON jobs (exchange)",
    "CREATE INDEX jobs_by_state ON jobs (state)",
)


class Store:
    """The tables of a unit; threads share it, and take turns."""

    def __init__(self, path: Path) -> None:
        self._turn = threading.RLock()
        try:
            self._db = sqlite3.connect(
                path, timeout=BUSY, isolation_level=None, check_same_thread=False
            )
            self._db.row_factory = sqlite3.Row
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")
            self._db.execute("PRAGMA foreign_keys = ON")
            self._db.execute("PRAGMA secure_delete = ON")
            self._made(path)
        except sqlite3.Error as error:
            raise InvalidFile(
                f"{path} cannot be used: {error}", hint="restore the data folder from its back-up"
            ) from error

    def _made(self, path: Path) -> None:
        """Make the tables of a new file, whoever of two processes comes first."""
        with self.change() as db:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:
                for table in _TABLES:
                    db.execute(table)
                db.execute(f"PRAGMA user_version = {VERSION}")
            elif version != VERSION:
                raise InvalidFile(
                    f"{path} has version {version}, this gramlink reads {VERSION}",
                    hint="use the gramlink that wrote it",
                )

    @contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """A transaction that no other one runs beside; undone if anything is raised."""
        with self._transaction("BEGIN IMMEDIATE") as db:
            yield db

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """The tables as they are at one moment."""
        with self._transaction("BEGIN") as db:
            yield db

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._turn:
            self._db.execute(begin)
            try:
                yield self._db
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def close(self) -> None:
        """Leave the file to others."""
        with self._turn:
            self._db.close()
