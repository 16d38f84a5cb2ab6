"""`gramlink ledger`: the ledger of a data set, shown, made and repaired."""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.help import group
from gramlink.cli.options import DataSet, LedgerArgument, Quiet
from gramlink.cli.owner.ledger_shown import show
from gramlink.cli.speaker import Speaker


def new(
    *,
    path: Annotated[
        Path,
        typer.Argument(
            help="The data, to make DATASET.ledger beside it, or the ledger.",
            metavar="DATA|FILE.ledger",
        ),
    ],
    allowance: Annotated[
        str, typer.Option(help="The total epsilon that this data set may spend.", metavar="EPSILON")
    ],
    exposures: Annotated[
        int,
        typer.Option(
            help="How many bundles that add up any one linkage unit may get.", metavar="N", min=0
        ),
    ] = 10,
    dataset: DataSet = "",
    quiet: Quiet = False,
) -> None:
    """Make a ledger, with what the data set may spend.

    Replaces no ledger. Without this, `gramlink mine` makes one that allows what it spends.

    Example: gramlink ledger new hospital.csv --allowance 2
    """
    from gramlink.errors import InvalidFile
    from gramlink.io.names import dataset_name
    from gramlink.privacy.budget import shown
    from gramlink.privacy.ledger import Ledger
    from gramlink.privacy.numbers import positive_epsilon

    named = path.suffix == ".ledger"
    if not named and not path.is_file():
        raise InvalidFile(
            f"{path} is not a file", hint="name the data, or a ledger that ends in .ledger"
        )
    dataset = dataset_name(dataset or path.stem)
    file = path if named else path.with_name(f"{dataset}.ledger")
    epsilon = positive_epsilon(allowance)
    Ledger.create(file, dataset, epsilon, exposures=exposures)
    Speaker(quiet=quiet).say(f"wrote {file}: keep it with the data; "
                             f"data set {dataset} may spend epsilon {shown(epsilon)}")  # fmt: skip


def repair(
    *,
    path: LedgerArgument,
    epsilon: Annotated[
        str, typer.Option(help="What the line may have cost, if it does not say so itself.")
    ] = "",
    quiet: Quiet = False,
) -> None:
    """Count a last line that was cut short as spent, so that the ledger can be used again.

    Needed only if too little of the line is left to read what it cost. The line
    also counts as a bundle that any linkage unit may have been shown.

    Example: gramlink ledger repair hospital.ledger --epsilon 1
    """
    from gramlink.privacy.budget import shown
    from gramlink.privacy.ledger import Ledger
    from gramlink.privacy.numbers import fraction

    state = Ledger.repair(path, fraction(epsilon) if epsilon else None).state
    speaker = Speaker(quiet=quiet)
    speaker.say(f"counted epsilon {shown(state.releases[-1].epsilon)} as spent")
    speaker.say(f"epsilon {shown(state.left)} is left of {shown(state.allowance)}, and any one "
                f"linkage unit may get {state.most_exposures} bundles that add up: set them again "
                "with --allow or --exposures, if the line may have lowered them")  # fmt: skip


app = group(
    "ledger",
    "Show what a data set has spent and shown, or make its ledger.\n\n"
    "`gramlink ledger FILE` is `gramlink ledger show FILE`.",
    {"Commands": (show, new, repair)},
    usual="show",
)
