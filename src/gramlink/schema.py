"""Schema and Field: what `linkage.toml` says.

Everything in a schema is public and is set before any record is read. Reading the
alphabet, the length or the tree's height off the data, as the paper does, would leak.
"""

import tomllib
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    ValidationError,
    model_validator,
)
from pydantic import Field as Setting

from gramlink.errors import InvalidParameter, InvalidSchema
from gramlink.files import digest

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ "
CATCH_ALL = "\N{REPLACEMENT CHARACTER}"

MinerName = Literal[
    "levelgram",
    "tree-linear",
    "tree-exponential",
    "tree-adaptive",
    "tree-hybrid",
    "fpm",
    "public",
    "random",
    "exact",
]
PolicyName = Literal["calibrated", "worst-case", "paper", "global", "global-paper"]
RuleName = Literal["one-to-one", "best-per-left", "all"]


def fraction(value: object) -> Fraction:
    """An exact fraction from a number or a text such as 0.1 or 1/3.

    >>> fraction("0.1"), fraction(Decimal("0.25"))
    (Fraction(1, 10), Fraction(1, 4))
    """
    text = str(value)  # a float is read as it is printed: whoever writes 0.1 means one tenth
    try:
        if len(text) > 100 or ("/" not in text and abs(Decimal(text).adjusted()) > 30):
            raise ValueError
        return Fraction(text)
    except (ValueError, ArithmeticError) as error:
        raise InvalidParameter(
            f"{text[:100]} is not a number of a sensible size", hint="write 0.1 or 1/10"
        ) from error


def positive_epsilon(value: object) -> Fraction:
    """An epsilon that buys some privacy and some noise."""
    epsilon = fraction(value)
    if epsilon <= 0:
        raise InvalidParameter(
            f"epsilon must be above 0, not {value}", hint="common values lie between 0.1 and 2"
        )
    return epsilon


Epsilon = Annotated[
    Fraction, BeforeValidator(positive_epsilon), PlainSerializer(str, return_type=str)
]


class _Frozen(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True
    )


class Field(_Frozen):
    """One field that records are compared on.

    >>> Field(name="surname").symbols
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ �'
    """

    name: str = Setting(min_length=1)
    kind: Literal["text"] = "text"
    column: str = ""  # the owner's own name for it; the other owner may have another
    alphabet: str = Setting(default=ALPHABET, min_length=1, max_length=254)
    length: int = Setting(default=32, ge=1, le=255)
    case: Literal["upper", "lower", "keep"] = "upper"
    accents: Literal["strip", "keep"] = "strip"
    punctuation: Literal["strip", "space", "keep"] = "strip"
    whitespace: Literal["collapse", "strip", "keep"] = "collapse"
    miner: MinerName = "levelgram"
    size: int = Setting(default=75, ge=1, le=1000)
    q_min: int = Setting(default=1, ge=1)
    q_max: int = Setting(default=3, ge=1, le=6)
    height: int = Setting(default=7, ge=1, le=32)
    grams: tuple[str, ...] = Setting(
        default=(), max_length=1000
    )  # the base itself, for miner = "public"

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.q_min > self.q_max:
            raise ValueError(f"q_min = {self.q_min} is above q_max = {self.q_max}")
        if len(set(self.alphabet)) != len(self.alphabet):
            raise ValueError("the alphabet has a symbol twice")
        if CATCH_ALL in self.alphabet:
            raise ValueError(f"{CATCH_ALL} stands for symbols outside the alphabet")
        if self.miner == "tree-hybrid" and self.height <= self.q_max:
            raise ValueError("tree-hybrid needs a height above q_max")
        if (self.miner == "public") != bool(self.grams):
            raise ValueError('grams are given if, and only if, miner = "public"')
        for gram in self.grams:
            if not 1 <= len(gram) <= 6 or not set(gram) <= set(self.alphabet):
                raise ValueError(f"gram {gram[:20]!r} is not of 1 to 6 symbols of the alphabet")
        if len(set(self.grams)) < len(self.grams):
            raise ValueError("a gram is given twice")
        return self

    @property
    def symbols(self) -> str:
        """The alphabet and, last, the catch-all."""
        return self.alphabet + CATCH_ALL

    @property
    def source(self) -> str:
        """The column this field is read from."""
        return self.column or self.name


