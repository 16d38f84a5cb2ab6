"""Unit: a data folder ready for work, for the server and the operator's commands."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gramlink.bundles.sealing import (
    Recipient,
    new_identity,
    read_identity,
    write_identity,
    write_recipient,
)
from gramlink.errors import InvalidFile
from gramlink.io.files import read_bytes, written_whole
from gramlink.server import auth
from gramlink.server.errors import Refusal
from gramlink.server.folder import Folder
from gramlink.server.settings import Settings
from gramlink.server.store import Store

OWNER = "the linkage unit"


@dataclass(frozen=True, slots=True)
class Unit:
    """A linkage unit's folder, tables and key, and who hears of new jobs and deleted exchanges."""

    settings: Settings
    folder: Folder
    store: Store
    recipient: Recipient
    wake: list[Callable[[], None]] = field(default_factory=list)
    forget: list[Callable[[int], None]] = field(default_factory=list)
    _busy: set[Any] = field(default_factory=set)
    _turn: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def only_one(self, *what: Any) -> Iterator[None]:
        """Refuse others who would do the same at the same time."""
        with self._turn:
            if what in self._busy:
                raise Refusal(
                    "this is already being sent over another connection",
                    hint="wait for it to end, then try again",
                )
            self._busy.add(what)
        try:
            yield
        finally:
            with self._turn:
                self._busy.discard(what)

    def told(self) -> None:
        """There may be a new job."""
        for tell in self.wake:
            tell()

    def deleted(self, exchange: int) -> None:
        """An exchange was deleted: end its workers, and erase its files."""
        for tell in self.forget:
            tell(exchange)
        self.folder.erase(exchange)


@contextmanager
def opened(data: Path) -> Iterator[Unit]:
    """The unit in a folder that `prepared` made, for one of the operator's commands."""
    folder = Folder(data)
    if not folder.database.is_file():
        raise InvalidFile(
            f"there is no linkage unit in {data}",
            hint=f"`gramlink unit serve --data {data}` makes one",
        )
    store = Store(folder.database)
    try:
        yield Unit(Settings(data), folder, store, read_identity(folder.identity).recipient)
    except sqlite3.OperationalError as error:
        raise InvalidFile(
            f"{data} cannot be used: {error}",
            hint="it needs room, and you need to be allowed to write to it",
        ) from error
    finally:
        store.close()


def prepared(settings: Settings) -> Unit:
    """The unit in a folder, made if missing, for the one process that serves it.

    Removes whatever a killed server left half done.
    """
    folder = Folder(made_folder(settings.data))
    if not folder.identity.exists():
        if folder.database.exists():
            raise InvalidFile(
                f"{folder.identity} is missing, and bundles are sealed to it",
                hint="restore the data folder from its back-up",
            )
        write_identity(folder.identity, new_identity(), OWNER)
    recipient = read_identity(folder.identity).recipient
    write_recipient(folder.recipient, recipient, OWNER)
    unit = Unit(settings, folder, Store(folder.database, migrate=True), recipient)
    _give_operator_token(unit)
    with unit.store.change() as db:
        folder.tidy(db)
    return unit


def made_folder(path: Path) -> Path:
    """A folder for a unit; if it is new, only its owner can read it."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        Folder(path).exchanges.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise InvalidFile(
            f"{path} cannot be used: {error.strerror or error}",
            hint="use --data to name a folder that you can write to, or a new one",
        ) from error
    return path


def _give_operator_token(unit: Unit) -> None:
    """Write a new token for the operator, unless the one in the file is valid."""
    path = unit.folder.operator_token
    with unit.store.change() as db:
        if path.exists():
            try:
                auth.recognised(db, read_bytes(path).decode("ascii", "replace").strip())
            except Refusal:
                pass
            else:
                return
        write_secret(path, auth.give_to_operator(db).text)


def write_secret(path: Path, text: str) -> None:
    """Write a line that only its owner can read."""
    with written_whole(path, mode=0o600) as file:
        file.write(f"{text}\n".encode())
