"""Terms: what an owner consents to, what the owners compare of it, and how it is shown.

The linkage unit hands out the owners' keys and the schema. A dishonest unit could replace an
owner's key with one of its own and read grams that are not meant for it, or give two owners
different schemas, so that both spend epsilon for nothing. So the owners compare a single code over
all that they must have in common.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from gramlink.bundles.sealing import Recipient
from gramlink.encodings.encoding import encoding_of
from gramlink.exchange.part import Part
from gramlink.exchange.settings import column_lines, setting_lines
from gramlink.exchange.status import Place
from gramlink.io.files import code, digest
from gramlink.parties.owner import Owner
from gramlink.privacy.budget import shown
from gramlink.privacy.ledger import Ledger
from gramlink.records.schema import Schema

DATA = "data file"
_GOES_BACK = {
    "links": "links, without weights",
    "weights": "links, with weights and how near each field is (of clusters, the possible ones)",
    "counts": "counts only",
}


@dataclass(frozen=True, slots=True)
class Terms:
    """What an owner consents to."""

    place: Place
    keys: Mapping[str, Recipient]
    schema: Schema
    schema_code: str  # of the schema as it was read, whatever --epsilon says
    returns: Mapping[str, str]  # what goes back to whom
    cost: Fraction
    ledger: Ledger
    data: str  # digest of the data file
    audited: str  # what the owner's own audit says, in a line
    pinned: bool = False  # whether the other owners gave us their keys themselves

    @property
    def code(self) -> str:
        """The same for all owners if, and only if, the unit told them the same."""
        return keys_code(self.place, self.keys, self.schema, self.returns)

    def noted(self) -> dict[str, str]:
        """What must be the same when the command resumes."""
        return {
            "keys code": self.code,
            "unit's key": self.place.unit.key,
            "epsilon": str(self.cost),
            "ledger": str(self.ledger.path.absolute()),
            "schema": self.schema_code,
            "columns": _listed({field.name: list(field.columns) for field in self.schema.fields}),
            "what goes back": _listed(self.returns),
            DATA: self.data,
        }

    def lines(self, part: Part) -> Iterator[str]:
        """What will be spent and sent, under which settings, and what comes back."""
        place, schema, ledger = self.place, self.schema, self.ledger
        others = ", ".join(name for name in sorted(self.keys) if name != place.party)
        split = {name: cost for name, cost in schema.costs.items() if cost}
        yield f"exchange {place.exchange}, as {place.party}, with {others}"
        yield "will be spent:"
        if self.cost:
            left = shown(ledger.state.left)
            yield f"  epsilon {shown(self.cost)} of the {left} left in {ledger.path}"
            yield "    for " + ", ".join(f"{name} {shown(cost)}" for name, cost in split.items())
        else:
            yield "  nothing: what was mined before is reused"
        yield f"will be sent to {others}, sealed to its reader's key:"
        yield f"  the frequent grams of {', '.join(split)}, with noisy counts"
        yield "will be sent to the linkage unit, sealed to its key:"
        count, most = len(part.owner.records), _most_bytes(part.owner)
        shown_as = encoding_of(schema.encoding).shown_as
        yield f"  {count:,} records as {shown_as} under pseudonyms, about {most:,} bytes at most"
        yield f"    {self.audited}"
        yield from (f"    {line}" for line in column_lines(schema))
        yield f"settings of all owners, code {code(schema.digest)}:"
        yield from (f"  {line}" for line in setting_lines(schema))
        yield "will come back from the linkage unit:"
        for name, kind in sorted(self.returns.items()):
            yield f"  to {name}: {_GOES_BACK[kind]}"
        yield f"the linkage unit's key: {place.unit.fingerprint}"
        for name, key in sorted(self.keys.items()):
            yield f"the key of {name}: {key.fingerprint}"
        yield f"schema code: {self.schema_code}"
        yield "  It stands for the settings, your columns and epsilon; --approve agrees to it."
        yield f"keys code: {self.code}"
        yield "  It stands for all keys, the settings of all owners and what goes back to whom."
        if self.pinned:
            yield "  The other owners' keys are those of your --peer files."
        else:
            yield "  Call the other owners: if theirs differs, somebody could read your grams."


def keys_code(
    place: Place, keys: Mapping[str, Recipient], schema: Schema, returns: Mapping[str, str]
) -> str:
    """One code over all that the owners must have in common, to compare by telephone.

    It covers the exchange, the keys of its owners and of the unit, the settings that the owners
    agreed on, and what goes back to whom.

    >>> from gramlink.bundles.sealing import new_identity
    >>> from gramlink.records.fields import Field
    >>> one, unit = new_identity().recipient, new_identity().recipient
    >>> place, schema = Place("stroke", "hospital", unit), Schema(fields=(Field(name="surname"),))
    >>> len(keys_code(place, {"hospital": one}, schema, {"hospital": "links"}))
    49
    """
    common = {
        "exchange": place.exchange,
        "unit": place.unit.key,
        "owners": {name: recipient.key for name, recipient in keys.items()},
        "encoding": schema.encoding,
        "settings": schema.digest,
        "returns": dict(returns),
    }
    return code(digest(common))


def schema_code(schema: Schema) -> str:
    """A code over all settings of a schema, an owner's columns and epsilon among them."""
    return code(schema.whole_digest)


def _listed(table: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(table.items()))


def _most_bytes(owner: Owner) -> int:
    """The size of the bundle's rows before packing."""
    return (32 + encoding_of(owner.schema.encoding).size(owner.schema)) * len(owner.records)
