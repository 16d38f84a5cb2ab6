"""OpenAPI: what `/openapi.json` says about the requests, beyond their types."""

from typing import Any

from pydantic import BaseModel

from gramlink.exchange.wire import Problem

_SAID = {
    400: "The body is malformed.",
    401: "The token is missing or not valid.",
    403: "The token does not allow this.",
    404: "It does not exist, does not exist yet, or is not for this token.",
    408: "The rest of the body did not come in time.",
    409: "It is too early or too late for this, or it contradicts an earlier request.",
    410: "The files were erased, as the unit keeps them for a limited time.",
    413: "It is too large, or the unit has no room for it.",
    422: "A value in the request is not valid.",
    429: "The token has too many connections open; try again later.",
}
BODY = (400, 408, 413, 422)  # statuses for any refused body
BYTES = {"type": "string", "format": "binary"}
KEY = {"type": "string", "pattern": "^age1[0-9a-z]{58}$"}
A_KEY = (
    "age1vhut3xe059tw2yqzuafzwdsvruudnes4f8742tu4qrza3dsh9vwqmhuatm"
    "+ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
)
TEXT = {
    "content": {"text/plain": {"schema": {"type": "string"}, "example": "[fields.surname]\n"}},
    "description": "linkage.toml, exactly as given.",
}
FILE = {"content": {"application/octet-stream": {"schema": BYTES}}, "description": "The file."}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The ways a request can be refused; a name in an address can be wrong."""
    every = {401, 429, *statuses, *((422,) if 404 in statuses else ())}
    return {status: {"model": Problem, "description": _SAID[status]} for status in sorted(every)}


def body_of(media: str, schema: dict[str, Any], example: Any = None) -> dict[str, Any]:
    """The description of a request's body."""
    content = {"schema": schema, **({} if example is None else {"example": example})}
    return {"requestBody": {"required": True, "content": {media: content}}}


def json_body(model: type[BaseModel]) -> dict[str, Any]:
    """The same for a JSON body."""
    schema = model.model_json_schema()
    return body_of("application/json", schema, schema["examples"][0])