class Schema(_Frozen):
    """What two owners must agree on to be comparable.

    >>> schema = Schema(fields=(Field(name="surname"),), epsilon="0.5")
    >>> schema.epsilon, schema.field.name
    (Fraction(1, 2), 'surname')
    """

    fields: tuple[Field, ...]
    id: str = "id"  # the owner's own id column
    epsilon: Epsilon = Fraction(1)
    edits: int = Setting(default=1, ge=0, le=5)
    threshold: PolicyName = "calibrated"
    recall: float = Setting(default=0.99, gt=0, le=0.9999)
    errors: Literal["uniform", "keyboard"] = "uniform"
    decide: RuleName = "one-to-one"

    @model_validator(mode="after")
    def _one_field(self) -> Self:
        if len(self.fields) != 1:
            raise ValueError("a schema has exactly one field in this version")
        return self

    @property
    def field(self) -> Field:
        """The field."""
        return self.fields[0]

    @property
    def agreed(self) -> dict[str, Any]:
        """The settings that must be the same at both owners.

        Not among them: the owners' column names, and epsilon, which each decides for itself.
        """
        settings = self.model_dump(mode="json", exclude={"id", "epsilon", "fields"})
        settings["fields"] = {
            field.name: field.model_dump(mode="json", exclude={"name", "column"})
            for field in self.fields
        }
        return settings

    @property
    def digest(self) -> str:
        """Equal for two owners if, and only if, their agreed settings are equal."""
        return digest(self.agreed)


def differences(left: dict[str, Any], right: dict[str, Any], path: str = "") -> list[str]:
    """The settings in which two agreed parts differ, by name.

    >>> differences({"edits": 1, "fields": {"name": {"size": 75}}},
    ...             {"edits": 1, "fields": {"name": {"size": 50}}})
    ['fields.name.size: 75 and 50']
    """
    found = []
    for key in sorted(left.keys() | right.keys()):
        ours, theirs = left.get(key), right.get(key)
        if isinstance(ours, dict) and isinstance(theirs, dict):
            found += differences(ours, theirs, f"{path}{key}.")
        elif ours != theirs:
            found.append(f"{path}{key}: {ours} and {theirs}")
    return found


def checked_schema(**settings: Any) -> Schema:
    """A schema from settings, or an `InvalidSchema` that names the wrong one."""
    try:
        return Schema.model_validate(settings)
    except ValidationError as error:
        raise InvalidSchema(_first_complaint(error)) from error


def _first_complaint(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if not isinstance(part, int))
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def load_schema(path: Path | str) -> Schema:
    """Read `linkage.toml`."""
    path = Path(path)
    try:
        document = tomllib.loads(path.read_text("utf-8-sig"), parse_float=Decimal)
    except OSError as error:
        raise InvalidSchema(
            f"{path} cannot be read: {error.strerror or error}",
            hint="`gramlink init data.csv` proposes one",
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidSchema(f"{path} is not TOML: {error}") from error
    return schema_from(document, str(path))


def schema_from(document: dict[str, Any], name: str) -> Schema:
    """A schema from a TOML document, whose fields are tables `[fields.NAME]`."""
    fields = document.pop("fields", None)
    if not isinstance(fields, dict) or not all(isinstance(f, dict) for f in fields.values()):
        raise InvalidSchema(f"{name} has no field", hint="add a table such as [fields.surname]")
    if isinstance(document.get("recall"), int | Decimal):
        document["recall"] = float(document["recall"])
    listed = []
    for key, settings in fields.items():
        if "name" in settings:
            raise InvalidSchema(f"{name}: fields.{key} is named twice", hint="delete its `name`")
        grams = settings.get("grams", [])
        given = {"grams": tuple(grams) if isinstance(grams, list) else grams}
        listed.append({"name": key, **settings, **given})
    try:
        return checked_schema(fields=tuple(listed), **document)
    except (InvalidSchema, InvalidParameter) as error:
        raise InvalidSchema(f"{name}: {error}", hint=error.hint) from error
