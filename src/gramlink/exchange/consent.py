"""Consent: what an owner is shown before anything is spent or sent, and what it has agreed to.

The linkage unit hands out the owners' keys. A dishonest unit could replace an owner's key with
one of its own, and read grams that are not meant for it. So the owners compare a single code over
all keys by telephone, or name the keys they received from each other.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path

from gramlink.bundles.sealing import Recipient, read_recipient
from gramlink.encodings.encoding import encoding_of
from gramlink.errors import GramlinkError, InvalidParameter, Mismatch
from gramlink.exchange.folder import CONSENT
from gramlink.exchange.part import Part
from gramlink.exchange.wire import ExchangeInfo
from gramlink.io.files import digest
from gramlink.parties.contribution import needs_secret
from gramlink.parties.one_process import duplicates_warning
from gramlink.parties.owner import Owner
from gramlink.privacy.budget import shown
from gramlink.privacy.ledger import Ledger

CODE = 40  # hex digits: a unit can choose keys at will to make two codes of 20 digits equal
DATA = "data file"
_GOES_BACK = {
    "links": "links, without weights",
    "weights": "links, with weights and how near each field is (of clusters, the possible ones)",
    "counts": "counts only",
}


@dataclass(frozen=True, slots=True)
class Terms:
    """What an owner consents to."""

    keys: Mapping[str, Recipient]
    unit: Recipient
    cost: Fraction
    ledger: Ledger
    data: str  # digest of the data file
    audited: str  # what the owner's own audit says, in a line
    columns: Mapping[str, list[str]]  # what each field is read from
    returns: Mapping[str, str]  # what goes back to whom
    pinned: bool = False  # whether the other owners gave us their keys themselves

    @property
    def code(self) -> str:
        """The same for all owners if, and only if, they were given the same keys."""
        return keys_code(self.keys)

    def noted(self) -> dict[str, str]:
        """What must be the same when the command resumes."""
        return {
            "keys code": self.code,
            "unit's key": self.unit.key,
            "epsilon": str(self.cost),
            "ledger": str(self.ledger.path.absolute()),
            "columns": _listed(self.columns),
            "what goes back": _listed(self.returns),
            DATA: self.data,
        }


def _listed(table: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(table.items()))


def keys_code(keys: Mapping[str, Recipient]) -> str:
    """One code over all owners' keys, to compare by telephone.

    >>> from gramlink.bundles.sealing import new_identity
    >>> len(keys_code({"hospital": new_identity().recipient}))
    49
    """
    found = digest(sorted([name, recipient.key] for name, recipient in keys.items()))
    return " ".join(found[i : i + 4] for i in range(0, CODE, 4))


def served_keys(part: Part, status: ExchangeInfo, pinned: Sequence[Path]) -> dict[str, Recipient]:
    """The keys of all owners as the unit gave them, checked as far as possible."""
    keys = {party.name: party.recipient for party in status.parties if party.recipient}
    own = part.identity.recipient
    if keys[part.owner.name] != own:
        raise Mismatch(
            f"the linkage unit's key for {part.owner.name} is not the one in {part.folder.path}",
            hint="did you join from another folder, or does somebody else have your token?",
        )
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


def agree_to(part: Part, terms: Terms, status: ExchangeInfo) -> None:
    """Ask for consent, or check that nothing has changed since it was given."""
    now, before = terms.noted(), part.folder.noted(CONSENT)
    if before is None:
        with part.voice.bar("looking for duplicates"):
            schema = part.owner.schema
            warnings = (
                *encoding_of(schema.encoding).warnings(schema),
                *duplicates_warning(part.owner.records, schema),
            )
        for line in _shown(part, terms, status):
            part.voice.say(line)
        for warning in warnings:
            part.voice.warn(warning)
        if needs_secret(part.owner.schema) and not terms.pinned:
            _compare_codes(part, terms)
        if not part.voice.ask("Mine and send this?"):
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


def _compare_codes(part: Part, terms: Terms) -> None:
    """Ask for the keys code that another owner reads out: the owners' secret depends on it.

    A unit that replaced a key could learn what the owners contribute, and read their records.
    """
    typed = part.voice.read("The keys code, as another owner reads it to you")
    if not typed.strip():
        raise InvalidParameter(
            f"encoding = {part.owner.schema.encoding!r} needs the other owners' keys to be checked",
            hint="name the files of their keys with --peer, or type the keys code that one of them "
            "reads to you (--keys-code)",
        )
    if "".join(typed.lower().split()) != terms.code.replace(" ", ""):
        raise Mismatch(
            "the keys code that you typed is not ours; nothing was spent, and only your key sent",
            hint="if the other owner sees that code, the linkage unit gave you different keys",
        )


def _shown(part: Part, terms: Terms, status: ExchangeInfo) -> Iterator[str]:
    """What will be spent and sent, and what comes back."""
    schema, ledger = part.owner.schema, terms.ledger
    others = ", ".join(part.others(status))
    split = {name: cost for name, cost in schema.costs.items() if cost}
    yield f"exchange {part.place.exchange}, as {part.owner.name}, with {others}"
    yield "will be spent:"
    if terms.cost:
        left = shown(ledger.state.left)
        yield f"  epsilon {shown(terms.cost)} of the {left} left in {ledger.path}"
        yield "    for " + ", ".join(f"{name} {shown(cost)}" for name, cost in split.items())
    else:
        yield "  nothing: what was mined before is reused"
    yield f"will be sent to {others}, sealed to its reader's key:"
    yield f"  the frequent grams of {', '.join(split)}, with noisy counts"
    yield "will be sent to the linkage unit, sealed to its key:"
    count, most = len(part.owner.records), _most_bytes(part.owner)
    shown_as = encoding_of(schema.encoding).shown_as
    yield f"  {count:,} records as {shown_as} under pseudonyms, about {most:,} bytes at most"
    yield f"    {terms.audited}"
    for field in schema.fields:
        yield f"    column {field.source} as {field.name}, {field.kind}"
    yield "will come back from the linkage unit:"
    for party in status.parties:
        yield f"  to {party.name}: {_GOES_BACK[party.returns]}"
    yield f"the linkage unit's key: {terms.unit.fingerprint}"
    for name, key in sorted(terms.keys.items()):
        yield f"the key of {name}: {key.fingerprint}"
    yield f"keys code: {terms.code}"
    if terms.pinned:
        yield "  The other owners' keys are those of your --peer files."
    else:
        yield "  Call the other owners: if theirs differs, somebody could read what is not for it."


def _most_bytes(owner: Owner) -> int:
    """The size of the bundle's rows before packing."""
    return (32 + encoding_of(owner.schema.encoding).size(owner.schema)) * len(owner.records)
