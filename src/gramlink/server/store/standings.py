"""How far parties and their exchanges have come, for many exchanges in one query."""

import sqlite3
from dataclasses import dataclass
from itertools import groupby

from gramlink.exchange.wire import BundleState

_STANDING = (
    "p.name, p.recipient IS NOT NULL,"
    " (SELECT count(*) FROM mined WHERE mined.sender = p.number),"
    " p.state, p.withdrawn IS NOT NULL, p.results_sha256 IS NOT NULL, p.fetched IS NOT NULL"
)


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a party has come."""

    name: str
    joined: bool
    sent: int  # to how many others it has sent what it mined
    state: BundleState
    withdrawn: bool
    ready: bool
    fetched: bool


@dataclass(frozen=True, slots=True)
class Listed:
    """An exchange in a list."""

    number: int
    name: str
    created: str
    ended: str | None
    failed: str | None
    erase: str | None
    erased: str | None
    parties: tuple[Standing, ...]


def _standing(row: sqlite3.Row) -> Standing:
    name, joined, sent, state, withdrawn, ready, fetched = row[-7:]
    flags = (bool(flag) for flag in (withdrawn, ready, fetched))
    return Standing(name, bool(joined), sent, state, *flags)


def _listed(rows: list[sqlite3.Row]) -> Listed:
    number, name, created, ended, failed, erase, erased = rows[0][:7]
    parties = tuple(map(_standing, rows))
    return Listed(number, name, created, ended, failed, erase, erased, parties)


class Standings:
    """What the tables of exchanges and parties say together."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def of(self, exchange: int) -> list[Standing]:
        """The parties of an exchange, in the order they were named."""
        query = f"SELECT {_STANDING} FROM parties p WHERE exchange = ? ORDER BY number"  # noqa: S608
        return [_standing(row) for row in self._db.execute(query, (exchange,))]

    def count(self) -> int:
        """How many exchanges were not deleted."""
        query = "SELECT count(*) FROM exchanges WHERE deleted IS NULL"
        return int(self._db.execute(query).fetchone()[0])

    def page(self, before: int, most: int) -> list[Listed]:
        """Exchanges with lower numbers, the latest first."""
        rows = self._db.execute(
            "WITH e AS MATERIALIZED (SELECT number, name, created, ended, failed, erase, erased"  # noqa: S608
            " FROM exchanges WHERE deleted IS NULL AND number < ? ORDER BY number DESC LIMIT ?)"
            f" SELECT e.*, {_STANDING} FROM e JOIN parties p ON p.exchange = e.number"
            " ORDER BY e.number DESC, p.number",
            (before, most),
        )
        pages = (list(group) for _, group in groupby(rows, lambda row: row["number"]))
        return [_listed(page) for page in pages]
