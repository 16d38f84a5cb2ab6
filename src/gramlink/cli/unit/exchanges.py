"""Make, show and delete the exchanges of a linkage unit, in its folder.

Example: gramlink exchanges new stroke-2026 linkage.toml hospital registry --data unit
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from gramlink.cli.common import AsJson, Speaker, confirmed, printable
from gramlink.cli.unit.serve import DataFolder

if TYPE_CHECKING:
    from gramlink.exchange.wire import PartyInfo
    from gramlink.server.auth import Token

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Make, show and delete the exchanges of a linkage unit, also while it is served.",
)
Command = TypeVar("Command", bound=Callable[..., None])
Name = Annotated[str, typer.Argument(help="The exchange.", metavar="NAME")]
PartyName = Annotated[str, typer.Argument(help="A party of it.", metavar="PARTY")]
Days = Annotated[int, typer.Option(help="For how long tokens hold.")]
TokenFolder = Annotated[Path, typer.Option("--tokens", help="Where to write the token files.")]
_HERE = Path()


def _command(name: str, example: str) -> Callable[[Command], Command]:
    """Register a command, whose help ends with an example to be copied."""

    def register(function: Command) -> Command:
        text = f"{function.__doc__}\n\n\b\nExample:\n  gramlink exchanges {name} {example}"
        app.command(name, help=text)(function)
        return function

    return register


@_command("new", "stroke-2026 linkage.toml hospital registry --data unit")
def new(
    name: Name,
    schema: Annotated[
        Path, typer.Argument(help="What the parties agreed on.", metavar="LINKAGE.TOML")
    ],
    parties: Annotated[
        list[str], typer.Argument(help="Two to twenty data owners.", metavar="PARTY...")
    ],
    data: DataFolder,
    returns: Annotated[
        list[str] | None,
        typer.Option(help="PARTY=links, weights or counts: what goes back; default: links."),
    ] = None,
    days: Days = 90,
    tokens: TokenFolder = _HERE,
) -> None:
    """Make an exchange, and write a token for each party to a file."""
    from gramlink.io.files import read_bytes
    from gramlink.records.schema import load_schema
    from gramlink.server import exchanges
    from gramlink.server.plan import Plan
    from gramlink.server.unit import opened

    text = read_bytes(schema).decode("utf-8-sig", "replace")
    load_schema(schema)  # whose complaints name the file
    plan = Plan(name, text, tuple(parties), _returned(returns or []), days)
    with opened(data) as unit, unit.store.change() as db:
        given = exchanges.create(db, unit.folder, plan)
        written = _write_tokens(tokens, name, given)
    for path, party in zip(written, parties, strict=True):
        typer.echo(printable(f"wrote {path}: give it to {party}, and to nobody else"))


def _returned(options: list[str]) -> dict[str, str]:
    from gramlink.errors import InvalidParameter

    returned = {}
    for option in options:
        party, sign, kind = option.rpartition("=")
        if not sign or party in returned:
            raise InvalidParameter(
                f"--returns {option} does not say what goes back to whom",
                hint="write --returns hospital=weights, once for a party",
            )
        returned[party] = kind
    return returned


def _write_tokens(folder: Path, name: str, given: "dict[str, Token]") -> list[Path]:
    """Write all token files or none."""
    from gramlink.cli.common import refuse_overwriting
    from gramlink.server.unit import write_secret

    paths = {party: folder / f"{name}-{party}.token" for party in given}
    for path in paths.values():
        refuse_overwriting(path, force=False, hint="move it away, or see --tokens")
    written: list[Path] = []
    try:
        for party, path in paths.items():
            write_secret(path, given[party].text)
            written.append(path)
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise
    return written


@_command("list", "--data unit")
def list_all(data: DataFolder, as_json: AsJson = False) -> None:
    """List all exchanges, the latest first."""
    from gramlink.server import views
    from gramlink.server.unit import opened

    with opened(data) as unit, unit.store.read() as db:
        found = views.of_all(db, unit.folder)
    speaker = Speaker(quiet=False, as_json=as_json)
    for view in found:
        states = ", ".join(f"{one.name} {_standing(one)}" for one in view.parties)
        speaker.say(f"{view.name}  {view.stage}  {states}")
    if as_json:
        typer.echo(json.dumps([view.model_dump(mode="json", by_alias=True) for view in found]))


@_command("show", "stroke-2026 --data unit")
def show(name: Name, data: DataFolder, as_json: AsJson = False) -> None:
    """Show how an exchange stands."""
    from gramlink.server import views
    from gramlink.server.auth import Viewer
    from gramlink.server.unit import opened

    with opened(data) as unit, unit.store.read() as db:
        view = views.of_exchange(db, unit.folder, name, Viewer("operator", ""))
    speaker = Speaker(quiet=False, as_json=as_json)
    reason = f": {view.reason}" if view.reason else ""
    speaker.say(f"{view.name}, made at {view.created}, stage {view.stage}{reason}")
    for party in view.parties:
        speaker.say(f"  {party.name}, who gets {party.returns}: {_standing(party)}")
        if party.bundle.reason:
            speaker.say(f"    {party.bundle.reason}")
    if view.erased or view.erase:
        when = f"were erased at {view.erased}" if view.erased else f"will be erased at {view.erase}"
        speaker.say(f"its files {when}")
    speaker.summary(view.model_dump(mode="json", by_alias=True))


def _standing(party: "PartyInfo") -> str:
    """The farthest that a party has come."""
    bundle, results = party.bundle, party.results
    if results.fetched:
        return f"fetched its results at {results.fetched}"
    if results.ready:
        return "can fetch its results"
    if bundle.state == "uploading":
        return f"uploading, {bundle.offset:,} of {bundle.size:,} bytes"
    if bundle.state != "none":
        return f"bundle {bundle.state}"
    if party.mined_sent_to:
        return f"sent what it mined to {', '.join(party.mined_sent_to)}"
    return "joined" if party.recipient else "not joined"


@_command("token", "stroke-2026 hospital --data unit")
def token(
    name: Name, party: PartyName, data: DataFolder, days: Days = 90, tokens: TokenFolder = _HERE
) -> None:
    """Write a new token for a party to a file; its old one is revoked."""
    from gramlink.server import auth
    from gramlink.server.plan import check_days
    from gramlink.server.unit import opened

    check_days(days)
    with opened(data) as unit, unit.store.change() as db:
        given, expires = auth.give_to_party(db, name, party, days)
        (path,) = _write_tokens(tokens, name, {party: given})
    typer.echo(printable(f"wrote {path}, which holds until {expires}; give it to {party} only"))


@_command("revoke", "stroke-2026 hospital --data unit")
def revoke(name: Name, party: PartyName, data: DataFolder) -> None:
    """Revoke a party's token; what it has sent stays."""
    from gramlink.server import auth
    from gramlink.server.unit import opened

    with opened(data) as unit, unit.store.change() as db:
        auth.revoke_of_party(db, name, party)
    typer.echo(printable(f"the token of {party} no longer holds"))


