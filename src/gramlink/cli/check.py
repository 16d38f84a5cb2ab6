"""Show what is wrong with the data, before anything is spent.

Example: gramlink check hospital.csv
"""

from gramlink.cli.common import (
    LINKAGE,
    AsJson,
    Data,
    Encoding,
    Quiet,
    SchemaFile,
    Separator,
    Speaker,
    read_data,
    read_schema,
)


def check(
    data: Data,
    schema_file: SchemaFile = LINKAGE,
    separator: Separator = "",
    encoding: Encoding = "",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Read the records as mining would; count and name the rows that need a look."""
    speaker = Speaker(quiet=quiet, as_json=as_json)
    schema = read_schema(schema_file)
    records = read_data(data, schema, separator, encoding)
    field = schema.field
    strings = records[field.name]
    distinct = len(set(strings) - {""})
    missing = int(strings.missing.sum())
    speaker.say(f"{data}: {len(records):,} records")
    speaker.say(f"  {field.name}: {distinct:,} distinct values, {missing:,} missing")
    for problem in records.problems:
        speaker.say(f"  {problem}")
    if not records.problems:
        speaker.say("  nothing to report")
    speaker.summary(
        {
            "records": len(records),
            "field": field.name,
            "distinct": distinct,
            "missing": missing,
            "problems": [
                {"column": p.column, "what": p.what, "count": p.count, "rows": list(p.rows)}
                for p in records.problems
            ],
        }
    )
