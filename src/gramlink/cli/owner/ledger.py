"""`gramlink ledger`: what a data set has spent."""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.options import AsJson
from gramlink.cli.speaker import Speaker


def ledger(
    *,
    path: Annotated[
        Path, typer.Argument(help="The ledger that `gramlink mine` keeps.", metavar="FILE")
    ],
    allow: Annotated[
        str, typer.Option(help="Set the total epsilon that this data set may spend.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Show what a data set's releases have cost, and what is left.

    Prints every release with its cost; --allow changes the total, and is recorded.

    Example: gramlink ledger hospital.ledger
    """
    from gramlink.privacy.budget import shown
    from gramlink.privacy.ledger import Ledger
    from gramlink.privacy.numbers import positive_epsilon

    speaker = Speaker(as_json=as_json)
    book = Ledger.open(path)
    if allow:
        book.allow(positive_epsilon(allow))
    state = book.state
    speaker.say(f"data set {state.dataset}: epsilon {shown(state.spent)} of "
                f"{shown(state.allowance)} spent, {shown(state.left)} left")  # fmt: skip
    for release in state.releases:
        outcome = release.digest[:12] if release.digest else "interrupted, nothing released"
        cost = shown(release.epsilon)
        speaker.say(f"  {release.time}  {cost:>6}  {release.what}  {outcome}")
    speaker.say("A person with m records in the data set is protected at m times that epsilon.")
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
        }
    )
