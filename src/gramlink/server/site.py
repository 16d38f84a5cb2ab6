"""The web pages: signing in and out, and what the API says, as HTML."""

from pathlib import Path
from typing import Annotated
from urllib.parse import parse_qs, quote

from fastapi import APIRouter, Depends, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gramlink.io.clock import seconds_until
from gramlink.server import bodies, pages, views
from gramlink.server.auth import recognised
from gramlink.server.dependencies import (
    COOKIE,
    After,
    ExchangeName,
    Member,
    OfUnit,
    Operator,
    require_own_page,
    viewer_of,
)
from gramlink.server.errors import Refusal, unknown

LARGEST_FORM = 4096
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
_STATIC = {
    path.name: (path.read_bytes(), _TYPES[path.suffix])
    for path in (Path(__file__).parent / "static").iterdir()
    if path.suffix in _TYPES
}

router = APIRouter(include_in_schema=False)


@router.get("/")
def home(request: Request, unit: OfUnit, after: After = None) -> Response:
    """The operator's exchanges, a party's own exchange, or the form to sign in."""
    try:
        viewer = viewer_of(request)
    except Refusal as error:
        return HTMLResponse(pages.sign_in(str(error) if request.cookies.get(COOKIE) else ""))
    if viewer.party:
        return RedirectResponse(f"/exchanges/{quote(viewer.party.exchange_name)}", 303)
    with unit.store.read() as db:
        listed = views.of_page(db, after)
    page = pages.operator_home(listed, views.of_unit(unit), views.of_viewer(viewer))
    return HTMLResponse(page)


async def _token_in(request: Request) -> str:
    """The form's token; pages of other sites may not sign anybody in."""
    if {"sec-fetch-site", "origin"} & set(request.headers.keys()):
        require_own_page(request)
    body = await bodies.whole(request, LARGEST_FORM)
    try:
        fields = parse_qs(body.decode("ascii", "replace"), max_num_fields=10)
    except ValueError:
        fields = {}
    return fields.get("token", [""])[0].strip()


@router.post("/sign-in")
def sign_in(request: Request, unit: OfUnit, token: Annotated[str, Depends(_token_in)]) -> Response:
    """Keep a token in the browser while it is valid, where scripts cannot read it."""
    try:
        with unit.store.read() as db:
            viewer = recognised(db, token)
    except Refusal as error:
        return HTMLResponse(pages.sign_in(str(error)), 401)
    answer = RedirectResponse("/", 303)
    answer.set_cookie(
        COOKIE,
        token,
        max_age=seconds_until(viewer.expires),
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


@router.post("/sign-out")
def sign_out(request: Request) -> Response:
    """Forget the token."""
    require_own_page(request)
    answer = RedirectResponse("/", 303)
    answer.delete_cookie(
        COOKIE, httponly=True, samesite="strict", secure=request.url.scheme == "https"
    )
    return answer


@router.get("/exchanges/{name}")
def exchange(name: ExchangeName, viewer: Member, unit: OfUnit) -> Response:
    """One exchange, as the viewer may see it."""
    with unit.store.read() as db:
        view = views.of_exchange(db, unit.folder, name, viewer)
    return HTMLResponse(pages.exchange_page(view, views.of_viewer(viewer)))


@router.get("/log")
def whole_log(viewer: Operator, unit: OfUnit) -> Response:
    """Who did what when."""
    with unit.store.read() as db:
        found = views.of_log(db)
    return HTMLResponse(pages.log_page(found, views.of_viewer(viewer)))


@router.get("/static/{file}")
def static(file: str) -> Response:
    """One of the few files that the pages use."""
    if file not in _STATIC:
        raise unknown("there is no such file")
    content, kind = _STATIC[file]
    return Response(content, headers={"Cache-Control": "no-cache"}, media_type=kind)
