"""Auth: tokens, and whose they are.

A token is `gl_ID_SECRET`. The unit keeps only its id and its digest, so that reading the tables
does not let anyone act for a party.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field

from gramlink.exchange.values import MOST_DAYS
from gramlink.exchange.wire import Role
from gramlink.io.clock import days_after, now
from gramlink.server.errors import Refusal, unknown
from gramlink.server.store import Tables
from gramlink.server.store.parties import PartyRow
from gramlink.server.store.tokens import TokenRow

_FORM = re.compile(r"gl_([0-9a-f]{8})_[A-Za-z0-9_-]{43}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Token:
    """A token; its text is a secret and is not shown.

    >>> token = new_token()
    >>> Token.parsed(token.text) == token, token.matches(token.digest)
    (True, True)
    >>> Token.parsed("gl_no")
    """

    id: str
    text: str = field(repr=False)

    @classmethod
    def parsed(cls, text: str) -> "Token | None":
        """The token in a text, or None."""
        found = _FORM.fullmatch(text)
        return cls(found[1], text) if found else None

    @property
    def digest(self) -> str:
        """What is kept of the token."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def matches(self, digest: str) -> bool:
        """Whether a digest is of this token, in constant time."""
        return hmac.compare_digest(self.digest, digest)


def new_token() -> Token:
    """A token that nobody can guess."""
    name = secrets.token_hex(4)
    return Token(name, f"gl_{name}_{secrets.token_urlsafe(32)}")


@dataclass(frozen=True, slots=True)
class Party:
    """A party of an exchange, with the numbers that the tables and files use."""

    exchange: int
    number: int
    exchange_name: str
    name: str

    @classmethod
    def of(cls, row: PartyRow) -> "Party":
        """The party whose row this is."""
        return cls(row.exchange, row.number, row.exchange_name, row.name)


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who is asking: the operator, or a party of one exchange."""

    role: Role
    expires: str
    party: Party | None = None


def recognised(db: Tables, text: str) -> Viewer:
    """Whose token it is. Only the holder of a whole token is told why it is not valid."""
    token = Token.parsed(text)
    row = token and db.tokens.find(token.id)
    if not token or not row or not token.matches(row.digest):
        raise _unauthorised("this is not a token of this linkage unit, or its exchange was deleted")
    if row.revoked:
        raise _unauthorised("this token was revoked")
    if row.expires <= now():
        raise _unauthorised(f"this token expired at {row.expires}")
    if row.party is None:
        return Viewer("operator", row.expires)
    party = db.parties.numbered(row.party)
    assert party is not None  # noqa: S101  # the tables delete its tokens with a party
    return Viewer("party", row.expires, Party.of(party))


def _unauthorised(why: str) -> Refusal:
    return Refusal(why, hint="ask the operator of the linkage unit for a token", status=401)


def give(db: Tables, party: int | None, days: int) -> tuple[Token, str]:
    """A new token and its expiry; earlier ones are revoked."""
    db.tokens.revoke(party, now())
    token, expires = new_token(), days_after(now(), days)
    db.tokens.add(TokenRow(token.id, token.digest, party, expires, revoked=None))
    return token, expires


def give_to_operator(db: Tables) -> Token:
    """A new token for the operator, in place of the old one."""
    token, expires = give(db, None, MOST_DAYS)
    db.log.write("operator", "made a token", detail=f"for the operator, until {expires}")
    return token


def give_to_party(db: Tables, exchange: str, party: str, days: int) -> tuple[Token, str]:
    """At the operator's request: a new token for a party, in place of its old one."""
    given = give(db, find_party(db, exchange, party).number, days)
    db.log.write("operator", "made a token", exchange, f"for {party}, until {given[1]}")
    return given


def revoke_of_party(db: Tables, exchange: str, party: str) -> None:
    """At the operator's request: a party's token is no longer valid."""
    db.tokens.revoke(find_party(db, exchange, party).number, now())
    db.log.write("operator", "revoked a token", exchange, f"of {party}")


def find_party(db: Tables, exchange: str, party: str) -> Party:
    """The party of this name."""
    row = db.parties.named(exchange, party)
    if row is None:
        raise unknown("there is no such party or no such exchange")
    return Party.of(row)
