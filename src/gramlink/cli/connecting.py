"""Options that say where a linkage unit's server is, and who is asking."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gramlink.cli.speaker import Speaker

if TYPE_CHECKING:
    from gramlink.exchange.client import Client


@dataclass(frozen=True, slots=True)
class Connecting:
    """How an owner's command reaches the linkage unit."""

    url: Annotated[str, typer.Argument(help="The linkage unit's address.", metavar="URL")]
    token_file: Annotated[Path, typer.Option(help="The file the unit's operator gave you.")]
    authority: Annotated[
        Path | None, typer.Option(help="The certificate to trust, if not the system's.")
    ] = None
    patience: Annotated[
        float, typer.Option(help="Seconds to wait for a unit that does not answer.", min=0)
    ] = 600
    insecure: Annotated[
        bool,
        typer.Option("--insecure", help="Connect without TLS: the network can read the token."),
    ] = False

    def client(self, speaker: Speaker) -> "Client":
        """The client, with the token in the file."""
        from gramlink.exchange.client import Client
        from gramlink.exchange.connection import read_token

        token = read_token(self.token_file)
        if os.name == "posix" and self.token_file.stat().st_mode & 0o077:
            shown = self.token_file
            speaker.say(f"others on this machine can read {shown}: `chmod 600 {shown}`")
        return Client(
            self.url,
            token,
            authority=self.authority,
            insecure=self.insecure,
            patience=self.patience,
            say=speaker.say,
        )
