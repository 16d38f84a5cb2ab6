"""Connections: how many there may be, and which of them are closed first.

Whoever has shown a valid token is known. The others, the strangers, share a small part of the
connections: when there are too many of them, one of the address that has the most is closed, and
rather one on which nothing was asked. So strangers keep out neither the known nor, from one
address, those of another.
"""

import ipaddress
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gramlink.server.errors import Refusal

MOST_STRANGERS = 128
MOST_KNOWN = 384
MOST_OF_ONE = 16  # of one party, or of the operator


@dataclass(eq=False, slots=True)
class Place:
    """One connection's place among all."""

    among: "Connections"
    address: str
    is_idle: Callable[[], bool]
    close: Callable[[], object]  # may be called in any thread
    of: int | None = None  # whose token was shown on it: a party's number, or 0 for the operator

    def show(self, of: int) -> None:
        """A valid token was shown on this connection, or another than before."""
        self.among.know(self, of)

    def leave(self) -> None:
        """The connection is closed."""
        self.among.forget(self)


@dataclass(slots=True)
class Connections:
    """The places of all connections of a server."""

    _strangers: deque[Place] = field(default_factory=deque)  # the oldest first
    _known: Counter[int] = field(default_factory=Counter)
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def enter(self, host: str, is_idle: Callable[[], bool], close: Callable[[], object]) -> Place:
        """A new connection's place; another one may have to go for it."""
        place = Place(self, address_of(host), is_idle, close)
        with self._turn:
            self._strangers.append(place)
            if len(self._strangers) > MOST_STRANGERS:
                last = _first_to_go(self._strangers)
                self._strangers.remove(last)
                last.close()
        return place

    def know(self, place: Place, of: int) -> None:
        """The place is of somebody known; refused if there are too many of these."""
        with self._turn:
            if place.of == of:
                return
            if self._known[of] >= MOST_OF_ONE:
                raise _too_many(f"this token has {MOST_OF_ONE} connections open already")
            if place.of is None:
                if self._known.total() >= MOST_KNOWN:
                    raise _too_many("the linkage unit has too many connections open")
                if place in self._strangers:  # else it is being closed
                    self._strangers.remove(place)
            else:
                self._known[place.of] -= 1
            self._known[of] += 1
            place.of = of

    def forget(self, place: Place) -> None:
        """The place is free again."""
        with self._turn:
            if place.of is not None:
                self._known[place.of] -= 1
                self._known += Counter()  # forgets those without any
            elif place in self._strangers:
                self._strangers.remove(place)


def _first_to_go(strangers: Iterable[Place]) -> Place:
    """Of the address that has the most, the oldest, or rather the oldest that is idle."""
    by_address: dict[str, list[Place]] = {}
    for place in strangers:
        by_address.setdefault(place.address, []).append(place)
    most = max(by_address.values(), key=len)  # of several, that with the oldest
    return next((place for place in most if place.is_idle()), most[0])


def _too_many(why: str) -> Refusal:
    return Refusal(why, hint="close some, or try again later", status=429)


def address_of(host: str) -> str:
    """What counts as one address: of IPv6, the network that one customer has.

    >>> address_of("2001:db8:1:2:3:4:5:6"), address_of("::ffff:192.0.2.7")
    ('2001:db8:1:2::', '192.0.2.7')
    """
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(found, ipaddress.IPv4Address):
        return host
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((int(found) >> 64 << 64, 64)).network_address)
