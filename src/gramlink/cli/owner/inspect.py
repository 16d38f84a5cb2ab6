"""`gramlink inspect`: what a gramlink file is and holds."""

from pathlib import Path
from typing import Annotated, Any

import typer

from gramlink.cli.inputs import read_opened
from gramlink.cli.options import IdentityFile
from gramlink.cli.speaker import Speaker
from gramlink.io.text import one_line

LENGTHY = ("settings", "shape", "bases", "fields", "patterns", "within")


def inspect(
    *,
    file: Annotated[
        Path,
        typer.Argument(help="A bundle, results, mined, projection or model file.", metavar="FILE"),
    ],
    identity_file: IdentityFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all of it as JSON.")] = False,
) -> None:
    """Show what a gramlink file is, what it holds, and whether it is intact.

    Prints what a bundle, results or another file says about itself; refuses a damaged one.

    Example: gramlink inspect hospital.bundle.age --identity unit.identity
    """
    speaker = Speaker(as_json=as_json)
    opened = read_opened(file, identity_file)
    sender = opened.sender.fingerprint if opened.sender else None
    kind, content = _content(opened.data, file.name)
    if sender:
        speaker.say(f"{file.name} comes from the key {sender}")
    elif opened.sealed:
        speaker.say(f"{file.name} may come from anybody: it is not signed")
    if opened.sealed:
        speaker.say("sealed, and opened: not a byte was changed")
    speaker.say(f"{file} is a {kind} file, intact")
    for name, value in content.items():
        table = name in LENGTHY and isinstance(value, dict)
        told = ", ".join(map(str, value)) if table else _shown(value)
        speaker.say(f"  {one_line(name)}: {one_line(told)}")
    speaker.summary({**content, "kind": kind, "sealed": opened.sealed, "sender": sender})


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value in (None, "") else str(value)


def _content(data: bytes, name: str) -> tuple[str, dict[str, Any]]:
    """A file's kind, and what it says about itself once all of it has been read."""
    from gramlink.bundles.archive import Archive, unpack
    from gramlink.bundles.bundle import Bundle
    from gramlink.bundles.results import Results
    from gramlink.embedding.projection import Projection
    from gramlink.errors import InvalidFile
    from gramlink.io.files import from_json
    from gramlink.mining.mined import Mined
    from gramlink.scoring.model import Model

    readers: dict[str, Any] = {
        "bundle": Bundle.from_bytes,
        "results": Results.from_bytes,
        "mined": Mined.from_json,
        "projection": Projection.from_json,
        "model": Model.from_json,
    }
    for kind, read in readers.items():
        opened = unpack if data.startswith(b"PK") else from_json
        try:
            content = opened(kind, data, name)
        except InvalidFile as error:
            if f"not a {kind} file but a" in str(error):
                continue
            if data[:1] not in (b"P", b"{") or data.startswith(b'{"gramlink": "ledger"'):
                break
            raise
        read(data, name)
        return kind, content.manifest if isinstance(content, Archive) else content
    raise InvalidFile(
        f"{name} is not a file that inspect knows",
        hint=f"it knows {', '.join(readers)} files, sealed or not; see also `gramlink ledger` and "
        "`gramlink keys show`",
    )
