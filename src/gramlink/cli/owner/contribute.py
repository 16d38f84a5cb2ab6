"""`gramlink contribute`: an owner's part of the secret of one exchange."""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.contributions import contribution_file
from gramlink.cli.options import LINKAGE, Quiet, SchemaFile
from gramlink.cli.speaker import Speaker


def contribute(
    *,
    owner: Annotated[str, typer.Argument(help="This owner's name.", metavar="OWNER")],
    exchange: Annotated[str, typer.Option(help="The name of the exchange, if it has one.")] = "",
    schema_file: SchemaFile = LINKAGE,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Default: EXCHANGE-OWNER.contribution."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Contribute to the secret that a veiled exchange needs.

    Writes random bytes, for one exchange only. `gramlink seal --contribution` sends them to the
    other owners beside what you mined; `gramlink embed` reads the contributions of all.

    Example: gramlink contribute hospital --exchange stroke
    """
    from gramlink.cli.outputs import refuse_overwriting
    from gramlink.encodings.encoding import encoding_of
    from gramlink.errors import InvalidParameter
    from gramlink.io.names import exchange_name, owner_name
    from gramlink.parties.contribution import needs_secret, own_contribution
    from gramlink.records.schema import load_schema

    speaker = Speaker(quiet=quiet)
    exchange, owner = exchange and exchange_name(exchange), owner_name(owner)
    schema = load_schema(schema_file)
    if not needs_secret(schema):
        raise InvalidParameter(
            f"encoding = {schema.encoding!r} needs no secret", hint="go on with `gramlink embed`"
        )
    encoding_of(schema.encoding).check_schema(schema)
    path = output or contribution_file(exchange, owner)
    refuse_overwriting(
        path, force=False, hint="a second one would not fit what the others have; use the first"
    )
    own_contribution(path, owner, exchange, schema)
    speaker.say(f"wrote {path}: for the other owners, and never for the linkage unit")
    speaker.say("send it to each of them: `gramlink seal MINED --contribution FILE --to READER "
                f"--identity {owner}.identity`")  # fmt: skip
