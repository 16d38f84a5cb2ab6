"""File locks that end with the process that holds them, however it ends."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gramlink.errors import InvalidFile

if sys.platform == "win32":
    import msvcrt

    def lock(handle: int, *, wait: bool = True) -> None:
        """Keep others from locking the file; if it is locked, wait, or raise an `OSError`."""
        # Windows locks bytes, which others then cannot read, so lock one far off the end
        os.lseek(handle, 2**30, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def lock(handle: int, *, wait: bool = True) -> None:
        """Keep others from locking the file; if it is locked, wait, or raise an `OSError`."""
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


@contextmanager
def alone(path: Path, what: str) -> Iterator[None]:
    """Hold a lock file, or say at once that another process is at `what`."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise InvalidFile(f"{path} cannot be written: {error.strerror or error}") from error
    try:
        try:
            lock(handle, wait=False)
        except OSError as error:
            raise InvalidFile(
                f"another process is {what} in {path.parent}", hint="wait for it, or end it"
            ) from error
        yield
    finally:
        os.close(handle)
