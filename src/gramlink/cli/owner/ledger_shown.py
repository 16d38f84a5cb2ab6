"""`gramlink ledger show`: what a data set has spent, and what linkage units were shown of it."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gramlink.cli.options import AsJson, LedgerArgument
from gramlink.cli.speaker import Speaker

if TYPE_CHECKING:
    from gramlink.privacy.entries import Release, State
    from gramlink.privacy.exposure import Exposure, Total


def show(
    *,
    path: LedgerArgument,
    allow: Annotated[
        str, typer.Option(help="Set the total epsilon that this data set may spend.")
    ] = "",
    exposures: Annotated[
        int | None,
        typer.Option(
            help="Set how many bundles that add up, as veiled ones do, any one linkage unit may "
            "get; 10 unless set.",
            metavar="N",
            min=0,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a data set has spent, and what linkage units were shown of it.

    Prints every release with its cost, and for each linkage unit every bundle and what they add
    up to. Says whether a line was changed or left out, and whether a release beside it is missing
    from it. --allow and --exposures change what is permitted, and are recorded.

    Example: gramlink ledger show hospital.ledger
    """
    from gramlink.io.files import fingerprint
    from gramlink.privacy.budget import shown
    from gramlink.privacy.ledger import Ledger
    from gramlink.privacy.numbers import positive_epsilon

    speaker = Speaker(as_json=as_json)
    book = Ledger.open(path)
    book.check_copy("", Path())
    if allow:
        book.allow(positive_epsilon(allow))
    if exposures is not None:
        book.limit_exposures(exposures)
    state = book.state
    speaker.say(f"data set {state.dataset}: epsilon {shown(state.spent)} of "
                f"{shown(state.allowance)} spent, {shown(state.left)} left")  # fmt: skip
    entries = "1 entry" if state.entries == 1 else f"{state.entries:,} entries"
    speaker.say(f"{entries}, chain intact, head {fingerprint(state.head)}")
    for release in state.releases:
        cost = shown(release.epsilon)
        speaker.say(f"  {release.time:20}  {cost:>6}  {release.what}  {_outcome(release)}")
    speaker.say("A person with m records in the data set is protected at m times that epsilon.")
    for line in _exposed(state):
        speaker.say(line)
    speaker.summary(
        {
            "dataset": state.dataset,
            "allowance": str(state.allowance),
            "spent": str(state.spent),
            "left": str(state.left),
            "releases": [
                {
                    "number": release.number,
                    "time": release.time,
                    "what": release.what,
                    "epsilon": str(release.epsilon),
                    "parameters": release.parameters,
                    "digest": release.digest,
                }
                for release in state.releases
            ],
            "most_exposures": state.most_exposures,
            "exposures": [_summed(total, state) for total in state.shown],
            "entries": state.entries,
            "head": state.head,
        }
    )


def _outcome(release: "Release") -> str:
    """What came of a charge."""
    if release.lost:
        return "counts as spent"
    return release.digest[:12] if release.digest else "interrupted, nothing released"


def _exposed(state: "State") -> Iterator[str]:
    """What each linkage unit was shown, and what it adds up to."""
    from gramlink.privacy.exposure import UNSEALED, reader

    if state.shown:
        yield "Epsilon does not cover what linkage units were shown:"
    else:
        yield "No linkage unit was shown anything of this data set."
    for total in state.shown:
        bundles, records = _times(len(total.exposures), "bundle"), _times(total.records, "record")
        yield f"to {reader(total.unit)}: {bundles} of at most {records}"
        for one in total.exposures:
            yield f"  {one.time}  {_name(one)}  {one.encoding}  {_times(one.records, 'record')}"
        if total.everything:
            yield f"  everything about the records was shown in: {_names(total.everything)}"
        if total.rows:
            drawn = ", ".join(f"{field} {number:,}" for field, number in total.draws.items())
            rows = _times(total.rows, "row")
            yield f"  together, of one record, at most {rows}, and draws of each field: {drawn}"
        for group in total.joined:
            yield f"  records can be joined across {_names(group)}: the same pseudonym key"
    if any(total.unit == UNSEALED for total in state.shown):
        yield "Bundles that are not sealed count for every linkage unit: any may read them."
    yield (
        f"Any one linkage unit may get {_times(state.most_exposures, 'bundle')} that add up; "
        "--exposures changes that."
    )


def _names(exposures: Iterable["Exposure"]) -> str:
    return ", ".join(map(_name, exposures))


def _name(exposure: "Exposure") -> str:
    return exposure.exchange or f"bundle {exposure.digest[:12]}"


def _times(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def _summed(total: "Total", state: "State") -> dict[str, Any]:
    return {
        "unit": total.unit,
        "bundles": [{"time": one.time, **one.content} for one in total.exposures],
        "records": total.records,
        "rows": total.rows,
        "draws": total.draws,
        "everything": [one.digest for one in total.everything],
        "joined": [[one.digest for one in group] for group in total.joined],
        "left": state.exposures_left(total.unit),
    }
