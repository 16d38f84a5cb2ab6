"""Views: an exchange as the interface shows it to its operator, or to one of its parties."""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from gramlink.server import exchanges
from gramlink.server.auth import Party, Viewer
from gramlink.server.folder import Folder

View = dict[str, Any]


def of_viewer(viewer: Viewer) -> View:
    """What a token says of itself."""
    party = viewer.party
    return {
        "role": viewer.role,
        "exchange": party.exchange_name if party else None,
        "party": party.name if party else None,
        "expires": viewer.expires,
    }


def of_all(db: sqlite3.Connection, folder: Folder) -> list[View]:
    """All exchanges as the operator sees them, the latest first."""
    rows = db.execute("SELECT * FROM exchanges WHERE deleted IS NULL ORDER BY number DESC")
    return [_of(db, folder, row, None) for row in rows.fetchall()]


def of_exchange(db: sqlite3.Connection, folder: Folder, name: str, viewer: Viewer) -> View:
    """An exchange as the viewer may see it."""
    return _of(db, folder, exchanges.find(db, name), viewer.party)


def _of(db: sqlite3.Connection, folder: Folder, exchange: sqlite3.Row, me: Party | None) -> View:
    """An exchange for the operator, or for the party that is given."""
    rows = exchanges.parties(db, exchange["number"])
    summary = json.loads(exchange["summary"]) if exchange["summary"] else None
    return {
        "name": exchange["name"],
        "created": exchange["created"],
        "stage": exchanges.stage(db, exchange),
        "reason": exchange["failed"],
        "parties": [_party(db, folder, exchange, row, rows, me) for row in rows],
        "progress": _progress(db, exchange["number"]),
        "summary": of_party(summary, me.name) if summary and me else summary,
        "erase": exchange["erase"],
        "erased": exchange["erased"],
    }


def of_party(summary: Mapping[str, Any], party: str) -> View:
    """What a party may know of the outcome: the numbers of its own pairs, added up.

    Estimates are those of the links that they are of, so they are weighted by them.
    """
    pairs = [pair for pair in summary["pairs"] if party in (pair["left"], pair["right"])]
    links = sum(pair["links"] for pair in pairs)

    def overall(estimate: str) -> float | None:
        known = [(pair[estimate], pair["links"]) for pair in pairs]
        if len(known) == 1:
            return None if known[0][0] is None else float(known[0][0])
        if not links or any(value is None for value, _ in known):
            return None
        return float(sum(value * count for value, count in known) / links)

    return {
        "links": links,
        "possible": sum(pair["possible"] for pair in pairs),
        "precision": overall("precision"),
        "recall": overall("recall"),
    }


def _progress(db: sqlite3.Connection, exchange: int) -> View:
    row = db.execute(
        "SELECT * FROM jobs WHERE exchange = ? AND state = 'running'", (exchange,)
    ).fetchone()
    if row is None:
        return {"step": None, "done": 0, "total": 0}
    return {"step": row["step"], "done": row["done"], "total": row["total"]}


def _party(
    db: sqlite3.Connection,
    folder: Folder,
    exchange: sqlite3.Row,
    row: sqlite3.Row,
    rows: list[sqlite3.Row],
    me: Party | None,
) -> View:
    names = {one["number"]: one["name"] for one in rows}
    sent = [
        pair[1] for pair in exchanges.sealed(db, exchange["number"]) if pair[0] == row["number"]
    ]
    ready = row["results_sha256"] is not None and exchange["erased"] is None
    own = me is None or me.number == row["number"]
    view: View = {
        "name": row["name"],
        "returns": row["returns"],
        "recipient": row["recipient"],
        "bases": [names[receiver] for receiver in sent],
        "bundle": _bundle(row, offset(folder, row)) if own else _bundle_of_another(row),
        "results": {
            "ready": ready,
            "bytes": row["results_bytes"] if ready and own else None,
            "sha256": row["results_sha256"] if ready and own else None,
            "fetched": row["fetched"] if own else None,
        },
    }
    if me is None:
        view["token"] = _token(db, row["number"])
    return view


def _bundle(row: sqlite3.Row, offset: int) -> View:
    facts = exchanges.facts_of(row)
    whole = row["state"] in ("checking", "accepted", "refused")
    return {
        "state": row["state"],
        "reason": row["reason"],
        "rows": facts.get("rows"),
        "epsilon": facts.get("epsilon"),
        "created": facts.get("created"),
        "bytes": row["size"] if whole else None,
        "sha256": row["sha256"],
        "offset": row["size"] if whole else offset,
        "size": row["size"],
    }


def _bundle_of_another(row: sqlite3.Row) -> View:
    hidden = ("reason", "rows", "epsilon", "created", "bytes", "sha256", "offset", "size")
    return {"state": row["state"], **dict.fromkeys(hidden)}


def offset(folder: Folder, row: sqlite3.Row) -> int:
    """How much of a party's upload is there: the part, or all of it if it was renamed already."""
    part = folder.part(row["exchange"], row["number"])
    bundle = folder.bundle(row["exchange"], row["number"])
    try:
        return part.stat().st_size
    except FileNotFoundError:
        pass
    try:
        size = bundle.stat().st_size
    except FileNotFoundError:
        return 0
    return size if size == row["size"] else 0


def _token(db: sqlite3.Connection, party: int) -> View | None:
    row = db.execute(
        "SELECT * FROM tokens WHERE party = ? ORDER BY revoked IS NOT NULL, revoked DESC LIMIT 1",
        (party,),
    ).fetchone()
    return row and {"expires": row["expires"], "revoked": row["revoked"]}
