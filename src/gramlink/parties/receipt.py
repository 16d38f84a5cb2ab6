"""Receipt: checks what came back, and translates it to our own ids.

Tables are opened in spreadsheets, so nothing that the linkage unit could have planted there to be
run gets into them: every cell is a pseudonym, an own id, a number or a word of ours.
"""

import polars as pl

from gramlink.bundles.pseudonyms import PSEUDONYM
from gramlink.bundles.results import CLUSTERS, LEVEL, NUMBERS, OWNERS, PAIRS, Results
from gramlink.bundles.sealing import Recipient
from gramlink.embedding.projection import Projection
from gramlink.errors import InvalidFile, Mismatch
from gramlink.parties.agreement import check_facts, check_sender
from gramlink.parties.owner import Owner
from gramlink.records.levels import SWAPPED

WHAT = "the results of the linkage unit"


def receive(
    owner: Owner,
    results: Results,
    projection: Projection,
    exchange: str,
    *,
    unit: Recipient | None = None,
    returns: str = "",
    hint: str = "",
) -> dict[str, pl.DataFrame]:
    """The tables with this owner's ids, if they answer its bundle and hold nothing else.

    If the unit's key is given, the unit must have signed them.

    In a file drop, for example, it is not known what was to come back; then the results need
    only be what they say they are.

    Privacy: for this owner only; the others' pseudonyms stay as they are.
    """
    if unit:
        check_sender("the file of results", results.sender, "the linkage unit", [unit])
    check_facts(
        "the results",
        {
            "owner": (results.owner, owner.name),
            "exchange": (results.exchange, exchange),
            "owners": (results.owners, projection.owners),
            "projection": (results.projection, projection.digest),
            "kind": (results.returns, returns or results.returns),
        },
        hint=hint,
    )
    allowed = {"links" if len(projection.owners) == 2 else "clusters", "possible"}
    for name, table in results.tables.items():
        if name not in allowed or results.returns == "counts":
            raise _strange(f"they have a table of {name}")
        _check_columns(owner, projection, results.returns, name, table)
        _check_cells(owner, projection, name, table)
        _check_own(owner, projection, name, table)
    return {name: owner.with_own_ids(table, *_ids(table)) for name, table in results.tables.items()}


def translate_table(owner: Owner, table: pl.DataFrame, name: str, key: str) -> pl.DataFrame:
    """A table that people sent each other, which does not say whose it is, with own ids.

    Another owner's ids, and columns of anybody's, stay as they are. Name and key are those of
    the files, to be told if no record is this owner's.

    Privacy: for this owner only.
    """
    mapped = owner.with_own_ids(table, *_ids(table))
    concerned = owner.name in set(table["owner"]) if "owner" in table.columns else len(table) > 0
    if concerned and mapped.equals(table):
        raise Mismatch(
            f"no pseudonym in {name} belongs to {owner.records.name} under {key}",
            hint="use the data and the key you embedded with",
        )
    return mapped


def _ids(table: pl.DataFrame) -> list[str]:
    return ["id"] if "cluster" in table.columns else ["id_left", "id_right"]


def _needed(projection: Projection, name: str) -> set[str]:
    """The columns that a table has whatever goes back."""
    if name == "clusters":
        return set(CLUSTERS)
    return {*PAIRS, *(OWNERS if len(projection.owners) > 2 else ())}


def _check_columns(
    owner: Owner, projection: Projection, returns: str, name: str, table: pl.DataFrame
) -> None:
    """Refuse a table with a column that it must not have, or without one that it must."""
    needed = _needed(projection, name)
    details = {*NUMBERS, *(f"{LEVEL}{field.name}" for field in owner.schema.fields)}
    for column in table.columns:
        if column not in needed | details:
            raise _strange(f"the column {column[:100]!r} of {name} is not one of ours")
        if column in details and returns != "weights":
            raise _strange(f"{name} have a column {column}, but only {returns} were to come back")
    if not needed <= set(table.columns):
        raise _strange(f"{name} do not have the columns they must have")


def _check_cells(owner: Owner, projection: Projection, name: str, table: pl.DataFrame) -> None:
    """Refuse a table with a cell that is not a pseudonym, an owner, a number or a level."""
    schema = owner.schema
    levels = {  # veiled records tell that fields are swapped without being asked
        f"{LEVEL}{field.name}": {*schema.levels_of(field).names, SWAPPED} for field in schema.fields
    }
    for column in table.columns:
        cells = table[column]
        if column in _ids(table):
            fine = cells.str.contains(PSEUDONYM)
        elif column in ("owner", *OWNERS):
            fine = cells.is_in(projection.owners)
        elif column in levels:
            fine = cells.is_in(levels[column])
        else:
            continue
        if not fine.fill_null(value=column in levels).all():
            raise _strange(f"a cell of {name} in {column} is not as we write it")


def _check_own(owner: Owner, projection: Projection, name: str, table: pl.DataFrame) -> None:
    """Refuse a table with records of this owner that it never sent."""
    if name == "clusters":
        ours = table.filter(pl.col("owner") == owner.name)["id"]
    elif "owner_left" in table.columns:
        left = table.filter(pl.col("owner_left") == owner.name)["id_left"]
        ours = pl.concat([left, table.filter(pl.col("owner_right") == owner.name)["id_right"]])
    else:
        ours = table["id_left" if owner.name == projection.owners[0] else "id_right"]
    unknown = len(set(ours) - set(owner.pseudonyms))
    if unknown:
        raise Mismatch(
            f"{unknown:,} records in {name} are not in {owner.records.name}",
            hint="use the data and the key as they were when the bundle was made",
        )


def _strange(why: str) -> InvalidFile:
    return InvalidFile(
        f"{WHAT} are not as gramlink writes them: {why}",
        hint="use the same version of gramlink at all parties; nothing was written",
    )
