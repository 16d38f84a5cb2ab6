"""Exchanges: what may happen to one, each with its entry in the log.

All functions work within a transaction of the caller, who has already written the files that a
change refers to.
"""

from collections.abc import Mapping, Sequence

from gramlink.exchange.wire import Stage, Summary
from gramlink.io.clock import days_after, now
from gramlink.server import auth
from gramlink.server.auth import Party, Token
from gramlink.server.errors import Refusal, unknown
from gramlink.server.folder import Folder
from gramlink.server.plan import Plan
from gramlink.server.store import Tables
from gramlink.server.store.exchanges import ExchangeRow
from gramlink.server.store.jobs import Job
from gramlink.server.store.parties import Facts, PartyRow
from gramlink.server.store.standings import Standing


def create(db: Tables, folder: Folder, plan: Plan) -> dict[str, Token]:
    """Make an exchange, and a token for each party."""
    if db.exchanges.ever_had(plan.name):
        raise Refusal(
            f"there already is, or was, an exchange {plan.name}",
            hint="choose another name: names are never reused, since bundles name their exchange; "
            "`gramlink unit token` writes a token anew",
        )
    number = db.exchanges.add(plan.name, plan.schema, now())
    given = {}
    for party in plan.parties:
        given[party], _ = auth.give(
            db, db.parties.add(number, party, plan.returns[party]), plan.days
        )
    folder.of(number).mkdir(mode=0o700, exist_ok=True)
    returned = ", ".join(f"{party} gets {kind}" for party, kind in plan.returns.items())
    db.log.write("operator", "made the exchange", plan.name, returned)
    return given


def find(db: Tables, name: str) -> ExchangeRow:
    """The exchange of this name."""
    found = db.exchanges.named(name)
    if found is None:
        raise unknown("there is no such exchange")
    return found


def party(db: Tables, who: Party) -> PartyRow:
    """How far a party has come, unless its exchange has been deleted."""
    found = db.parties.numbered(who.number)
    if found is None:
        raise unknown("there is no such exchange")
    return found


def stage(db: Tables, exchange: ExchangeRow) -> Stage:
    """How far an exchange has come."""
    return stage_of(exchange.failed, exchange.ended, db.standings.of(exchange.number))


def stage_of(failed: str | None, ended: str | None, parties: Sequence[Standing]) -> Stage:
    """How far an exchange has come, from why and when it ended and how far its parties are."""
    if failed:
        return "failed"
    if ended:
        return "done"
    if not all(one.joined for one in parties):
        return "joining"
    if any(one.sent < len(parties) - 1 for one in parties):
        return "mined"
    return "linking" if all(one.state == "accepted" for one in parties) else "bundles"


def join(db: Tables, who: Party, recipient: str) -> None:
    """A party gives its recipient, which it may change until something was sealed to it."""
    before = party(db, who).recipient
    if before == recipient:
        return
    if before and db.mined.of(who.exchange):
        raise Refusal(
            "something was already sealed to another recipient of this party",
            hint="use the identity that this party joined with, or ask for a new exchange",
        )
    db.parties.give_recipient(who.number, recipient)
    db.log.write(who.name, "gave its recipient", who.exchange_name, recipient)


def require_joined(db: Tables, receiver: Party) -> None:
    """Refuse to send to a party that nothing can be sealed to yet."""
    if not party(db, receiver).recipient:
        raise Refusal(
            f"{receiver.name} has not joined yet", hint="wait until it has given its recipient"
        )


def has_mined(db: Tables, sender: Party, receiver: Party, sha256: str) -> bool:
    """Whether this very file was already left for the receiver; a different one is refused."""
    before = db.mined.of(party(db, sender).exchange).get((sender.number, receiver.number))
    if before is not None and before != sha256:
        raise Refusal(
            f"{receiver.name} was already sent another file",
            hint="send the same file again, or ask for a new exchange",
        )
    return before is not None


def relay(db: Tables, sender: Party, receiver: Party, sha256: str) -> None:
    """The receiver can now fetch what the sender mined."""
    require_joined(db, receiver)
    if not has_mined(db, sender, receiver, sha256):
        db.mined.add(sender.number, receiver.number, sha256)
        detail = f"to {receiver.name}, sha256 {sha256}"
        db.log.write(sender.name, "sent what it mined, sealed", sender.exchange_name, detail)


