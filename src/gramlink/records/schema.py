"""Schema: what `linkage.toml` says.

Everything in a schema is public and is set before any record is read. Reading the
alphabet, the length or the tree's height off the data, as the paper does, would leak.
"""

import tomllib
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, PlainSerializer, ValidationError, model_validator
from pydantic import Field as Setting

from gramlink.errors import InvalidParameter, InvalidSchema
from gramlink.io.files import digest
from gramlink.privacy.numbers import positive_epsilon
from gramlink.records.choices import ENCODINGS, POLICIES, RULES, VECTORS, one_of
from gramlink.records.fields import Field, Frozen
from gramlink.records.levels import Levels

PolicyName = Annotated[str, one_of(POLICIES)]
RuleName = Annotated[str, one_of(RULES)]
EncodingName = Annotated[str, one_of(ENCODINGS)]


Epsilon = Annotated[
    Fraction, BeforeValidator(positive_epsilon), PlainSerializer(str, return_type=str)
]


class Schema(Frozen):
    """What two owners must agree on to be comparable.

    >>> schema = Schema(fields=(Field(name="surname"), Field(name="born", kind="date")))
    >>> schema.costs, schema["born"].kind
    ({'surname': Fraction(1, 1), 'born': Fraction(0, 1)}, 'date')
    """

    fields: tuple[Field, ...] = Setting(min_length=1, max_length=50)
    id: str = "id"  # the owner's own id column
    unique: bool = True  # whether nobody is in the owner's file twice
    epsilon: Epsilon = Fraction(1)
    edits: int = Setting(default=1, ge=0, le=5)
    threshold: PolicyName = "calibrated"
    recall: float = Setting(default=0.99, gt=0, le=0.9999)
    errors: Literal["uniform", "keyboard"] = "uniform"
    encoding: EncodingName = VECTORS  # what the linkage unit sees of records
    rows: int = Setting(default=16, ge=1, le=64)  # most keys of a record, where it is seen by keys
    passes: tuple[dict[str, int], ...] = ()  # fields with edits; none: as the data suggest
    swaps: tuple[tuple[str, str], ...] = ()  # fields whose values people swap
    decide: RuleName = "one-to-one"
    accept: float = Setting(default=0.5, ge=0, le=1)
    review: float = Setting(default=0.1, ge=0, le=1)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [field.name for field in self.fields]
        if len(set(names)) < len(names):
            raise ValueError("two fields have the same name")
        if self.review > self.accept:
            raise ValueError(f"review = {self.review} is above accept = {self.accept}")
        for number, one in enumerate(self.passes, 1):
            if not one:
                raise ValueError(f"pass {number} names no field")
            for name, edits in one.items():
                if name not in names:
                    raise ValueError(f"pass {number}: there is no field {name}")
                most = self.edits_of(self[name])
                if not 0 <= edits <= most:
                    raise ValueError(
                        f"pass {number}: {name} can have 0 to {most} edits, not {edits}"
                    )
        if self.passes and len(names) == 1:
            raise ValueError("passes need records with several fields")
        swapped = [name for pair in self.swaps for name in pair]
        for name in swapped:
            if name not in names:
                raise ValueError(f"swaps: there is no field {name}")
            if swapped.count(name) > 1:
                raise ValueError(f"swaps: {name} is there twice")
        for pair in self.swaps:
            first, second = (self[name].kind for name in pair)
            if first != second:
                raise ValueError(f"swaps: {pair[0]} is {first} and {pair[1]} is {second}")
        return self

    def __getitem__(self, name: str) -> Field:
        return {field.name: field for field in self.fields}[name]

    def edits_of(self, field: Field) -> int:
        """How many edits of a field are told apart."""
        return self.edits if field.edits is None else field.edits

    def levels_of(self, field: Field) -> Levels:
        """The levels that a field can have."""
        edits, nicknames = self.edits_of(field), bool(field.nicknames)
        for one, other in self.swaps:
            if field.name == one:
                return Levels(edits, other, nicknames=nicknames)
            if field.name == other:
                return Levels(edits, one, leads=False, nicknames=nicknames)
        return Levels(edits, nicknames=nicknames)

    @property
    def costs(self) -> dict[str, Fraction]:
        """What mining each field costs: epsilon by shares; nothing where no record is read."""
        shares = {
            field.name: field.share if field.reads_records else Fraction(0) for field in self.fields
        }
        whole = sum(shares.values()) or 1
        return {name: self.epsilon * share / whole for name, share in shares.items()}

    @property
    def agreed(self) -> dict[str, Any]:
        """The settings that all owners must have in common.

        They leave out how the fields appear in an owner's file, and epsilon, which each owner
        decides for itself.
        """
        own = {"id", "unique", "epsilon", "fields"}
        if self.encoding == VECTORS:
            own.add("rows")  # every record is one
        if not self.swaps:
            own.add("swaps")
        settings = self.model_dump(mode="json", exclude=own)
        settings["fields"] = {field.name: field.agreed for field in self.fields}
        return settings

    @property
    def digest(self) -> str:
        """Equal for two owners if, and only if, their agreed settings are equal."""
        return digest(self.agreed)

    @property
    def whole_digest(self) -> str:
        """Equal for two schemas if, and only if, all settings are, an owner's own ones as well."""
        return digest(self.model_dump(mode="json"))


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
        raise InvalidSchema(_first_complaint(error, settings)) from error


def _first_complaint(error: ValidationError, settings: dict[str, Any]) -> str:
    first = error.errors()[0]
    parts = [str(part) for part in first["loc"] if not isinstance(part, int)]
    if len(first["loc"]) > 1 and first["loc"][0] == "fields":
        field = settings["fields"][first["loc"][1]]
        parts.insert(1, str(field.get("name")) if isinstance(field, dict) else str(field))
    place = ".".join(parts)
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
        raise InvalidSchema(f"{name} has no fields", hint="add a table such as [fields.surname]")
    for setting in ("recall", "accept", "review"):
        value = document.get(setting)
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            document[setting] = float(value)
    if isinstance(document.get("passes"), list):
        document["passes"] = tuple(document["passes"])
    if isinstance(document.get("swaps"), list):
        pairs = document["swaps"]
        document["swaps"] = tuple(tuple(p) if isinstance(p, list) else p for p in pairs)
    listed = []
    for key, settings in fields.items():
        if "name" in settings:
            raise InvalidSchema(f"{name}: fields.{key} is named twice", hint="delete its `name`")
        lists = {k: tuple(v) for k, v in settings.items() if isinstance(v, list)}
        listed.append({"name": key, **settings, **lists})
    try:
        return checked_schema(fields=tuple(listed), **document)
    except (InvalidSchema, InvalidParameter) as error:
        raise InvalidSchema(f"{name}: {error}", hint=error.hint) from error
