"""The tables of parties, and of what they have left for each other."""

import json
import sqlite3
from dataclasses import asdict, dataclass

from gramlink.bundles.results import Returns
from gramlink.exchange.wire import BundleState

_SELECT = (
    "SELECT parties.*, exchanges.name AS exchange_name FROM parties"
    " JOIN exchanges ON exchanges.number = parties.exchange"
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What is kept about an accepted bundle.

    >>> facts = Facts(rows=30, epsilon="1/10", created="", projection="ab", shape="cd")
    >>> Facts.from_json(facts.to_json()) == facts
    True
    """

    rows: int
    epsilon: str | None
    created: str
    projection: str  # these two must be the same for all parties
    shape: str  # of the encoded records, as a digest
    secret: str = ""  # the same for owners who share one

    def to_json(self) -> str:
        """What is kept in the table."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Facts":
        """What was kept."""
        return cls(**json.loads(text))


@dataclass(frozen=True, slots=True)
class PartyRow:
    """A party of an exchange, and how far it has come."""

    number: int
    exchange: int
    exchange_name: str
    name: str
    returns: Returns
    recipient: str | None
    state: BundleState
    reason: str | None  # why its bundle was refused
    size: int | None  # of its bundle, as announced
    sha256: str | None
    facts: Facts | None
    results_bytes: int | None
    results_sha256: str | None
    fetched: str | None
    withdrawn: str | None  # when its bundle was, until it announces another


def _party(row: sqlite3.Row) -> PartyRow:
    facts = row["facts"] and Facts.from_json(row["facts"])
    return PartyRow(**{**dict(row), "facts": facts})


class Parties:
    """The parties of all exchanges that were not deleted."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def add(self, exchange: int, name: str, returns: str) -> int:
        """A new party's number."""
        number = self._db.execute(
            "INSERT INTO parties (exchange, name, returns) VALUES (?, ?, ?)",
            (exchange, name, returns),
        ).lastrowid
        assert number is not None  # noqa: S101  # a row was inserted
        return number

    def of(self, exchange: int) -> list[PartyRow]:
        """The parties of an exchange, in the order they were named."""
        query = f"{_SELECT} WHERE parties.exchange = ? ORDER BY parties.number"
        return [_party(row) for row in self._db.execute(query, (exchange,))]

    def numbered(self, number: int) -> PartyRow | None:
        """The party with a number."""
        row = self._db.execute(f"{_SELECT} WHERE parties.number = ?", (number,)).fetchone()
        return row and _party(row)

    def named(self, exchange: str, name: str) -> PartyRow | None:
        """The party with a name, in the exchange with a name."""
        query = f"{_SELECT} WHERE exchanges.name = ? AND parties.name = ?"
        row = self._db.execute(query, (exchange, name)).fetchone()
        return row and _party(row)

    def in_state(self, *states: BundleState) -> set[int]:
        """The numbers of the parties whose bundles are in one of these states."""
        marks = ", ".join("?" * len(states))
        query = f"SELECT number FROM parties WHERE state IN ({marks})"  # noqa: S608
        return {number for (number,) in self._db.execute(query, states)}

    def give_recipient(self, number: int, recipient: str) -> None:
        """Note the recipient to seal to."""
        self._db.execute("UPDATE parties SET recipient = ? WHERE number = ?", (recipient, number))

    def begin_upload(self, number: int, size: int, sha256: str) -> None:
        """A bundle was announced; anything noted about an earlier one is forgotten."""
        self._db.execute(
            "UPDATE parties SET state = 'uploading', reason = NULL, withdrawn = NULL, size = ?,"
            " sha256 = ? WHERE number = ?",
            (size, sha256, number),
        )

    def await_check(self, number: int) -> None:
        """All of a bundle has arrived."""
        self._db.execute(
            "UPDATE parties SET state = 'checking', reason = NULL WHERE number = ?", (number,)
        )

    def accept(self, number: int, facts: Facts) -> None:
        """A bundle was accepted."""
        self._db.execute(
            "UPDATE parties SET state = 'accepted', reason = NULL, facts = ? WHERE number = ?",
            (facts.to_json(), number),
        )

    def refuse(self, number: int, reason: str) -> None:
        """A bundle was refused."""
        self._db.execute(
            "UPDATE parties SET state = 'refused', reason = ?, facts = NULL WHERE number = ?",
            (reason, number),
        )

    def withdraw(self, number: int, withdrawn: str) -> None:
        """A bundle was withdrawn; nothing about it is kept."""
        self._db.execute(
            "UPDATE parties SET state = 'none', reason = NULL, size = NULL, sha256 = NULL,"
            " facts = NULL, withdrawn = ? WHERE number = ?",
            (withdrawn, number),
        )

    def give_results(self, number: int, size: int, sha256: str) -> None:
        """Results are there."""
        self._db.execute(
            "UPDATE parties SET results_bytes = ?, results_sha256 = ? WHERE number = ?",
            (size, sha256, number),
        )

    def note_fetched(self, number: int, fetched: str) -> None:
        """Results were fetched."""
        self._db.execute("UPDATE parties SET fetched = ? WHERE number = ?", (fetched, number))


class Mined:
    """What each party mined and left for each other party; the table has only digests."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def of(self, exchange: int) -> dict[tuple[int, int], str]:
        """The digests of what was left, by the numbers of sender and receiver."""
        rows = self._db.execute(
            "SELECT sender, receiver, mined.sha256 FROM mined"
            " JOIN parties ON parties.number = mined.sender"
            " WHERE parties.exchange = ? ORDER BY receiver",
            (exchange,),
        )
        return {(sender, receiver): sha256 for sender, receiver, sha256 in rows}

    def add(self, sender: int, receiver: int, sha256: str) -> None:
        """Something was left for another party."""
        self._db.execute("INSERT INTO mined VALUES (?, ?, ?)", (sender, receiver, sha256))
