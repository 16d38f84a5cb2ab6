"""The HTTP API: thin functions, one per request."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import PlainTextResponse

from gramlink.bundles.sealing import Recipient
from gramlink.exchange.wire import (
    ExchangeInfo,
    ExchangeList,
    LogInfo,
    MadeExchange,
    MadeToken,
    NewExchange,
    NewToken,
    NewUpload,
    Offset,
    TokenInfo,
    UnitInfo,
)
from gramlink.server import auth, bodies, exchanges, relay, uploads, views
from gramlink.server.bodies import json_of
from gramlink.server.dependencies import (
    After,
    AnyViewer,
    AsParty,
    ExchangeName,
    Member,
    OfUnit,
    Operator,
)
from gramlink.server.errors import Refusal, storing
from gramlink.server.openapi import (
    A_KEY,
    BODY,
    BYTES,
    FILE,
    KEY,
    TEXT,
    body_of,
    json_body,
    refusals,
)
from gramlink.server.plan import Plan

router = APIRouter(prefix="/api")


@router.get("/unit")
def unit_info(unit: OfUnit) -> UnitInfo:
    """The unit's key, to seal bundles to, and its limits. Needs no token."""
    return views.of_unit(unit)


@router.get("/token", responses=refusals())
def token_info(viewer: AnyViewer) -> TokenInfo:
    """Whose token it is."""
    return views.of_viewer(viewer)


@router.get("/log", responses=refusals(403))
def whole_log(_: Operator, unit: OfUnit) -> LogInfo:
    """Who did what when, and whether the log is intact."""
    with unit.store.read() as db:
        return views.of_log(db)


@router.post(
    "/exchanges",
    status_code=201,
    responses=refusals(403, 409, *BODY),
    openapi_extra=json_body(NewExchange),
)
def make_exchange(
    _: Operator, unit: OfUnit, asked: Annotated[NewExchange, Depends(json_of(NewExchange))]
) -> MadeExchange:
    """Make an exchange, and a token for each party that is shown only once."""
    plan = Plan(asked.name, asked.text, tuple(asked.parties), dict(asked.returns), asked.token_days)
    with storing(), unit.store.change() as db:
        tokens = exchanges.create(db, unit.folder, plan)
    return MadeExchange(
        name=plan.name, tokens={party: token.text for party, token in tokens.items()}
    )


@router.get("/exchanges", responses=refusals(403, 404))
def all_exchanges(
    _: Operator,
    unit: OfUnit,
    after: After = None,
    most: Annotated[int, Query(ge=1, le=1000, description="How many at most.")] = views.PAGE,
) -> ExchangeList:
    """A page of all exchanges, latest first."""
    with unit.store.read() as db:
        return views.of_page(db, after, most)


@router.get("/exchanges/{name}", response_model_exclude_unset=True, responses=refusals(404))
def one_exchange(name: ExchangeName, viewer: Member, unit: OfUnit) -> ExchangeInfo:
    """The state of an exchange; a party sees little about the others."""
    with unit.store.read() as db:
        return views.of_exchange(db, unit.folder, name, viewer)


@router.delete("/exchanges/{name}", status_code=204, responses=refusals(403, 404, 413))
def delete_exchange(_: Operator, name: ExchangeName, unit: OfUnit) -> None:
    """End an exchange, and erase everything about it except its name and its log."""
    with storing(), unit.store.change() as db:
        number = exchanges.delete(db, name)
    unit.deleted(number)


@router.get(
    "/exchanges/{name}/schema", response_class=Response, responses={200: TEXT, **refusals(404)}
)
def schema_of(name: ExchangeName, _: Member, unit: OfUnit) -> PlainTextResponse:
    """The linkage.toml that the parties use."""
    with unit.store.read() as db:
        return PlainTextResponse(exchanges.find(db, name).schema)


@router.post(
    "/exchanges/{name}/tokens",
    status_code=201,
    responses=refusals(403, 404, *BODY),
    openapi_extra=json_body(NewToken),
)
def make_token(
    _: Operator,
    name: ExchangeName,
    unit: OfUnit,
    asked: Annotated[NewToken, Depends(json_of(NewToken))],
) -> MadeToken:
    """Make a new token for a party, shown only once, and revoke the old one."""
    with storing(), unit.store.change() as db:
        token, expires = auth.give_to_party(db, name, asked.party, asked.days)
    return MadeToken(token=token.text, expires=expires)


