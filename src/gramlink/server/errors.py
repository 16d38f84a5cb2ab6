"""What the server says when it does not do what it was asked, and with which status."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from gramlink.errors import GramlinkError, InvalidFile

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_ROOM_IN_TABLES = {
    "SQLITE_FULL",
    "SQLITE_IOERR_WRITE",  # what SQLite says when a limit on the size of files is reached
    "SQLITE_IOERR_SHMSIZE",
    "SQLITE_IOERR_TRUNCATE",
}
_PASSING = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN}
_LOCKED = {"SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_CANTOPEN"}


class Refusal(GramlinkError):
    """A request that is not granted: its status and, of an upload, where to go on."""

    def __init__(
        self, message: str, *, hint: str = "", status: int = 409, offset: int | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.status, self.offset = status, offset


def unknown(what: str, hint: str = "") -> Refusal:
    """Said of what is not there, or is not for this token."""
    return Refusal(what, hint=hint or "check the name and the token", status=404)


def no_room() -> Refusal:
    """Said when the disk is full."""
    return Refusal(
        "the linkage unit has no room for this",
        hint="ask its operator to make room, then send it again",
        status=413,
    )


def busy(error: BaseException) -> Refusal | None:
    """What to say of an error that passes by itself: want of files or memory, or locked tables."""
    wanting = isinstance(error, OSError) and error.errno in _PASSING
    locked = isinstance(error, sqlite3.OperationalError) and error.sqlite_errorname in _LOCKED
    if not wanting and not locked:
        return None
    return Refusal("the linkage unit is busy", hint="ask again in a while", status=503)


@contextmanager
def storing() -> Iterator[None]:
    """Turn a full disk into a refusal; any other trouble with the disk is nobody's request."""
    try:
        yield
    except InvalidFile as error:
        if isinstance(error.__cause__, OSError):
            raise _of_the_disk(error.__cause__) from error
        raise
    except OSError as error:
        raise _of_the_disk(error) from error
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname in _NO_ROOM_IN_TABLES:
            raise no_room() from error
        raise


def _of_the_disk(error: OSError) -> Exception:
    return no_room() if error.errno in _NO_ROOM else error
