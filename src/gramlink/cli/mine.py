"""Mine frequent grams under differential privacy; spends epsilon, in the ledger.

Example: gramlink mine hospital.csv -o hospital.mined.json
"""

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.common import (
    LINKAGE,
    AsJson,
    Data,
    Encoding,
    Force,
    OwnerName,
    Quiet,
    SchemaFile,
    Separator,
    Speaker,
    read_data,
    read_schema,
    refuse_overwriting,
)


def mine(
    data: Data,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Default: OWNER.mined.json.")
    ] = None,
    schema_file: SchemaFile = LINKAGE,
    epsilon: Annotated[str, typer.Option(help="In place of the schema's.")] = "",
    ledger_file: Annotated[
        Path | None, typer.Option("--ledger", help="Default: OWNER.ledger beside DATA.")
    ] = None,
    again: Annotated[
        Path | None,
        typer.Option(help="Read this file's prefix tree again, for another size or q, for free."),
    ] = None,
    owner: OwnerName = "",
    separator: Separator = "",
    encoding: Encoding = "",
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Write the grams for the other owner, after charging their cost to the ledger."""
    from gramlink.files import written_whole
    from gramlink.ledger import Ledger
    from gramlink.privacy import shown
    from gramlink.roles import Owner

    speaker = Speaker(quiet=quiet, as_json=as_json)
    owner = owner or data.stem
    output = output or Path(f"{owner}.mined.json")
    schema = read_schema(schema_file, epsilon=epsilon)
    refuse_overwriting(output, force=force, hint="use it: it is paid for; or see --force")
    if again:
        _read_again(again, output, schema_file)
        speaker.say(f"wrote {output}, at no cost")
        speaker.summary({"output": str(output), "epsilon": "0"})
        return
    records = read_data(data, schema, separator, encoding)
    ledger = Ledger(ledger_file or data.with_name(f"{owner}.ledger"), owner, schema.epsilon)
    # The output is opened before the ledger is charged: a full disk must cost nothing.
    with written_whole(output) as file:
        mined = Owner(owner, records, schema, key=b"").mine(ledger)
        file.write(mined.to_json())
    cost = mined.epsilon or Fraction(0)
    grams = sum(len(estimates.grams) for estimates in mined.fields.values())
    speaker.say(f"wrote {output}: {grams} grams of {len(records):,} records")
    if cost:
        left = shown(ledger.state.left)
        speaker.say(f"spent epsilon {shown(cost)}; {left} is left in {ledger.path.name}")
    else:
        speaker.say("spent nothing: no record was read for it")
    speaker.summary({"output": str(output), "epsilon": str(cost), "grams": grams})


def _read_again(source: Path, output: Path, schema_file: Path) -> None:
    from dataclasses import replace

    from gramlink.errors import Mismatch
    from gramlink.files import read_bytes, written_whole
    from gramlink.mined import Mined
    from gramlink.mining import read_again

    schema = read_schema(schema_file)
    mined = Mined.from_json(read_bytes(source), source.name)
    field = schema.field
    if field.name not in mined.fields:
        raise Mismatch(f"{source.name} has no field {field.name!r}")
    fields = {field.name: read_again(mined.fields[field.name], field)}
    with written_whole(output) as file:
        file.write(replace(mined, settings=schema.agreed, fields=fields).to_json())
