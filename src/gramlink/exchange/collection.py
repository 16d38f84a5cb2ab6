"""What comes back: opened, checked to be ours, and written with our own ids.

The files that are written are opened in spreadsheets, so nothing gets into them that the linkage
unit could have put there to be run: every cell is a pseudonym, an own id, a number or a word of
ours.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from gramlink.bundles.pseudonyms import PSEUDONYM
from gramlink.bundles.results import Results
from gramlink.bundles.sealing import unseal
from gramlink.embedding.projection import Projection
from gramlink.errors import InvalidFile, Mismatch
from gramlink.exchange.folder import DONE, RESULTS
from gramlink.exchange.part import Part
from gramlink.io.files import written_whole
from gramlink.records.levels import Levels

_NUMBERS = ("distance", "match_weight", "match_probability")
_WHAT = "the results of the linkage unit"


def collect(part: Part, projection: Projection, output: Path | None) -> dict[str, Any]:
    """Fetch the results if they are not in the folder yet, and write the tables."""
    results = _fetched(part, projection)
    written = {}
    for name, table in results.tables.items():
        path = _path(part, output, name)
        columns = ("id",) if name == "clusters" else ("id_left", "id_right")
        frame = part.owner.with_own_ids(table, *columns)
        with written_whole(path, mode=0o600) as file:
            file.write(frame.write_csv().encode())
        written[name] = str(path)
        part.voice.say(f"wrote {path}: {len(frame):,} {_ROWS[name]}")
    done = {
        "exchange": part.place.exchange,
        "party": part.place.party,
        "counts": list(results.counts),
        "written": written,
    }
    part.folder.note(DONE, done)
    return done


_ROWS = {"links": "links", "possible": "possible links, for review", "clusters": "records"}


def summary(done: dict[str, Any]) -> Iterator[str]:
    """What was found, a line for each two owners."""
    for one in done["counts"]:
        line = f"{one['left']} and {one['right']}: {one['links']:,} links"
        line += f", {one['possible']:,} possible ones" if one["possible"] else ""
        if one["precision"] is not None and one["recall"] is not None:
            line += f"; estimated precision {one['precision']:.4f}, recall {one['recall']:.4f}"
        yield line


def _fetched(part: Part, projection: Projection) -> Results:
    if part.folder.has(RESULTS):
        return _opened(part, projection, part.folder.read(RESULTS))
    with part.folder.fetching(RESULTS) as file:
        part.client.results(part.place.exchange, file)
        file.seek(0)
        return _opened(part, projection, file.read())


def _opened(part: Part, projection: Projection, sealed: bytes) -> Results:
    """The results, if they are ours."""
    results = Results.from_bytes(unseal(sealed, part.identity, _WHAT), _WHAT)
    facts = {
        "exchange": (results.exchange, part.place.exchange),
        "owner": (results.owner, part.owner.name),
        "owners": (results.owners, projection.owners),
        "projection": (results.projection, projection.digest),
    }
    for what, (found, expected) in facts.items():
        if found != expected:
            raise Mismatch(
                f"{_WHAT} are of another {what} than ours",
                hint="ask its operator; what was fetched was not kept",
            )
    expected_tables = {"links" if len(projection.owners) == 2 else "clusters", "possible"}
    for name, table in results.tables.items():
        if name not in expected_tables:
            raise _strange(f"they have a table of {name}")
        _check(part, projection, name, table)
    return results


def _check(part: Part, projection: Projection, name: str, table: pl.DataFrame) -> None:
    """See that a table has no cell that it must not have, and that its records are ours."""
    known = {f"level_{field.name}": field for field in part.owner.schema.fields}
    ids = [column for column in ("id", "id_left", "id_right") if column in table.columns]
    owners = [c for c in ("owner", "owner_left", "owner_right") if c in table.columns]
    for column in table.columns:
        cells = table[column]
        if column in ids:
            fine = cells.str.contains(PSEUDONYM)
        elif column in owners:
            fine = cells.is_in(projection.owners)
        elif column in known and cells.dtype == pl.String:
            edits = part.owner.schema.edits_of(known[column])
            fine = cells.is_in(Levels(edits).names)
        elif (column in _NUMBERS and cells.dtype == pl.Float64) or column == "cluster":
            continue
        else:
            raise _strange(f"the column {column[:100]!r} of {name} is not one of ours")
        if not fine.fill_null(value=column in known).all():
            raise _strange(f"a cell of {name} in {column} is not as we write it")
    _check_own(part, projection, name, table)


def _check_own(part: Part, projection: Projection, name: str, table: pl.DataFrame) -> None:
    own, sent = part.owner.name, set(part.owner.pseudonyms)
    if name == "clusters":
        ours = table.filter(pl.col("owner") == own)["id"]
    elif "owner_left" in table.columns:
        left = table.filter(pl.col("owner_left") == own)["id_left"]
        ours = pl.concat([left, table.filter(pl.col("owner_right") == own)["id_right"]])
    else:
        ours = table["id_left" if own == projection.owners[0] else "id_right"]
    unknown = len(set(ours) - sent)
    if unknown:
        raise Mismatch(
            f"{unknown:,} records in {name} are not in {part.owner.records.name}",
            hint="use the data file as it was when the bundle was made",
        )


def _strange(why: str) -> InvalidFile:
    return InvalidFile(
        f"{_WHAT} are not as a gramlink writes them: {why}",
        hint="use the same gramlink at all parties; what was fetched was not kept",
    )


def _path(part: Part, output: Path | None, name: str) -> Path:
    if output is None:
        return part.folder / f"{name}.csv"
    return output.with_name(f"{output.stem}-possible.csv") if name == "possible" else output
