"""`gramlink unit inbox`: a file drop."""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.options import SENDERS
from gramlink.cli.speaker import Speaker
from gramlink.cli.unit.options import HOURS, Hours, Memory


def inbox(
    *,
    folder: Annotated[
        Path, typer.Argument(help="Where owners leave sealed bundles.", metavar="INBOX")
    ],
    outbox: Annotated[
        Path, typer.Argument(help="Where receipts and sealed results go.", metavar="OUTBOX")
    ],
    senders: Annotated[list[Path], SENDERS],
    identity_file: Annotated[
        Path, typer.Option("--identity", help="The identity file that opens the bundles.")
    ] = Path("unit.identity"),
    returns: Annotated[
        str,
        typer.Option(help="What owners get: links, weights (links with details) or counts."),
    ] = "links",
    memory: Memory = 0,
    hours: Hours = HOURS,
    speaker: Speaker,
) -> None:
    """Check the bundles in an inbox, and answer the exchanges that are complete.

    Writes a receipt for each bundle and, once an exchange is complete, sealed results. Takes
    bundles only from owners whose recipient files you name.

    Example: gramlink unit inbox inbox/ outbox/ --from hospital.recipient --from registry.recipient
    """
    from gramlink.bundles.sealing import read_senders
    from gramlink.errors import InvalidFile, InvalidParameter
    from gramlink.exchange.file_drop import attend
    from gramlink.io.limits import Limits, three_quarters_of_memory
    from gramlink.parties.answers import check_returns

    if not folder.is_dir():
        raise InvalidFile(f"there is no folder {folder}", hint="make it, or name another")
    if not outbox.parent.is_dir() or (outbox.exists() and not outbox.is_dir()):
        raise InvalidFile(f"cannot make the folder {outbox}", hint="name another")
    outbox.mkdir(exist_ok=True)
    if folder.resolve() == outbox.resolve():
        raise InvalidParameter("inbox and outbox are the same folder", hint="name two folders")
    check_returns(returns)
    known = read_senders(senders)
    limits = Limits(memory or three_quarters_of_memory(), hours * 3600)
    with speaker.progress("matching") as progress:
        received, answered = attend(folder, outbox, identity_file, known, returns, progress, limits)
    for one in received:
        speaker.say(f"{one.name}: {one.receipt.strip()}")
    if not received:
        speaker.say(f"there are no bundles in {folder}")
    for exchange in answered:
        name = exchange.exchange
        if exchange.awaited:
            speaker.say(f"{name}: waiting for {', '.join(exchange.awaited)}")
        elif exchange.failed:
            speaker.say(f"{name}: cannot be linked: {exchange.failed}")
        elif exchange.files:
            speaker.say(f"{name}: linked; wrote {', '.join(exchange.files)}")
        else:
            speaker.say(f"{name}: already answered")
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
