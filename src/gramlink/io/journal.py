"""Journals: files that only grow, by one process at a time, and durably."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gramlink.io.locks import lock


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """A handle on a journal, locked against other processes until it is closed."""
    handle = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        lock(handle)
        if not os.path.samestat(os.fstat(handle), path.stat()):
            raise OSError(errno.EBUSY, "another file took its place meanwhile")
        yield handle
    finally:
        os.close(handle)


def content(handle: int) -> bytes:
    """All that a journal says."""
    os.lseek(handle, 0, os.SEEK_SET)
    with os.fdopen(handle, "rb", closefd=False) as file:
        return file.read()


def append(handle: int, kept: int, text: bytes) -> None:
    """Write once, after the bytes that are there; if that fails, leave only those."""
    try:
        os.lseek(handle, kept, os.SEEK_SET)
        if os.write(handle, text) < len(text):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(handle)
    except OSError:
        with suppress(OSError):
            os.ftruncate(handle, kept)
            os.fsync(handle)
        raise
