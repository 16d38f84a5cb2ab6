"""`gramlink exchange`: an owner's whole part, at a linkage unit's server."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.connecting import Connecting
from gramlink.cli.options import Data, Encoding, Epsilon, Insist, LedgerFile, Separator
from gramlink.cli.outputs import refuse_replacing
from gramlink.cli.speaker import Speaker, confirmed
from gramlink.io.text import printable


def exchange(
    *,
    unit: Connecting,
    data: Data,
    folder: Annotated[
        Path | None, typer.Option(help="For keys and unfinished work; default: EXCHANGE-PARTY.")
    ] = None,
    schema_file: Annotated[
        Path | None,
        typer.Option("--schema", help="Your own schema, with your columns; else the exchange's."),
    ] = None,
    approve: Annotated[
        str, typer.Option(help="The code of the schema you agree to, as `check` prints it.")
    ] = "",
    epsilon: Epsilon = "",
    insist: Insist = False,
    mined_file: Annotated[
        Path | None,
        typer.Option(
            "--mined", help="What you mined for an earlier exchange like this; reusing it is free."
        ),
    ] = None,
    ledger_file: LedgerFile = None,
    dataset: Annotated[
        str, typer.Option(help="The data set the ledger tracks; default: DATA's name.")
    ] = "",
    peer: Annotated[
        list[Path] | None,
        typer.Option(help="Another owner's recipient file, from that owner; name those of all."),
    ] = None,
    keys_code: Annotated[
        str, typer.Option(help="The keys code, as another owner read it to you.")
    ] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Default: links.csv in the folder.")
    ] = None,
    yes: Annotated[
        bool,
        typer.Option("--yes", help="Agree beforehand; needs --epsilon, and --schema or --approve."),
    ] = False,
    separator: Separator = "",
    encoding: Encoding = "",
    speaker: Speaker,
) -> None:
    """Take part in an exchange over the network, start to finish.

    Mines, shares, embeds, sends and fetches. Stop it at any time; run it again to resume.

    Example: gramlink exchange https://unit.example --token-file T my.csv --schema linkage.toml
    """
    from gramlink.exchange import Choices, Voice, take_part

    if output:
        own = (data, schema_file, mined_file, ledger_file, *(peer or ()))
        inputs = (unit.token_file, unit.authority, *own)
        refuse_replacing(output, *(path for path in inputs if path))
    choices = Choices(
        data=data,
        folder=folder,
        schema=schema_file,
        epsilon=epsilon,
        mined=mined_file,
        ledger=ledger_file,
        dataset=dataset,
        peers=tuple(peer or ()),
        separator=separator,
        encoding=encoding,
        output=output,
        approved=approve,
        keys_code=keys_code,
        beforehand=yes,
        insists=insist,
    )
    voice = Voice(
        speaker.say,
        speaker.progress,
        lambda what: _agreed(what, speaker),
        speaker.warn,
        lambda what: _typed(what, speaker),
    )
    client = unit.client(speaker)
    try:
        speaker.summary(take_part(client, choices, voice))
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("stopped; run the same command again to resume", err=True)
        raise typer.Exit(130) from None
    finally:
        client.close()


def _agreed(what: str, speaker: Speaker) -> bool:
    """Ask, if there is somebody to see the question."""
    from gramlink.errors import InvalidParameter

    if not _is_seen(speaker):
        raise InvalidParameter(
            "nobody is there to agree to what is spent and sent",
            hint="run it in a terminal, or agree beforehand: --yes --schema FILE --epsilon E",
        )
    return confirmed(what)


def _typed(what: str, speaker: Speaker) -> str:
    """What somebody types, or nothing if nobody is there."""
    if not _is_seen(speaker):
        return ""
    return str(typer.prompt(printable(what), default="", show_default=False))


def _is_seen(speaker: Speaker) -> bool:
    """Whether somebody sees what is said, and can answer."""
    seen = not speaker.silent and sys.stdout and sys.stdout.isatty()
    return bool(seen and sys.stdin and sys.stdin.isatty())
