"""The lines of a ledger.

    {"gramlink": "ledger", "version": 1, "dataset": "hospital", "allowance": "1", ...}
    {"entry": 1, "kind": "charge", "epsilon": "1/10", ..., "after": "..."}
    {"entry": 2, "kind": "release", "of": 1, "digest": "...", ..., "after": "..."}
    {"entry": 3, "kind": "allow", "allowance": "2", ..., "after": "..."}
    {"entry": 4, "kind": "exposure", "unit": "age1...", ..., "after": "..."}
    {"entry": 5, "kind": "limit", "exposures": 20, ..., "after": "..."}
    {"entry": 6, "kind": "torn", "epsilon": "1/10", "of": "...", "after": "..."}

Each line has the SHA-256 of the line before it, so none can be changed or left out but the last
ones. A last line that was cut short counts; anything else that cannot be read is damage.
"""

import json
import re
import secrets
from typing import Any

from gramlink.errors import GramlinkError, InvalidFile, InvalidLedger, InvalidParameter
from gramlink.io.files import KIND, from_json, moment, texts_in
from gramlink.privacy.entries import State, applied, digest_of, not_below_0
from gramlink.privacy.exposure import whole
from gramlink.privacy.tears import loss

_EMPTIED = (
    "it may have been emptied, so restore the latest copy; if it never paid for anything, delete "
    "it and make a new one with `gramlink ledger new`"
)
_DAMAGE = (ValueError, KeyError, TypeError, RecursionError, GramlinkError)


def header(state: State) -> bytes:
    """The first line of a new ledger."""
    return _json(
        {
            KIND: "ledger",
            "version": 1,
            "dataset": state.dataset,
            "allowance": str(state.allowance),
            "exposures": state.most_exposures,
            "nonce": secrets.token_hex(16),
        }
    )


def entry_line(state: State, kind: str, content: dict[str, Any]) -> bytes:
    """The line that records something next.

    What it is about comes first, where a tear spares it. The salt keeps the hash of a charge, which
    is published, from telling what the charge was.
    """
    told = {"entry": state.entries + 1, "kind": kind} | content
    if kind != "torn":  # which is the same whenever it is worked out
        told["time"] = moment()
    if kind == "charge":
        told["salt"] = secrets.token_hex(16)
    return _json(told | {"after": state.head})


def _json(content: dict[str, Any]) -> bytes:
    text = json.dumps(content, ensure_ascii=False, default=str)
    return text.encode("utf-8", "backslashreplace")  # half a surrogate pair as JSON escapes it


def parsed(data: bytes, name: str) -> tuple[State, bytes]:
    """The state that the lines of a ledger add up to, and what to write before the next line.

    A line that lacks only its newline counts, because an editor may have removed the newline of a
    real charge. So does a line that was cut short, as far as it can be read.
    """
    state, torn, ended = read(data, name)
    if torn is None:
        return state, b"" if ended else b"\n"
    lost = None if ended or b"\n" in torn else loss(torn)
    if lost is None:
        raise InvalidLedger(
            f"the last line of {name} was cut short, and what it recorded cannot be read",
            hint="restore the latest copy; if there is none, `gramlink ledger repair` records what "
            "it may have cost",
        )
    line = torn_line(state, torn, lost)
    try:
        return applied(state, line, name, torn), b"\n" + line + b"\n"
    except _DAMAGE as error:
        raise _damaged(name, data.count(b"\n") + 1, error) from error


def torn_line(state: State, torn: bytes, lost: dict[str, Any]) -> bytes:
    """The line that records what a torn one counts as."""
    return entry_line(state, "torn", lost | {"of": digest_of(torn)})


def read(data: bytes, name: str) -> tuple[State, bytes | None, bool]:
    """The state of the whole lines, what follows them, and whether all ends in a newline."""
    *lines, tail = data.split(b"\n")
    ended = not tail
    if tail:
        lines.append(tail)
    if not lines:
        raise InvalidLedger(f"{name} is empty", hint=_EMPTIED)
    state = _opened(lines[0], name)
    unread: list[bytes] = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            if _is_json(line):
                state, unread = applied(state, line, name, _joined(unread)), []
            else:
                unread.append(line)
        except _DAMAGE as error:
            raise _damaged(name, number - len(unread), error) from error
    return state, _joined(unread), ended


def _joined(unread: list[bytes]) -> bytes | None:
    return b"\n".join(unread) if unread else None


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _opened(line: bytes, name: str) -> State:
    start = f'{{"{KIND}": "ledger"'.encode()
    if not _is_json(line) and start[: len(line)] == line[: len(start)]:
        raise InvalidLedger(f"{name} is cut short in its first line", hint=_EMPTIED)
    try:
        content = from_json("ledger", line, name)
        dataset, nonce = texts_in(content, "dataset", "nonce")
        if not re.fullmatch("[0-9a-f]{32}", nonce):
            raise InvalidParameter("its nonce is not 32 hexadecimal digits")
        return State(
            dataset,
            not_below_0(content["allowance"]),
            most_exposures=whole(content["exposures"]),
            nonce=nonce,
            head=digest_of(line),
        )
    except InvalidFile as error:
        raise InvalidLedger(str(error), hint="name the ledger of the data") from error
    except (KeyError, TypeError, InvalidParameter) as error:
        raise _damaged(name, 1, error) from error


def _damaged(name: str, line: int, error: Exception) -> InvalidLedger:
    why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
    return InvalidLedger(
        f"{name} is damaged at line {line}: {why}",
        hint="nothing can be spent until the ledger is restored to what it was",
    )
