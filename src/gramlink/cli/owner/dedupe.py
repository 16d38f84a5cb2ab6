"""`gramlink dedupe`: likely duplicates within one file."""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.options import Force, Source
from gramlink.cli.outputs import refuse_overwriting, refuse_replacing, write_csv
from gramlink.cli.speaker import Speaker


def dedupe(
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Default: DATA-duplicates.csv.")
    ] = None,
    source: Source,
    force: Force = False,
    speaker: Speaker,
) -> None:
    """Find records in one file that are likely to be the same person.

    Writes clusters of likely duplicates. Nothing leaves the owner, so nothing is spent.

    Example: gramlink dedupe hospital.csv -o hospital-duplicates.csv
    """
    from gramlink.deciding.clusters import cluster
    from gramlink.parties.linkage_unit import apart, weighted
    from gramlink.parties.one_process import deduplicate
    from gramlink.reports.summary import estimate_lines, pass_lines, weight_lines

    data = source.data
    output = output or data.with_name(f"{data.stem}-duplicates.csv")
    refuse_replacing(output, *source.files)
    refuse_overwriting(output, force=force, hint="name another with --output, or add --force")
    schema = source.schema()
    records = source.records(schema)
    found = deduplicate(records, schema)
    clusters = cluster(weighted(found, data.stem, data.stem), apart=apart([found]))
    write_csv(output, clusters.to_polars().drop("owner"))
    assert found.model is not None  # noqa: S101  # records of one field are refused
    for lines in (pass_lines(found), weight_lines(found.model), estimate_lines(found)):
        for line in lines:
            speaker.say(f"  {line}")
        speaker.say("")
    speaker.say(
        f"wrote {output}: {len(clusters):,} clusters of likely duplicates among "
        f"{len(records):,} records; {len(found.possible):,} further pairs are possible"
    )
    speaker.say("it holds your own ids, and is for your eyes only")
    speaker.summary(
        {"output": str(output), "clusters": len(clusters), "pairs": len(found.links),
         "possible": len(found.possible), "precision": found.precision}
    )  # fmt: skip
