"""The table of exchanges."""

import sqlite3
from dataclasses import dataclass

_AT_ONCE = 200  # exchanges changed in one transaction, for which all others wait
_KEPT = "deleted IS NULL AND erased IS NULL"
# what is being linked ends soon, and is erased some time after that
_DUE = (
    f"SELECT 1 FROM exchanges WHERE {_KEPT} AND erase <= ? AND NOT EXISTS (SELECT 1 FROM jobs"  # noqa: S608
    " WHERE exchange = exchanges.number AND kind = 'link' AND state = 'running')"
)


@dataclass(frozen=True, slots=True)
class ExchangeRow:
    """An exchange; when something happened is None until it has."""

    number: int
    name: str
    schema: str
    created: str
    ended: str | None
    failed: str | None  # why, if it has failed
    summary: str | None  # as JSON
    erase: str | None  # when its files will be erased; if it has not ended by then, it fails
    erased: str | None
    deleted: str | None


class Exchanges:
    """All exchanges that there are or were: a name is never used again."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def add(self, name: str, schema: str, created: str) -> int:
        """A new exchange's number."""
        number = self._db.execute(
            "INSERT INTO exchanges (name, schema, created) VALUES (?, ?, ?)",
            (name, schema, created),
        ).lastrowid
        assert number is not None  # noqa: S101  # a row was inserted
        return number

    def ever_had(self, name: str) -> bool:
        """Whether there is, or was, an exchange of this name."""
        query = "SELECT 1 FROM exchanges WHERE name = ?"
        return self._db.execute(query, (name,)).fetchone() is not None

    def named(self, name: str) -> ExchangeRow | None:
        """The exchange of a name, unless it was deleted."""
        query = "SELECT * FROM exchanges WHERE name = ? AND deleted IS NULL"
        row = self._db.execute(query, (name,)).fetchone()
        return row and ExchangeRow(**row)

    def finish(self, number: int, ended: str, summary: str) -> None:
        """An exchange has ended well; when to erase its files is to be planned anew."""
        self._db.execute(
            "UPDATE exchanges SET ended = ?, summary = ?, erase = NULL WHERE number = ?",
            (ended, summary, number),
        )

    def fail(self, number: int, ended: str, reason: str) -> None:
        """An exchange has failed for good; when to erase its files is to be planned anew."""
        self._db.execute(
            "UPDATE exchanges SET ended = ?, failed = ?, erase = NULL WHERE number = ?",
            (ended, reason, number),
        )

    def delete(self, number: int, deleted: str) -> None:
        """Forget an exchange except for its name, with its jobs, parties and tokens."""
        self._db.execute("DELETE FROM jobs WHERE exchange = ?", (number,))
        self._db.execute("DELETE FROM parties WHERE exchange = ?", (number,))
        self._db.execute(
            "UPDATE exchanges SET deleted = ?, schema = '', summary = NULL, failed = NULL,"
            " ended = NULL, erase = NULL, erased = NULL WHERE number = ?",
            (deleted, number),
        )

    def with_files(self) -> set[int]:
        """The numbers of those whose files are kept."""
        query = "SELECT number FROM exchanges WHERE deleted IS NULL AND erased IS NULL"
        return {number for (number,) in self._db.execute(query)}

    def is_erasing_due(self, now: str) -> bool:
        """Whether there is any erasing to plan or do."""
        due = f"SELECT 1 FROM exchanges WHERE {_KEPT} AND erase IS NULL UNION ALL {_DUE} LIMIT 1"  # noqa: S608
        return self._db.execute(due, (now,)).fetchone() is not None

    def to_plan(self) -> list[ExchangeRow]:
        """Some of those whose erasing is not yet planned."""
        query = f"SELECT * FROM exchanges WHERE {_KEPT} AND erase IS NULL LIMIT {_AT_ONCE}"  # noqa: S608
        return [ExchangeRow(**row) for row in self._db.execute(query)]

    def plan_erasing(self, number: int, erase: str) -> None:
        """Note when an exchange's files will be erased."""
        self._db.execute("UPDATE exchanges SET erase = ? WHERE number = ?", (erase, number))

    def to_erase(self, now: str) -> list[ExchangeRow]:
        """Some of those whose files are due to be erased."""
        query = f"{_DUE.replace('SELECT 1', 'SELECT *')} LIMIT {_AT_ONCE}"
        rows = self._db.execute(query, (now,))
        return [ExchangeRow(**row) for row in rows]

    def erase(self, number: int, erased: str) -> None:
        """Note that an exchange's files were erased."""
        self._db.execute("UPDATE exchanges SET erased = ? WHERE number = ?", (erased, number))