def uploaded(db: Tables, who: Party) -> None:
    """All of a bundle has arrived, and must be checked."""
    row = party(db, who)
    if row.state == "uploading":
        db.parties.await_check(who.number)
        db.jobs.queue(who.exchange, "check", who.number)
        detail = f"{row.size} bytes, sha256 {row.sha256}"
        db.log.write(who.name, "uploaded its bundle", who.exchange_name, detail)


def accept(db: Tables, job: Job, facts: Facts) -> None:
    """A bundle is accepted; after the last one, linking starts."""
    row = _checked(db, job)
    db.parties.accept(row.number, facts)
    _log_bundle(db, row, "accepted")
    if stage(db, find(db, job.exchange_name)) == "linking":
        db.jobs.queue(job.exchange, "link")
    db.jobs.end(job)


def refuse(db: Tables, job: Job, reason: str, *, failed: bool = False) -> None:
    """A bundle is refused; its party may upload another."""
    row = _checked(db, job)
    db.parties.refuse(row.number, reason)
    _log_bundle(db, row, "refused")  # the reason may quote the bundle, so it is not logged
    db.jobs.end(job, reason if failed else None)


def _checked(db: Tables, job: Job) -> PartyRow:
    """The party whose bundle a job checks."""
    row = None if job.party is None else db.parties.numbered(job.party)
    assert row is not None  # noqa: S101  # the tables delete its jobs with a party
    return row


def _log_bundle(db: Tables, row: PartyRow, what: str) -> None:
    about = f"sha256 {row.sha256}"
    db.log.write("unit", f"{what} the bundle of {row.name}", row.exchange_name, about)


def finish(db: Tables, job: Job, summary: Summary, results: Mapping[int, tuple[int, str]]) -> None:
    """Results are there for each party, with their sizes and digests."""
    for number, (size, sha256) in results.items():
        db.parties.give_results(number, size, sha256)
    db.exchanges.finish(job.exchange, now(), summary.model_dump_json(by_alias=True))
    db.log.write("unit", "linked the bundles", job.exchange_name)
    db.jobs.end(job)


def fail(db: Tables, job: Job, reason: str) -> None:
    """The bundles cannot be linked, and this is final."""
    db.exchanges.fail(job.exchange, now(), reason)
    db.log.write("unit", "could not link the bundles", job.exchange_name)
    db.jobs.end(job, reason)


def withdraw(db: Tables, who: Party) -> None:
    """A party takes its bundle back, and may send one again; the caller erases the files."""
    row = party(db, who)
    if row.withdrawn:
        return
    if row.state == "none":
        raise Refusal("there is no bundle to withdraw", hint="this party has not sent one")
    exchange = find(db, who.exchange_name)
    if exchange.ended or not db.jobs.call_off(who.exchange, who.number):
        why = "the exchange has ended" if exchange.ended else "linking has begun"
        raise Refusal(
            f"it is too late to withdraw the bundle: {why}",
            hint="ask the operator to delete the exchange",
        )
    db.parties.withdraw(who.number, now())
    db.log.write(who.name, "withdrew its bundle", who.exchange_name, f"sha256 {row.sha256}")


def fetched(db: Tables, who: Party) -> None:
    """A party has fetched its results; only the first time is noted."""
    row = party(db, who)
    if row.fetched is None:
        db.parties.note_fetched(who.number, now())
        about = f"sha256 {row.results_sha256}"
        db.log.write(who.name, "fetched its results", who.exchange_name, about)


def delete(db: Tables, name: str) -> int:
    """Forget an exchange except for its name and its log; the caller erases its files."""
    number = find(db, name).number
    db.exchanges.delete(number, now())
    db.log.write("operator", "deleted the exchange", name)
    return number


def plan_erasing(db: Tables, keep_days: int, open_days: int) -> None:
    """Note when files will be erased, for exchanges that have ended and for those that have not."""
    for exchange in db.exchanges.to_plan():
        start, days = (exchange.ended, keep_days) if exchange.ended else (now(), open_days)
        db.exchanges.plan_erasing(exchange.number, days_after(start, days))


def erase_due(db: Tables) -> list[int]:
    """The exchanges whose files the caller must now erase; those that are open have failed."""
    due = db.exchanges.to_erase(now())
    for exchange in due:
        if not exchange.ended:
            db.jobs.call_all_off(exchange.number)
            reason = f"it was not linked by {exchange.erase}, and the unit keeps nothing for longer"
            db.exchanges.fail(exchange.number, now(), reason)
            db.log.write("unit", "gave up the exchange", exchange.name, reason)
        db.exchanges.erase(exchange.number, now())
        db.log.write("unit", "erased the files", exchange.name)
    return [exchange.number for exchange in due]
