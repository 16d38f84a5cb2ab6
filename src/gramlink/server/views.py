"""Views: what the unit says about itself and its exchanges, to its operator or a party."""

import tomllib
from dataclasses import asdict
from importlib.metadata import version
from typing import Literal

from gramlink.bundles.sealing import Recipient
from gramlink.exchange.wire import (
    BundleInfo,
    ExchangeGlance,
    ExchangeInfo,
    ExchangeList,
    Limits,
    LogEntry,
    LogInfo,
    PartyGlance,
    PartyInfo,
    PartySummary,
    PartyToken,
    Progress,
    ResultsInfo,
    Summary,
    TokenInfo,
    UnitInfo,
)
from gramlink.records.choices import VECTORS
from gramlink.server import exchanges
from gramlink.server.auth import Party, Viewer
from gramlink.server.folder import Folder
from gramlink.server.store import Tables
from gramlink.server.store.exchanges import ExchangeRow
from gramlink.server.store.log import is_intact
from gramlink.server.store.parties import PartyRow
from gramlink.server.store.standings import Listed, Standing
from gramlink.server.unit import Unit

PAGE = 100  # exchanges in a list
_AFTER_ALL = 2**63 - 1  # no exchange has this number


def of_unit(unit: Unit) -> UnitInfo:
    """What the unit tells everybody about itself."""
    return UnitInfo(
        gramlink=version("gramlink"),
        recipient=unit.recipient,
        fingerprint=unit.recipient.fingerprint,
        limits=Limits(
            bundle_bytes=unit.settings.largest_bundle, mined_bytes=unit.settings.largest_mined
        ),
    )


def of_viewer(viewer: Viewer) -> TokenInfo:
    """What a token's holder is told about it."""
    party = viewer.party
    return TokenInfo(
        role=viewer.role,
        exchange=party.exchange_name if party else None,
        party=party.name if party else None,
        expires=viewer.expires,
    )


def of_log(db: Tables) -> LogInfo:
    """The log, and whether it is intact."""
    entries = db.log.entries()
    said = tuple(LogEntry(**asdict(entry)) for entry in entries)
    return LogInfo(entries=said, intact=is_intact(entries))


def of_page(db: Tables, after: str | None = None, most: int = PAGE) -> ExchangeList:
    """A page of all exchanges as the operator sees them, latest first."""
    before = exchanges.find(db, after).number if after else _AFTER_ALL
    listed = db.standings.page(before, most + 1)
    more, listed = len(listed) > most, listed[:most]
    return ExchangeList(
        exchanges=tuple(map(_glance, listed)),
        total=db.standings.count(),
        next=listed[-1].name if more else None,
    )


def _glance(one: Listed) -> ExchangeGlance:
    return ExchangeGlance(
        name=one.name,
        created=one.created,
        stage=exchanges.stage_of(one.failed, one.ended, one.parties),
        reason=one.failed,
        parties=tuple(
            PartyGlance(
                name=party.name,
                joined=party.joined,
                mined_sent=party.sent,
                bundle=party.state,
                withdrawn=party.withdrawn,
                results=_results_at_a_glance(party, kept=one.erased is None),
            )
            for party in one.parties
        ),
        erase=one.erase,
        erased=one.erased,
    )


def _results_at_a_glance(party: Standing, *, kept: bool) -> Literal["none", "ready", "fetched"]:
    if party.fetched:
        return "fetched"
    return "ready" if party.ready and kept else "none"


def of_exchange(db: Tables, folder: Folder, name: str, viewer: Viewer) -> ExchangeInfo:
    """An exchange as the viewer may see it.

    Privacy: a party sees the names, keys and states of the others and, of the outcome, the
    numbers of its own pairs, added up.
    """
    return _of(db, folder, exchanges.find(db, name), viewer.party)


