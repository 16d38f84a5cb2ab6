"""What the linkage unit says of an exchange, read with care: it is another party's text."""

from dataclasses import dataclass
from typing import Any

from gramlink.bundles.sealing import Recipient
from gramlink.errors import InvalidFile, Mismatch
from gramlink.exchange.client import Client
from gramlink.io.files import DAMAGE, exchange_name, owner_name

FEWEST, MOST = 2, 20  # parties


@dataclass(frozen=True, slots=True)
class Party:
    """How far one owner has come."""

    name: str
    returns: str  # what goes back to it: links, weights or counts
    recipient: Recipient | None
    sent_to: frozenset[str]  # the owners for whom it left what it mined
    bundle: str  # none, uploading, checking, accepted or refused
    reason: str
    ready: bool  # whether its results are there


@dataclass(frozen=True, slots=True)
class Status:
    """How far an exchange has come: its parties by name, and what the unit is doing."""

    stage: str
    reason: str
    parties: tuple[Party, ...]
    step: str
    done: int
    total: int

    def __getitem__(self, name: str) -> Party:
        return {party.name: party for party in self.parties}[name]

    @property
    def names(self) -> tuple[str, ...]:
        """The owners' names, in order."""
        return tuple(party.name for party in self.parties)


@dataclass(frozen=True, slots=True)
class Place:
    """What a token stands for, and the key of the unit that issued it."""

    exchange: str
    party: str
    unit: Recipient


def place_of(client: Client) -> Place:
    """The exchange and the party of the client's token."""
    token = client.token()
    if token.get("role") != "party":
        raise Mismatch(
            "this token is not that of a data owner",
            hint="use the token that the operator of the unit made for you",
        )
    try:
        exchange, party = exchange_name(token["exchange"]), owner_name(token["party"])
        return Place(exchange, party, Recipient(_text(client.unit()["recipient"])))
    except DAMAGE as error:
        raise _unexpected(client, error) from error


def status_of(client: Client, place: Place) -> Status:
    """How far the exchange has come."""
    answer = client.exchange(place.exchange)
    try:
        if answer["name"] != place.exchange:
            raise ValueError("it is of another exchange")
        parties = tuple(sorted(map(_party, answer["parties"]), key=lambda party: party.name))
        progress = answer["progress"]
        status = Status(
            stage=_text(answer["stage"]),
            reason=_text(answer["reason"]),
            parties=parties,
            step=_text(progress["step"])[:100],
            done=_count(progress["done"]),
            total=_count(progress["total"]),
        )
        if len(set(status.names)) < len(parties) or not FEWEST <= len(parties) <= MOST:
            raise ValueError("it does not name 2 to 20 different parties")
        if place.party not in status.names:
            raise ValueError("we are not among its parties")
    except DAMAGE as error:
        raise _unexpected(client, error) from error
    return status


def _party(answer: dict[str, Any]) -> Party:
    key, bundle = answer["recipient"], answer["bundle"]
    return Party(
        name=owner_name(answer["name"]),
        returns=_text(answer["returns"]),
        recipient=None if key is None else Recipient(_text(key)),
        sent_to=frozenset(map(owner_name, answer["bases"])),
        bundle=_text(bundle["state"]),
        reason=_text(bundle["reason"]),
        ready=answer["results"]["ready"] is True,
    )


def _text(value: Any) -> str:
    """A text of bearable length; none is an empty one."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError("a text in it is none")
    return value[:2000]


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        raise TypeError("a count in it is none")
    return value


def _unexpected(client: Client, error: Exception) -> InvalidFile:
    why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
    return client.unexpected(why)
