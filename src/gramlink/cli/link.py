"""Link two bundles: the linkage unit's part.

Example: gramlink link hospital.bundle registry.bundle -o links.csv
"""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.common import AsJson, Quiet, Speaker, refuse_replacing, write_csv

BundleFile = Annotated[Path, typer.Argument(help="A file that `gramlink embed` wrote.")]


def link(
    one: BundleFile,
    other: BundleFile,
    output: Annotated[Path, typer.Option("--output", "-o")] = Path("links.csv"),
    decide: Annotated[
        str, typer.Option(help="one-to-one, best-per-left or all; default: the schema's.")
    ] = "",
    distances: Annotated[
        bool, typer.Option("--distances", help="Also write distances; ten locate a name.")
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Write the pairs of pseudonyms that are linked."""
    from gramlink.bundle import Bundle
    from gramlink.errors import InvalidParameter
    from gramlink.files import read_bytes
    from gramlink.links import RULES
    from gramlink.roles import LinkageUnit

    speaker = Speaker(quiet=quiet, as_json=as_json)
    refuse_replacing(output, one, other)
    if decide and decide not in RULES:
        raise InvalidParameter(f"no rule {decide!r}", hint="one of " + ", ".join(RULES))
    bundles = [Bundle.from_bytes(read_bytes(path), path.name) for path in (one, other)]
    unit = LinkageUnit.of(*bundles)
    with speaker.progress("matching") as progress:
        links = unit.link(decide or None, progress)
    write_csv(output, links.to_polars(distances=distances))
    speaker.say(
        f"wrote {output}: {len(links):,} links between {len(unit.left.ids):,} records of "
        f"{unit.left.owner} and {len(unit.right.ids):,} of {unit.right.owner}"
    )
    speaker.say("each owner maps its own pseudonyms back with `gramlink results`")
    speaker.summary({"output": str(output), "links": len(links)})
