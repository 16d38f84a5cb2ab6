"""How commands write files, never replacing one that is needed."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from gramlink.errors import InvalidFile, InvalidParameter

if TYPE_CHECKING:
    import polars as pl


def refuse_overwriting(path: Path, *, force: bool, hint: str) -> None:
    """Stop before an existing output is lost."""
    if path.exists() and not force:
        raise InvalidFile(f"{path} exists already", hint=hint)


def refuse_replacing(output: Path, *inputs: Path | None, option: str = "--output") -> None:
    """Stop before a command's output replaces a file that it reads or keeps."""
    for path in inputs:
        if path and os.path.realpath(output) == os.path.realpath(path):
            raise InvalidParameter(
                f"the output would replace {path}", hint=f"name another file with {option}"
            )


def write_csv(path: Path, frame: "pl.DataFrame") -> None:
    """Write a frame to a CSV file, whole or not at all."""
    from gramlink.io.files import written_whole

    with written_whole(path, mode=0o600) as file:  # only their owner may read ids and links
        file.write(frame.write_csv().encode())
