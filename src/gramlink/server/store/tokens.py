"""The table of tokens, which holds their digests."""

import sqlite3
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TokenRow:
    """What is kept about a token."""

    id: str
    digest: str
    party: int | None  # None: the operator's
    expires: str
    revoked: str | None


class Tokens:
    """The tokens given to the operator and to existing parties."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def find(self, name: str) -> TokenRow | None:
        """The token with an id."""
        row = self._db.execute("SELECT * FROM tokens WHERE id = ?", (name,)).fetchone()
        return row and TokenRow(**row)

    def latest_of(self, party: int) -> TokenRow | None:
        """A party's token, or the last one that was revoked."""
        row = self._db.execute(
            "SELECT * FROM tokens WHERE party = ?"
            " ORDER BY revoked IS NOT NULL, revoked DESC LIMIT 1",
            (party,),
        ).fetchone()
        return row and TokenRow(**row)

    def add(self, token: TokenRow) -> None:
        """A token was given."""
        self._db.execute(
            "INSERT INTO tokens VALUES (?, ?, ?, ?, ?)",
            (token.id, token.digest, token.party, token.expires, token.revoked),
        )

    def revoke(self, party: int | None, revoked: str) -> None:
        """All tokens of a party, or the operator's, are no longer valid."""
        self._db.execute(
            "UPDATE tokens SET revoked = ? WHERE party IS ? AND revoked IS NULL", (revoked, party)
        )
