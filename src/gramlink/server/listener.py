"""Running: the server process, on one address, for one data folder."""

import ipaddress
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import uvicorn

from gramlink.errors import GramlinkError, InvalidFile, InvalidParameter
from gramlink.server.app import application
from gramlink.server.protocols import Limits, Protocol, Secured
from gramlink.server.unit import Unit

OPEN_FILES = 4096
BACKLOG = 1024  # connections that the system takes before we do
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
        listener = socket.create_server(
            (address.host, address.port), family=family, backlog=BACKLOG
        )
    except (OSError, UnicodeError) as error:
        raise GramlinkError(
            f"cannot listen on {address.host}, port {address.port}: {error}",
            hint="choose another with --host and --port",
        ) from error
    with listener:
        # the connections inherit it; asyncio sets it only on sockets made with another number, and
        # without it each answer waits 40 ms for the client to acknowledge its head
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield listener


def allow_open_files() -> None:
    """Have the system permit a file for each connection that is accepted, and for its upload."""
    if sys.platform != "win32":
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft < OPEN_FILES:
            least = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (least, hard))


def serve_on(listener: socket.socket, unit: Unit, address: Address) -> None:
    """Serve until the process is told to end."""
    config = uvicorn.Config(
        application(unit),
        ssl_certfile=address.certificate,
        ssl_keyfile=address.private_key,
        http="h11",
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_level="error",
        access_log=False,  # the unit's own log says who did what
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
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
    limits = Limits(unit.settings.patience)
    config.http_protocol_class = partial(Protocol, limits)  # type: ignore[assignment]
    if config.ssl:
        secured = partial(Secured, limits, config.ssl)
        config.http_protocol_class, config.ssl = secured, None  # type: ignore[assignment]
    allow_open_files()
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])
