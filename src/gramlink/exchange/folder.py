"""The folder of an owner's part in one exchange: all that a stopped command needs to resume.

Every file appears whole or not at all, under a name that we choose: no name that another party
chose is used for a file. The other owners are numbered in the order of their names.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from gramlink.errors import InvalidFile, InvalidParameter
from gramlink.io.files import from_json, read_bytes, sync_folder, to_json, written_whole
from gramlink.io.locks import alone

EXCHANGE, CONSENT, MINING, DONE = "exchange.json", "consent.json", "mining.json", "done.json"
SCHEMA, IDENTITY, RECIPIENT, KEY = "linkage.toml", "identity", "recipient", "pseudonyms.key"
MINED, PROJECTION, BUNDLE, RESULTS = "mined.json", "projection.json", "bundle.age", "results.age"
CONTRIBUTION, TERMS = "contribution.json", "terms.txt"
_OURS = (EXCHANGE, CONSENT, MINING, DONE, SCHEMA, IDENTITY, RECIPIENT, KEY, MINED, PROJECTION,
         CONTRIBUTION, TERMS, BUNDLE, RESULTS)  # fmt: skip
_BINARY = getattr(os, "O_BINARY", 0)  # Windows would translate line ends


@dataclass(frozen=True, slots=True)
class Folder:
    """The files of one owner's part."""

    path: Path

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def has(self, name: str) -> bool:
        """Whether a file exists."""
        return (self / name).is_file()

    def read(self, name: str) -> bytes:
        """The bytes of a file."""
        return read_bytes(self / name)

    def write(self, name: str, data: bytes) -> None:
        """Write a file that only its owner can read, whole or not at all."""
        with written_whole(self / name, mode=0o600) as file:
            file.write(data)

    def note(self, name: str, content: dict[str, Any]) -> None:
        """Write down what the next run needs to know."""
        self.write(name, to_json(name.removesuffix(".json"), content))

    def noted(self, name: str) -> dict[str, Any] | None:
        """What was written down, or None."""
        if not self.has(name):
            return None
        return from_json(name.removesuffix(".json"), self.read(name), str(self / name))

    @contextmanager
    def fetching(self, name: str) -> Iterator[IO[bytes]]:
        """A file to write and then read back, which is kept if nothing is wrong with it."""
        part = self / f".{name}.fetched.part"
        handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC | _BINARY, 0o600)
        try:
            with os.fdopen(handle, "w+b") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            part.replace(self / name)
            with suppress(OSError):  # the file is there, even if a power cut could still undo that
                sync_folder(self.path)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def taken(path: Path) -> Iterator[Folder]:
    """The folder, made if missing, and kept for this process alone."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise InvalidFile(
            f"cannot make {path}: {error.strerror or error}",
            hint="name another folder with --folder",
        ) from error
    with alone(path / "lock", "taking part"):
        folder = Folder(path)
        _check(folder)
        for name in {*_OURS, "mined-*"} - {MINED}:  # which may have been paid for
            for stale in path.glob(f".{name}.*part"):  # left by a process that was killed
                stale.unlink(missing_ok=True)
        yield folder


def _check(folder: Folder) -> None:
    """Refuse a folder used for something else, whose files would be replaced."""
    if folder.has(EXCHANGE):
        return
    for name in _OURS:
        if (folder / name).exists():
            raise InvalidParameter(
                f"{folder / name} exists already, and does not belong to an exchange",
                hint="use --folder to name a new folder",
            )
