"""Relay: passes what parties mined to each other, and results to their party."""

import os
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from gramlink.io.files import sync_folder
from gramlink.server import auth, exchanges
from gramlink.server.auth import Party
from gramlink.server.bodies import in_thread, sealed_to_file
from gramlink.server.errors import Refusal, storing, unknown
from gramlink.server.folder import temporary
from gramlink.server.store import Tables
from gramlink.server.unit import Unit

PIECE = 2**16


async def take(unit: Unit, who: Party, to: str, request: Request) -> None:
    """Keep what a party mined, sealed to another party, until that party fetches it."""
    receiver = await in_thread(_receiver, unit, who, to)
    path = unit.folder.mined(who.exchange, who.number, receiver.number)
    with unit.only_one("mined", who.number, receiver.number):
        beside = temporary(path)
        try:
            sha256 = await sealed_to_file(request, beside, unit.settings.largest_mined)
            await in_thread(_keep, unit, who, receiver, beside, sha256)
        finally:
            beside.unlink(missing_ok=True)


def _receiver(unit: Unit, who: Party, to: str) -> Party:
    """Another party of the exchange that can be sent something."""
    with unit.store.read() as db:
        receiver = auth.find_party(db, who.exchange_name, to)
        if receiver.number == who.number:
            raise Refusal("a party cannot send to itself", hint="name another party", status=422)
        exchanges.require_joined(db, receiver)
    return receiver


def _keep(unit: Unit, who: Party, receiver: Party, file: Path, sha256: str) -> None:
    """Put a file in its place; sending the same one again changes nothing."""
    path = unit.folder.mined(who.exchange, who.number, receiver.number)
    with unit.store.read() as db:
        if exchanges.has_mined(db, who, receiver, sha256):
            return
    with storing():
        try:
            file.replace(path)
            sync_folder(path.parent)
        except FileNotFoundError:
            raise unknown("there is no such exchange") from None  # it was deleted just now
        with unit.store.change() as db:
            exchanges.relay(db, who, receiver, sha256)


def mined(unit: Unit, who: Party, sender: str) -> Response:
    """What another party mined, sealed to this one."""
    with unit.store.read() as db:
        other = auth.find_party(db, who.exchange_name, sender)
        sha256 = db.mined.of(who.exchange).get((other.number, who.number))
        _require_kept(db, who)
    if sha256 is None:
        raise unknown(
            f"{sender} has not yet sent what it mined to this party", hint="try again later"
        )
    return _streamed(unit.folder.mined(who.exchange, other.number, who.number), sha256)


def results(unit: Unit, who: Party) -> Response:
    """The party's results; they are noted as fetched once all of them are sent."""
    with unit.store.read() as db:
        sha256 = exchanges.party(db, who).results_sha256
        _require_kept(db, who)
    if sha256 is None:
        raise unknown(
            "the results are not ready yet", hint="wait for the stage done, and try again"
        )

    def note() -> None:
        with suppress(Refusal, sqlite3.Error), unit.store.change() as db:
            exchanges.fetched(db, who)

    return _streamed(unit.folder.results(who.exchange, who.number), sha256, note)


def _require_kept(db: Tables, who: Party) -> None:
    erased = exchanges.find(db, who.exchange_name).erased
    if erased:
        raise Refusal(
            f"the files of this exchange were erased at {erased}",
            hint="ask the operator for a new exchange",
            status=410,
        )


def _streamed(path: Path, sha256: str, note: Callable[[], None] | None = None) -> Response:
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise unknown("there is no such file") from None  # it was deleted just now
    size, sent = os.fstat(file.fileno()).st_size, [0]

    def noted() -> None:
        if note and sent[0] == size:
            note()

    return StreamingResponse(
        _pieces(file, sent),
        headers={"Content-Length": str(size), "ETag": f'"{sha256}"'},
        media_type="application/octet-stream",
        # after the pieces, as a client that has them all may leave before it is noted
        background=BackgroundTask(noted),
    )


async def _pieces(file: IO[bytes], sent: list[int]) -> AsyncIterator[bytes]:
    """The content of a file, and how many bytes of it were sent."""
    with file:
        while piece := await in_thread(file.read, PIECE):
            sent[0] += len(piece)  # before sending: a client may leave once it has the last one
            yield piece
