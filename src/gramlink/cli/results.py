"""Map links back to an owner's own ids.

Example: gramlink results links.csv hospital.csv -o hospital-links.csv
"""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.common import (
    LINK_COLUMNS,
    LINKAGE,
    Data,
    Encoding,
    KeyFile,
    OwnerName,
    Quiet,
    SchemaFile,
    Separator,
    Speaker,
    read_clusters,
    read_data,
    read_links,
    read_schema,
    refuse_replacing,
    write_csv,
)


def results(
    links_file: Annotated[Path, typer.Argument(help="What `link` wrote.", metavar="LINKS")],
    data: Data,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Default: OWNER-links.csv.")
    ] = None,
    schema_file: SchemaFile = LINKAGE,
    owner: OwnerName = "",
    key_file: KeyFile = None,
    separator: Separator = "",
    encoding: Encoding = "",
    quiet: Quiet = False,
) -> None:
    """Replace this owner's pseudonyms by its ids; the other owner's stay as they are."""
    import polars as pl

    from gramlink.errors import InvalidFile, Mismatch
    from gramlink.files import owner_name
    from gramlink.pseudonyms import owner_key
    from gramlink.roles import Owner
    from gramlink.tables import header, read_table

    speaker = Speaker(quiet=quiet, as_json=False)
    owner = owner_name(owner or data.stem)
    key_file = key_file or Path(f"{owner}.key")
    output = output or Path(f"{owner}-links.csv")
    refuse_replacing(output, links_file, data, schema_file, key_file)
    if not key_file.exists():
        raise InvalidFile(
            f"there is no key file {key_file}", hint="name the one that `embed` used with --key"
        )
    schema = read_schema(schema_file)
    columns = header(links_file)
    clusters = "cluster" in columns
    links = read_clusters(links_file) if clusters else read_links(links_file)
    records = read_data(data, schema, separator, encoding)
    mapped = Owner(owner, records, schema, owner_key(key_file)).translate(links)
    others = [name for name in columns if name not in (*LINK_COLUMNS, "id")]
    rest = read_table(links_file, columns=others).columns if len(links) and others else {}
    concerned = owner in set(rest["owner"]) if clusters and "owner" in rest else len(links) > 0
    if concerned and (mapped.left, mapped.right) == (links.left, links.right):
        raise Mismatch(
            f"none of the pseudonyms in {links_file.name} is of {data.name} under {key_file.name}",
            hint="use the data and the key that were embedded",
        )
    frame = mapped.to_polars()
    if clusters:
        frame = frame.rename({"id_left": "id"}).drop("id_right")
    empty = pl.Series([], dtype=pl.String)
    frame = frame.with_columns(**{name: rest.get(name, empty) for name in others})
    if clusters:
        frame = frame.select(*others, "id")
    write_csv(output, frame)
    speaker.say(f"wrote {output}: {len(mapped):,} {'records in clusters' if clusters else 'links'}")
