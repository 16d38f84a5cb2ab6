"""Values on the wire: strict types, with checked texts, numbers and names."""

from collections.abc import Callable
from typing import Annotated, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    PlainSerializer,
    PlainValidator,
    ValidationError,
    WithJsonSchema,
)

from gramlink.bundles.sealing import Recipient
from gramlink.errors import GramlinkError
from gramlink.io.files import plain_json
from gramlink.io.names import exchange_name, owner_name
from gramlink.io.text import one_line

LONGEST_WORDS = 2000
MOST_DAYS = 3650  # that a token is valid for

Checked = TypeVar("Checked")
Model = TypeVar("Model", bound=BaseModel)


def _as_value_error(check: Callable[[object], Checked]) -> Callable[[object], Checked]:
    """The check, with errors that pydantic understands."""

    def checked(value: object) -> Checked:
        try:
            return check(value)
        except GramlinkError as error:
            raise ValueError(str(error)) from error

    return checked


@_as_value_error
def _recipient(value: object) -> Recipient:
    if isinstance(value, Recipient):
        return value
    if not isinstance(value, str):
        raise ValueError("an age recipient must be text")
    return Recipient(value)


def _bounded(text: str) -> str:
    return text[:LONGEST_WORDS]


Count = Annotated[int, Field(ge=0, lt=2**63)]
Days = Annotated[int, Field(ge=1, le=MOST_DAYS)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="SHA-256, in hexadecimal.")]
ExchangeName = Annotated[str, AfterValidator(_as_value_error(exchange_name))]
Key = Annotated[
    Recipient,
    PlainValidator(_recipient),
    PlainSerializer(lambda recipient: recipient.key, return_type=str),
    WithJsonSchema(
        {
            "type": "string",
            "description": "An age recipient and an Ed25519 key.",
            "examples": ["age1...+ed25519:..."],
        }
    ),
]
Name = Annotated[str, Field(min_length=1, max_length=100)]
OwnerName = Annotated[str, AfterValidator(_as_value_error(owner_name))]
Time = Annotated[str, Field(max_length=100, examples=["2026-12-31T12:00:00Z"])]
Words = Annotated[str, AfterValidator(_bounded)]  # for people to read


def read(model: type[Model], data: bytes) -> Model:
    """The value that a text describes, or a `ValueError` that says in one line what is wrong.

    >>> from gramlink.exchange.wire import Offset
    >>> read(Offset, b'{"offset": -1}')
    Traceback (most recent call last):
    ValueError: offset: Input should be greater than or equal to 0
    """
    try:
        is_object = isinstance(plain_json(data), dict)  # which refuses a key given twice
    except (ValueError, RecursionError):
        is_object = False
    if not is_object:
        raise ValueError("it is not a JSON object")
    try:
        return model.model_validate_json(data)
    except ValidationError as error:
        raise ValueError(complaint(error)) from error


def complaint(error: ValidationError) -> str:
    """The first error and its place, in one line."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part)[:100] for part in first["loc"])
    said = f"{place}: {first['msg']}" if place else str(first["msg"])
    return one_line(said)
