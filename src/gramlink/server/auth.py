"""Access: who a token speaks for, and giving and revoking tokens."""

import sqlite3
from dataclasses import dataclass
from typing import Literal

from gramlink.io.clock import days_after, now
from gramlink.server.errors import Refusal, unknown
from gramlink.server.store import log
from gramlink.server.tokens import Token, new_token

Role = Literal["operator", "party"]
LONGEST = 3650  # days


@dataclass(frozen=True, slots=True)
class Party:
    """A party of an exchange, by the numbers that the tables and files know them by."""

    exchange: int
    number: int
    exchange_name: str
    name: str


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who asks: the operator, or a party of one exchange."""

    role: Role
    expires: str
    party: Party | None = None


def recognised(db: sqlite3.Connection, text: str) -> Viewer:
    """Whom a token speaks for. Why it does not is told only to who has the whole token."""
    token = Token.parsed(text)
    row = token and db.execute("SELECT * FROM tokens WHERE id = ?", (token.id,)).fetchone()
    if not token or not row or not token.matches(row["digest"]):
        raise _unauthorised("this is not a token of this linkage unit, or its exchange was deleted")
    if row["revoked"]:
        raise _unauthorised("this token was revoked")
    if row["expires"] <= now():
        raise _unauthorised(f"this token expired at {row['expires']}")
    if row["party"] is None:
        return Viewer("operator", row["expires"])
    return Viewer("party", row["expires"], _party(db, row["party"]))


def _party(db: sqlite3.Connection, number: int) -> Party:
    row = db.execute(
        "SELECT parties.*, exchanges.name AS exchange_name FROM parties"
        " JOIN exchanges ON exchanges.number = parties.exchange WHERE parties.number = ?",
        (number,),
    ).fetchone()
    return Party(row["exchange"], row["number"], row["exchange_name"], row["name"])


def _unauthorised(why: str) -> Refusal:
    return Refusal(why, hint="ask the operator of the linkage unit for a token", status=401)


def give(db: sqlite3.Connection, party: int | None, days: int) -> tuple[Token, str]:
    """A new token, and when it expires; those that were given before are revoked."""
    revoke(db, party)
    token, expires = new_token(), days_after(now(), days)
    db.execute(
        "INSERT INTO tokens VALUES (?, ?, ?, ?, NULL)", (token.id, token.digest, party, expires)
    )
    return token, expires


def revoke(db: sqlite3.Connection, party: int | None) -> None:
    """Revoke all tokens of a party, or the operator's."""
    db.execute("UPDATE tokens SET revoked = ? WHERE party IS ? AND revoked IS NULL", (now(), party))


def give_to_party(
    db: sqlite3.Connection, exchange: str, party: str, days: int
) -> tuple[Token, str]:
    """The operator's wish: a new token for a party in the place of its old one."""
    found = find_party(db, exchange, party)
    given = give(db, found.number, days)
    log.write(db, "operator", "made a token", exchange, f"for {party}, until {given[1]}")
    return given


def revoke_of_party(db: sqlite3.Connection, exchange: str, party: str) -> None:
    """The operator's wish: a party's token no longer counts."""
    revoke(db, find_party(db, exchange, party).number)
    log.write(db, "operator", "revoked a token", exchange, f"of {party}")


def find_party(db: sqlite3.Connection, exchange: str, party: str) -> Party:
    """A party by names."""
    row = db.execute(
        "SELECT parties.number FROM parties"
        " JOIN exchanges ON exchanges.number = parties.exchange"
        " WHERE exchanges.name = ? AND exchanges.deleted IS NULL AND parties.name = ?",
        (exchange, party),
    ).fetchone()
    if row is None:
        raise unknown("there is no such party in such an exchange")
    return _party(db, row["number"])
