"""Tokens: what a party or the operator shows, and what is kept of it.

A token is `gl_ID_SECRET`. The unit keeps its id and its digest, so whoever reads the
tables cannot act for anybody.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field

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
        """The token that a text is, or None."""
        found = _FORM.fullmatch(text)
        return cls(found[1], text) if found else None

    @property
    def digest(self) -> str:
        """What is kept of the token."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def matches(self, digest: str) -> bool:
        """Whether this is the token that a digest was kept of, in the same time whether or not."""
        return hmac.compare_digest(self.digest, digest)


def new_token() -> Token:
    """A token that nobody can guess."""
    name = secrets.token_hex(4)
    return Token(name, f"gl_{name}_{secrets.token_urlsafe(32)}")
