"""Seal a file so that only its reader can open it, with age.

Example: gramlink seal hospital.mined.json --to registry.recipient
"""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.common import Quiet, Speaker, refuse_replacing


def seal(
    file: Annotated[Path, typer.Argument(help="The file to seal.", metavar="FILE")],
    to: Annotated[list[Path], typer.Option(help="A reader's recipient file; may be repeated.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Default: FILE.age.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write FILE.age, which the readers open with their identity files."""
    from gramlink.files import read_bytes, written_whole
    from gramlink.sealing import read_recipient
    from gramlink.sealing import seal as sealed

    speaker = Speaker(quiet=quiet, as_json=False)
    output = output or file.with_name(f"{file.name}.age")
    refuse_replacing(output, file, *to)
    readers = [read_recipient(path) for path in to]
    data = sealed(read_bytes(file), readers)
    with written_whole(output) as written:
        written.write(data)
    speaker.say(f"wrote {output}, sealed to {', '.join(one.fingerprint for one in readers)}")
