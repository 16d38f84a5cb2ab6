"""Running: the server process, on one address, for one data folder."""

import asyncio
import ipaddress
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from gramlink.errors import GramlinkError, InvalidFile, InvalidParameter
from gramlink.server.app import application
from gramlink.server.connections import Connections, Place
from gramlink.server.unit import Unit

LARGEST_HEAD = 16 * 2**10
GRACE = 10  # seconds for running requests to finish when the server is stopped


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen, and with which certificate, if any."""

    host: str = "127.0.0.1"
    port: int = 8440
    certificate: Path | None = None
    private_key: Path | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise InvalidParameter(f"{self.port} is not a port number")
        if (self.certificate is None) != (self.private_key is None):
            raise InvalidParameter("give a certificate together with its private key")
        for path in (self.certificate, self.private_key):
            if path is not None and not path.is_file():
                raise InvalidFile(f"{path} is not a file", hint="name a PEM file")

    def url(self, listener: socket.socket) -> str:
        """The address to open in a browser, with the port that was found."""
        scheme = "https" if self.certificate else "http"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}:{listener.getsockname()[1]}"


def loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@contextmanager
def listening(address: Address) -> Iterator[socket.socket]:
    """A socket that clients can connect to from now on."""
    try:
        family = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((address.host, address.port), family=family, backlog=1024)
    except (OSError, UnicodeError) as error:
        raise GramlinkError(
            f"cannot listen on {address.host}, port {address.port}: {error}",
            hint="choose another with --host and --port",
        ) from error
    with listener:
        yield listener


class Protocol(H11Protocol):
    """HTTP that does not wait for a request for ever, on one of a limited number of connections.

    The application finds the connection's place in the state of a request.
    """

    def __init__(
        self, *args: Any, patience: float, connections: Connections, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self._patience, self._connections = patience, connections
        self._place: Place | None = None
        self._waited: object = self  # what was under way at the last look
        self._unsent = 0  # what the client had not taken by then
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Find a place for the connection, and start to look at it regularly."""
        super().connection_made(transport)
        host = self.client[0] if self.client else ""
        self._place = self._connections.enter(host, self._is_idle, self._abort)
        self.app_state = {**self.app_state, "place": self._place}
        self._timer = self.loop.call_later(self._patience, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop looking at the connection, and give its place to others."""
        if self._place:
            self._place.leave()
        if self._timer:
            self._timer.cancel()
        super().connection_lost(exc)

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _abort(self) -> None:
        self.loop.call_soon_threadsafe(self.transport.abort)

    def _look(self) -> None:
        idle = self._is_idle()
        unsent = self.transport.get_write_buffer_size()
        if unsent and unsent == self._unsent:
            self.transport.abort()  # the client took nothing in all this time
            return
        if idle and self._waited is self.cycle:
            self.transport.close()  # no request in all this time
        self._waited, self._unsent = self.cycle if idle else self, unsent
        self._timer = self.loop.call_later(self._patience, self._look)


def serve_on(listener: socket.socket, unit: Unit, address: Address) -> None:
    """Serve until the process is told to end."""
    config = uvicorn.Config(
        application(unit),
        ssl_certfile=address.certificate,
        ssl_keyfile=address.private_key,
        http=partial(  # type: ignore[arg-type]
            Protocol, patience=unit.settings.patience, connections=Connections()
        ),
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_level="error",
        access_log=False,  # the unit's own log says who did what
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=GRACE,
        h11_max_incomplete_event_size=LARGEST_HEAD,
    )
    try:
        config.load()
    except OSError as error:  # the ssl module's errors are OSErrors
        raise InvalidFile(
            f"{address.certificate} and {address.private_key} cannot be used: {error}",
            hint="name PEM files that belong together",
        ) from error
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])
