"""Propose a linkage.toml from the columns of a file.

Example: gramlink init hospital.csv
"""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.common import (
    LINKAGE,
    Data,
    Encoding,
    Force,
    Separator,
    Speaker,
    refuse_overwriting,
    refuse_replacing,
)


def init(
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o")] = LINKAGE,
    field: Annotated[str, typer.Option(help="The column to link on.")] = "",
    id_column: Annotated[str, typer.Option("--id", help="The column of ids.")] = "",
    separator: Separator = "",
    encoding: Encoding = "",
    force: Force = False,
) -> None:
    """Write a linkage.toml for both owners to read, discuss and use."""
    from gramlink.files import written_whole
    from gramlink.proposal import propose
    from gramlink.tables import header

    refuse_replacing(output, data)
    refuse_overwriting(output, force=force, hint="edit it, or overwrite it with --force")
    columns = header(data, separator or None, encoding or None)
    text = propose(columns, data.name, field=field, id_column=id_column)
    with written_whole(output) as file:
        file.write(text.encode())
    speaker = Speaker(quiet=False, as_json=False)
    speaker.say(f"wrote {output}: read it, then try `gramlink check {data}`")
