"""OpenAPI: what `/openapi.json` says of the requests, besides what their types do."""

from typing import Any

from pydantic import BaseModel

from gramlink.exchange.wire import Problem

_SAID = {
    400: "The body is not what it should be.",
    401: "There is no token, or it is not valid.",
    403: "The token is for something else.",
    404: "There is no such thing, or not yet, or it is not for this token.",
    408: "The rest of the body did not come in time.",
    409: "It is too early or too late for this, or it was said otherwise before.",
    410: "The files were erased, as the unit keeps them for some time only.",
    413: "It is too large, or the unit has no room for it.",
    422: "Something in the request makes no sense.",
}
BODY = (400, 408, 413, 422)  # how any body can be refused
BYTES = {"type": "string", "format": "binary"}
KEY = {"type": "string", "pattern": "^age1[0-9a-z]{58}$"}
A_KEY = "age1vhut3xe059tw2yqzuafzwdsvruudnes4f8742tu4qrza3dsh9vwqmhuatm"
TEXT = {
    "content": {"text/plain": {"schema": {"type": "string"}, "example": "[fields.surname]\n"}},
    "description": "linkage.toml, exactly as it was given.",
}
FILE = {"content": {"application/octet-stream": {"schema": BYTES}}, "description": "The file."}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """How a request can be refused; a name in an address can be wrong."""
    every = {401, *statuses, *((422,) if 404 in statuses else ())}
    return {status: {"model": Problem, "description": _SAID[status]} for status in sorted(every)}


def body_of(media: str, schema: dict[str, Any], example: Any = None) -> dict[str, Any]:
    """What a request's body is."""
    content = {"schema": schema, **({} if example is None else {"example": example})}
    return {"requestBody": {"required": True, "content": {media: content}}}


def json_body(model: type[BaseModel]) -> dict[str, Any]:
    """The same of a JSON body."""
    schema = model.model_json_schema()
    return body_of("application/json", schema, schema["examples"][0])
