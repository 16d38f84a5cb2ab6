"""`gramlink explain`: the reasons for a link."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gramlink.cli.inputs import read_opened
from gramlink.cli.options import AsJson
from gramlink.cli.speaker import Speaker

if TYPE_CHECKING:
    from gramlink.bundles.bundle import Bundle

BundleFile = Annotated[
    Path, typer.Argument(help="A file that `gramlink embed` wrote.", metavar="BUNDLE")
]


def explain(
    *,
    model_file: Annotated[
        Path, typer.Argument(help="The model that `gramlink link` wrote.", metavar="MODEL")
    ],
    one: BundleFile,
    other: BundleFile,
    left: Annotated[
        str, typer.Argument(help="The pseudonym of a record, or its start.", metavar="LEFT")
    ],
    right: Annotated[
        str, typer.Argument(help="The pseudonym of the other record.", metavar="RIGHT")
    ],
    as_json: AsJson = False,
) -> None:
    """Explain why two records are or are not linked.

    Prints how near the two are in each field and what that adds to their match weight, what
    relatives who look like this take away, what was to be expected of any two records, and what
    other candidates of the two take away.

    Example: gramlink explain links-model.json hospital.bundle registry.bundle 7eb5192a 5c1d0e4f
    """
    from dataclasses import asdict

    from gramlink.bundles.bundle import Bundle
    from gramlink.deciding.explanation import explain as explained
    from gramlink.errors import Mismatch
    from gramlink.io.files import read_bytes
    from gramlink.parties.linkage_unit import LinkageUnit
    from gramlink.reports.summary import explanation_lines
    from gramlink.scoring.model import Model

    speaker = Speaker(as_json=as_json)
    model = Model.from_json(read_bytes(model_file), model_file.name)
    unit = LinkageUnit.of(
        *(Bundle.from_bytes(read_opened(path, None).data, path.name) for path in (one, other))
    )
    compared = unit.compare()
    if (model.names, model.levels) != (compared.names, compared.levels):
        raise Mismatch(
            f"{model_file.name} has other fields than the bundles",
            hint="use the model that was written when these bundles were linked",
        )
    rows = _row(unit.left, left), _row(unit.right, right)
    found = explained(compared, model, *rows, unit.left.settings["decide"])
    for line in explanation_lines(found):
        speaker.say(line)
    speaker.summary(asdict(found))


def _row(bundle: "Bundle", start: str) -> int:
    """The row of the only record whose pseudonym starts like this."""
    from gramlink.errors import InvalidParameter

    rows = [row for row, name in enumerate(bundle.ids) if name.startswith(start)]
    if len(rows) > 1:
        raise InvalidParameter(
            f"{len(rows):,} records of {bundle.owner} have a pseudonym that starts with {start!r}",
            hint="give more of the pseudonym",
        )
    if not rows:
        raise InvalidParameter(
            f"no record of {bundle.owner} has a pseudonym that starts with {start!r}",
            hint="the first pseudonym must belong to the owner whose name sorts first",
        )
    return rows[0]
