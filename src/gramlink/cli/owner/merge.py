"""`gramlink merge`: the projection that the owners share."""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.inputs import read_opened
from gramlink.cli.options import IdentityFile, Senders
from gramlink.cli.outputs import refuse_replacing
from gramlink.cli.senders import KnownSenders
from gramlink.cli.speaker import Speaker

MinedFiles = Annotated[
    list[Path],
    typer.Argument(help="The files that the owners' `gramlink mine` wrote.", metavar="MINED"),
]


def merge(
    *,
    mined_files: MinedFiles,
    output: Annotated[Path, typer.Option("--output", "-o")] = Path("projection.json"),
    identity_file: IdentityFile = None,
    senders: Senders = None,
    speaker: Speaker,
) -> None:
    """Merge what the owners mined into the projection they share.

    Each owner runs this, and all compare the fingerprint it prints.

    Example: gramlink merge hospital.mined.json registry.mined.json -o projection.json
    """
    from gramlink.embedding.projection import agree
    from gramlink.errors import InvalidParameter
    from gramlink.io.files import written_whole
    from gramlink.parties.handover import mined_in

    if len(mined_files) < 2:
        raise InvalidParameter(
            "merging needs the files of at least two owners",
            hint="ask the other owner for the file its `gramlink mine` wrote",
        )
    refuse_replacing(output, *mined_files, identity_file, *(senders or ()))
    known, mined = KnownSenders.of(senders), []
    for path in mined_files:
        opened = read_opened(path, identity_file)
        mined.append(mined_in(opened.data, path.name))
        known.check(opened, mined[-1].owner)
    projection = agree(*mined)
    with written_whole(output, mode=0o600) as file:
        file.write(projection.to_json())
    known.tell(speaker)
    speaker.say(f"wrote {output}")
    for name, base in projection.bases.items():
        kind = "mined" if name in projection.mined else "public"
        speaker.say(f"  {name}: {len(base.grams)} grams, {kind}")
    speaker.say(f"fingerprint: {projection.fingerprint}  (must be the same for all owners)")
    speaker.say(f"{', '.join(projection.left)} will send thresholds")
    speaker.say("never send this file to the linkage unit: it could then name most records")
    speaker.summary(
        {"output": str(output), "digest": projection.digest, "left": list(projection.left)}
    )
