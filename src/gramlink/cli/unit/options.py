"""The options that the linkage unit's commands share."""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.io.limits import HOURS as HOURS

DataFolder = Annotated[
    Path,
    typer.Option(
        "--data",
        help="The unit's folder; to back it up, stop the server and copy it.",
        metavar="DIR",
    ),
]
Name = Annotated[str, typer.Argument(help="The exchange's name.", metavar="NAME")]
PartyName = Annotated[str, typer.Argument(help="A party in the exchange.", metavar="PARTY")]
Days = Annotated[int, typer.Option(help="For how many days tokens are valid.")]
TokenFolder = Annotated[Path, typer.Option("--tokens", help="Where to write the token files.")]
Memory = Annotated[
    int,
    typer.Option(
        help="Bytes for each job; default: a share of three quarters of all memory.",
        show_default=False,
    ),
]
Hours = Annotated[float, typer.Option(help="The most hours a job may take.")]
HERE = Path()
