"""Protocols: what is spoken on a connection, from its first moment on.

uvicorn would count a connection only once TLS is set up on it, so that is done here.
"""

import asyncio
import ssl
from dataclasses import dataclass, field
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from gramlink.server.connections import Connections, Place


@dataclass(frozen=True, slots=True)
class Limits:
    """How many connections there may be, and how many seconds each may leave the server idle."""

    patience: float
    connections: Connections = field(default_factory=Connections)


def _place(limits: Limits, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> Place:
    host = str((transport.get_extra_info("peername") or ("",))[0])
    return limits.connections.enter(
        host, lambda: True, lambda: loop.call_soon_threadsafe(transport.abort)
    )


class Protocol(H11Protocol):
    """HTTP that does not wait for a request for ever, on one of a limited number of connections.

    The application finds the connection's place in the state of a request.
    """

    def __init__(
        self, limits: Limits, *args: Any, place: Place | None = None, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self._limits, self._place = limits, place
        self._early = b""
        self._waited: object = self  # what was under way at the last look
        self._unsent = 0  # what the client had not taken by then
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Find a place for the connection, and start to look at it regularly."""
        super().connection_made(transport)
        place = self._place = self._place or _place(self._limits, transport, self.loop)
        place.is_idle = self._is_idle
        self.app_state = {**self.app_state, "place": place}
        self._timer = self.loop.call_later(self._limits.patience, self._look)

        if self._early:
            self.data_received(self._early)

    def data_received(self, data: bytes) -> None:
        """Take what the client sent, which may come before this knows that TLS is set up."""
        if self.transport:
            super().data_received(data)
        else:
            self._early += data

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop looking at the connection, and give its place to others."""
        if self._place:
            self._place.leave()
        if self._timer:
            self._timer.cancel()
        if self.transport:
            super().connection_lost(exc)

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _look(self) -> None:
        idle = self._is_idle()
        unsent = self.transport.get_write_buffer_size()
        if unsent and unsent == self._unsent:
            self.transport.abort()  # the client took nothing in all this time
            return
        if idle and self._waited is self.cycle:
            self.transport.close()  # no request in all this time
        self._waited, self._unsent = self.cycle if idle else self, unsent
        self._timer = self.loop.call_later(self._limits.patience, self._look)


class Secured(asyncio.Protocol):
    """A connection on which TLS is being set up; then it speaks HTTP."""

    def __init__(self, limits: Limits, context: ssl.SSLContext, **options: Any) -> None:
        self._limits, self._context, self._options = limits, context, options
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Find a place for the connection, and set up TLS."""
        place = _place(self._limits, transport, self._loop)
        self._task = self._loop.create_task(self._set_up(transport, place))

    async def _set_up(self, transport: asyncio.Transport, place: Place) -> None:
        http = Protocol(self._limits, place=place, **self._options)
        try:
            secured = await self._loop.start_tls(
                transport,
                http,
                self._context,
                server_side=True,
                ssl_handshake_timeout=self._limits.patience,
            )
        except OSError:  # the client left, took too long, or does not speak TLS
            secured = None
        if secured is None:
            place.leave()
        else:
            http.connection_made(secured)