@router.delete(
    "/exchanges/{name}/tokens/{party}", status_code=204, responses=refusals(403, 404, 413)
)
def revoke_token(_: Operator, name: ExchangeName, party: str, unit: OfUnit) -> None:
    """Revoke a party's token."""
    with storing(), unit.store.change() as db:
        auth.revoke_of_party(db, name, party)


async def recipient_in(_: AsParty, request: Request) -> Recipient:
    """The recipient in a body."""
    body = await bodies.whole(request, bodies.LARGEST_RECIPIENT)
    try:
        return Recipient(body.decode("ascii").strip())
    except UnicodeDecodeError as error:
        raise Refusal("this is not an age recipient", status=422) from error


@router.put(
    "/exchanges/{name}/recipient",
    status_code=204,
    responses=refusals(403, 404, 409, *BODY),
    openapi_extra=body_of("text/plain", KEY, A_KEY),
)
def give_recipient(
    who: AsParty, unit: OfUnit, recipient: Annotated[Recipient, Depends(recipient_in)]
) -> None:
    """Give the recipient that the others and the unit must seal to."""
    if recipient.overlaps(unit.recipient):
        raise Refusal(
            "this is the linkage unit's own recipient, and it must not see what is mined",
            hint="send this party's own; `gramlink keys new` makes one",
            status=422,
        )
    with storing(), unit.store.change() as db:
        exchanges.join(db, who, recipient.key)


@router.put(
    "/exchanges/{name}/mined/{party}",
    status_code=204,
    responses=refusals(403, 404, 409, *BODY),
    openapi_extra=body_of("application/octet-stream", BYTES),
)
async def send_mined(
    who: AsParty,
    unit: OfUnit,
    request: Request,
    party: Annotated[str, Path(description="The party it is sealed to.", examples=["registry"])],
) -> None:
    """Send what this party mined, sealed to another party; the unit cannot open it."""
    await relay.take(unit, who, party, request)


@router.get(
    "/exchanges/{name}/mined/{party}",
    response_class=Response,
    responses={200: FILE, **refusals(403, 404, 410)},
)
def fetch_mined(
    who: AsParty,
    unit: OfUnit,
    party: Annotated[str, Path(description="The party that sealed it.", examples=["hospital"])],
) -> Response:
    """Fetch what another party mined, sealed to this one."""
    return relay.mined(unit, who, party)


@router.post(
    "/exchanges/{name}/upload",
    responses=refusals(403, 404, 409, *BODY),
    openapi_extra=json_body(NewUpload),
)
def begin_upload(
    who: AsParty, unit: OfUnit, asked: Annotated[NewUpload, Depends(json_of(NewUpload))]
) -> Offset:
    """Announce a bundle, or ask where to resume its upload."""
    return Offset(offset=uploads.begin(unit, who, asked.size, asked.sha256))


@router.patch(
    "/exchanges/{name}/upload",
    responses=refusals(403, 404, 409, *BODY),
    openapi_extra=body_of("application/octet-stream", BYTES),
)
async def go_on_with_upload(
    who: AsParty,
    unit: OfUnit,
    request: Request,
    offset: Annotated[int, Query(ge=0, le=2**62, description="Where the body starts.")],
) -> Offset:
    """Send part of a bundle, or the rest of it."""
    return Offset(offset=await uploads.take(unit, who, offset, request))


@router.delete("/exchanges/{name}/bundle", status_code=204, responses=refusals(403, 404, 409, 413))
def withdraw_bundle(who: AsParty, unit: OfUnit) -> None:
    """Take this party's bundle back, and erase it, until it is being linked."""
    uploads.withdraw(unit, who)


@router.get(
    "/exchanges/{name}/results",
    response_class=Response,
    responses={200: FILE, **refusals(403, 404, 410)},
)
def fetch_results(who: AsParty, unit: OfUnit) -> Response:
    """Fetch this party's results, sealed to its recipient."""
    return relay.results(unit, who)
