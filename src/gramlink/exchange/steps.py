"""The steps of an owner's part. Each finds in the folder what it did before, and resumes."""

import hashlib
import secrets
from collections.abc import Mapping
from fractions import Fraction

from gramlink.bundles.sealing import Recipient, seal_from, unseal_from
from gramlink.embedding.projection import Projection, agree
from gramlink.encodings.secret import Secret
from gramlink.errors import Mismatch, Refused
from gramlink.exchange.consent import check_own_key
from gramlink.exchange.entry import check_ledger, purpose_of
from gramlink.exchange.folder import BUNDLE, CONTRIBUTION, MINED, MINING, PROJECTION, RECIPIENT
from gramlink.exchange.part import Part
from gramlink.exchange.wire import ExchangeInfo
from gramlink.io.files import moment
from gramlink.io.steps import logged
from gramlink.mining.mined import Mined
from gramlink.parties.agreement import check_sender
from gramlink.parties.contribution import (
    Contribution,
    needs_secret,
    own_contribution,
    secret_of,
)
from gramlink.parties.handover import Handover
from gramlink.privacy.budget import shown
from gramlink.privacy.ledger import Ledger


@logged("exchange, join")
def join(part: Part) -> ExchangeInfo:
    """Give our key, which the others seal to, and wait until all have given theirs."""
    own, status = part.identity.recipient, part.status()
    check_own_key(part, status)
    if status.erase and status.stage != "done":
        until = f"until {status.erase[:10]}"
        part.voice.say(f"the linkage unit keeps this exchange open {until}, and then erases it")
    if status[part.owner.name].recipient is None:
        part.client.put_recipient(part.place.exchange, own.key)
    part.voice.say(f"our key is {own.fingerprint}, in {part.folder / RECIPIENT}")

    def missing(status: ExchangeInfo) -> str:
        check_own_key(part, status)  # others may take days, and the token be used meanwhile
        absent = [party.name for party in status.parties if party.recipient is None]
        return _for("for {} to join", absent)

    return part.until(missing)


def is_paid_for(part: Part) -> bool:
    """Whether what was mined for another exchange is reused."""
    return "again" in (part.folder.noted(MINING) or {})


@logged("exchange, mine")
def mine(part: Part, ledger: Ledger) -> Mined:
    """What was mined for this exchange, paid for once however often this is called."""
    noted = part.folder.noted(MINING)
    if noted and is_paid_for(part):
        return Mined.from_json(part.folder.read(MINED), str(part.folder / MINED))
    if noted is None:
        check_ledger(part.folder, part.place, ledger, part.owner.schema)  # days may have passed
        noted = {"nonce": secrets.token_hex(16)}
        part.folder.note(MINING, noted)
    purpose = purpose_of(part.place, str(noted["nonce"]))
    new = not part.folder.has(MINED)
    mined = part.owner.mine_to(part.folder / MINED, ledger, purpose)
    if new:
        spent, left = shown(mined.epsilon or Fraction(0)), shown(ledger.state.left)
        part.voice.say(f"spent epsilon {spent}; {left} is left in {ledger.path.name}")
    return mined


@logged("exchange, share")
def share(part: Part, mined: Mined, keys: dict[str, Recipient]) -> Handover:
    """Leave what was mined for each other owner, with the same bytes at every try.

    Where the owners need a secret, our contribution to it travels with it.
    """
    status = _of_the_agreed(part.status(), keys)
    own = Handover(mined, _contribution(part))
    for name, number in part.others(status).items():
        file = f"mined-for-{number}.age"
        if not part.folder.has(file):
            part.folder.write(file, seal_from(own.to_json(), part.identity, keys[name]))
        if name not in status[part.owner.name].mined_sent_to:
            part.client.put_mined(part.place.exchange, name, part.folder.read(file))
            part.voice.say(f"sent what was mined to {name}")
    return own


def _contribution(part: Part) -> Contribution | None:
    """Our contribution to the owners' secret, if there is one; made once for this exchange."""
    if not needs_secret(part.owner.schema):
        return None
    return own_contribution(
        part.folder / CONTRIBUTION, part.owner.name, part.place.exchange, part.owner.schema
    )


def _of_the_agreed(status: ExchangeInfo, keys: Mapping[str, Recipient]) -> ExchangeInfo:
    """The status, if the parties are those this owner agreed to."""
    if set(status.names) != set(keys):
        raise Mismatch(
            f"the parties are {', '.join(status.names)}, not those you agreed to",
            hint="call the other owners: somebody may be trying to read what is not for them",
        )
    return status


