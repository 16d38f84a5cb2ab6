"""Files written whole or not at all, and JSON files that say what they are."""

import errno
import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from gramlink.errors import GramlinkError, InvalidFile
from gramlink.io.parts import new_part, remove_left_behind
from gramlink.io.steps import note

KIND = "gramlink"  # every JSON file of ours opens with {"gramlink": "<kind>", "version": 1, ...

# what reading the content of a damaged file raises
DAMAGE = (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, GramlinkError)

CODE = 40  # hex digits: of 20, somebody could make two equal by trying


@contextmanager
def written_whole(
    path: Path,
    *,
    room: int = 0,
    mode: int = 0o666,
    new: bool = False,
    before: Callable[[], None] | None = None,
) -> Iterator[IO[bytes]]:
    """A file to write to, which appears at `path` only when all of it is on disk.

    Opening it proves that the folder can be written to and has room for `room` bytes, so
    callers open it before they spend any budget. It also deletes what killed writers of the same
    file left behind. A `new` file replaces none. `before` is called when all is on disk, before
    the file appears; from then on a failure leaves the part, for `left_behind` to find.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    try:
        if target.exists() and not target.is_file():
            raise InvalidFile(
                f"{path} cannot be written: it is not a file", hint="name a file to write to"
            )
        if new and target.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        remove_left_behind(target)
        part, handle = new_part(target, mode)
    except OSError as error:
        raise _unwritable(path, error) from error
    keep = False
    try:
        with os.fdopen(handle, "wb") as file:
            if room:
                file.write(bytes(room))
                file.flush()
                os.fsync(file.fileno())
                file.seek(0)
            yield file
            file.truncate()
            note("write", bytes=file.tell())
            file.flush()
            os.fsync(file.fileno())
            if before:
                keep = True
                try:
                    before()
                except GramlinkError:
                    keep = False
                    raise
            if os.name != "nt":  # while the part is locked, which on Windows cannot be renamed
                _appear(part, target, new=new)
        if os.name == "nt":
            _appear(part, target, new=new)
        with suppress(OSError):  # the file is there, even if a power cut could still undo that
            sync_folder(target.parent)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        if not keep or new:
            part.unlink(missing_ok=True)


def _appear(part: Path, target: Path, *, new: bool) -> None:
    """Give a part its name; a new file takes nobody's."""
    if not new:
        part.replace(target)
    elif os.name == "nt":
        part.rename(target)  # which replaces nothing there
    else:
        try:
            os.link(part, target)
        except FileExistsError:
            raise
        except OSError:  # a file system without links: the name is taken, and then the place
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            part.replace(target)


def sync_folder(folder: Path) -> None:
    """Make a new name in a folder survive a power cut, where the system can."""
    if os.name == "nt":
        return  # Windows has no handle on a folder; its renames are journalled
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _unwritable(path: Path, error: OSError) -> InvalidFile:
    return InvalidFile(
        f"{path} cannot be written: {error.strerror or error}",
        hint="name a folder that exists, has room and that you may write to",
    )


def to_json(kind: str, content: dict[str, Any]) -> bytes:
    """JSON that a person can read and that is the same for the same content."""
    document = {KIND: kind, "version": 1, **content}
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def plain_json(data: bytes | str) -> Any:
    """A JSON document without repeated names, or a `ValueError` or `RecursionError`.

    >>> plain_json('{"rows": 1, "rows": 2}')
    Traceback (most recent call last):
    ValueError: it says 'rows' twice
    """
    return json.loads(
        data, object_pairs_hook=_each_once, parse_constant=_no_number, parse_float=_finite
    )


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for name, value in pairs:
        if name in table:
            raise ValueError(f"it says {name[:100]!r} twice")
        table[name] = value
    return table


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):  # which could not be written as JSON again
        _no_number(text[:100])
    return number


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is not a number")


def from_json(kind: str, data: bytes, name: str) -> dict[str, Any]:
    """The content of a JSON file of ours, or an error that says what the file is instead."""
    try:
        document = plain_json(data)
    except (ValueError, RecursionError) as error:
        raise InvalidFile(
            f"{name} is damaged or not a {kind} file: {error}",
            hint="write it again, or ask its sender for it again",
        ) from error
    found = document.get(KIND) if isinstance(document, dict) else None
    if found != kind:
        raise InvalidFile(
            f"{name} is not a {kind} file" + (f" but a {found} file" if found else ""),
            hint="check the order of the files on the command line",
        )
    if not same_number(document.get("version"), 1):
        raise InvalidFile(
            f"{name} has format version {document.get('version')!r}, but this gramlink reads 1",
            hint="use the same version of gramlink at all parties",
        )
    return {key: value for key, value in document.items() if key not in (KIND, "version")}


def is_kind(kind: str, data: bytes) -> bool:
    """Whether a JSON file of ours says that it is of this kind."""
    try:
        document = plain_json(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get(KIND) == kind


def read_bytes(path: Path, hint: str = "") -> bytes:
    """The bytes of a file, or a one-line error."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidFile(f"{path} cannot be read: {error.strerror or error}", hint=hint) from error


def damaged(name: str, error: Exception, hint: str) -> InvalidFile:
    """What to raise when the content of a file of ours is not as we write it."""
    why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
    return InvalidFile(f"{name} is damaged: {why}", hint=hint)


def same_number(found: object, expected: int) -> bool:
    """Whether a JSON value is this whole number; to Python, `true` and 1.0 would equal 1.

    >>> same_number(1, 1), same_number(True, 1), same_number(1.0, 1)
    (True, False, False)
    """
    return type(found) is int and found == expected


def texts_in(content: Mapping[str, Any], *names: str) -> tuple[str, ...]:
    """The texts of these names in a file's content."""
    for name in names:
        if not isinstance(content[name], str):
            raise TypeError(f"its {name} is not text")
    return tuple(content[name] for name in names)


def list_in(content: Mapping[str, Any], name: str) -> list[Any]:
    """A list in a file's content; a text would be read as one of letters."""
    found = content[name]
    if not isinstance(found, list):
        raise TypeError(f"its {name} are not a list")
    return found


def table_in(content: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A table in a file's content."""
    found = content[name]
    if not isinstance(found, dict):
        raise TypeError(f"its {name} are not a table")
    return found


def moment() -> str:
    """Now, to the second, in universal time."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def fingerprint(digest: str) -> str:
    """The start of a digest, in groups of four, to compare by telephone.

    >>> fingerprint("0123456789abcdef" * 4)
    '0123 4567 89ab cdef 0123'
    """
    return " ".join(digest[i : i + 4] for i in range(0, 20, 4))


def code(digest: str) -> str:
    """More of a digest, in groups of four, where somebody else chose part of what it is of.

    >>> len(code("0123456789abcdef" * 4).split())
    10
    """
    return " ".join(digest[i : i + 4] for i in range(0, CODE, 4))


def same_code(typed: str, expected: str) -> bool:
    """Whether somebody typed a code, whatever the spaces and capitals.

    >>> same_code("59D225ec", "59d2 25ec")
    True
    """
    return "".join(typed.lower().split()) == expected.replace(" ", "")


def digest(content: Any) -> str:
    """The SHA-256 of a value's canonical JSON: equal for equal values on every machine.

    >>> digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1})
    True
    """
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
