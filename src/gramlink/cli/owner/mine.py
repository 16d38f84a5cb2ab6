"""`gramlink mine`: frequent grams, for the other owners."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gramlink.cli.duplicates import duplicates_seen
from gramlink.cli.options import DataSet, Epsilon, Force, Insist, LedgerFile, OwnSource
from gramlink.cli.outputs import refuse_overwriting, refuse_replacing
from gramlink.cli.speaker import Speaker

if TYPE_CHECKING:
    from gramlink.records.schema import Schema


def mine(
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Default: OWNER.mined.json.")
    ] = None,
    epsilon: Epsilon = "",
    ledger_file: LedgerFile = None,
    dataset: DataSet = "",
    again: Annotated[
        Path | None,
        typer.Option(help="Reread this file's prefix tree with another size or q, at no cost."),
    ] = None,
    source: OwnSource,
    insist: Insist = False,
    force: Force = False,
    speaker: Speaker,
) -> None:
    """Mine frequent grams under differential privacy.

    Writes the grams for the other owners, after charging their cost, epsilon, to the ledger. If it
    is stopped, the same command again costs nothing more. Warns if records look like one person
    twice.

    Example: gramlink mine hospital.csv -o hospital.mined.json
    """
    from gramlink.bundles.secrecy import check_secrecy
    from gramlink.parties.owner import Owner
    from gramlink.privacy.budget import shown
    from gramlink.privacy.ledger import Ledger

    owner = source.name
    output = output or Path(f"{owner}.mined.json")
    ledger_file, dataset = source.ledger_file(ledger_file, dataset)
    schema = source.schema(epsilon=epsilon)
    refuse_replacing(output, *source.files, ledger_file)
    refuse_overwriting(output, force=force, hint="it is paid for, so use it; or see --force")
    if again:
        _read_again(again, output, schema, owner)
        speaker.say(f"wrote {output}, at no cost")
        speaker.summary({"output": str(output), "epsilon": "0"})
        return
    records = source.records(schema)
    check_secrecy(schema.agreed)  # before it is paid for
    shares = {name: shown(cost) for name, cost in schema.costs.items() if cost}
    new, ledger = not ledger_file.exists(), Ledger(ledger_file, dataset, schema.epsilon)
    before = ledger.state.spent
    mined = Owner(owner, records, schema, key=b"", insists=insist).mine_to(
        output, ledger, {"output": output.name}, anew=True
    )
    cost = ledger.state.spent - before
    grams = sum(len(estimates.grams) for estimates in mined.fields.values())
    speaker.say(f"wrote {output}: {grams} grams of {len(records):,} records")
    if len(shares) > 1:
        split = ", ".join(f"{name} {share}" for name, share in shares.items())
        speaker.say(f"epsilon {shown(schema.epsilon)} was split over the mined fields: {split}")
    left = shown(ledger.state.left)
    if mined.epsilon and not cost:
        speaker.say("an earlier run paid for it, and was stopped before it was done")
    speaker.say(f"spent epsilon {shown(cost)}; {left} is left in {ledger.path.name}")
    if new and ledger_file.exists():
        speaker.say(f"{ledger_file} is new: keep it with the data")
    warnings = duplicates_seen(records, schema, speaker)  # last, as nothing has to wait for it
    for warning in warnings:
        speaker.warn(warning)
    speaker.summary(
        {"output": str(output), "epsilon": str(cost), "grams": grams, "shares": shares,
         "warnings": warnings}
    )  # fmt: skip


def _read_again(source: Path, output: Path, schema: "Schema", owner: str) -> None:
    from dataclasses import replace

    from gramlink.errors import Mismatch
    from gramlink.io.files import read_bytes, written_whole
    from gramlink.mining.mined import Mined
    from gramlink.mining.miners import read_again
    from gramlink.records.schema import differences, schema_from

    mined = Mined.from_json(read_bytes(source), source.name)
    if mined.owner != owner:
        raise Mismatch(
            f"{source.name} was mined by {mined.owner}, not by {owner}",
            hint="name the owner with --owner, as when mining",
        )
    before = schema_from(dict(mined.settings), source.name)
    different = differences(_mined_with(before), _mined_with(schema))
    names = {field.name for field in schema.fields if field.mined}
    if different or names != mined.fields.keys():
        raise Mismatch(
            f"{source.name} was mined with other settings: {'; '.join(different)}",
            hint="only size, q_min and q_max can change without mining, and paying, again",
        )
    fields = {name: read_again(mined.fields[name], schema[name]) for name in mined.fields}
    with written_whole(output) as file:
        file.write(replace(mined, settings=schema.agreed, fields=fields).to_json())


def _mined_with(schema: "Schema") -> dict[str, Any]:
    """The settings a tree was grown with, without those that only reading it needs."""
    free = {"size", "q_min", "q_max"}
    return {
        field.name: {key: value for key, value in field.agreed.items() if key not in free}
        for field in schema.fields
    }
