"""Uploads: bundles that arrive in pieces, over as many connections as it takes.

What has arrived of a bundle is in a part file, whose size is the offset to resume from. Once all
of it is there, the part is checked and renamed, and only then do the tables say so. A server
killed at any point finds the part, or the renamed file, and resumes from it.
"""

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from starlette.requests import Request

from gramlink.io.files import sync_folder
from gramlink.server import exchanges
from gramlink.server.auth import Party
from gramlink.server.bodies import PIECE, ClientDisconnect, in_thread, pieces
from gramlink.server.errors import Refusal, no_room, storing, unknown
from gramlink.server.folder import SPARE
from gramlink.server.store import Tables
from gramlink.server.unit import Unit


@dataclass(frozen=True, slots=True)
class Upload:
    """A party's upload: what it announced, and how much has arrived."""

    size: int
    sha256: str
    offset: int
    whole: bool = False  # whether all of it has been checked and renamed

    def is_of(self, size: int, sha256: str) -> bool:
        """Whether it is an upload of this file."""
        return (self.size, self.sha256) == (size, sha256)


def begin(unit: Unit, who: Party, size: int, sha256: str) -> int:
    """Announce an upload, or ask where to resume it."""
    if size > unit.settings.largest_bundle:
        raise Refusal(
            f"a bundle of {size:,} bytes is larger than the {unit.settings.largest_bundle:,} "
            "that this linkage unit accepts",
            hint="ask its operator about --largest-bundle",
            status=413,
        )
    found = _found(unit, who)
    if found and found.is_of(size, sha256) and (found.whole or found.offset < size):
        return found.offset
    with unit.only_one("upload", who.number):
        found = _found(unit, who)  # again, as from here on nothing can end it
        if found and found.is_of(size, sha256):
            # all has arrived but was not checked, if the server was killed before it could
            return found.offset if found.whole else _taken_in(unit, who, found)
        if found and found.whole:
            raise Refusal(
                "this party has already uploaded another bundle",
                hint="only a refused bundle can be replaced",
            )
        if unit.folder.free() < size + SPARE:
            raise no_room()
        _remove(unit, who)
        with storing(), unit.store.change() as db:
            db.parties.begin_upload(who.number, size, sha256)
    return 0


async def take(unit: Unit, who: Party, offset: int, request: Request) -> int:
    """Add a body to a party's upload, and return how much has arrived.

    What arrived before a connection broke or a client went silent is kept.
    """
    with unit.only_one("upload", who.number):
        upload = await in_thread(_expected, unit, who, offset)
        if upload.whole:
            return upload.offset
        file = await in_thread(_open, unit, who)
        trouble: Exception | None = None
        try:
            buffer = bytearray()
            limit, patience = upload.size - offset, unit.settings.patience
            try:
                async for piece in pieces(request, limit, patience):
                    buffer += piece
                    if len(buffer) >= PIECE:
                        await in_thread(_add, unit, who, file, bytes(buffer))
                        buffer.clear()
            except (ClientDisconnect, Refusal) as error:
                trouble = error
            offset = await in_thread(_add, unit, who, file, bytes(buffer), True)
        finally:
            file.close()
        if trouble:
            raise trouble
        if offset < upload.size:
            return offset
        return await in_thread(_taken_in, unit, who, upload)


def withdraw(unit: Unit, who: Party) -> None:
    """Take a party's bundle back, and erase it; possible until it is being linked."""
    with unit.only_one("upload", who.number):
        with storing(), unit.store.change() as db:
            exchanges.withdraw(db, who)
        _remove(unit, who)  # if the server is killed before that, the next one removes them
    unit.told()


def _found(unit: Unit, who: Party) -> Upload | None:
    """The present upload, or None if there is none or it was refused."""
    with unit.store.read() as db:
        _check_stage(db, who)
        row = exchanges.party(db, who)
        if row.state in ("none", "refused") or row.size is None or row.sha256 is None:
            return None
        if row.state in ("checking", "accepted"):
            return Upload(row.size, row.sha256, row.size, whole=True)
        return Upload(row.size, row.sha256, unit.folder.arrived(row))


def _check_stage(db: Tables, who: Party) -> None:
    stage = exchanges.stage(db, exchanges.find(db, who.exchange_name))
    if stage in ("joining", "mined"):
        raise Refusal(
            "it is too early to send a bundle",
            hint="wait for the stage bundles, when each party has sent what it mined to all others",
        )
    if stage == "failed":
        raise Refusal("this exchange has failed", hint="ask its operator for a new one")


def _expected(unit: Unit, who: Party, offset: int) -> Upload:
    """The upload, if it continues at exactly this offset."""
    found = _found(unit, who)
    if found is None:
        raise Refusal("no upload was announced", hint="first announce its size and sha256 by POST")
    if found.offset != offset:
        raise Refusal(
            f"the upload continues at {found.offset}, not at {offset}",
            hint="resume from the offset given",
            offset=found.offset,
        )
    return found


def _open(unit: Unit, who: Party) -> IO[bytes]:
    if unit.folder.bundle(who.exchange, who.number).exists():
        return unit.folder.bundle(who.exchange, who.number).open("ab")  # it was renamed already
    try:
        with storing():
            return unit.folder.part(who.exchange, who.number).open("ab", buffering=0)
    except FileNotFoundError:
        raise unknown("there is no such exchange") from None  # it was deleted just now


def _add(unit: Unit, who: Party, file: IO[bytes], data: bytes, last: bool = False) -> int:
    """Write, and with the last piece flush to disk; if there is no room, drop the part."""
    try:
        with storing():
            view = memoryview(data)
            while view:
                view = view[file.write(view) :]
            if last:
                os.fsync(file.fileno())
            return file.tell()
    except Refusal:
        _remove(unit, who)
        raise


def _taken_in(unit: Unit, who: Party, upload: Upload) -> int:
    """Check the digest of a whole upload, and queue the check of the bundle."""
    part = unit.folder.part(who.exchange, who.number)
    bundle = unit.folder.bundle(who.exchange, who.number)
    try:
        with (part if part.exists() else bundle).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != upload.sha256:
            _remove(unit, who)
            raise Refusal(
                "the upload does not have the sha256 that was announced",
                hint="send the file again from the start",
                status=422,
                offset=0,
            )
        with storing():
            if part.exists():
                part.replace(bundle)
                sync_folder(bundle.parent)
            with unit.store.change() as db:
                exchanges.uploaded(db, who)
    except FileNotFoundError:
        raise unknown("there is no such exchange") from None  # it was deleted just now
    unit.told()
    return upload.size


def _remove(unit: Unit, who: Party) -> None:
    for path in (unit.folder.part, unit.folder.bundle):
        with suppress(FileNotFoundError):
            path(who.exchange, who.number).unlink()
