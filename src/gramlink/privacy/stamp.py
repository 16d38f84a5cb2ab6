"""Stamp: what a release carries of the ledger that paid for it.

An older copy of a ledger that was put back would pay again for what is already out. What is out
tells: it names the charge that paid for it, in a way that only that ledger can read.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gramlink.errors import GramlinkError
from gramlink.io.files import from_json, read_bytes

MOST_BYTES = 2**24  # of a file that is looked at for a stamp
_START = re.compile(rb'\s*\{\s*"gramlink"\s*:\s*"mined"')


@dataclass(frozen=True, slots=True)
class Stamp:
    """The head of a ledger's chain after a charge, and a mark that only this ledger can check.

    Privacy: tells others nothing, as the head hashes a line with a salt, and the mark is keyed.
    """

    head: str
    mark: str

    def __post_init__(self) -> None:
        if not all(re.fullmatch("[0-9a-f]{64}", one) for one in (self.head, self.mark)):
            raise ValueError("a ledger's stamp is two digests")

    @classmethod
    def of(cls, head: str, nonce: str) -> "Stamp":
        """The stamp of the ledger with this nonce."""
        return cls(head, hmac.new(nonce.encode(), head.encode(), hashlib.sha256).hexdigest())

    @classmethod
    def read(cls, content: dict[str, Any]) -> "Stamp":
        """What `told` told."""
        return cls(str(content["head"]), str(content["mark"]))

    @property
    def told(self) -> dict[str, str]:
        """What a file says of it."""
        return {"head": self.head, "mark": self.mark}

    def is_of(self, nonce: str) -> bool:
        """Whether the ledger with this nonce made it."""
        return hmac.compare_digest(self.mark, Stamp.of(self.head, nonce).mark)


@dataclass(frozen=True, slots=True)
class Stamped:
    """A mined file that carries a stamp, and whose it is."""

    path: Path
    owner: str
    stamp: Stamp


def stamped(places: Iterable[Path]) -> Iterator[Stamped]:
    """The mined files with a stamp, at these places: files, and folders with such files.

    In a folder they may have any name that is not hidden. It may also have the folders of
    exchanges, each with its own.

    What cannot be read is passed over: it may be another party's, or no file of ours.
    """
    files = {path.absolute(): path for place in places for path in _files(place)}
    for _, path in sorted(files.items()):
        try:
            if not path.is_file() or path.stat().st_size > MOST_BYTES or not _is_mined(path):
                continue
            content = from_json("mined", read_bytes(path), path.name)
            yield Stamped(path, str(content["owner"]), Stamp.read(content["ledger"]))
        except (OSError, GramlinkError, KeyError, TypeError, ValueError):
            continue


def _files(place: Path) -> Iterable[Path]:
    if not place.is_dir():
        return [place]
    shown = (path for path in place.glob("*") if not path.name.startswith("."))
    return [*shown, *place.glob("*/mined.json")]


def _is_mined(path: Path) -> bool:
    with path.open("rb") as file:
        return _START.match(file.read(64)) is not None
