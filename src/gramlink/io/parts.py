"""Parts: files that are being written, hidden beside the place they are for.

A part is locked for as long as its writer lives, so that a later writer can tell what a killed
one left behind from what another process is still writing.
"""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gramlink.io.locks import lock

_BINARY = getattr(os, "O_BINARY", 0)  # Windows would translate line ends
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def new_part(target: Path, mode: int) -> tuple[Path, int]:
    """A new part of a file, locked, and the handle to write it with."""
    while True:
        path = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode)
        with suppress(OSError):  # where nothing can be locked, nothing is found left behind either
            lock(handle)
        os.lseek(handle, 0, os.SEEK_SET)
        if path.exists():  # or another process took it for left behind before it was locked
            return path, handle
        os.close(handle)


def left_behind(target: Path) -> tuple[Path, ...]:
    """The parts of a file whose writers were killed."""
    found = []
    for path in _parts(target):
        with _unused(path) as unused:
            if unused:
                found.append(path)
    return tuple(found)


def is_being_written(target: Path) -> bool:
    """Whether a living process is writing a part of the file."""
    return any(path.exists() for path in {*_parts(target)} - {*left_behind(target)})


def remove_left_behind(target: Path) -> None:
    """Delete the parts of a file whose writers were killed."""
    for path in _parts(target):
        with _unused(path) as unused, suppress(OSError):  # it can wait for the next writer
            if unused and os.name != "nt":
                path.unlink()
        if unused and os.name == "nt":  # Windows deletes no file that is open
            with suppress(OSError):
                path.unlink()


def _parts(target: Path) -> Iterator[Path]:
    name = re.compile(re.escape(f".{target.name}.") + r"[0-9a-f]{8}\.part")
    with suppress(OSError), os.scandir(target.parent) as files:
        for file in files:
            if name.fullmatch(file.name) and file.is_file(follow_symlinks=False):
                yield Path(file.path)


@contextmanager
def _unused(path: Path) -> Iterator[bool]:
    """Whether no process is writing a part; if so, none does while this lasts."""
    try:
        handle = os.open(path, os.O_RDWR | _BINARY | _NO_LINK)
    except OSError:  # gone already, or not ours
        yield False
        return
    try:
        try:
            lock(handle, wait=False)
            unused = True
        except OSError:
            unused = False
        yield unused
    finally:
        os.close(handle)
