"""Consent: whether the keys are those of the other owners, and whether this owner agrees."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

from gramlink.bundles.sealing import Recipient, read_recipient
from gramlink.encodings.encoding import encoding_of
from gramlink.errors import GramlinkError, InvalidParameter, Mismatch
from gramlink.exchange.folder import CONSENT, RECIPIENT, TERMS
from gramlink.exchange.part import Part
from gramlink.exchange.terms import DATA, Terms
from gramlink.exchange.wire import ExchangeInfo
from gramlink.io.files import same_code
from gramlink.io.text import printable
from gramlink.parties.contribution import needs_secret
from gramlink.parties.one_process import duplicates_warning


def check_own_key(part: Part, status: ExchangeInfo) -> None:
    """Refuse to go on where the unit has another key for this owner than its folder."""
    served, own = status[part.owner.name].recipient, part.identity.recipient
    if served is not None and served != own:
        raise Mismatch(
            f"the linkage unit's key for {part.owner.name} is not the one in {part.folder.path}, "
            f"but {served.fingerprint}: another folder, or somebody else, uses your token",
            hint="resume in the folder with that key; if it is not yours, call the operator; if it "
            f"is lost, give the unit {part.folder / RECIPIENT} on its page instead",
        )


def served_keys(part: Part, status: ExchangeInfo, pinned: Sequence[Path]) -> dict[str, Recipient]:
    """The keys of all owners as the unit gave them, checked as far as possible."""
    keys = {party.name: party.recipient for party in status.parties if party.recipient}
    check_own_key(part, status)
    everybody = (*keys.values(), part.place.unit)
    if any(one.overlaps(other) for one, other in combinations(everybody, 2)):
        raise Mismatch(
            "two parties have the same key: the linkage unit or an owner is not who it says",
            hint="call the other owners; nothing was spent or sent",
        )
    if pinned:
        _check_pinned(keys, part.owner.name, {path: read_recipient(path) for path in pinned})
    return keys


def _check_pinned(
    keys: Mapping[str, Recipient], own: str, pinned: Mapping[Path, Recipient]
) -> None:
    others = {name: recipient for name, recipient in keys.items() if name != own}
    for path, recipient in pinned.items():
        if recipient not in others.values():
            raise Mismatch(
                f"the linkage unit has no other owner with the key in {path}",
                hint="call that owner: the unit may have replaced its key with another",
            )
    unknown = [name for name, recipient in others.items() if recipient not in pinned.values()]
    if unknown:
        raise Mismatch(
            f"no --peer file has the key of {', '.join(unknown)}",
            hint="name the files of all other owners, or name none and compare the keys code",
        )


def agree_to(part: Part, terms: Terms, *, beforehand: bool, typed: str) -> None:
    """Ask for consent unless it was given beforehand, or check that nothing has changed since.

    `typed` is the keys code that another owner read out, if it is known by now.
    """
    now, before = terms.noted(), part.folder.noted(CONSENT)
    if before is None:
        _show(part, terms)
    if not typed and before is None and needs_secret(terms.schema) and not terms.pinned:
        typed = _read_code(part, terms)
    if typed and not same_code(typed, terms.code):
        raise Mismatch(
            "the keys code that you typed is not ours; nothing was spent, and only your key sent"
            if before is None
            else "the keys code that you typed is not ours",
            hint="if the other owner sees that code, the linkage unit told you different things: "
            "other keys, settings, parties, or what goes back to whom",
        )
    if before is None:
        if not beforehand and not part.voice.ask("Mine and send this?"):
            raise GramlinkError("you did not agree; nothing was spent, and only your key was sent")
        part.folder.note(CONSENT, now)
        return
    changed = [
        f"the {name}" + ("" if name == DATA else f", from {before.get(name)} to {now[name]}")
        for name in now
        if before.get(name) != now[name]
    ]
    if changed:
        raise Mismatch(
            f"since you agreed, this has changed: {'; '.join(changed)}",
            hint=f"if you meant to change it, delete {part.folder / CONSENT} to be asked again",
        )


def _show(part: Part, terms: Terms) -> None:
    """Say what is to be agreed to, and leave it in the folder, whoever has seen it."""
    schema = terms.schema
    with part.voice.bar("looking for duplicates"):
        warnings = (
            *encoding_of(schema.encoding).warnings(schema),
            *duplicates_warning(part.owner.records, schema),
        )
    lines = list(terms.lines(part))
    for line in lines:
        part.voice.say(line)
    for warning in warnings:
        part.voice.warn(warning)
    kept = [*lines, *(f"warning: {warning}" for warning in warnings)]
    part.folder.write(TERMS, "".join(f"{printable(line)}\n" for line in kept).encode())


def _read_code(part: Part, terms: Terms) -> str:
    """The keys code that another owner reads out: the owners' secret depends on it.

    A unit that replaced a key could learn what the owners contribute, and read their records.
    """
    typed = part.voice.read("The keys code, as another owner reads it to you")
    if not typed.strip():
        raise InvalidParameter(
            f"encoding = {terms.schema.encoding!r} needs the other owners' keys to be checked",
            hint="name the files of their keys with --peer, or type the keys code that one of them "
            "reads to you (--keys-code)",
        )
    return typed
