"""Which exchange an owner takes part in, and its state according to the linkage unit."""

from dataclasses import dataclass

from gramlink.bundles.sealing import Recipient
from gramlink.errors import Mismatch
from gramlink.exchange.client import Client
from gramlink.exchange.wire import ExchangeInfo


@dataclass(frozen=True, slots=True)
class Place:
    """What a token stands for, and the key of the unit that issued it."""

    exchange: str
    party: str
    unit: Recipient


def place_of(client: Client) -> Place:
    """The exchange and the party of the client's token."""
    token = client.token()
    if token.role != "party":
        raise Mismatch(
            "this is not a data owner's token",
            hint="use the token that the unit's operator made for you",
        )
    if token.exchange is None or token.party is None:
        raise client.unexpected("it does not say whose token this is")
    return Place(token.exchange, token.party, client.unit().recipient)


def status_of(client: Client, place: Place) -> ExchangeInfo:
    """The state of the exchange, with its parties in the order of their names."""
    status = client.exchange(place.exchange)
    if status.name != place.exchange:
        raise client.unexpected("it describes another exchange")
    if place.party not in status.names:
        raise client.unexpected("we are not among its parties")
    in_order = sorted(status.parties, key=lambda party: party.name)
    return status.model_copy(update={"parties": tuple(in_order)})
