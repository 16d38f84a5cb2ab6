"""`gramlink check`: what is wrong with the data."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.duplicates import duplicates_seen
from gramlink.cli.options import Force, Source
from gramlink.cli.outputs import refuse_overwriting, refuse_replacing
from gramlink.cli.speaker import Speaker


def check(
    *,
    report: Annotated[
        Path | None, typer.Option(help="Also write it as an HTML page, without ids.")
    ] = None,
    bad_rows: Annotated[
        Path | None,
        typer.Option(help="Write the rows to mend as CSV, with ids, for your eyes only."),
    ] = None,
    source: Source,
    force: Force = False,
    speaker: Speaker,
) -> None:
    """Show what is wrong with the data, before anything is spent.

    Reads the records as mining would; counts and names the rows that need attention. Estimates how
    many pairs of records look like one person twice.

    Example: gramlink check hospital.csv --bad-rows hospital-bad.csv
    """
    from gramlink.bundles.secrecy import secrecy_warnings
    from gramlink.io.files import code, written_whole
    from gramlink.records.quality import assess
    from gramlink.records.quality import bad_rows as rows_to_mend
    from gramlink.reports.check_page import check_page
    from gramlink.reports.findings import finding_facts, finding_lines

    _refuse_outputs(report, bad_rows, *source.files, force=force)
    schema = source.schema()
    records = source.records(schema)
    found = assess(records, schema)
    warnings = [*secrecy_warnings(schema), *duplicates_seen(records, schema, speaker)]
    with ExitStack() as files:
        page = files.enter_context(written_whole(report)) if report else None
        # it holds ids, which nobody else on the machine needs to read
        table = files.enter_context(written_whole(bad_rows, mode=0o600)) if bad_rows else None
        if page:
            page.write(check_page(found, warnings).encode(errors="replace"))
        if table:
            table.write(rows_to_mend(records, schema).write_csv().encode())
    for line in finding_lines(found, str(source.data), listed=bad_rows is not None):
        speaker.say(line)
    for warning in warnings:
        speaker.say(f"  warning: {warning}")
    for output, what in ((report, "for a browser"), (bad_rows, f"{found.bad:,} rows")):
        if output:
            speaker.say(f"wrote {output}: {what}")
    written = {"report": report and str(report), "bad_rows": bad_rows and str(bad_rows)}
    codes = {"settings": code(schema.digest), "schema": code(schema.whole_digest)}
    speaker.say(f"settings of all owners, code {codes['settings']}")
    speaker.say(f"schema code: {codes['schema']}  (for `gramlink exchange --approve`)")
    speaker.summary({**finding_facts(found), "warnings": warnings, "codes": codes, **written})


def _refuse_outputs(report: Path | None, bad_rows: Path | None, *inputs: Path, force: bool) -> None:
    if report and bad_rows:
        refuse_replacing(report, bad_rows)
    for output in (report, bad_rows):
        if output:
            refuse_replacing(output, *inputs)
            refuse_overwriting(output, force=force, hint="name another file, or add --force")
