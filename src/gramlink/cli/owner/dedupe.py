"""Find records in one file that are likely of the same person.

Example: gramlink dedupe hospital.csv -o hospital-duplicates.csv
"""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.common import (
    LINKAGE,
    AsJson,
    Data,
    Encoding,
    Force,
    Quiet,
    SchemaFile,
    Separator,
    Speaker,
    read_data,
    read_schema,
    refuse_overwriting,
    refuse_replacing,
    write_csv,
)


def dedupe(
    data: Data,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Default: DATA-duplicates.csv.")
    ] = None,
    schema_file: SchemaFile = LINKAGE,
    separator: Separator = "",
    encoding: Encoding = "",
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Write clusters of likely duplicates; nothing leaves the owner, so nothing is spent."""
    from gramlink.deciding.clusters import cluster
    from gramlink.parties.linkage_unit import weighted
    from gramlink.parties.one_process import deduplicate
    from gramlink.reports.summary import estimate_lines, pass_lines, weight_lines

    speaker = Speaker(quiet=quiet, as_json=as_json)
    output = output or data.with_name(f"{data.stem}-duplicates.csv")
    refuse_replacing(output, data, schema_file)
    refuse_overwriting(output, force=force, hint="name another with --output, or see --force")
    schema = read_schema(schema_file)
    records = read_data(data, schema, separator, encoding)
    found = deduplicate(records, schema)
    clusters = cluster(weighted(found.links, data.stem, data.stem))
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
