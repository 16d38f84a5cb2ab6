"""`gramlink unit new`: a new exchange and its tokens."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.unit.options import HERE, DataFolder, Days, Name, TokenFolder
from gramlink.cli.unit.tokens import write_tokens
from gramlink.io.text import printable


def new(
    *,
    name: Name,
    schema: Annotated[
        Path, typer.Argument(help="The schema the parties agreed on.", metavar="LINKAGE.TOML")
    ],
    parties: Annotated[
        list[str], typer.Argument(help="Two to twenty data owners.", metavar="PARTY")
    ],
    data: DataFolder,
    returns: Annotated[
        list[str] | None,
        typer.Option(help="PARTY=links, weights or counts: what goes back; default: links."),
    ] = None,
    days: Days = 90,
    tokens: TokenFolder = HERE,
) -> None:
    """Make an exchange, and write a token for each party to a file.

    Example: gramlink unit new stroke-2026 linkage.toml hospital registry --data unit
    """
    from gramlink.io.files import read_bytes
    from gramlink.records.schema import load_schema
    from gramlink.server import exchanges
    from gramlink.server.plan import Plan
    from gramlink.server.unit import opened

    text = read_bytes(schema).decode("utf-8-sig", "replace")
    load_schema(schema)  # its errors name the file
    plan = Plan(name, text, tuple(parties), _returned(returns or []), days)
    with ExitStack() as files, opened(data) as unit, unit.store.change() as db:
        given = exchanges.create(db, unit.folder, plan)
        written = write_tokens(files, tokens, name, given)
    for path, party in zip(written, parties, strict=True):
        typer.echo(printable(f"wrote {path}: give it to {party}, and to nobody else"))


def _returned(options: list[str]) -> dict[str, str]:
    from gramlink.errors import InvalidParameter

    returned = {}
    for option in options:
        party, sign, kind = option.rpartition("=")
        if not sign or party in returned:
            raise InvalidParameter(
                f"--returns {option} does not say what goes back to whom",
                hint="write --returns hospital=weights, once for each party",
            )
        returned[party] = kind
    return returned
