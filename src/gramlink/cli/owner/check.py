"""Show what is wrong with the data, before anything is spent.

Example: gramlink check hospital.csv --bad-rows hospital-bad.csv
"""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
)

if TYPE_CHECKING:
    from gramlink.records.quality import Identical, Quality
    from gramlink.records.reading import Problem


def check(
    data: Data,
    schema_file: SchemaFile = LINKAGE,
    report: Annotated[
        Path | None, typer.Option(help="Write the same as a page of HTML, without ids.")
    ] = None,
    bad_rows: Annotated[
        Path | None,
        typer.Option(help="Write the rows to mend as CSV, with ids, for your own eyes."),
    ] = None,
    separator: Separator = "",
    encoding: Encoding = "",
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Read the records as mining would; count and name the rows that need a look."""
    from gramlink.io.files import written_whole
    from gramlink.records.quality import assess
    from gramlink.records.quality import bad_rows as rows_to_mend
    from gramlink.reports.check_page import check_page

    speaker = Speaker(quiet=quiet, as_json=as_json)
    _refuse_outputs(report, bad_rows, data, schema_file, force=force)
    schema = read_schema(schema_file)
    records = read_data(data, schema, separator, encoding)
    found = assess(records, schema)
    with ExitStack() as files:
        page = files.enter_context(written_whole(report)) if report else None
        # it holds ids, which nobody else on the machine needs to read
        table = files.enter_context(written_whole(bad_rows, mode=0o600)) if bad_rows else None
        if page:
            page.write(check_page(found).encode(errors="replace"))
        if table:
            table.write(rows_to_mend(records, schema).write_csv().encode())
    _say(found, speaker, data, listed=bad_rows is not None)
    for output, what in ((report, "for a browser"), (bad_rows, f"{found.bad:,} rows")):
        if output:
            speaker.say(f"wrote {output}: {what}")
    written = {"report": report and str(report), "bad_rows": bad_rows and str(bad_rows)}
    speaker.summary({**_facts(found), **written})


def _refuse_outputs(report: Path | None, bad_rows: Path | None, *inputs: Path, force: bool) -> None:
    if report and bad_rows:
        refuse_replacing(report, bad_rows)
    for output in (report, bad_rows):
        if output:
            refuse_replacing(output, *inputs)
            refuse_overwriting(output, force=force, hint="name another, or add --force")


def _say(found: "Quality", speaker: Speaker, data: Path, *, listed: bool) -> None:
    speaker.say(f"{data}: {found.records:,} records, {found.clean:,} without any problem")
    speaker.say()
    for line in _table(found):
        speaker.say(line)
    speaker.say()
    for problem in found.problems:
        speaker.say(f"  {problem}")
    if not found.problems and not found.suspicions:
        speaker.say("  nothing to report")
    for suspicion in found.suspicions:
        speaker.say(f"  suspicious, {suspicion}")
    if found.empty:
        speaker.say(f"  {_records(found.empty)} without a value in any field")
    if found.worst:
        speaker.say("  the worst rows, and in which fields:")
        for one in found.worst:
            speaker.say(f"    {one.row}: {', '.join(one.fields)}")
    if found.identical.records:
        _say_identical(found.identical, speaker, unique=found.unique)
    if found.bad:
        where = "" if listed else "; --bad-rows FILE.csv lists them"
        speaker.say(f"  to mend: {_records(found.bad)}{where}")


def _say_identical(identical: "Identical", speaker: Speaker, *, unique: bool) -> None:
    kinds = "1 kind" if identical.groups == 1 else f"{identical.groups:,} kinds"
    more = "; ..." if identical.groups > len(identical.rows) else ""
    rows = "; ".join(", ".join(map(str, group)) for group in identical.rows)
    speaker.say(f"  the same in all fields: {_records(identical.records)} of {kinds}")
    speaker.say(f"    rows {rows}{more}")
    if unique:
        speaker.say("    if that is one person twice, keep one record, or set `unique = false`")


def _records(count: int) -> str:
    return "1 record" if count == 1 else f"{count:,} records"


def _table(found: "Quality") -> list[str]:
    """The fields, one a line, with words to the left and numbers to the right."""
    from gramlink.privacy.budget import shown

    head = ("field", "kind", "column", "values", "distinct", "missing", "invalid", "outside",
            "cut", "epsilon")  # fmt: skip
    rows: list[Sequence[str]] = [head]
    for one in found.fields:
        counts = (one.values, one.distinct, one.missing, one.invalid, one.outside, one.cut)
        words = (one.name, one.kind, "+".join(one.columns))
        rows.append((*words, *(f"{count:,}" for count in counts), shown(one.epsilon)))
    last = ("all", "", "", *[""] * 6, shown(found.epsilon))
    if len(found.fields) > 1:
        rows.append(last)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(
            cell.ljust(width) if place < 3 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def _facts(found: "Quality") -> dict[str, Any]:
    return {
        "records": found.records,
        "clean": found.clean,
        "bad": found.bad,
        "empty": found.empty,
        "epsilon": str(found.epsilon),
        "fields": [
            {
                "name": one.name,
                "kind": one.kind,
                "columns": list(one.columns),
                "values": one.values,
                "distinct": one.distinct,
                "missing": one.missing,
                "invalid": one.invalid,
                "outside": one.outside,
                "cut": one.cut,
                "epsilon": str(one.epsilon),
                "problems": list(map(_fact, one.problems)),
                "suspicions": list(map(_fact, one.suspicions)),
            }
            for one in found.fields
        ],
        "worst": [{"row": one.row, "fields": list(one.fields)} for one in found.worst],
        "identical": {
            "records": found.identical.records,
            "groups": found.identical.groups,
            "rows": [list(group) for group in found.identical.rows],
        },
        "unique": found.unique,
    }


def _fact(problem: "Problem") -> dict[str, Any]:
    return {"what": problem.what, "count": problem.count, "rows": list(problem.rows)}
