"""A data owner's calls to the linkage unit, one method each."""

import io
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, TypeVar
from urllib.parse import quote

from gramlink.errors import Refused
from gramlink.exchange.connection import Answered, Connection, Later
from gramlink.exchange.values import Model
from gramlink.exchange.wire import ExchangeInfo, NewUpload, Offset, TokenInfo, UnitInfo

if TYPE_CHECKING:
    from gramlink.matching.pairs import Progress

T = TypeVar("T")

PIECE = 4 * 2**20  # bytes of a bundle that go in one request
MOST_SCHEMA = 2**20
MOST_MINED = 64 * 2**20
MOST_RESULTS = 4 * 2**30


class Client(Connection):
    """A linkage unit as one token sees it.

    Privacy: everything that is sent can be read by the linkage unit. What is not for it is
    sealed before it comes here.
    """

    def unit(self) -> UnitInfo:
        """The unit's key and limits; needs no token."""
        return self._get(UnitInfo, "/api/unit")

    def token(self) -> TokenInfo:
        """Whose the token is."""
        return self._get(TokenInfo, "/api/token")

    def exchange(self, name: str) -> ExchangeInfo:
        """How far an exchange has come."""
        return self._get(ExchangeInfo, _path(name))

    def schema(self, name: str) -> bytes:
        """The linkage.toml of an exchange."""
        return self._bytes(_path(name, "schema"), MOST_SCHEMA)

    def mined(self, name: str, sender: str) -> bytes:
        """What another owner mined, sealed to us."""
        return self._bytes(_path(name, "mined", sender), MOST_MINED)

    def put_recipient(self, name: str, key: str) -> None:
        """Tell the unit which key the others must seal to."""
        self._put(_path(name, "recipient"), key.encode(), "text/plain")

    def put_mined(self, name: str, to: str, sealed: bytes) -> None:
        """Leave what was mined for another owner, who is the only one able to open it."""
        path = _path(name, "mined", to)
        self._settled(lambda: self._put(path, sealed, "application/octet-stream"))

    def results(self, name: str, file: IO[bytes]) -> None:
        """The sealed results, which replace what the file held."""

        def fetch(_: Answered) -> None:
            file.seek(0)
            file.truncate()
            self.ask("GET", _path(name, "results"), file, MOST_RESULTS)

        self.patiently(fetch)

    def upload(
        self, name: str, file: IO[bytes], size: int, sha256: str, progress: "Progress | None" = None
    ) -> None:
        """Send the sealed bundle in pieces, starting after what the unit has already.

        After any failure the unit is asked again how much it has, as its answer may have been
        lost.
        """
        path, whole = _path(name, "upload"), NewUpload(size=size, sha256=sha256)

        def go_on(answered: Answered) -> None:
            begun = self._settled(lambda: self.ask_for(Offset, "POST", path, json=whole))
            offset = self._within(begun, size)
            while offset < size:
                if progress:
                    progress(offset, size)
                file.seek(offset)
                before, offset = offset, self._send(path, offset, file.read(PIECE), size)
                if offset <= before:
                    raise Later("it accepts no more of the bundle")
                answered()
            if progress:
                progress(size, size)

        self.patiently(go_on)

    def withdraw(self, name: str) -> None:
        """Take our bundle back; the unit erases it."""
        nothing = io.BytesIO()
        self.patiently(lambda _: self.ask("DELETE", _path(name, "bundle"), nothing, 2**20))

    def _send(self, path: str, offset: int, piece: bytes, size: int) -> int:
        try:
            answer = self.ask_for(Offset, "PATCH", f"{path}?offset={offset}", content=piece)
        except Refused as error:
            if error.status == 409:  # the unit does not have the part of it that we think
                raise Later(str(error)) from error
            raise
        return self._within(answer, size)

    def _settled(self, ask: Callable[[], T]) -> T:
        """Ask again after a 409: a request that was cut off may still be under way at the unit."""
        for delay in (0.2, 0.4, 0.8, 1.6):
            try:
                return ask()
            except Refused as error:
                if error.status != 409:
                    raise
            self.pause(delay)
        return ask()

    def _within(self, answer: Offset, size: int) -> int:
        if answer.offset > size:
            raise self.unexpected("offset: it claims more bytes than the bundle has")
        return answer.offset

    def _get(self, model: type[Model], path: str) -> Model:
        return self.patiently(lambda _: self.ask_for(model, "GET", path))

    def _bytes(self, path: str, limit: int) -> bytes:
        def fetch(_: Answered) -> bytes:
            found = io.BytesIO()
            self.ask("GET", path, found, limit)
            return found.getvalue()

        return self.patiently(fetch)

    def _put(self, path: str, content: bytes, kind: str) -> None:
        nothing = io.BytesIO()
        self.patiently(lambda _: self.ask("PUT", path, nothing, 2**20, content=content, kind=kind))


def _path(exchange: str, *parts: str) -> str:
    return "/".join(["/api/exchanges", *(quote(part, safe="") for part in (exchange, *parts))])
