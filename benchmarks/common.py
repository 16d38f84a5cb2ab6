"""What the measurements share: the lists as strings, schemas, and Markdown tables."""

from collections.abc import Sequence

import gramlink as gl
from gramlink.records.schema import checked_schema

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def schema(alphabet: str = LETTERS, *, miner: str = "levelgram", **settings: object) -> gl.Schema:
    """A schema of one field over an alphabet, defaults for all that is not given."""
    field = {"name": "name", "alphabet": alphabet, "miner": miner}
    return checked_schema(fields=(field,), **settings)


def names(count: int | None = None, seed: int = 1, alphabet: str = LETTERS) -> gl.Strings:
    """All of NAMES, or a sample."""
    listed = gl.surnames()
    chosen = listed if count is None else gl.sample(listed, count, seed)
    return gl.Strings.of(chosen, schema(alphabet).fields[0].spelling)


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(row) + " |" for row in (header, ["---"] * len(header), *rows)]
    return "\n".join(lines) + "\n"
