"""The data owner: the only party that sees its records."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from gramlink.base import Base
from gramlink.bundle import Bundle
from gramlink.embedding import Encoded, embed
from gramlink.errors import InvalidParameter, Mismatch
from gramlink.fields import Field
from gramlink.ledger import Ledger
from gramlink.links import Links
from gramlink.mined import Mined, mine
from gramlink.mining import EXPERIMENTAL
from gramlink.privacy import Budget, shown
from gramlink.projection import Projection
from gramlink.pseudonyms import pseudonyms
from gramlink.records import Records
from gramlink.schema import Schema, differences
from gramlink.thresholds import coarse, thresholds

LEAST_EPSILON = Fraction(1, 10**6)  # seen to before anything is charged


@dataclass(frozen=True)
class Owner:
    """An owner with its records, the agreed schema and the key of its pseudonyms."""

    name: str
    records: Records
    schema: Schema
    key: bytes

    @cached_property
    def pseudonyms(self) -> tuple[str, ...]:
        """The pseudonym of each record."""
        return pseudonyms(self.records.ids, self.key)

    def mine(self, ledger: Ledger | None) -> Mined:
        """The grams to show the other owner.

        Privacy: charged to the ledger, durably, before any noise is drawn. Without a
        ledger nothing is accounted for: for experiments on data that is public anyway.
        """
        experiments = {f.miner for f in self.schema.fields if f.mined} & set(EXPERIMENTAL)
        if ledger is not None and experiments:
            miner = min(experiments)
            raise InvalidParameter(
                f"the {miner} miner has no privacy, so no ledger can pay for it",
                hint=f"it is for experiments: `gramlink demo --miner {miner}`",
            )
        shares = {name: cost for name, cost in self.schema.costs.items() if cost}
        for name, share in shares.items():
            if ledger is not None and share < LEAST_EPSILON:
                raise InvalidParameter(
                    f"epsilon {shown(share)} for {name} is too little to draw noise for",
                    hint="spend more, or give the field a larger share",
                )
        cost = sum(shares.values(), Fraction(0))
        if ledger is None or cost == 0:
            return self._mined(Budget(cost))
        parameters = {
            "owner": self.name,
            "schema": self.schema.digest,
            "shares": {name: str(share) for name, share in shares.items()},
        }
        charge = ledger.charge(cost, f"mine {', '.join(shares)}", parameters)
        mined = self._mined(charge.budget)
        ledger.released(charge, mined.digest)
        return mined

    def _mined(self, budget: Budget) -> Mined:
        return mine(self.records, self.schema, budget, owner=self.name)

    def embed(self, projection: Projection) -> Bundle:
        """The bundle for the linkage unit, with thresholds if this owner is the left one.

        Privacy: reads raw records. The bundle holds no id, gram or base, and goes to the
        linkage unit only.
        """
        different = differences(projection.settings, self.schema.agreed)
        if different:
            raise Mismatch(
                f"the projection and this schema differ in {'; '.join(different)}",
                hint="use the linkage.toml that was mined with",
            )
        if self.name not in projection.owners:
            raise Mismatch(
                f"the projection is of {' and '.join(projection.owners)}, not of {self.name}",
                hint="name the owner with --owner, as when mining",
            )
        is_left = self.name in projection.left
        return Bundle(
            owner=self.name,
            settings=for_the_unit(self.schema),
            projection=projection.digest,
            ids=self.pseudonyms,
            fields={
                field.name: self._encoded(field, projection.bases[field.name], is_left)
                for field in self.schema.fields
            },
            unique=self.schema.unique,
        )

    def _encoded(self, field: Field, base: Base, is_left: bool) -> Encoded:
        strings = self.records[field.name]
        vectors = embed(strings, base)
        if not is_left:
            return Encoded(vectors)
        limits = thresholds(strings, base, field, self.schema)
        return Encoded(vectors, coarse(limits, base.scale))

    def translate(self, links: Links) -> Links:
        """The links with this owner's own ids in the place of its pseudonyms.

        Privacy: for this owner only; the other one's pseudonyms stay as they are.
        """
        own = dict(zip(self.pseudonyms, self.records.ids, strict=True))
        return replace(
            links,
            left=tuple(own.get(one, one) for one in links.left),
            right=tuple(own.get(one, one) for one in links.right),
        )


def for_the_unit(schema: Schema) -> dict[str, object]:
    """The agreed settings without the grams of public bases, which are not for the unit."""
    settings = dict(schema.agreed)
    settings["fields"] = {
        name: {key: value for key, value in field.items() if key != "grams"}
        for name, field in settings["fields"].items()
    }
    return settings