@_command("delete", "stroke-2026 --data unit")
def delete(
    name: Name,
    data: DataFolder,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Erase all there is of an exchange but its name and its log; a running job is ended."""
    from gramlink.server import exchanges
    from gramlink.server.unit import opened

    with opened(data) as unit:
        with unit.store.read() as db:
            exchanges.find(db, name)
        if not yes:
            question = f"Erase the files, tokens and results of {name} for good?"
            if not confirmed(question):
                raise typer.Exit(1)
        with unit.store.change() as db:
            number = exchanges.delete(db, name)
        unit.deleted(number)
    typer.echo(f"{name} is deleted")


@_command("log", "--data unit")
def log(data: DataFolder, as_json: AsJson = False) -> None:
    """Print who did what when, and see whether the log was tampered with."""
    from gramlink.errors import InvalidFile
    from gramlink.server import views
    from gramlink.server.unit import opened

    with opened(data) as unit, unit.store.read() as db:
        found = views.of_log(db)
    speaker = Speaker(quiet=False, as_json=as_json)
    for entry in found.entries:
        told = (entry.time, entry.exchange or "-", entry.who, entry.what, entry.detail)
        speaker.say("  ".join(told).rstrip())
    speaker.summary(found.model_dump(mode="json"))
    if not found.intact:
        raise InvalidFile(
            "the log was tampered with: its chain of hashes is broken",
            hint="compare it with a back-up of the data folder",
        )
    if found.entries:
        count, last = len(found.entries), found.entries[-1]
        speaker.say(f"intact: {count} entries, the last hash is {last.hash}")
