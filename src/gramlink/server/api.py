"""The interface over HTTP: thin functions, one for each thing that can be asked for."""

from importlib.metadata import version
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel

from gramlink.bundles.sealing import Recipient
from gramlink.exchange import wire
from gramlink.server import auth, bodies, exchanges, relay, uploads, views
from gramlink.server.bodies import in_thread, json_of, sealed_to_file
from gramlink.server.dependencies import AnyViewer, AsParty, ExchangeName, Member, OfUnit, Operator
from gramlink.server.errors import Refusal, storing
from gramlink.server.folder import temporary
from gramlink.server.plan import Plan
from gramlink.server.store import log
from gramlink.server.unit import Unit

_SAID = {
    400: "The body is not what it should be.",
    401: "There is no token, or it does not hold.",
    403: "The token is for something else.",
    404: "There is no such thing, or not yet, or it is not for this token.",
    408: "The rest of the body did not come in time.",
    409: "It is too early or too late for this, or it was said otherwise before.",
    410: "The files were erased, as the unit keeps them for some time only.",
    413: "It is too large, or the unit has no room for it.",
    422: "Something in the request makes no sense.",
}
_BODY = (400, 408, 413, 422)

router = APIRouter(prefix="/api")


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """How a request can be refused, for `/openapi.json`; a name in an address can be wrong."""
    every = {401, *statuses, *((422,) if 404 in statuses else ())}
    return {
        status: {"model": wire.Problem, "description": _SAID[status]} for status in sorted(every)
    }


def body_of(media: str, schema: dict[str, Any], example: Any = None) -> dict[str, Any]:
    """What a request's body is, for `/openapi.json`."""
    content = {"schema": schema, **({} if example is None else {"example": example})}
    return {"requestBody": {"required": True, "content": {media: content}}}


def json_body(model: type[BaseModel]) -> dict[str, Any]:
    """The same of a JSON body."""
    schema = model.model_json_schema()
    return body_of("application/json", schema, schema["examples"][0])


_RECIPIENT = "age1vhut3xe059tw2yqzuafzwdsvruudnes4f8742tu4qrza3dsh9vwqmhuatm"
_BYTES = {"type": "string", "format": "binary"}
_TEXT = {
    "content": {"text/plain": {"schema": {"type": "string"}, "example": "[fields.surname]\n"}},
    "description": "linkage.toml, exactly as it was given.",
}
_FILE = {"content": {"application/octet-stream": {"schema": _BYTES}}, "description": "The file."}


def info_of(unit: Unit) -> dict[str, Any]:
    """What the unit says of itself to everybody."""
    limits = {
        "bundle bytes": unit.settings.largest_bundle,
        "base bytes": unit.settings.largest_base,
    }
    return {
        "gramlink": version("gramlink"),
        "recipient": unit.recipient.key,
        "fingerprint": unit.recipient.fingerprint,
        "limits": limits,
    }


@router.get("/unit", response_model=wire.UnitInfo)
def unit_info(unit: OfUnit) -> dict[str, Any]:
    """The unit's key, which bundles are sealed to, and its limits. Needs no token."""
    return info_of(unit)


@router.get("/token", response_model=wire.TokenInfo, responses=refusals())
def token_info(viewer: AnyViewer) -> dict[str, Any]:
    """Whom the token speaks for."""
    return views.of_viewer(viewer)


@router.get("/log", response_model=wire.LogInfo, responses=refusals(403))
def whole_log(_: Operator, unit: OfUnit) -> dict[str, Any]:
    """Who did what when, and whether the log is intact."""
    with unit.store.read() as db:
        entries = log.read(db)
    return log.document(entries)


@router.post(
    "/exchanges",
    status_code=201,
    response_model=wire.MadeExchange,
    responses=refusals(403, 409, *_BODY),
    openapi_extra=json_body(wire.NewExchange),
)
def make_exchange(
    _: Operator,
    unit: OfUnit,
    asked: Annotated[wire.NewExchange, Depends(json_of(wire.NewExchange))],
) -> dict[str, Any]:
    """Make an exchange and a token for each party, which is shown this once."""
    plan = Plan(asked.name, asked.text, tuple(asked.parties), dict(asked.returns), asked.token_days)
    with storing(), unit.store.change() as db:
        tokens = exchanges.create(db, unit.folder, plan)
    return {"name": plan.name, "tokens": {party: token.text for party, token in tokens.items()}}


@router.get(
    "/exchanges",
    response_model=list[wire.ExchangeInfo],
    response_model_exclude_unset=True,
    responses=refusals(403),
)
def all_exchanges(_: Operator, unit: OfUnit) -> list[dict[str, Any]]:
    """All exchanges, the latest first."""
    with unit.store.read() as db:
        return views.of_all(db, unit.folder)


@router.get(
    "/exchanges/{name}",
    response_model=wire.ExchangeInfo,
    response_model_exclude_unset=True,
    responses=refusals(404),
)
def one_exchange(name: ExchangeName, viewer: Member, unit: OfUnit) -> dict[str, Any]:
    """How an exchange stands; a party sees little of the others."""
    with unit.store.read() as db:
        return views.of_exchange(db, unit.folder, name, viewer)


@router.delete("/exchanges/{name}", status_code=204, responses=refusals(403, 404, 413))
def delete_exchange(_: Operator, name: ExchangeName, unit: OfUnit) -> None:
    """End an exchange's work, and erase all there is of it but its name and its log."""
    with storing(), unit.store.change() as db:
        number = exchanges.delete(db, name)
    unit.deleted(number)


