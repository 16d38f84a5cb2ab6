"""`gramlink results`: links by an owner's own ids."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gramlink.cli.contributions import ContributionFiles
from gramlink.cli.inputs import read_opened, read_pairs
from gramlink.cli.options import IdentityFile, KeyFile, OwnSource, Quiet
from gramlink.cli.outputs import refuse_replacing, write_csv
from gramlink.cli.speaker import Speaker

if TYPE_CHECKING:
    import polars as pl

    from gramlink.bundles.results import Results

UNIT = Path("unit.recipient")
_HINT = "give the same --owner, --exchange and --projection as when embedding"


def results(
    *,
    links_file: Annotated[
        Path,
        typer.Argument(
            help="The file that `link` wrote or the linkage unit sent.", metavar="LINKS"
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Default: OWNER-links.csv.")
    ] = None,
    key_file: KeyFile = None,
    identity_file: IdentityFile = None,
    source: OwnSource,
    projection_file: Annotated[
        Path, typer.Option("--projection", help="The projection that `embed` used.")
    ] = Path("projection.json"),
    exchange: Annotated[str, typer.Option(help="The name of the exchange, if it has one.")] = "",
    unit_file: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="The linkage unit's recipient file: it must have signed the results. Default: "
            "unit.recipient, if there.",
        ),
    ] = None,
    contribution: Annotated[
        list[Path] | None,
        typer.Option(
            help="A contribution to delete, if `embed` was told its name; name those of all owners."
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Map links back to an owner's own ids.

    Replaces this owner's pseudonyms with its ids; the other owners' stay as they are. Deletes the
    contributions of an exchange that needed them, once its results have come.

    Example: gramlink results links.csv hospital.csv -o hospital-links.csv
    """
    from gramlink.bundles.pseudonyms import owner_key
    from gramlink.bundles.results import Results
    from gramlink.bundles.sealing import read_recipient
    from gramlink.embedding.projection import Projection
    from gramlink.errors import InvalidFile, InvalidParameter
    from gramlink.io.files import read_bytes
    from gramlink.parties.contribution import needs_secret
    from gramlink.parties.owner import Owner
    from gramlink.parties.receipt import receive, translate_table

    speaker = Speaker(quiet=quiet)
    owner = source.name
    key_file = source.key_file(key_file)
    output = output or Path(f"{owner}-links.csv")
    kept = (
        links_file, *source.files, key_file, identity_file, projection_file, unit_file,
        *(contribution or ()),
    )  # fmt: skip
    refuse_replacing(output, *kept)
    if not key_file.exists():
        raise InvalidFile(
            f"there is no key file {key_file}", hint="use --key to name the one that `embed` used"
        )
    schema = source.schema()
    sent, contributions = _received(links_file, identity_file), ContributionFiles(())
    records = source.records(schema)
    party = Owner(owner, records, schema, owner_key(key_file))
    if isinstance(sent, Results):
        projection = Projection.from_json(read_bytes(projection_file), projection_file.name)
        unit_file = unit_file or (UNIT if UNIT.exists() else None)
        unit = read_recipient(unit_file) if unit_file else None
        tables = receive(party, sent, projection, exchange, unit=unit, hint=_HINT)
        speaker.say(
            f"{links_file.name} is signed by the linkage unit, whose key is in {unit_file}"
            if unit
            else f"who made {links_file.name} was not checked: `--from unit.recipient` does so"
        )
        owners = projection.owners
        contributions = ContributionFiles.to_erase(contribution, exchange, owners, schema)
    elif unit_file:
        raise InvalidParameter(
            f"{links_file} is a table, which nobody can sign",
            hint="leave out --from, or name the file of results that the linkage unit sent",
        )
    else:
        kind = "clusters" if "cluster" in sent.columns else "links"
        tables = {kind: translate_table(party, sent, links_file.name, key_file.name)}
    for name, table in tables.items():
        possible = name == "possible"
        path = output.with_name(f"{output.stem}-possible.csv") if possible else output
        write_csv(path, table)
        what = {"clusters": "records in clusters", "possible": "possible links"}.get(name, "links")
        speaker.say(f"wrote {path}: {len(table):,} {what}")
    for erased in contributions.erase():
        speaker.say(f"deleted {erased}: the exchange is over, and it could open the bundles")
    if needs_secret(schema) and not isinstance(sent, Results):
        speaker.say("when the exchange is over, delete the contributions: they open the bundles")
    if not tables:
        speaker.say("the linkage unit sent counts only: see `gramlink inspect`")


def _received(path: Path, identity_file: Path | None) -> "Results | pl.DataFrame":
    """What the linkage unit sent, or a CSV file from somebody."""
    from gramlink.bundles.results import Results
    from gramlink.bundles.sealing import is_sealed, is_signed
    from gramlink.io.files import read_bytes

    data = read_bytes(path)
    if is_sealed(data) or is_signed(data) or data.startswith(b"PK"):
        opened = read_opened(path, identity_file)
        return Results.from_bytes(opened.data, path.name, opened.sender)
    return read_pairs(path)
