"""The data owner: the only party that sees its records."""

from dataclasses import dataclass
from fractions import Fraction

from gramlink.bundle import Bundle
from gramlink.embedding import embed
from gramlink.errors import InvalidParameter, Mismatch
from gramlink.ledger import Ledger
from gramlink.links import Links
from gramlink.mined import Mined, mine
from gramlink.mining import EXPERIMENTAL, price
from gramlink.privacy import Budget
from gramlink.projection import Projection
from gramlink.pseudonyms import pseudonyms
from gramlink.records import Records
from gramlink.schema import Schema, differences
from gramlink.thresholds import coarse, thresholds


@dataclass(frozen=True, slots=True)
class Owner:
    """An owner with its records, the agreed schema and the key of its pseudonyms."""

    name: str
    records: Records
    schema: Schema
    key: bytes

    def mine(self, ledger: Ledger | None) -> Mined:
        """The grams to show the other owner.

        Privacy: charged to the ledger, durably, before any noise is drawn. Without a
        ledger nothing is accounted for: for experiments on data that is public anyway.
        """
        field = self.schema.field
        cost = price(field, self.schema.epsilon) or Fraction(0)
        if ledger is not None and field.miner in EXPERIMENTAL:
            raise InvalidParameter(
                f"the {field.miner} miner has no privacy, so no ledger can pay for it",
                hint=f"it is for experiments: `gramlink demo --miner {field.miner}`",
            )
        if ledger is None or cost == 0:
            return self._mined(Budget(cost))
        parameters = {"owner": self.name, "schema": self.schema.digest, "miner": field.miner}
        charge = ledger.charge(cost, f"mine {field.name}", parameters)
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
        field = self.schema.field
        strings, base = self.records[field.name], projection.bases[field.name]
        limits = None
        if self.name == projection.left:
            limits = coarse(thresholds(strings, base, self.schema), base.scale)
        return Bundle(
            owner=self.name,
            settings=for_the_unit(self.schema),
            projection=projection.digest,
            ids=pseudonyms(self.records.ids, self.key),
            vectors=embed(strings, base),
            thresholds=limits,
        )

    def translate(self, links: Links) -> Links:
        """The links with this owner's own ids in the place of its pseudonyms.

        Privacy: for this owner only; the other one's pseudonyms stay as they are.
        """
        own = dict(zip(pseudonyms(self.records.ids, self.key), self.records.ids, strict=True))
        return Links(
            tuple(own.get(one, one) for one in links.left),
            tuple(own.get(one, one) for one in links.right),
            links.squared,
            links.scale,
        )


def for_the_unit(schema: Schema) -> dict[str, object]:
    """The agreed settings without the grams of public bases, which are not for the unit."""
    settings = dict(schema.agreed)
    settings["fields"] = {
        name: {key: value for key, value in field.items() if key != "grams"}
        for name, field in settings["fields"].items()
    }
    return settings
