"""`gramlink results`: links by an owner's own ids."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gramlink.cli.inputs import read_opened, read_pairs
from gramlink.cli.options import IdentityFile, KeyFile, OwnSource, Quiet
from gramlink.cli.outputs import refuse_replacing, write_csv
from gramlink.cli.speaker import Speaker

if TYPE_CHECKING:
    import polars as pl


def results(
    *,
    links_file: Annotated[
        Path,
        typer.Argument(help="What `link` wrote, or what the linkage unit sent.", metavar="LINKS"),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Default: OWNER-links.csv.")
    ] = None,
    key_file: KeyFile = None,
    identity_file: IdentityFile = None,
    source: OwnSource,
    quiet: Quiet = False,
) -> None:
    """Map links back to an owner's own ids.

    Replaces this owner's pseudonyms by its ids; the other owners' stay as they are.

    Example: gramlink results links.csv hospital.csv -o hospital-links.csv
    """
    from gramlink.bundles.pseudonyms import owner_key
    from gramlink.errors import InvalidFile, Mismatch
    from gramlink.parties.owner import Owner

    speaker = Speaker(quiet=quiet)
    owner = source.name
    key_file = source.key_file(key_file)
    output = output or Path(f"{owner}-links.csv")
    refuse_replacing(output, links_file, *source.files, key_file, identity_file)
    if not key_file.exists():
        raise InvalidFile(
            f"there is no key file {key_file}", hint="name the one that `embed` used with --key"
        )
    schema = source.schema()
    tables = _tables(links_file, identity_file, owner)
    records = source.records(schema)
    party = Owner(owner, records, schema, owner_key(key_file))
    mapped = {name: party.with_own_ids(table, *_ids(table)) for name, table in tables.items()}
    concerned = [name for name, table in tables.items() if _concerns(table, owner)]
    if concerned and all(mapped[name].equals(tables[name]) for name in concerned):
        raise Mismatch(
            f"none of the pseudonyms in {links_file.name} is of {source.data.name} under "
            f"{key_file.name}",
            hint="use the data and the key that were embedded",
        )
    for name, table in mapped.items():
        possible = name == "possible"
        path = output.with_name(f"{output.stem}-possible.csv") if possible else output
        write_csv(path, table)
        what = {"clusters": "records in clusters", "possible": "possible links"}.get(name, "links")
        speaker.say(f"wrote {path}: {len(table):,} {what}")
    if not tables:
        speaker.say("the linkage unit sent counts only: see `gramlink inspect`")


def _tables(path: Path, identity_file: Path | None, owner: str) -> "dict[str, pl.DataFrame]":
    """The tables of a CSV file, or of what the linkage unit sent."""
    from gramlink.bundles.results import Results
    from gramlink.bundles.sealing import is_sealed
    from gramlink.errors import Mismatch
    from gramlink.io.files import read_bytes

    data = read_bytes(path)
    if not is_sealed(data) and not data.startswith(b"PK"):
        table = read_pairs(path)
        return {"clusters" if "cluster" in table.columns else "links": table}
    sent = Results.from_bytes(read_opened(path, identity_file), path.name)
    if sent.owner != owner:
        raise Mismatch(f"{path.name} is for {sent.owner}, not for {owner}", hint="see --owner")
    return sent.tables


def _ids(table: "pl.DataFrame") -> list[str]:
    return ["id"] if "cluster" in table.columns else ["id_left", "id_right"]


def _concerns(table: "pl.DataFrame", owner: str) -> bool:
    """Whether a table must have a record of this owner."""
    return owner in set(table["owner"]) if "owner" in table.columns else len(table) > 0
