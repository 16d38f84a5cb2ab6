"""`gramlink keys`: pairs of keys, to seal files with."""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.help import group
from gramlink.cli.options import Quiet
from gramlink.cli.outputs import refuse_overwriting
from gramlink.cli.speaker import Speaker


def new(
    *,
    owner: Annotated[str, typer.Argument(help="Whose keys they are.", metavar="OWNER")],
    quiet: Quiet = False,
) -> None:
    """Make a pair of keys.

    Writes OWNER.identity, to keep, and OWNER.recipient, to give to the other parties. An identity
    that is there already is kept.

    Example: gramlink keys new hospital
    """
    from gramlink.bundles.sealing import (
        new_identity,
        read_identity,
        write_identity,
        write_recipient,
    )
    from gramlink.io.names import owner_name

    speaker = Speaker(quiet=quiet)
    owner = owner_name(owner)
    identity_file, recipient_file = Path(f"{owner}.identity"), Path(f"{owner}.recipient")
    if recipient_file.exists():
        for path in (identity_file, recipient_file):
            refuse_overwriting(
                path, force=False, hint="files sealed to it need it; choose another name"
            )
    if identity_file.exists():  # as if this was killed in between, or the other file was lost
        identity = read_identity(identity_file)
        speaker.say(f"{identity_file} exists already, and stays as it is")
    else:
        identity = new_identity()
        write_identity(identity_file, identity, owner)
        speaker.say(f"wrote {identity_file}: keep it secret, and keep a copy")
    write_recipient(recipient_file, identity.recipient, owner)
    speaker.say(f"wrote {recipient_file}: give it to whoever sends you something")
    speaker.say(f"fingerprint: {identity.recipient.fingerprint}  (compare it by telephone)")


def show(
    *, file: Annotated[Path, typer.Argument(help="A recipient or identity file.", metavar="FILE")]
) -> None:
    """Show the recipient in a file, and its fingerprint.

    Example: gramlink keys show hospital.recipient
    """
    from gramlink.bundles.sealing import read_identity, read_recipient
    from gramlink.errors import InvalidFile

    try:
        recipient = read_recipient(file)
    except InvalidFile:
        recipient = read_identity(file).recipient
    typer.echo(recipient.key)
    typer.echo(f"fingerprint: {recipient.fingerprint}")


app = group("keys", "Make a pair of keys, or show a key's fingerprint.", {"Commands": (new, show)})
