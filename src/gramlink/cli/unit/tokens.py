"""`gramlink unit token` and `revoke`: what lets a party in."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from gramlink.cli.outputs import refuse_overwriting
from gramlink.cli.unit.options import HERE, DataFolder, Days, Name, PartyName, TokenFolder
from gramlink.io.text import printable

if TYPE_CHECKING:
    from gramlink.server.auth import Token


def token(
    *,
    name: Name,
    party: PartyName,
    data: DataFolder,
    days: Days = 90,
    tokens: TokenFolder = HERE,
) -> None:
    """Write a new token for a party to a file, and revoke its old one.

    Example: gramlink unit token stroke-2026 hospital --data unit
    """
    from gramlink.server import auth
    from gramlink.server.plan import check_days
    from gramlink.server.unit import opened

    check_days(days)
    with ExitStack() as files, opened(data) as unit, unit.store.change() as db:
        given, expires = auth.give_to_party(db, name, party, days)
        (path,) = write_tokens(files, tokens, name, {party: given})
    typer.echo(printable(f"wrote {path}, valid until {expires}; give it to {party} only"))


def revoke(*, name: Name, party: PartyName, data: DataFolder) -> None:
    """Revoke a party's token, but keep what it has sent.

    Example: gramlink unit revoke stroke-2026 hospital --data unit
    """
    from gramlink.server import auth
    from gramlink.server.unit import opened

    with opened(data) as unit, unit.store.change() as db:
        auth.revoke_of_party(db, name, party)
    typer.echo(printable(f"the token of {party} is no longer valid"))


def write_tokens(
    files: ExitStack, folder: Path, name: str, given: "dict[str, Token]"
) -> list[Path]:
    """Write token files that appear when `files` are closed, which is after their tokens are kept.

    Their room is on disk before, so the tokens are not kept if they cannot be written.
    """
    from gramlink.io.files import written_whole

    paths = {party: folder / f"{name}-{party}.token" for party in given}
    for path in paths.values():
        refuse_overwriting(
            path, force=False, hint="move it, or choose another folder with --tokens"
        )
    for party, path in paths.items():
        line = f"{given[party].text}\n".encode()
        files.enter_context(written_whole(path, room=len(line), mode=0o600)).write(line)
    return list(paths.values())
