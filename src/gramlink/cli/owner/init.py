"""`gramlink init`: a linkage.toml to start from."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gramlink.cli.options import LINKAGE, Data, Encoding, Force, Separator
from gramlink.cli.outputs import refuse_overwriting, refuse_replacing
from gramlink.cli.speaker import Speaker

if TYPE_CHECKING:
    from gramlink.records.proposal import Proposal

Second = Annotated[
    Path | None,
    typer.Argument(help="The other owner's records, to propose for both.", metavar="SECOND"),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        help="A column to link on; may be repeated: --field A --field B.", metavar="COLUMN"
    ),
]


def init(
    *,
    data: Data,
    second: Second = None,
    output: Annotated[Path, typer.Option("--output", "-o")] = LINKAGE,
    second_output: Annotated[
        Path | None,
        typer.Option("--second-output", "-o2", help="Default: linkage-SECOND.toml."),
    ] = None,
    field: Columns = None,
    id_column: Annotated[str, typer.Option("--id", help="The column of ids.")] = "",
    second_id: Annotated[str, typer.Option(help="The other owner's column of ids.")] = "",
    separator: Separator = "",
    encoding: Encoding = "",
    force: Force = False,
) -> None:
    """Propose a linkage.toml from the columns of one file or both.

    Writes a linkage.toml for the owners to read, discuss and use.

    Example: gramlink init hospital.csv
    """
    from gramlink.bundles.secrecy import secrecy_warnings
    from gramlink.errors import InvalidParameter
    from gramlink.io.files import written_whole
    from gramlink.records.proposal import propose, propose_both, read_sample
    from gramlink.records.schema import load_schema

    inputs, outputs = [data], [output]
    if second:
        inputs.append(second)
        outputs.append(second_output or LINKAGE.with_name(f"linkage-{second.stem}.toml"))
        refuse_replacing(output, outputs[1])
    elif second_output or second_id:
        raise InvalidParameter(
            "there is no second file", hint="name it: gramlink init hospital.csv registry.csv"
        )
    for path in outputs:
        refuse_replacing(path, *inputs)
        refuse_overwriting(path, force=force, hint="edit it, or overwrite it with --force")
    samples = [read_sample(path, separator or None, encoding or None) for path in inputs]
    proposals: tuple[Proposal, ...]
    if second:
        proposals = propose_both(
            *samples, fields=field or (), left_id=id_column, right_id=second_id
        )
    else:
        proposals = (propose(samples[0], fields=field or (), id_column=id_column),)
    with ExitStack() as stack:  # both or neither
        written = [stack.enter_context(written_whole(path)) for path in outputs]
        for file, proposal in zip(written, proposals, strict=True):
            file.write(proposal.text.encode())
    speaker = Speaker()
    for source, path, proposal in zip(inputs, outputs, proposals, strict=True):
        _show(speaker, proposal)
        schema = "" if path == LINKAGE else f" --schema {path}"
        for warning in secrecy_warnings(load_schema(path)):
            speaker.say(f"  warning: {warning}")
        speaker.say(f"wrote {path}: read it, then try `gramlink check {source}{schema}`")


def _show(speaker: Speaker, proposal: "Proposal") -> None:
    """Show a proposal, with a line for each field and for each column left out."""
    speaker.say(f"{proposal.file}: ids in {proposal.id}")
    width = max(len(field.name) for field in proposal.fields)
    for field in proposal.fields:
        columns = " + ".join(field.columns)
        speaker.say(f"  {field.name:<{width}}  {field.guess.kind:<8}  {columns}")
        for check in field.guess.checks:
            speaker.say(f"  {'':<{width}}  check: {check}")
    for column, why in proposal.left_out.items():
        speaker.say(f"  left out: {column}: {why}")
