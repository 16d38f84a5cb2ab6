"""Results: what comes back from the linkage unit to one owner.

An archive whose parts are the links and possible links of two owners, or the clusters and
possible links of several; none, if the owner gets counts only.
"""

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import polars as pl

from gramlink.bundles.archive import Archive, pack, unpack
from gramlink.bundles.pseudonyms import PSEUDONYM
from gramlink.bundles.sealing import Recipient
from gramlink.errors import GramlinkError, InvalidParameter
from gramlink.io.files import DAMAGE, list_in, table_in
from gramlink.io.names import exchange_name, owner_name

Returns = Literal["links", "weights", "counts"]  # weights: links with all that is known of them

PAIRS = {"id_left": pl.String, "id_right": pl.String}
OWNERS = {"owner_left": pl.String, "owner_right": pl.String}  # where there are more than two
CLUSTERS = {"cluster": pl.Int64, "owner": pl.String, "id": pl.String}
NUMBERS = dict.fromkeys(("distance", "match_weight", "match_probability"), pl.Float64)
LEVEL, WORDS = "level_", "^[a-z0-9 ]+$"  # how near each field is, in words
MOST_COUNTS, MOST_COLUMNS, MOST_ROWS = 1000, 60, 10**8
LONGEST = 200  # text of a manifest


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """Tables of pseudonyms for one owner, and counts for each two owners.

    Privacy: for this owner only, who can map its own pseudonyms back and nobody else's.
    """

    owner: str
    owners: tuple[str, ...]
    projection: str
    returns: str
    counts: tuple[dict[str, Any], ...]  # left, right, links, possible, precision, recall
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)  # links or clusters, possible
    exchange: str = ""
    created: str = ""
    sender: Recipient | None = None  # who signed the file they were read from

    def to_bytes(self) -> bytes:
        """The file."""
        manifest = {
            "exchange": self.exchange,
            "owner": self.owner,
            "owners": list(self.owners),
            "created": self.created,
            "projection": self.projection,
            "returns": self.returns,
            "counts": list(self.counts),
            "rows": {name: len(table) for name, table in self.tables.items()},
        }
        parts = {f"{name}.parquet": table for name, table in self.tables.items()}
        return pack("results", manifest, parts)

    @classmethod
    def from_bytes(cls, data: bytes, name: str, sender: Recipient | None = None) -> "Results":
        """What `to_bytes` wrote, after checking that all of it is there and unchanged."""
        archive = unpack("results", data, name)
        manifest = archive.manifest
        try:
            rows = table_in(manifest, "rows")
            if archive.parts.keys() != {f"{table}.parquet" for table in rows}:
                raise archive.damaged("its tables are not those that it lists")
            if manifest["returns"] not in get_args(Returns):
                raise archive.damaged("it does not say what goes back")
            return cls(
                owner=owner_name(manifest["owner"]),
                owners=tuple(map(owner_name, list_in(manifest, "owners"))),
                projection=_text(manifest["projection"]),
                returns=manifest["returns"],
                counts=tuple(map(_count, list_in(manifest, "counts")[:MOST_COUNTS])),
                tables={table: _table(archive, table, rows[table]) for table in rows},
                exchange="" if manifest["exchange"] == "" else exchange_name(manifest["exchange"]),
                created=_text(manifest["created"]),
                sender=sender,
            )
        except DAMAGE as error:
            if isinstance(error, GramlinkError) and not isinstance(error, InvalidParameter):
                raise
            raise archive.damaged(str(error)) from error


def _count(content: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {side: owner_name(content[side]) for side in ("left", "right")}
    for number in ("links", "possible"):
        found[number] = content[number]
        if type(found[number]) is not int or not 0 <= found[number] < 2**53:
            raise ValueError(f"it does not count {number}")
    for share in ("precision", "recall"):
        found[share] = None if content[share] is None else float(content[share])
        if not 0 <= (found[share] or 0) <= 1:
            raise ValueError(f"its {share} is not a share")
    return found


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST or not value.isprintable():
        raise ValueError(f"a value in its manifest must be text of up to {LONGEST} characters")
    return value


def _table(archive: Archive, table: str, rows: Any) -> pl.DataFrame:
    """A table, none of whose cells can mean something to a spreadsheet."""
    if table not in ("links", "possible", "clusters"):
        raise archive.damaged(f"it has a table {table[:100]!r}")
    part = f"{table}.parquet"
    needed = CLUSTERS if table == "clusters" else PAIRS
    allowed = {**needed, **({} if table == "clusters" else {**OWNERS, **NUMBERS})}
    columns: dict[str, Any] = {}
    for name in archive.columns(part):
        level = name.startswith(LEVEL) and table != "clusters"
        if name in columns or not (level or name in allowed):
            raise archive.damaged(f"its {table} have a column {name[:100]!r}")
        columns[name] = pl.String if level else allowed[name]
    if not needed.keys() <= columns.keys() or len(columns) > MOST_COLUMNS:
        raise archive.damaged(f"its {table} do not have the columns they must have")
    if type(rows) is not int or not 0 <= rows <= MOST_ROWS:
        raise archive.damaged(f"it claims {str(rows)[:100]} rows of {table}")
    frame = archive.frame(part, columns, rows)
    owners = archive.manifest["owners"]
    for name in columns:
        cells = frame[name]
        if name in ("id", "id_left", "id_right"):
            fine = cells.str.contains(PSEUDONYM)
        elif name in ("owner", "owner_left", "owner_right"):
            fine = cells.is_in(owners)
        elif name.startswith(LEVEL):
            fine = cells.str.contains(WORDS)
        else:
            continue
        if not fine.all(ignore_nulls=False):
            raise archive.damaged(f"a cell of its {table} in {name[:100]} is not as we write it")
    return frame
