"""Merge what both owners mined into the projection they share.

Example: gramlink merge hospital.mined.json registry.mined.json -o projection.json
"""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.common import AsJson, Quiet, Speaker, refuse_replacing

MinedFile = Annotated[Path, typer.Argument(help="A file that `gramlink mine` wrote.")]


def merge(
    one: MinedFile,
    other: MinedFile,
    output: Annotated[Path, typer.Option("--output", "-o")] = Path("projection.json"),
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Write the projection; each owner does this and both compare the fingerprint."""
    from gramlink.files import read_bytes, written_whole
    from gramlink.mined import Mined
    from gramlink.projection import agree

    speaker = Speaker(quiet=quiet, as_json=as_json)
    refuse_replacing(output, one, other)
    mined = [Mined.from_json(read_bytes(path), path.name) for path in (one, other)]
    projection = agree(*mined)
    with written_whole(output) as file:
        file.write(projection.to_json())
    for name, base in projection.bases.items():
        speaker.say(f"wrote {output}: {len(base.grams)} grams for {name}")
    speaker.say(f"fingerprint: {projection.fingerprint}  (must be the same at the other owner)")
    speaker.say(f"{projection.left} is the left owner, and sends thresholds")
    speaker.say("never send this file to the linkage unit: with it, it could name most records")
    speaker.summary({"output": str(output), "digest": projection.digest, "left": projection.left})
