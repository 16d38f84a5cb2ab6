"""Attend to a file drop: check the bundles in an inbox, and answer what is complete.

Example: gramlink unit inbox/ outbox/ --identity unit.identity
"""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.common import AsJson, Quiet, Speaker


def unit(
    inbox: Annotated[Path, typer.Argument(help="Where owners leave sealed bundles.")],
    outbox: Annotated[Path, typer.Argument(help="Where receipts and sealed results go.")],
    identity_file: Annotated[
        Path, typer.Option("--identity", help="What opens the bundles.")
    ] = Path("unit.identity"),
    returns: Annotated[
        str,
        typer.Option(help="What owners get: links, weights (links with details) or counts."),
    ] = "links",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Write a receipt for each bundle and, when all of an exchange are there, sealed results."""
    from gramlink.errors import InvalidFile, InvalidParameter
    from gramlink.exchange.file_drop import attend
    from gramlink.parties.answers import check_returns

    speaker = Speaker(quiet=quiet, as_json=as_json)
    if not inbox.is_dir():
        raise InvalidFile(f"there is no folder {inbox}", hint="make it, or name another")
    if not outbox.parent.is_dir() or (outbox.exists() and not outbox.is_dir()):
        raise InvalidFile(f"there can be no folder {outbox}", hint="name another")
    outbox.mkdir(exist_ok=True)
    if inbox.resolve() == outbox.resolve():
        raise InvalidParameter("inbox and outbox are the same folder", hint="name two folders")
    check_returns(returns)
    with speaker.progress("matching") as progress:
        received, answered = attend(inbox, outbox, identity_file, returns, progress)
    for one in received:
        speaker.say(f"{one.name}: {one.receipt.strip()}")
    if not received:
        speaker.say(f"{inbox} has no bundle")
    for exchange in answered:
        name = exchange.exchange
        if exchange.awaited:
            speaker.say(f"{name}: {', '.join(exchange.awaited)} awaited")
        elif exchange.failed:
            speaker.say(f"{name}: cannot be linked: {exchange.failed}")
        elif exchange.files:
            speaker.say(f"{name}: linked; wrote {', '.join(exchange.files)}")
        else:
            speaker.say(f"{name}: answered before")
    speaker.summary(
        {
            "received": [{"name": one.name, "refused": one.refused} for one in received],
            "exchanges": [
                {
                    "exchange": one.exchange,
                    "awaited": list(one.awaited),
                    "files": list(one.files),
                    "failed": one.failed,
                    "summary": one.summary,
                }
                for one in answered
            ],
        }
    )
    if any(one.refused for one in received) or any(one.failed for one in answered):
        raise typer.Exit(1)
