"""`gramlink unit list`, `show` and `delete`: the exchanges there are."""

from typing import TYPE_CHECKING, Annotated

import typer

from gramlink.cli.options import AsJson
from gramlink.cli.speaker import Speaker, confirmed
from gramlink.cli.unit.options import DataFolder, Name

if TYPE_CHECKING:
    from gramlink.exchange.wire import PartyGlance, PartyInfo


def list_(
    *,
    data: DataFolder,
    after: Annotated[
        str, typer.Option(help="List exchanges older than this one.", metavar="NAME")
    ] = "",
    most: Annotated[int, typer.Option(help="How many to list at once.", min=1, max=1000)] = 100,
    as_json: AsJson = False,
) -> None:
    """List exchanges, latest first.

    Example: gramlink unit list --data unit
    """
    from gramlink.server import views
    from gramlink.server.unit import opened

    with opened(data) as unit, unit.store.read() as db:
        found = views.of_page(db, after or None, most)
    speaker = Speaker(as_json=as_json)
    for view in found.exchanges:
        states = ", ".join(f"{one.name} {_at_a_glance(one)}" for one in view.parties)
        speaker.say(f"{view.name}  {view.stage}  {states}")
    if found.next:
        listed = f"{len(found.exchanges):,} of {found.total:,} exchanges"
        speaker.say(f"{listed}; --after {found.next} lists older ones")
    speaker.summary(found.model_dump(mode="json"))


def _at_a_glance(party: "PartyGlance") -> str:
    """How far a party has come, in few words."""
    if party.results != "none":
        return "fetched its results" if party.results == "fetched" else "can fetch its results"
    if party.bundle != "none":
        return "uploading" if party.bundle == "uploading" else f"bundle {party.bundle}"
    if party.withdrawn:
        return "withdrew its bundle"
    if party.mined_sent:
        return "sent what it mined"
    return "joined" if party.joined else "not joined"


def show(*, name: Name, data: DataFolder, as_json: AsJson = False) -> None:
    """Show the state of an exchange.

    Example: gramlink unit show stroke-2026 --data unit
    """
    from gramlink.server import views
    from gramlink.server.auth import Viewer
    from gramlink.server.unit import opened

    with opened(data) as unit, unit.store.read() as db:
        view = views.of_exchange(db, unit.folder, name, Viewer("operator", ""))
    speaker = Speaker(as_json=as_json)
    reason = f": {view.reason}" if view.reason else ""
    speaker.say(f"{view.name}, made at {view.created}, stage {view.stage}{reason}")
    for party in view.parties:
        speaker.say(f"  {party.name}, who gets {party.returns}: {_standing(party)}")
        if party.bundle.reason:
            speaker.say(f"    {party.bundle.reason}")
    if view.progress.step:
        speaker.say(f"  now: {view.progress.step}")
    if view.erased:
        speaker.say(f"its files were erased at {view.erased}")
    elif view.erase and view.stage in ("done", "failed"):
        speaker.say(f"its files will be erased at {view.erase}")
    elif view.erase:
        speaker.say(f"if it is not linked by {view.erase}, it is given up and its files are erased")
    speaker.summary(view.model_dump(mode="json", by_alias=True))


def _standing(party: "PartyInfo") -> str:
    """How far a party has come."""
    bundle, results = party.bundle, party.results
    if results.fetched:
        return f"fetched its results at {results.fetched}"
    if results.ready:
        return "can fetch its results"
    if bundle.state == "uploading":
        return f"uploading, {bundle.offset:,} of {bundle.size:,} bytes"
    if bundle.state != "none":
        return f"bundle {bundle.state}"
    if bundle.withdrawn:
        return f"withdrew its bundle at {bundle.withdrawn}"
    if party.mined_sent_to:
        return f"sent what it mined to {', '.join(party.mined_sent_to)}"
    return "joined" if party.recipient else "not joined"


def delete(
    *,
    name: Name,
    data: DataFolder,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Erase everything about an exchange except its name and its log.

    A job that is running for it is stopped.

    Example: gramlink unit delete stroke-2026 --data unit
    """
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
