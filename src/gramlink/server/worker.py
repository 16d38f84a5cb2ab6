"""Worker: does one job in its own process, as `python -m gramlink.server.worker DIR JOB`.

Bundles come from others, and may be made to crash their reader or to eat memory. A worker holds
the unit's identity while its job lasts, has a memory limit, and ends as soon as its standard
input does. Its findings are in the tables when it ends.
"""

import hashlib
import json
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gramlink.bundles.bundle import Bundle
from gramlink.bundles.sealing import Recipient, read_identity, unseal_from
from gramlink.errors import GramlinkError
from gramlink.exchange.wire import Summary
from gramlink.io.clock import now
from gramlink.io.confined import unforeseen
from gramlink.io.files import read_bytes, written_whole
from gramlink.io.limits import confine, end_with_input, limit_memory
from gramlink.io.text import one_line
from gramlink.parties.admission import Basis, admit
from gramlink.parties.answers import answer, sealed
from gramlink.server import exchanges
from gramlink.server.errors import NO_ROOM, lacks_room
from gramlink.server.folder import Folder
from gramlink.server.plan import check_schema
from gramlink.server.store import Store
from gramlink.server.store.jobs import Job, Progress
from gramlink.server.store.parties import Facts, PartyRow

SECONDS = 1.0  # between updates of the progress


def main(data: Path, number: int, memory: int) -> None:
    """Do a job, and note the outcome in the tables."""
    limit_memory(memory)
    folder = Folder(data)
    store = Store(folder.database)
    with store.read() as db:
        job = db.jobs.find(number)
    if job is None:
        return
    do, give_up = (check, exchanges.refuse) if job.kind == "check" else (link, exchanges.fail)
    try:
        with leaving_for_want_of_room():
            do(folder, store, job)
    except GramlinkError as error:
        reason = one_line(_said(error))
    except sqlite3.OperationalError:
        raise  # it passes: the server starts another worker
    except Exception as error:  # noqa: BLE001  # its message may quote records
        reason = unforeseen(error)
    else:
        return
    with leaving_for_want_of_room(), store.change() as db:
        if db.jobs.find(number):  # else the exchange was deleted, and its files are gone
            give_up(db, job, reason)
            folder.drop_refused(job)  # before the party can see it and upload another


@contextmanager
def leaving_for_want_of_room() -> Iterator[None]:
    """End this process with a code that says so if the disk is full, as the tables may be too."""
    try:
        yield
    except Exception as error:
        if lacks_room(error):
            raise SystemExit(NO_ROOM) from error
        raise


def _said(error: GramlinkError) -> str:
    """The reason, without the names of the unit's folders."""
    if isinstance(error.__cause__, OSError):
        return f"the linkage unit has trouble with its disk: {error.__cause__.strerror}"
    return str(error)


def check(folder: Folder, store: Store, job: Job) -> None:
    """Accept a party's bundle, or say why not."""
    with store.change() as db:
        db.jobs.note(job, Progress("checking", 0, 0))
        exchange = exchanges.find(db, job.exchange_name)
        parties = db.parties.of(job.exchange)
    (sender,) = (party for party in parties if party.number == job.party)
    bundle = _bundle(folder, sender)
    admit(
        bundle,
        exchange=job.exchange_name,
        owner=sender.name,
        owners=[party.name for party in parties],
        settings=check_schema(exchange.schema).agreed,
        key=_recipient(sender),
    )
    facts = facts_of(bundle)
    for party in parties:
        if party is sender or party.facts is None:
            continue
        kept = party.facts
        found = Basis(party.name, kept.projection, kept.shape, kept.secret)
        Basis.of(bundle).check(found)
    with store.change() as db:
        if db.jobs.find(job.number):
            exchanges.accept(db, job, facts)


def facts_of(bundle: Bundle) -> Facts:
    """What is kept about an accepted bundle, to show to people and to compare with the next."""
    basis = Basis.of(bundle)
    return Facts(
        rows=len(bundle.ids),
        epsilon=None if bundle.epsilon is None else str(bundle.epsilon),
        created=bundle.created,
        projection=basis.projection,
        shape=basis.shape,
        secret=basis.secret,
    )


def link(folder: Folder, store: Store, job: Job) -> None:
    """Link all bundles, and leave each party's results, sealed to it."""
    noting = _noting(store, job)
    with store.read() as db:
        parties = db.parties.of(job.exchange)
    bundles = []
    for place, party in enumerate(parties):
        noting("reading", place, len(parties))
        bundles.append(_bundle(folder, party))
    answers = answer(
        bundles,
        {party.name: party.returns for party in parties},
        created=now(),
        progress=lambda done, total: noting("matching", done, total),
    )
    noting("sealing", 0, len(parties))
    unit = read_identity(folder.identity)
    results = {}
    for party, bundle in zip(parties, bundles, strict=True):
        data = sealed(answers.results[bundle.owner], bundle, unit)
        with written_whole(folder.results(job.exchange, party.number), mode=0o600) as file:
            file.write(data)
        results[party.number] = (len(data), hashlib.sha256(data).hexdigest())
    summary = Summary.model_validate_json(json.dumps(answers.summary))
    with store.change() as db:
        if db.jobs.find(job.number):
            exchanges.finish(db, job, summary, results)


def _bundle(folder: Folder, party: PartyRow) -> Bundle:
    identity = read_identity(folder.identity)
    data = read_bytes(folder.bundle(party.exchange, party.number))
    called = f"the bundle of {party.name}"
    content, sender = unseal_from(data, identity, called)
    return Bundle.from_bytes(content, called, sender)


def _recipient(party: PartyRow) -> Recipient:
    assert party.recipient is not None  # noqa: S101  # without it, no bundle is taken
    return Recipient(party.recipient)


def _noting(store: Store, job: Job) -> Callable[[str, int, int], None]:
    """Note progress now and then, for people to see."""
    last: tuple[str, float] = ("", 0.0)

    def note(step: str, done: int, total: int) -> None:
        nonlocal last
        if step != last[0] or time.monotonic() - last[1] >= SECONDS:
            last = (step, time.monotonic())
            with store.change() as db:
                db.jobs.note(job, Progress(step, done, total))

    return note


if __name__ == "__main__":
    confine()
    end_with_input()
    main(Path(sys.argv[1]), int(sys.argv[2]), int((sys.argv[3:] or ["0"])[0]))