@router.get(
    "/exchanges/{name}/schema",
    response_class=Response,
    responses={200: _TEXT, **refusals(404)},
)
def schema_of(name: ExchangeName, _: Member, unit: OfUnit) -> PlainTextResponse:
    """The linkage.toml that the parties use."""
    with unit.store.read() as db:
        return PlainTextResponse(exchanges.find(db, name)["schema"])


@router.post(
    "/exchanges/{name}/tokens",
    status_code=201,
    response_model=wire.MadeToken,
    responses=refusals(403, 404, *_BODY),
    openapi_extra=json_body(wire.NewToken),
)
def make_token(
    _: Operator,
    name: ExchangeName,
    unit: OfUnit,
    asked: Annotated[wire.NewToken, Depends(json_of(wire.NewToken))],
) -> dict[str, Any]:
    """A new token for a party, shown this once; the old one is revoked."""
    with storing(), unit.store.change() as db:
        token, expires = auth.give_to_party(db, name, asked.party, asked.days)
    return {"token": token.text, "expires": expires}


@router.delete(
    "/exchanges/{name}/tokens/{party}", status_code=204, responses=refusals(403, 404, 413)
)
def revoke_token(_: Operator, name: ExchangeName, party: str, unit: OfUnit) -> None:
    """Revoke a party's token."""
    with storing(), unit.store.change() as db:
        auth.revoke_of_party(db, name, party)


async def recipient_in(_: AsParty, request: Request) -> Recipient:
    """The recipient that a body is."""
    body = await bodies.whole(request, bodies.LARGEST_RECIPIENT)
    try:
        return Recipient(body.decode("ascii").strip())
    except UnicodeDecodeError as error:
        raise Refusal("this is not an age recipient", status=422) from error


@router.put(
    "/exchanges/{name}/recipient",
    status_code=204,
    responses=refusals(403, 404, 409, *_BODY),
    openapi_extra=body_of(
        "text/plain", {"type": "string", "pattern": "^age1[0-9a-z]{58}$"}, _RECIPIENT
    ),
)
def give_recipient(
    who: AsParty, unit: OfUnit, recipient: Annotated[Recipient, Depends(recipient_in)]
) -> None:
    """Say whom the others, and the unit, are to seal to."""
    if recipient == unit.recipient:
        raise Refusal(
            "this is the linkage unit's own recipient, who must not see the bases",
            hint="send this party's own: `gramlink keys new` makes one",
            status=422,
        )
    with storing(), unit.store.change() as db:
        exchanges.join(db, who, recipient.key)


@router.put(
    "/exchanges/{name}/bases/{party}",
    status_code=204,
    responses=refusals(403, 404, 409, *_BODY),
    openapi_extra=body_of("application/octet-stream", _BYTES),
)
async def send_base(
    who: AsParty,
    unit: OfUnit,
    request: Request,
    party: Annotated[str, Path(description="Whom it is sealed to.", examples=["registry"])],
) -> None:
    """Send a base, sealed to another party; the unit cannot open it."""
    receiver = await in_thread(relay.receiver_of, unit, who, party)
    path = unit.folder.base(who.exchange, who.number, receiver.number)
    with unit.only_one("base", who.number, receiver.number):
        beside = temporary(path)
        try:
            sha256 = await sealed_to_file(request, beside, unit.settings.largest_base)
            await in_thread(relay.relay, unit, who, receiver, beside, sha256)
        finally:
            beside.unlink(missing_ok=True)


@router.get(
    "/exchanges/{name}/bases/{party}",
    response_class=Response,
    responses={200: _FILE, **refusals(403, 404, 410)},
)
def fetch_base(
    who: AsParty,
    unit: OfUnit,
    party: Annotated[str, Path(description="Who sealed it.", examples=["hospital"])],
) -> Response:
    """Fetch a base that another party sealed to this one."""
    return relay.base(unit, who, party)


@router.post(
    "/exchanges/{name}/upload",
    response_model=wire.Offset,
    responses=refusals(403, 404, 409, *_BODY),
    openapi_extra=json_body(wire.NewUpload),
)
def begin_upload(
    who: AsParty,
    unit: OfUnit,
    asked: Annotated[wire.NewUpload, Depends(json_of(wire.NewUpload))],
) -> dict[str, int]:
    """Announce a bundle, or ask where to go on with it."""
    return {"offset": uploads.begin(unit, who, asked.size, asked.sha256)}


@router.patch(
    "/exchanges/{name}/upload",
    response_model=wire.Offset,
    responses=refusals(403, 404, 409, *_BODY),
    openapi_extra=body_of("application/octet-stream", _BYTES),
)
async def go_on_with_upload(
    who: AsParty,
    unit: OfUnit,
    request: Request,
    offset: Annotated[int, Query(ge=0, le=2**62, description="Where the body belongs.")],
) -> dict[str, int]:
    """Send some of a bundle, or the rest of it."""
    return {"offset": await uploads.take(unit, who, offset, request)}


@router.get(
    "/exchanges/{name}/results",
    response_class=Response,
    responses={200: _FILE, **refusals(403, 404, 410)},
)
def fetch_results(who: AsParty, unit: OfUnit) -> Response:
    """Fetch this party's results, sealed to its recipient."""
    return relay.results(unit, who)
