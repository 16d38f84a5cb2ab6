"""Plan: an exchange as its operator asks for it, checked before it is made."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from gramlink.bundles.secrecy import check_secrecy
from gramlink.encodings.encoding import encoding_of
from gramlink.errors import GramlinkError, InvalidParameter, InvalidSchema
from gramlink.exchange.values import MOST_DAYS
from gramlink.exchange.wire import FEWEST_PARTIES, MOST_PARTIES
from gramlink.io.files import DAMAGE
from gramlink.io.names import alike, exchange_name, owner_name
from gramlink.parties.answers import RETURNS, check_returns
from gramlink.parties.price import check_price
from gramlink.records.schema import Schema, schema_from

LARGEST_SCHEMA = 2**18


@dataclass(frozen=True, slots=True)
class Plan:
    """An exchange that can be made.

    >>> Plan("heart-2026", "[fields.surname]", ("hospital", "registry")).returns
    {'hospital': 'links', 'registry': 'links'}
    """

    name: str
    schema: str
    parties: tuple[str, ...]
    returns: Mapping[str, str] = field(default_factory=dict)
    days: int = 90  # how long the tokens are valid

    def __post_init__(self) -> None:
        exchange_name(self.name)
        if not FEWEST_PARTIES <= len(self.parties) <= MOST_PARTIES:
            raise InvalidParameter(
                f"an exchange has {FEWEST_PARTIES} to {MOST_PARTIES} parties, "
                f"not {len(self.parties)}"
            )
        same = alike(map(party_name, self.parties))
        if same:
            raise InvalidParameter(
                f"{' and '.join(map(repr, same))} look like the same name of a party",
                hint="tell them apart by more than capitals and letters that look alike",
            )
        for party, kind in self.returns.items():
            if party not in self.parties:
                raise InvalidParameter(f"results go to parties; {party[:100]!r} is not one of them")
            check_returns(kind)
        check_days(self.days)
        check_schema(self.schema)
        every = {party: self.returns.get(party, RETURNS[0]) for party in self.parties}
        object.__setattr__(self, "returns", every)


def check_days(days: int) -> None:
    """Refuse a token that is never valid, or valid for too long."""
    if not 1 <= days <= MOST_DAYS:
        raise InvalidParameter(f"a token is valid for 1 to {MOST_DAYS} days, not {days}")


def party_name(name: str) -> str:
    """A name that an owner can have, that fits in an address and that the log does not use."""
    if name in (".", ".."):
        raise InvalidParameter(
            f"{name!r} cannot be the name of a party: it means a folder in an address",
            hint="name the organisation, such as hospital",
        )
    if name.casefold() in ("operator", "unit"):
        raise InvalidParameter(
            f"{name!r} cannot be the name of a party: the linkage unit's log uses it for "
            f"{'the operator' if name.casefold() == 'operator' else 'the unit itself'}",
            hint="name the organisation, such as hospital",
        )
    return owner_name(name)


def check_schema(text: str) -> Schema:
    """The schema in the text of a linkage.toml, which must not show the unit any gram."""
    if len(text) > LARGEST_SCHEMA:
        raise InvalidSchema(f"linkage.toml has more than {LARGEST_SCHEMA:,} characters")
    try:
        text.encode()  # no file holds half a surrogate pair
        schema = schema_from(tomllib.loads(text, parse_float=Decimal), "linkage.toml")
    except InvalidSchema:
        raise
    except (*DAMAGE, RecursionError) as error:
        why = str(error) if isinstance(error, GramlinkError | tomllib.TOMLDecodeError) else ""
        raise InvalidSchema(f"linkage.toml is not a schema in TOML: {why}".rstrip(": ")) from error
    check_secrecy(schema.agreed)
    check_price(schema)
    encoding_of(schema.encoding).check_schema(schema)
    return schema
