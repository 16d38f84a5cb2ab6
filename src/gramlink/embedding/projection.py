"""Projection: what owners must share to be comparable."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from gramlink.embedding.base import Base, merge
from gramlink.errors import InvalidFile, Mismatch
from gramlink.io.files import (
    DAMAGE,
    damaged,
    digest,
    fingerprint,
    from_json,
    list_in,
    table_in,
    to_json,
)
from gramlink.io.names import alike, owner_name
from gramlink.io.steps import logged
from gramlink.mining.limits import epsilon_fault, grams_fault
from gramlink.mining.mined import Mined
from gramlink.privacy.numbers import spent_epsilon
from gramlink.records.fields import Field
from gramlink.records.schema import Schema, differences, schema_from


@dataclass(frozen=True, slots=True)
class Projection:
    """The bases of all fields, and the settings that all owners use.

    Owners are ordered by name. Of two, the first is the left one, who sends thresholds; of
    more, all but the last send them, because each is left of those after it.

    Privacy: for the owners only. The linkage unit gets its digest, never its grams.
    """

    owners: tuple[str, ...]
    settings: dict[str, Any]
    epsilon: dict[str, Fraction | None]
    bases: dict[str, Base]

    @property
    def left(self) -> tuple[str, ...]:
        """The owners who send thresholds; a single owner does too, to compare with itself."""
        return self.owners[:-1] or self.owners

    @property
    def mined(self) -> tuple[str, ...]:
        """The fields whose bases were mined; the other bases follow from the settings."""
        schema = schema_from(dict(self.settings), "the projection")
        return tuple(field.name for field in schema.fields if field.mined)

    @property
    def digest(self) -> str:
        """Equal at all owners if, and only if, they hold the same projection."""
        return digest(self._content())

    @property
    def fingerprint(self) -> str:
        """The start of the digest, to be compared by telephone."""
        return fingerprint(self.digest)

    def to_json(self) -> bytes:
        """A file that a person can read."""
        return to_json("projection", self._content())

    @classmethod
    def from_json(cls, data: bytes, name: str) -> "Projection":
        """What `to_json` wrote."""
        content = from_json("projection", data, name)
        try:
            settings, bases = table_in(content, "settings"), content["bases"]
            owners = _owners(list_in(content, "owners"))
            if content["epsilon"].keys() != set(owners):
                raise ValueError("it does not say what each owner spent")
            schema = schema_from(dict(settings), name)
            if bases.keys() != {field.name for field in schema.fields if field.mined}:
                raise ValueError("its bases are not those of the mined fields")
            made = cls(
                owners=owners,
                settings=settings,
                epsilon={
                    owner: spent_epsilon(spent) for owner, spent in content["epsilon"].items()
                },
                bases=_bases(schema, {name: _base(grams) for name, grams in bases.items()}),
            )
            made.check(schema)
            return made
        except DAMAGE as error:
            raise damaged(name, error, "merge again") from error

    def check(self, schema: Schema) -> None:
        """Refuse a projection that cannot follow from what was mined with this schema."""
        different = differences(self.settings, schema.agreed)
        if different:
            raise Mismatch(
                f"the projection and this schema differ in {'; '.join(different)}",
                hint="use the linkage.toml you mined with",
            )
        faults = [epsilon_fault(schema, spent) for spent in self.epsilon.values()]
        for field in schema.fields:
            fault = grams_fault(field, self.bases[field.name].grams) if field.mined else ""
            faults.append(fault and f"{field.name}: {fault}")
        if any(faults):
            raise InvalidFile(
                f"no owners can have agreed on this: {next(filter(None, faults))}",
                hint="merge what the owners mined again, and compare the fingerprints",
            )

    def _content(self) -> dict[str, Any]:
        return {
            "owners": list(self.owners),
            "epsilon": {
                owner: None if spent is None else str(spent)
                for owner, spent in sorted(self.epsilon.items())
            },
            "bases": {name: list(self.bases[name].grams) for name in self.mined},
            "settings": self.settings,
        }


def _bases(schema: Schema, mined: dict[str, Base]) -> dict[str, Base]:
    """The bases of all fields: mined ones, and public ones in a secret order.

    If they were in alphabetical order, the linkage unit could read a date off its vector. The
    order follows from the mined bases, which only the owners know.
    """
    secret = digest({"order of": {name: base.grams for name, base in mined.items()}})

    def place(field: Field, gram: str) -> str:
        return digest([secret, field.name, gram])

    return {
        field.name: mined[field.name]
        if field.mined
        else Base(tuple(sorted(field.public_grams, key=lambda gram: place(field, gram))))
        for field in schema.fields
    }


def _base(grams: Any) -> Base:
    if not isinstance(grams, list):
        raise TypeError("a base is not a list of grams")
    return Base(tuple(grams))


def _owners(names: Any) -> tuple[str, ...]:
    owners = tuple(map(owner_name, names))
    if not owners or list(owners) != sorted(owners) or alike(owners):
        raise ValueError("its owners are not distinct, or not in order")
    return owners


@logged("merge", lambda made: {"grams": sum(len(one.grams) for one in made.bases.values())})
def agree(*mined: Mined) -> Projection:
    """The projection that follows from what all owners mined; the same whoever computes it.

    Privacy: reads released counts only, so it costs nothing.
    """
    first, *others = sorted(mined, key=lambda one: one.owner)
    same = alike(one.owner for one in mined)
    if same:
        raise Mismatch(
            f"two files were mined by {' and '.join(map(repr, sorted(set(same))))}",
            hint="owners need names that look different before they mine: "
            "`gramlink mine --owner NAME`",
        )
    for one, other in pairwise((first, *others)):
        different = differences(one.settings, other.settings)
        if different:
            raise Mismatch(
                f"{one.owner} and {other.owner} differ in {'; '.join(different)}",
                hint="all owners must use the same linkage.toml and mine again",
            )
    schema = schema_from(dict(first.settings), f"what {first.owner} mined")
    for one in (first, *others):
        one.check(schema)
    return Projection(
        owners=tuple(one.owner for one in (first, *others)),
        settings=first.settings,
        epsilon={one.owner: one.epsilon for one in (first, *others)},
        bases=_bases(
            schema,
            {
                field.name: merge((one.fields[field.name] for one in mined), field.size)
                for field in schema.fields
                if field.mined
            },
        ),
    )
