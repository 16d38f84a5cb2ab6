"""`gramlink unit inbox`: a file drop."""

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gramlink.cli.options import SENDERS
from gramlink.cli.speaker import Speaker
from gramlink.cli.unit.options import HOURS, Hours, Memory

if TYPE_CHECKING:
    from gramlink.exchange.file_drop import Answered, Received


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
    watched: Annotated[
        bool,
        typer.Option("--watch", help="Keep running, and look for new files every 10 seconds."),
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="Also print what earlier runs printed.")
    ] = False,
    memory: Memory = 0,
    hours: Hours = HOURS,
    speaker: Speaker,
) -> None:
    """Check the bundles in an inbox, and answer the exchanges that are complete.

    Writes a receipt for each bundle and, once an exchange is complete, sealed results. Takes
    bundles only from owners whose recipient files you name. Prints what is new since the last run.

    Example: gramlink unit inbox inbox/ outbox/ --from hospital.recipient --from registry.recipient
    """
    from gramlink.bundles.sealing import read_senders
    from gramlink.errors import InvalidFile, InvalidParameter
    from gramlink.exchange.arrivals import SECONDS
    from gramlink.exchange.file_drop import attend, watch
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
    if watched:
        speaker.say(f"looking into {folder} every {SECONDS} seconds; Ctrl-C ends it")
        pause = partial(time.sleep, SECONDS)
        passes = watch(folder, outbox, identity_file, known, pause, returns, limits)
        try:
            for received, answered in passes:
                _tell(speaker, folder, received, answered, every=every)
        except KeyboardInterrupt:
            typer.echo("stopped; run the same command again to resume", err=True)
            raise typer.Exit(130) from None
        finally:
            passes.close()
    with speaker.progress("matching") as progress:
        received, answered = attend(folder, outbox, identity_file, known, returns, progress, limits)
    if _tell(speaker, folder, received, answered, every=every):
        raise typer.Exit(1)


def _tell(
    speaker: Speaker,
    folder: Path,
    received: "Sequence[Received]",
    answered: "Sequence[Answered]",
    *,
    every: bool,
) -> bool:
    """Print what is new, or everything; return whether some of it was refused."""
    for one in received:
        if one.arriving:
            speaker.say(f"{one.name}: cannot be opened, and may still be arriving")
        elif one.new or every:
            speaker.say(f"{one.name}: {one.receipt.splitlines()[0]}")
    if not received:
        speaker.say(f"there are no bundles in {folder}")
    elif not (every or any(one.new for one in received) or any(one.new for one in answered)):
        speaker.say(f"nothing new in {folder}: --all prints what was told before")
    for exchange in answered:
        name = exchange.exchange
        if exchange.awaited:
            speaker.say(f"{name}: waiting for {', '.join(exchange.awaited)}")
        elif exchange.failed and (exchange.new or every):
            speaker.say(f"{name}: cannot be linked: {exchange.failed}")
        elif exchange.files:
            speaker.say(f"{name}: linked; wrote {', '.join(exchange.files)}")
        elif every and not exchange.failed:
            speaker.say(f"{name}: already answered")
    speaker.summary(
        {
            "received": [
                {"name": one.name, "refused": one.refused, "arriving": one.arriving, "new": one.new}
                for one in received
            ],
            "exchanges": [
                {
                    "exchange": one.exchange,
                    "awaited": list(one.awaited),
                    "files": list(one.files),
                    "failed": one.failed,
                    "new": one.new,
                    "summary": one.summary,
                }
                for one in answered
            ],
        }
    )
    refused = any(one.refused and not one.arriving and (one.new or every) for one in received)
    return refused or any(one.failed and (one.new or every) for one in answered)