@logged("exchange, gather")
def gather(
    part: Part, handed: Handover, keys: Mapping[str, Recipient]
) -> tuple[Projection, Secret | None]:
    """What follows from what all owners handed over: the projection, and their secret if any."""
    if not part.folder.has(PROJECTION):
        own = part.owner.name
        status = part.until(
            lambda status: _for(
                "for what {} mined",
                [name for name in part.others(status) if own not in status[name].mined_sent_to],
            )
        )
        _of_the_agreed(status, keys)
        received = [_received(part, name, n, keys) for name, n in part.others(status).items()]
        mined = agree(handed.mined, *(one.mined for one in received))
        part.folder.write(PROJECTION, mined.to_json())
    file = str(part.folder / PROJECTION)
    projection = Projection.from_json(part.folder.read(PROJECTION), file)
    if set(projection.owners) != set(keys):
        raise Mismatch(f"{file} has other owners than you agreed to", hint="call the other owners")
    said = f"fingerprint of the projection: {projection.fingerprint}"
    part.voice.say(f"{said}  (must be the same for all owners)")
    if handed.contribution is None:
        return projection, None
    status = _of_the_agreed(part.status(), keys)
    received = [_received(part, name, n, keys) for name, n in part.others(status).items()]
    contributions = [one.contribution for one in (handed, *received) if one.contribution]
    secret = secret_of(contributions, projection, part.place.exchange, part.owner.schema)
    return projection, secret


def _received(part: Part, sender: str, number: int, keys: Mapping[str, Recipient]) -> Handover:
    """What another owner handed over, checked so that the unit cannot have made it up."""
    file, what = f"mined-{number}.json", f"what {sender} mined"
    with_secret = needs_secret(part.owner.schema)
    if part.folder.has(file):
        name = str(part.folder / file)
        return Handover.from_json(part.folder.read(file), name, with_secret=with_secret)
    sealed = part.client.mined(part.place.exchange, sender)
    opened, source = unseal_from(sealed, part.identity, what)
    check_sender(what, source, sender, [keys[sender]])
    handed = Handover.from_json(opened, what, with_secret=with_secret)
    if handed.mined.owner != sender:
        claimed = handed.mined.owner
        raise Mismatch(f"{what} claims to be from {claimed}", hint=f"ask {sender} what it sent")
    handed.mined.check(part.owner.schema)
    if handed.contribution:
        handed.contribution.check(sender, part.place.exchange, part.owner.schema)
    part.folder.write(file, opened)
    return handed


@logged("exchange, embed")
def embed(part: Part, projection: Projection, secret: Secret | None, ledger: Ledger) -> None:
    """The sealed bundle, made once: the same bytes are sent at every try."""
    if part.folder.has(BUNDLE):
        return
    bundle = part.owner.embed(
        projection,
        ledger=ledger,
        unit=part.place.unit,
        exchange=part.place.exchange,
        reply=part.identity.recipient,
        created=moment(),
        secret=secret,
        contribution=part.folder / CONTRIBUTION if secret else None,
    )
    sealed = seal_from(bundle.to_bytes(), part.identity, part.place.unit)
    part.folder.write(BUNDLE, sealed)
    part.voice.say(f"embedded {len(bundle.ids):,} different records, {len(sealed):,} bytes")


@logged("exchange, send")
def send(part: Part) -> None:
    """Send the sealed bundle, starting after what the unit has already."""
    status = part.until(
        lambda status: (
            "for what the others mined for each other"
            if status.stage in ("joining", "mined")
            else ""
        )
    )
    if status.stage in ("linking", "done"):
        return
    with (part.folder / BUNDLE).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        size = file.seek(0, 2)
        with part.voice.bar("sending") as progress:
            part.client.upload(part.place.exchange, file, size, digest, progress)


@logged("exchange, await results")
def await_results(part: Part) -> None:
    """Wait while the unit checks and links, and show its progress."""
    own, shown_before = part.owner.name, ""
    polled = part.polled()
    status = next(polled)
    while not status[own].results.ready:
        doing = _doing(part, status)
        if doing != shown_before:
            part.voice.say(doing)
        shown_before = doing
        with part.voice.bar(doing) as progress:
            while not status[own].results.ready and _doing(part, status) == doing:
                if progress and status.progress.total:
                    progress(status.progress.done, status.progress.total)
                status = next(polled)


def _doing(part: Part, status: ExchangeInfo) -> str:
    """What the unit is doing, in words; raises if it refused the bundle."""
    bundle, step = status[part.owner.name].bundle, status.progress.step
    if bundle.state == "refused":
        raise Refused(
            f"the linkage unit refuses the bundle: {bundle.reason or 'it gives no reason'}",
            hint=f"delete {part.folder / BUNDLE} to embed again, which costs no epsilon",
        )
    if status.stage == "done":
        raise Refused(
            "the linkage unit has linked, but no longer has our results",
            hint="it keeps them for a limited time; ask its operator for a new exchange",
        )
    if bundle.state in ("none", "uploading"):
        raise Refused(
            "the linkage unit has no bundle of ours any more: it was withdrawn",
            hint="run the same command again to send it again",
        )
    if bundle.state == "checking":
        return "the linkage unit is checking the bundle"
    missing = [name for name in part.others(status) if status[name].bundle.state != "accepted"]
    if missing and status.stage == "bundles":
        return f"waiting {_for('for the bundle of {}', missing)}"
    return f"the linkage unit is linking: {step}" if step else "the linkage unit is linking"


def _for(what: str, names: list[str]) -> str:
    return what.format(" and ".join(names)) if names else ""
