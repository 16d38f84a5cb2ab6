"""Guard: what holds for every answer, whatever is asked and whatever goes wrong.

For an unexpected error, its kind and line are written to standard error, but not its message,
which may quote what a client sent.
"""

import asyncio
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gramlink.errors import GramlinkError
from gramlink.exchange.wire import Problem
from gramlink.io.text import one_line
from gramlink.server.errors import Refusal, busy

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    # with no-referrer, browsers say `Origin: null` of our own forms, which `dependencies` refuses
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_WORDS = {
    404: ("there is nothing at this address", "check the address"),
    405: ("this address does not accept this method", "see /openapi.json"),
}


class Guard:
    """Adds the headers to every answer, and answers errors that no handler caught."""

    def __init__(self, app: ASGIApp, patience: float) -> None:
        self.app, self.patience = app, patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            # a client that reads nothing for this long does not get the rest
            async with asyncio.timeout(max(self.patience, 1)):
                await send(message)

        try:
            await self.app(scope, receive, guarded)
        except (ClientDisconnect, TimeoutError, ConnectionError):
            return
        except Exception as error:  # noqa: BLE001  # the last to see it
            problem = busy(error)
            if problem is None:
                report(error)
                problem = Refusal(
                    "something went wrong in the linkage unit", hint="ask its operator", status=500
                )
            if not started:
                await refused(Request(scope), problem)(scope, receive, guarded)


def report(error: BaseException) -> None:
    """Print what kind of error happened where, but nothing of its content."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = "".join(f" in {Path(frame.filename).name}, line {frame.lineno}" for frame in last)
    print(f"gramlink: unexpected {type(error).__name__}{where}", file=sys.stderr)  # noqa: T201


class Reports:
    """Reports errors that no request is to blame for, those that follow one of their kind not."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Report what an event loop tells."""
        error = context.get("exception")
        kind = type(error).__name__
        if error is not None and kind != self._last:
            report(error)
        self._last = kind


def refused(request: Request, error: GramlinkError) -> Response:
    """An error as an answer: a page if a page was asked for, else JSON."""
    status = error.status if isinstance(error, Refusal) else 422
    offset = error.offset if isinstance(error, Refusal) else None
    message, hint = one_line(str(error)), one_line(error.hint)
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    if status in (408, 429):
        headers["Connection"] = "close"
    if wants_page(request):
        from gramlink.server.pages import problem_page, sign_in

        if status == 401:
            return HTMLResponse(sign_in(message), status, headers)
        return HTMLResponse(problem_page(status, message, hint), status, headers)
    problem = Problem(error=message, hint=hint, offset=offset)
    content = problem.model_dump_json(exclude_none=True)
    return Response(content, status, headers, "application/json")


def wants_page(request: Request) -> bool:
    """Whether somebody will read the answer in a browser."""
    path = request.url.path
    api = path.startswith("/api") or path == "/openapi.json"
    return not api and "text/html" in request.headers.get("accept", "")


def _allowed(routes: Sequence[BaseRoute], request: Request) -> list[str]:
    """All methods an address accepts; starlette lists only those of the first route."""
    found: set[str] = set()
    for route in routes:
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
            found |= route.methods or set()
    return sorted(found)


def install(app: FastAPI, routes: Sequence[BaseRoute], patience: float) -> None:
    """Answer errors in our own words."""

    async def gramlink_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, GramlinkError)  # noqa: S101  # registered for it
        return refused(request, error)

    async def http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101  # registered for it
        message, hint = _WORDS.get(error.status_code, (str(error.detail), ""))
        problem = Refusal(message, hint=hint, status=error.status_code)
        answer = refused(request, problem)
        answer.headers.update(error.headers or {})
        if error.status_code == 405 and (allowed := _allowed(routes, request)):
            answer.headers["Allow"] = ", ".join(allowed)
        return answer

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # noqa: S101  # registered for it
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        problem = Refusal(f"{place}: {first['msg']}", hint="see /openapi.json", status=422)
        return refused(request, problem)

    app.add_exception_handler(GramlinkError, gramlink_error)
    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_middleware(Guard, patience=patience)
