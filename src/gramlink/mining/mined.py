"""Mined: what one owner shows the other, and what it cost."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gramlink.errors import InvalidFile, Mismatch
from gramlink.io.files import DAMAGE, damaged, digest, from_json, table_in, to_json
from gramlink.io.names import owner_name
from gramlink.mining.estimates import Estimates
from gramlink.mining.limits import mined_fault
from gramlink.mining.miners import mine_field, price, rehearse
from gramlink.mining.prefixes import Tree
from gramlink.privacy.budget import Budget
from gramlink.privacy.numbers import spent_epsilon
from gramlink.privacy.stamp import Stamp
from gramlink.records.reading import Records
from gramlink.records.schema import Schema, differences, schema_from


@dataclass(frozen=True, slots=True)
class Mined:
    """Grams with noisy counts for each field, the settings they were mined with, the cost.

    Privacy: made to be shown to the other owner; costs `epsilon` for a person with one
    record, m times that for a person with m. `epsilon` is None where there is no privacy
    at all (the exact miner, for experiments). `stamp` is of the ledger that paid, if one did.
    """

    owner: str
    settings: dict[str, Any]
    epsilon: Fraction | None
    fields: dict[str, Estimates]
    stamp: Stamp | None = None

    def to_json(self) -> bytes:
        """A file that a person can read."""
        return to_json("mined", self._content())

    @classmethod
    def from_json(cls, data: bytes, name: str) -> "Mined":
        """What `to_json` wrote, if it can have been mined with the settings it names."""
        content, sender = from_json("mined", data, name), "its sender"
        try:
            sender = owner_name(content["owner"])
            made = cls(
                owner=sender,
                settings=table_in(content, "settings"),
                epsilon=spent_epsilon(content["epsilon"]),
                fields={key: _estimates(value) for key, value in content["fields"].items()},
                stamp=Stamp.read(content["ledger"]) if "ledger" in content else None,
            )
            made.check(schema_from(dict(made.settings), "settings"))
        except DAMAGE as error:
            raise damaged(name, error, f"ask {sender} for it again") from error
        return made

    def check(self, schema: Schema) -> None:
        """Refuse what its owner cannot have mined with this schema, and say what is wrong."""
        owner_name(self.owner)
        different = differences(self.settings, schema.agreed)
        if different:
            raise Mismatch(
                f"what {self.owner} mined differs from the schema in {'; '.join(different)}",
                hint="all owners must use the same linkage.toml, and the same version of gramlink",
            )
        fault = mined_fault(schema, self.fields, self.epsilon)
        if fault:
            raise InvalidFile(
                f"{self.owner} cannot have mined this: {fault}",
                hint=f"ask {self.owner} for what its `gramlink mine` wrote",
            )

    @property
    def digest(self) -> str:
        """The SHA-256 of the whole content."""
        return digest(self._content())

    def _content(self) -> dict[str, Any]:
        return {
            "owner": self.owner,
            "epsilon": None if self.epsilon is None else str(self.epsilon),
            "fields": {
                name: {
                    "grams": dict(zip(found.grams, map(float, found.counts), strict=True)),
                    **({"tree": found.tree.counts} if found.tree else {}),
                }
                for name, found in self.fields.items()
            },
            **({"ledger": self.stamp.told} if self.stamp else {}),
            "settings": self.settings,
        }


def _estimates(content: dict[str, Any]) -> Estimates:
    # counts are multiples of 1/1024, which floats hold exactly
    grams: dict[str, float] = content["grams"]
    if not all(type(count) in (int, float) for count in grams.values()):
        raise ValueError("the count of a gram is not a number")
    return Estimates(
        tuple(grams),
        tuple(map(Fraction, grams.values())),
        _tree(content["tree"]) if "tree" in content else None,
    )


def _tree(counts: dict[str, Any]) -> Tree:
    if not all(type(count) is int for count in counts.values()):
        raise ValueError("a count of its prefix tree is not a whole number")
    return Tree(counts)


def rehearse_all(records: Records, schema: Schema) -> None:
    """Raise what mining these records would raise after it was paid for.

    Privacy: reads no record and draws no noise.
    """
    for field in schema.fields:
        if field.mined:
            if field.name not in records.columns:
                raise Mismatch(
                    f"the records have no column for the field {field.name}",
                    hint="read the records with the schema that they are mined with",
                )
            rehearse(records[field.name], field, Budget(schema.costs[field.name]))


def mine(records: Records, schema: Schema, budget: Budget, *, owner: str) -> Mined:
    """The most frequent grams of each field that is mined, under noise.

    Privacy: spends the budget, which a ledger charges before handing it out. Reads
    raw records; the result may leave the building.
    """
    shares, mined = schema.costs, [field for field in schema.fields if field.mined]
    return Mined(
        owner=owner,
        settings=schema.agreed,
        epsilon=price(schema),
        fields={
            field.name: mine_field(records[field.name], field, budget.portion(shares[field.name]))
            for field in mined
        },
    )
