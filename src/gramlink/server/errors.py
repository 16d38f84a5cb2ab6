"""What the server says when it refuses a request, and with which status."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from gramlink.errors import GramlinkError, InvalidFile

NO_ROOM = 75  # a worker's exit code for a full disk; sysexits.h has it for what will pass
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_ROOM_IN_TABLES = {
    "SQLITE_FULL",
    "SQLITE_IOERR_WRITE",  # SQLite's error when a limit on file sizes is reached
    "SQLITE_IOERR_SHMSIZE",
    "SQLITE_IOERR_TRUNCATE",
}
_PASSING = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN}
_LOCKED = {"SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_CANTOPEN"}


class Refusal(GramlinkError):
    """A refused request: its status and, for an upload, where to resume."""

    def __init__(
        self, message: str, *, hint: str = "", status: int = 409, offset: int | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.status, self.offset = status, offset


def unknown(what: str, hint: str = "") -> Refusal:
    """For something that does not exist, or is not for this token."""
    return Refusal(what, hint=hint or "check the name and the token", status=404)


def no_room() -> Refusal:
    """For a full disk."""
    return Refusal(
        "the linkage unit has no room for this",
        hint="ask its operator to make room, then send it again",
        status=413,
    )


def busy(error: BaseException) -> Refusal | None:
    """The refusal for a passing error: too few files or too little memory, or locked tables."""
    wanting = isinstance(error, OSError) and error.errno in _PASSING
    locked = isinstance(error, sqlite3.OperationalError) and error.sqlite_errorname in _LOCKED
    if not wanting and not locked:
        return None
    return Refusal("the linkage unit is busy", hint="try again later", status=503)


def lacks_room(error: BaseException) -> bool:
    """Whether the disk is full, as an error or as the cause of one of ours."""
    if isinstance(error, InvalidFile) and error.__cause__:
        error = error.__cause__
    if isinstance(error, sqlite3.OperationalError):
        return error.sqlite_errorname in _NO_ROOM_IN_TABLES
    return isinstance(error, OSError) and error.errno in _NO_ROOM


@contextmanager
def storing() -> Iterator[None]:
    """Turn a full disk into a refusal; other disk errors are not the client's fault."""
    try:
        yield
    except (InvalidFile, OSError, sqlite3.OperationalError) as error:
        if lacks_room(error):
            raise no_room() from error
        if isinstance(error, InvalidFile) and isinstance(error.__cause__, OSError):
            raise error.__cause__ from error
        raise
