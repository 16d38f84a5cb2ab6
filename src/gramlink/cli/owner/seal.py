"""`gramlink seal`: a file that only its reader can open."""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.options import Quiet
from gramlink.cli.outputs import refuse_replacing
from gramlink.cli.speaker import Speaker


def seal(
    *,
    file: Annotated[Path, typer.Argument(help="The file to seal.", metavar="FILE")],
    to: Annotated[list[Path], typer.Option(help="A reader's recipient file; may be repeated.")],
    identity_file: Annotated[
        Path | None,
        typer.Option("--identity", help="Your identity file, which signs it for a single reader."),
    ] = None,
    contribution: Annotated[
        Path | None,
        typer.Option(help="With what you mined: your contribution to the secret of an exchange."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Default: FILE.age.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Seal a file with age, so that only its reader can open it.

    Writes FILE.age, which the readers open with their identity files. With --identity it is signed,
    so that its reader knows whose it is.

    Example: gramlink seal hospital.mined.json --to registry.recipient --identity hospital.identity
    """
    from gramlink.bundles.sealing import read_identity, read_recipient, seal_from, verified
    from gramlink.bundles.sealing import seal as sealed
    from gramlink.errors import InvalidParameter
    from gramlink.io.files import read_bytes, written_whole
    from gramlink.mining.mined import Mined
    from gramlink.parties.contribution import Contribution
    from gramlink.parties.handover import Handover

    speaker = Speaker(quiet=quiet)
    output = output or file.with_name(f"{file.name}.age")
    refuse_replacing(output, file, *to, identity_file, contribution)
    readers = [read_recipient(path) for path in to]
    if identity_file and len(readers) > 1:
        raise InvalidParameter(
            "a file is signed for one reader", hint="seal it to each reader separately"
        )
    data, _ = verified(read_bytes(file), file.name)  # signed anew, for its reader
    if contribution:
        handed = Contribution.from_json(read_bytes(contribution), contribution.name)
        data = Handover.of(Mined.from_json(data, file.name), handed).to_json()
    if identity_file:
        data = seal_from(data, read_identity(identity_file), readers[0])
    else:
        data = sealed(data, readers)
    with written_whole(output) as written:
        written.write(data)
    how = "signed and sealed" if identity_file else "sealed"
    speaker.say(f"wrote {output}, {how} to {', '.join(one.fingerprint for one in readers)}")