def _of(db: Tables, folder: Folder, exchange: ExchangeRow, me: Party | None) -> ExchangeInfo:
    """An exchange for the operator or, if one is given, for a party."""
    summary = Summary.model_validate_json(exchange.summary) if exchange.summary else None
    return ExchangeInfo(
        name=exchange.name,
        created=exchange.created,
        stage=exchanges.stage(db, exchange),
        encoding=_encoding(exchange.schema),
        reason=exchange.failed,
        parties=_parties(db, folder, exchange, me),
        progress=_progress(db, exchange.number),
        summary=of_party(summary, me.name) if summary and me else summary,
        erase=exchange.erase,
        erased=exchange.erased,
    )


def _encoding(schema: str) -> str:
    """The encoding in the text of a schema, which was checked; it is empty once it is erased."""
    return str(tomllib.loads(schema).get("encoding", VECTORS))


def of_party(summary: Summary, party: str) -> PartySummary:
    """What a party may know of the outcome: the numbers of its own pairs, added up.

    Estimates of pairs are weighted by their numbers of links.
    """
    pairs = [pair for pair in summary.pairs if party in (pair.left, pair.right)]
    counts = [pair.links for pair in pairs]

    def overall(*estimates: float | None) -> float | None:
        known = [estimate for estimate in estimates if estimate is not None]
        if len(estimates) == 1:
            return estimates[0]
        if not sum(counts) or len(known) < len(estimates):
            return None
        weighted = (estimate * count for estimate, count in zip(known, counts, strict=True))
        return sum(weighted) / sum(counts)

    return PartySummary(
        links=sum(counts),
        possible=sum(pair.possible for pair in pairs),
        precision=overall(*(pair.precision for pair in pairs)),
        recall=overall(*(pair.recall for pair in pairs)),
    )


def _progress(db: Tables, exchange: int) -> Progress:
    running = db.jobs.progress_of(exchange)
    if running is None:
        return Progress(step=None, done=0, total=0)
    return Progress(step=running.step, done=running.done, total=running.total)


def _parties(
    db: Tables, folder: Folder, exchange: ExchangeRow, me: Party | None
) -> tuple[PartyInfo, ...]:
    rows = db.parties.of(exchange.number)
    names = {row.number: row.name for row in rows}
    pairs = db.mined.of(exchange.number)
    parties = []
    for row in rows:
        own = me is None or me.number == row.number
        party = PartyInfo(
            name=row.name,
            returns=row.returns,
            recipient=Recipient(row.recipient) if row.recipient else None,
            mined_sent_to=tuple(names[to] for sender, to in pairs if sender == row.number),
            bundle=_bundle(row, folder.arrived(row)) if own else _bundle_of_another(row),
            results=_results(row, kept=exchange.erased is None, own=own),
        )
        # not set for parties, which are not even told that this key exists
        parties.append(party if me else party.model_copy(update={"token": _token(db, row.number)}))
    return tuple(parties)


def _bundle(row: PartyRow, offset: int) -> BundleInfo:
    facts = row.facts
    whole = row.state in ("checking", "accepted", "refused")
    return BundleInfo(
        state=row.state,
        reason=row.reason,
        rows=facts.rows if facts else None,
        epsilon=facts.epsilon if facts else None,
        created=facts.created if facts else None,
        bytes=row.size if whole else None,
        sha256=row.sha256,
        offset=row.size if whole else offset,
        size=row.size,
        withdrawn=row.withdrawn,
    )


def _bundle_of_another(row: PartyRow) -> BundleInfo:
    return BundleInfo(
        state=row.state,
        reason=None,
        rows=None,
        epsilon=None,
        created=None,
        bytes=None,
        sha256=None,
        offset=None,
        size=None,
        withdrawn=row.withdrawn,
    )


def _results(row: PartyRow, *, kept: bool, own: bool) -> ResultsInfo:
    ready = kept and row.results_sha256 is not None
    return ResultsInfo(
        ready=ready,
        bytes=row.results_bytes if ready and own else None,
        sha256=row.results_sha256 if ready and own else None,
        fetched=row.fetched if own else None,
    )


def _token(db: Tables, party: int) -> PartyToken | None:
    row = db.tokens.latest_of(party)
    return PartyToken(expires=row.expires, revoked=row.revoked) if row else None
