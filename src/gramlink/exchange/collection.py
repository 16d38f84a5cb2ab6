"""What comes back: opened, checked, and written with our own ids."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from gramlink.bundles.results import Results
from gramlink.bundles.sealing import unseal_from
from gramlink.embedding.projection import Projection
from gramlink.exchange.folder import DONE, RESULTS
from gramlink.exchange.part import Part
from gramlink.io.files import written_whole
from gramlink.parties.receipt import receive

Tables = dict[str, pl.DataFrame]
_WHAT = "the results of the linkage unit"


def collect(
    part: Part, projection: Projection, returns: str, output: Path | None
) -> dict[str, Any]:
    """Fetch the results if they are not in the folder yet, and write the tables."""
    results, tables = _received(part, projection, returns)
    written = {}
    for name, frame in tables.items():
        path = _path(part, output, name)
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
    """What was found, with a line for each pair of owners."""
    for one in done["counts"]:
        line = f"{one['left']} and {one['right']}: {one['links']:,} links"
        line += f", {one['possible']:,} possible ones" if one["possible"] else ""
        if one["precision"] is not None and one["recall"] is not None:
            line += f"; estimated precision {one['precision']:.4f}, recall {one['recall']:.4f}"
        yield line


def _received(part: Part, projection: Projection, returns: str) -> tuple[Results, Tables]:
    """The results, and their tables with our own ids; results that are not ours are not kept."""

    def checked(sealed: bytes) -> tuple[Results, Tables]:
        content, sender = unseal_from(sealed, part.identity, _WHAT)
        results = Results.from_bytes(content, _WHAT, sender)
        tables = receive(
            part.owner,
            results,
            projection,
            part.place.exchange,
            unit=part.place.unit,
            returns=returns,
            hint="ask the operator of the linkage unit; what was fetched was not kept",
        )
        return results, tables

    if part.folder.has(RESULTS):
        return checked(part.folder.read(RESULTS))
    with part.folder.fetching(RESULTS) as file:
        part.client.results(part.place.exchange, file)
        file.seek(0)
        return checked(file.read())


def _path(part: Part, output: Path | None, name: str) -> Path:
    if output is None:
        return part.folder / f"{name}.csv"
    return output.with_name(f"{output.stem}-possible.csv") if name == "possible" else output
