"""The connection to a linkage unit: one address, one token, patience, and bounds.

Temporary failures, such as a broken connection or a restart of the unit, are retried until the
unit has not answered for as long as we are patient. The size of what the unit sends is checked
before it is kept, and redirects are not followed: the token goes only to the address it was
given for.
"""

import io
import ipaddress
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel

from gramlink.errors import InvalidFile, InvalidParameter, Refused, Unanswered
from gramlink.exchange.values import Model, read
from gramlink.exchange.wire import Problem
from gramlink.io.steps import note

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
Answered = Callable[[], None]

PATIENCE = 600.0  # seconds
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
SAY_AGAIN = 60.0
MOST_WORDS = 2**20  # bytes of an answer that is JSON
_FOR_A_WHILE = (408, 429, 502, 503, 504)
_TOKEN_HINT = "check the token file; the operator of the unit can issue a new token"  # noqa: S105


class Later(Exception):
    """A request that may succeed if tried again."""


class Connection:
    """A way to ask the unit at one address, with one token, until it is closed.

    `say` prints a line, `pause` waits for a number of seconds.
    """

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        authority: Path | None = None,
        insecure: bool = False,
        patience: float = PATIENCE,
        say: Callable[[str], None] = lambda _: None,
        pause: Callable[[float], None] = time.sleep,
        transport: "httpx.BaseTransport | None" = None,
    ) -> None:
        import httpx

        self.url = checked_url(url, insecure=insecure)
        self.pause = pause
        self._say, self._patience = say, patience
        secure = self.url.startswith("https:")
        headers = {"Accept-Encoding": "identity", "User-Agent": "gramlink"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._http = httpx.Client(
            headers=headers,
            timeout=httpx.Timeout(60, connect=10),
            verify=_trusted(authority) if secure else False,
            trust_env=secure,  # without TLS, a proxy would read the token
            transport=transport,
        )

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def ask(
        self,
        method: str,
        path: str,
        sink: IO[bytes],
        limit: int,
        *,
        content: bytes | None = None,
        kind: str = "application/octet-stream",
        json: BaseModel | None = None,
    ) -> None:
        """Ask once; the answer goes to the sink, unless it is larger than the limit."""
        asked: dict[str, Any] = {}
        if json is not None:
            asked = {"json": json.model_dump()}
        if content is not None:
            asked = {"content": content, "headers": {"Content-Type": kind}}
        with self._told_apart(), self._http.stream(method, self.url + path, **asked) as answer:
            if answer.status_code in _FOR_A_WHILE:
                raise Later(f"it answers with status {answer.status_code}")
            if not answer.is_success:
                raise self._refusal(answer)
            self._copy(answer, sink, limit)
        note("ask", sent=len(content or b""), status=answer.status_code)

    def ask_for(
        self,
        model: type[Model],
        method: str,
        path: str,
        *,
        content: bytes | None = None,
        json: BaseModel | None = None,
    ) -> Model:
        """Ask once for what a model describes."""
        found = io.BytesIO()
        self.ask(method, path, found, MOST_WORDS, content=content, json=json)
        try:
            return read(model, found.getvalue())
        except ValueError as error:
            raise self.unexpected(str(error)) from error

    def patiently(self, attempt: Callable[[Answered], T]) -> T:
        """Try again until patience, counted from the last answer, runs out.

        An attempt of several requests calls its argument after each one that made progress.
        """
        since, delay, say_at = time.monotonic(), FIRST_PAUSE, 0.0

        def answered() -> None:
            nonlocal since, delay, say_at
            since, delay, say_at = time.monotonic(), FIRST_PAUSE, 0.0

        while True:
            try:
                return attempt(answered)
            except Later as trouble:
                waited = time.monotonic() - since
                left = self._patience - waited
                if left <= 0:
                    raise Unanswered(
                        f"{self.url} has not answered for {self._patience:.0f} seconds: {trouble}",
                        hint="run the same command again to resume",
                    ) from trouble
                if waited >= say_at:
                    silent = f"has not answered for {waited:.0f} seconds"
                    self._say(
                        f"the linkage unit {silent if say_at else 'does not answer'} ({trouble}); "
                        f"trying for {left:.0f} more seconds"
                    )
                    say_at = waited + SAY_AGAIN
            self.pause(min(delay, left))
            delay = min(2 * delay, LONGEST_PAUSE)

    def unexpected(self, why: str) -> InvalidFile:
        """The error for an answer that no linkage unit would give."""
        return InvalidFile(
            f"{self.url} does not answer like a linkage unit: {why}",
            hint="check the address; all parties must use the same version of gramlink",
        )

    def _copy(self, answer: "httpx.Response", sink: IO[bytes], limit: int) -> None:
        taken = 0
        for chunk in answer.iter_raw(2**16):
            taken += len(chunk)
            if taken > limit:
                raise self.unexpected(f"it is larger than {limit:,} bytes")
            sink.write(chunk)

    def _refusal(self, answer: "httpx.Response") -> Refused:
        status = answer.status_code
        if answer.is_redirect:
            return Refused(
                f"{self.url} redirects elsewhere, and redirects are not followed",
                hint="ask the operator of the unit for its address",
                status=status,
            )
        said = io.BytesIO()
        self._copy(answer, said, MOST_WORDS)
        try:
            problem = read(Problem, said.getvalue())
        except ValueError:  # perhaps from a proxy
            problem = Problem(error="")
        message = problem.error or f"status {status}, without a reason"
        hint = _TOKEN_HINT if status == 401 else problem.hint
        return Refused(f"the linkage unit says: {message}", hint=hint, status=status)

    @contextmanager
    def _told_apart(self) -> Iterator[None]:
        """Tell temporary failures from permanent ones."""
        import httpx

        try:
            yield
        except httpx.TransportError as error:
            wrong = _tls_error(error)
            if isinstance(wrong, ssl.SSLCertVerificationError):
                raise Refused(
                    f"the certificate of {self.url} is not trusted: {wrong.verify_message}",
                    hint="use --authority to name the certificate of the authority that signed it",
                ) from error
            if wrong is not None and wrong.reason == "WRONG_VERSION_NUMBER":
                raise Refused(
                    f"{self.url} does not speak TLS", hint="ask the operator for its address"
                ) from error
            raise Later(str(error) or type(error).__name__) from error


def checked_url(url: str, *, insecure: bool) -> str:
    """An address that a token can be sent to: over TLS, or on this machine.

    >>> checked_url("https://unit.example/linkage/", insecure=False)
    'https://unit.example/linkage'
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        parts, host = urlsplit(""), ""
    plain = url.isascii() and url.isprintable() and " " not in url
    usual = parts.scheme in ("http", "https") and host and plain
    if not usual or "@" in parts.netloc or "?" in url or "#" in url:
        raise InvalidParameter(
            "the address of the linkage unit must be like https://unit.example:8440",
            hint="ask the operator of the unit for it",
        )
    if parts.scheme == "http" and not insecure and not _is_this_machine(host):
        raise InvalidParameter(
            f"without TLS, anyone on the way to {host} could read the token",
            hint="use https://, or --insecure on a network you trust",
        )
    return url.rstrip("/")


def read_token(path: Path) -> str:
    """The token in a file; errors never show it."""
    try:
        with path.open("rb") as file:
            token = file.read(1001).decode("ascii").strip()
    except OSError as error:
        raise InvalidFile(
            f"{path} cannot be read: {error.strerror or error}",
            hint="name the file with the token that the operator gave you",
        ) from error
    except UnicodeDecodeError:
        token = ""
    if not token or len(token) > 1000 or not all("!" <= symbol <= "~" for symbol in token):
        raise InvalidFile(
            f"{path} holds no token", hint="it must hold the one line that the operator gave you"
        )
    return token


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _trusted(authority: Path | None) -> ssl.SSLContext:
    """The system's authorities or, if one is named, only that one."""
    try:
        return ssl.create_default_context(cafile=str(authority) if authority else None)
    except OSError as error:
        raise InvalidFile(
            f"{authority} is not a certificate: {error.strerror or error}",
            hint="it must be a PEM file; ask the operator of the unit for it",
        ) from error


def _tls_error(error: BaseException | None) -> ssl.SSLError | None:
    while error is not None and not isinstance(error, ssl.SSLError):
        error = error.__cause__ or error.__context__
    return error
