"""Dependencies of the routes: who makes a request, and whether it may."""

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Path, Query, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from gramlink.server import exchanges
from gramlink.server.auth import Party, Viewer, recognised
from gramlink.server.errors import Refusal, unknown
from gramlink.server.unit import Unit

COOKIE = "gramlink"
_BEARER = HTTPBearer(auto_error=False, description="A token: gl_ID_SECRET.")  # for /openapi.json
_READING = ("GET", "HEAD", "OPTIONS")
ExchangeName = Annotated[
    str, Path(alias="name", description="The exchange's name.", examples=["stroke-2026"])
]

After = Annotated[
    str | None,
    Query(max_length=100, description="List those after this exchange, which are older."),
]


def unit_of(request: Request) -> Unit:
    """The unit being served."""
    unit: Unit = request.app.state.unit
    return unit


def viewer_of(
    request: Request,
    _credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)] = None,
) -> Viewer:
    """Whose token is in the header or, failing that, in the cookie.

    A browser sends the cookie by itself, so requests that change anything must come from our page.
    """
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        token = request.cookies.get(COOKIE, "")
        if token and request.method not in _READING:
            require_own_page(request)
    if not token:
        raise Refusal(
            "this needs a token",
            hint="send it as `Authorization: Bearer TOKEN`, or sign in on the page",
            status=401,
        )
    with unit_of(request).store.read() as db:
        viewer = recognised(db, token.strip())
    place = getattr(request.state, "place", None)  # there is one where a server listens
    if place:
        place.show(viewer.party.number if viewer.party else 0)
    return viewer


def require_own_page(request: Request) -> None:
    """Refuse a request that came, or may have come, from another site's page."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        own = site == "same-origin"
    else:
        own = origin is not None and _host(origin) == request.headers.get("host", "").lower()
    if not own:
        raise Refusal(
            "this request does not come from this linkage unit's own page",
            hint="send the token in the Authorization header instead",
            status=403,
        )


def _host(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


AnyViewer = Annotated[Viewer, Depends(viewer_of)]
OfUnit = Annotated[Unit, Depends(unit_of)]


def operator_of(viewer: AnyViewer) -> Viewer:
    """The operator, or a refusal."""
    if viewer.role != "operator":
        raise Refusal(
            "this is for the operator of the linkage unit", hint="ask the operator", status=403
        )
    return viewer


def member_of(name: ExchangeName, viewer: AnyViewer, unit: OfUnit) -> Viewer:
    """The operator, or a party of the exchange. To others, there is no such exchange."""
    if viewer.party and viewer.party.exchange_name != name:
        raise unknown("there is no such exchange")
    with unit.store.read() as db:
        exchanges.find(db, name)
    return viewer


def party_of(member: Annotated[Viewer, Depends(member_of)]) -> Party:
    """A party of the exchange, or a refusal."""
    if member.party is None:
        raise Refusal("this is for a party of the exchange", hint="use its token", status=403)
    return member.party


Operator = Annotated[Viewer, Depends(operator_of)]
Member = Annotated[Viewer, Depends(member_of)]
AsParty = Annotated[Party, Depends(party_of)]
