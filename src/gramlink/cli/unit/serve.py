"""`gramlink unit serve`: the server, one process and one folder."""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.options import Quiet
from gramlink.cli.speaker import Speaker
from gramlink.cli.unit.options import HOURS, DataFolder, Hours, Memory


def serve(
    *,
    data: DataFolder,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 picks a free one.")] = 8440,
    certificate: Annotated[
        Path | None, typer.Option(help="A PEM file with the TLS certificate.")
    ] = None,
    private_key: Annotated[
        Path | None, typer.Option(help="A PEM file with the certificate's private key.")
    ] = None,
    largest_bundle: Annotated[int, typer.Option(help="The most bytes a bundle may have.")] = 4
    * 2**30,
    workers: Annotated[int, typer.Option(help="How many jobs run at once.")] = 1,
    memory: Memory = 0,
    hours: Hours = HOURS,
    keep_days: Annotated[
        int, typer.Option(help="Days after an exchange ends until its files are erased.")
    ] = 30,
    open_days: Annotated[
        int,
        typer.Option(help="Days until an exchange that has not ended is given up and erased."),
    ] = 180,
    patience: Annotated[
        float, typer.Option(help="Seconds to wait for a client that sends nothing.")
    ] = 30,
    quiet: Quiet = False,
) -> None:
    """Serve the linkage unit from one process and one folder.

    Listens for the parties of exchanges until it is stopped.

    Example: gramlink unit serve --data unit
    """
    from gramlink.errors import GramlinkError

    try:
        from gramlink.server.listener import Address, listening, loopback, serve_on
    except ModuleNotFoundError as error:
        raise GramlinkError(
            f"this installation cannot serve: {error.name} is missing",
            hint="pip install gramlink[server]",
        ) from error
    from gramlink.io.limits import three_quarters_of_memory
    from gramlink.io.locks import alone
    from gramlink.server.settings import Settings
    from gramlink.server.unit import made_folder, prepared

    speaker = Speaker(quiet=quiet)
    settings = Settings(
        data=data,
        largest_bundle=largest_bundle,
        workers=workers,
        memory=memory or three_quarters_of_memory() // max(workers, 1),
        hours=hours,
        keep_days=keep_days,
        open_days=open_days,
        patience=patience,
    )
    address = Address(host, port, certificate, private_key)
    with alone(made_folder(data) / "lock", "serving"), listening(address) as socket:
        unit = prepared(settings)
        url = address.url(socket)
        if not certificate and not loopback(host):
            typer.echo(
                "gramlink: warning: without a certificate, anyone on the network can read tokens "
                "and what only parties may see; see --certificate",
                err=True,
            )
        speaker.say(f"the linkage unit listens at {url}")
        speaker.say(f"the operator's token is in {unit.folder.operator_token}")
        speaker.say(f"the unit's key has the fingerprint {unit.recipient.fingerprint}")
        speaker.say(
            f"make an exchange on the page, or: gramlink unit new NAME linkage.toml "
            f"PARTY PARTY --data {data}"
        )
        serve_on(socket, unit, address)
