"""Migrations: what each version of the tables changes from the one before.

A released migration is never edited: whoever changes the tables adds one. All that a database
lacks are applied in one transaction, so a process that is killed leaves the tables as they were.
"""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from gramlink.errors import InvalidFile


@dataclass(frozen=True, slots=True)
class Migration:
    """SQL to run, and how the names of the exchanges' files start before and after it."""

    statements: tuple[str, ...]
    renamed: tuple[str, str] | None = None


MIGRATIONS: tuple[Migration, ...] = (
    Migration(
        (
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
    ),
    Migration(
        (
            "ALTER TABLE bases RENAME TO mined",
            # quotes within a value are escaped, so this can only be the key
            """UPDATE parties SET facts = replace(facts, '"gram lengths":', '"shape":')""",
            # bundles are no longer compared by what was kept
            "DELETE FROM jobs WHERE kind = 'link' AND state IN ('pending', 'running')",
            """INSERT INTO jobs (exchange, kind, party)
                SELECT exchange, 'check', parties.number FROM parties
                JOIN exchanges ON exchanges.number = exchange
                WHERE state = 'accepted' AND ended IS NULL""",
            """UPDATE parties SET state = 'checking', facts = NULL
                WHERE state = 'accepted'
                AND exchange IN (SELECT number FROM exchanges WHERE ended IS NULL)""",
        ),
        renamed=("base-", "mined-"),
    ),
    Migration(
        (
            # what parties sent before was not signed, and their keys cannot check signatures
            """UPDATE exchanges SET ended = strftime('%Y-%m-%dT%H:%M:%SZ', 'now'),
                failed = 'an older gramlink began it, which signed nothing: make a new exchange'
                WHERE ended IS NULL AND EXISTS (SELECT 1 FROM parties
                WHERE exchange = exchanges.number AND recipient IS NOT NULL)""",
            "UPDATE parties SET recipient = NULL",
            "DELETE FROM jobs WHERE state IN ('pending', 'running')",
        )
    ),
    Migration(
        (
            "ALTER TABLE parties ADD COLUMN withdrawn TEXT",  # when, until another is announced
            "ALTER TABLE jobs ADD COLUMN waits INTEGER NOT NULL DEFAULT 0",  # for want of room
            "ALTER TABLE jobs ADD COLUMN later TEXT",  # not to be taken before
            # the texts of schemas lie between a row's columns, so these save reading them
            "CREATE INDEX exchanges_there ON exchanges (number) WHERE deleted IS NULL",
            """CREATE INDEX exchanges_kept ON exchanges (erase)
                WHERE deleted IS NULL AND erased IS NULL""",
        )
    ),
)


def bring_up_to_date(db: sqlite3.Connection, path: Path) -> tuple[int, int]:
    """Apply missing migrations in a transaction; return the versions before and after."""
    before, after = _version(db), len(MIGRATIONS)
    for migration in MIGRATIONS[before:]:
        for statement in migration.statements:
            db.execute(statement)
        if migration.renamed:
            _rename(path.parent / "exchanges", *migration.renamed)
    if before < after:
        db.execute(f"PRAGMA user_version = {after}")
    return before, after


def require_up_to_date(db: sqlite3.Connection, path: Path) -> None:
    """Refuse tables of another version."""
    found, known = _version(db), len(MIGRATIONS)
    if found != known:
        raise InvalidFile(
            f"the tables in {path} have version {found}, this gramlink uses version {known}",
            hint="to update them, stop the server and start it with this version of gramlink"
            if found < known
            else "use the version of gramlink that wrote them, or a newer one",
        )


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _rename(exchanges: Path, before: str, after: str) -> None:
    """Rename the exchanges' files; those that a killed process renamed already stay as they are."""
    for path in exchanges.glob(f"*/{before}*"):
        path.replace(path.with_name(after + path.name.removeprefix(before)))
