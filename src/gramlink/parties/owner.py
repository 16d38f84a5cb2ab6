"""The data owner: the only party that sees its records."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from gramlink.bundles.bundle import Bundle
from gramlink.bundles.pseudonyms import key_fingerprint, pseudonyms
from gramlink.bundles.sealing import Recipient
from gramlink.bundles.secrecy import check_secrecy
from gramlink.deciding.links import Links
from gramlink.embedding.projection import Projection
from gramlink.embedding.vectors import Encoded
from gramlink.encodings.encoding import EncodedRecords, Material, encoding_of
from gramlink.encodings.secret import Secret
from gramlink.errors import Mismatch
from gramlink.io.steps import logged
from gramlink.mining.mined import Mined, mine, rehearse_all
from gramlink.parties.contribution import encode_once
from gramlink.parties.mined_file import MinedFile
from gramlink.parties.price import check_price
from gramlink.privacy.budget import Budget
from gramlink.privacy.exposure import UNSEALED, Exposure
from gramlink.privacy.ledger import Ledger
from gramlink.records.reading import Records
from gramlink.records.schema import Schema
from gramlink.records.strings import kinds

Ints = npt.NDArray[np.int64]
_SENT, _OWN = "its pseudonym", "the owner's id"  # columns of a frame of ours
_TEXTS = {_SENT: pl.String, _OWN: pl.String}


@dataclass(frozen=True)
class Owner:
    """An owner with its records, the agreed schema and the key of its pseudonyms.

    An owner that `insists` may spend more epsilon at once than makes sense to anybody else.
    """

    name: str
    records: Records
    schema: Schema
    key: bytes = field(repr=False)
    insists: bool = False  # on an epsilon that hardly protects anybody

    def __post_init__(self) -> None:
        encoding_of(self.schema.encoding).check_schema(self.schema)

    @property
    def pseudonyms(self) -> tuple[str, ...]:
        """The pseudonym that each record is sent under; records that are the same share one."""
        return tuple(self._sent.ids[place] for place in self._sent.places.tolist())

    @cached_property
    def _sent(self) -> "_Sent":
        kind = kinds(self.records.columns.values())
        by_id = pl.Series(self.records.ids, dtype=pl.String).arg_sort().to_numpy()
        _, first = np.unique(kind[by_id], return_index=True)
        rows = by_id[first]  # of each kind the row with the first id, wherever it stands
        ids = pseudonyms((self.records.ids[row] for row in rows.tolist()), self.key)
        order = pl.Series(ids, dtype=pl.String).arg_sort().to_numpy()
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        return _Sent(rows[order], tuple(ids[place] for place in order.tolist()), places[kind])

    def mine(self, ledger: Ledger | None) -> Mined:
        """The grams to show the other owner.

        Privacy: charged to the ledger, durably, before any noise is drawn. Without a
        ledger nothing is accounted for: for experiments on data that is public anyway.
        """
        cost, parameters = self._price(ledger)
        if ledger is None or cost == 0:
            return self._mined(Budget(cost))
        ledger.check_copy(self.name)
        charge = ledger.charge(cost, _what(parameters), parameters)
        mined = replace(self._mined(charge.budget), stamp=charge.stamp)
        ledger.released(charge, mined.digest)
        return mined

    def mine_to(
        self, path: Path, ledger: Ledger, purpose: Mapping[str, str], *, anew: bool = False
    ) -> Mined:
        """What is mined for a purpose, in a file; asked for again, it is the same and is paid once.

        Asked for `anew`, it is mined and paid for again, unless an earlier call was stopped before
        it was done.

        Privacy: charged to the ledger, durably, before any noise is drawn. What was drawn for a
        charge is released once at most, however often this is stopped. The purpose must be one
        that no other file is mined for.
        """
        cost, parameters = self._price(ledger)
        ledger.check_copy(self.name, path, path.parent)
        file = MinedFile(path, ledger, cost, _what(parameters), parameters, purpose)
        if path.exists() and not anew:
            mined = file.there()
            if (mined.owner, mined.settings) != (self.name, self.schema.agreed):
                raise Mismatch(
                    f"{path} was mined by {mined.owner}, or with other settings",
                    hint="move it away, or use the schema it was mined with",
                )
            return mined
        if finished := file.finished():
            return finished
        if not anew:
            file.check_not_lost()
        return file.write(self._mined)

    def _price(self, ledger: Ledger | None) -> tuple[Fraction, dict[str, Any]]:
        """What mining costs and what the ledger records of it, if a ledger can pay for it."""
        if ledger is not None:
            self.check_price()
        shares = {name: cost for name, cost in self.schema.costs.items() if cost}
        parameters = {
            "owner": self.name,
            "schema": self.schema.digest,
            "shares": {name: str(share) for name, share in shares.items()},
        }
        return sum(shares.values(), Fraction(0)), parameters

    def check_price(self) -> None:
        """Refuse at once what no ledger should pay for, and what would fail once it is paid for.

        Privacy: reads no record and draws no noise.
        """
        check_price(self.schema, insists=self.insists)
        rehearse_all(self.records, self.schema)

    @logged("mine", lambda mined: {"grams": sum(len(f.grams) for f in mined.fields.values())})
    def _mined(self, budget: Budget) -> Mined:
        return mine(self.records, self.schema, budget, owner=self.name)

    def check(self, projection: Projection) -> None:
        """Refuse a projection that is not of this owner and schema, and say what differs."""
        projection.check(self.schema)
        if self.name not in projection.owners:
            raise Mismatch(
                f"the projection belongs to {' and '.join(projection.owners)}, not to {self.name}",
                hint="name the owner with --owner, as when mining",
            )

    @logged(
        "embed", lambda made: {"records": len(made.ids), "fields": len(made.settings["fields"])}
    )
    def embed(
        self,
        projection: Projection,
        *,
        ledger: Ledger | None = None,
        unit: Recipient | None = None,
        exchange: str = "",
        reply: Recipient | None = None,
        created: str = "",
        secret: Secret | None = None,
        contribution: Path | None = None,
    ) -> Bundle:
        """The bundle for the linkage unit, with thresholds if this owner is the left one.

        Records that are the same in all fields are sent once, so that the linkage unit cannot
        tell common ones by their number.

        Privacy: reads raw records. The bundle holds no id, gram or base, and goes to the
        linkage unit only. What it shows that unit is on disk in the ledger before it is handed
        out, and is refused beyond the ledger's limit before anything is encoded. The file of this
        owner's contribution to the secret keeps it from encoding anything else. Without a ledger
        nothing is accounted for: for trying out where no bundle leaves the process.
        """
        self.check(projection)
        if ledger:
            check_secrecy(self.schema.agreed)
            ledger.check_copy(self.name)
            ledger.check(self.exposure(unit, exchange))
        bundle = Bundle(
            owner=self.name,
            settings=for_the_unit(self.schema),
            projection=projection.digest,
            ids=self._sent.ids,
            records=self.encoded(projection, self._sent.rows, secret),
            unique=self.schema.unique,
            owners=projection.owners,
            epsilon=projection.epsilon[self.name],
            exchange=exchange,
            reply=reply,
            created=created,
        )
        if contribution:
            encode_once(contribution, bundle.records)
        if ledger:
            ledger.expose(self.exposure(unit, exchange, bundle.digest))
        return bundle

    def exposure(self, unit: Recipient | None, exchange: str, digest: str = "") -> Exposure:
        """What a bundle shows a linkage unit, as a ledger records it.

        Privacy: for this owner only; of the key of the pseudonyms it has a fingerprint.
        """
        encoding = encoding_of(self.schema.encoding)
        return Exposure(
            exchange,
            unit.key if unit else UNSEALED,
            encoding.name,
            len(self._sent.ids),
            encoding.disclosure(self.schema),
            key_fingerprint(self.key),
            digest,
        )

    def encoded(
        self, projection: Projection, rows: Ints, secret: Secret | None = None
    ) -> EncodedRecords:
        """These records as the schema's encoding shows them.

        Privacy: reads raw records; what it returns is for the linkage unit only.
        """
        encoding = encoding_of(self.schema.encoding)
        return encoding.of(self._material(projection, rows, secret))

    def embedded(self, projection: Projection, rows: Ints | None = None) -> dict[str, Encoded]:
        """Vectors, and thresholds if this owner is the left one, of these records or of all.

        Privacy: reads raw records.
        """
        rows = np.arange(len(self.records)) if rows is None else rows
        return self._material(projection, rows).fields

    def _material(
        self, projection: Projection, rows: Ints, secret: Secret | None = None
    ) -> Material:
        return Material(
            self.name,
            {field.name: self.records[field.name].take(rows) for field in self.schema.fields},
            projection.bases,
            self.schema,
            self.name in projection.left,
            self.key,
            secret,
        )

    def translate(self, links: Links) -> Links:
        """The links with this owner's own ids in the place of its pseudonyms.

        Privacy: for this owner only; the other one's pseudonyms stay as they are.
        """
        frame = self.with_own_ids(links.to_polars(), "id_left", "id_right")
        details = frame.drop("id_left", "id_right")
        return Links(tuple(frame["id_left"]), tuple(frame["id_right"]), details)

    def with_own_ids(self, frame: pl.DataFrame, *columns: str) -> pl.DataFrame:
        """The frame with own ids in the place of pseudonyms: a row for each record they stand for.

        Privacy: for this owner only.
        """
        own = pl.DataFrame({_SENT: self.pseudonyms, _OWN: self.records.ids}, schema=_TEXTS)
        for column in columns:
            wide = frame.join(
                own, left_on=column, right_on=_SENT, how="left", maintain_order="left_right"
            )
            named = pl.coalesce(_OWN, column).alias(column)
            frame = wide.with_columns(named).drop(_OWN)
        return frame


@dataclass(frozen=True, slots=True, eq=False)
class _Sent:
    """The records that are sent, one of each kind, in the order of their pseudonyms."""

    rows: Ints
    ids: tuple[str, ...]
    places: Ints  # where among them each record is


def _what(parameters: dict[str, Any]) -> str:
    return f"mine {', '.join(parameters['shares'])}"


def for_the_unit(schema: Schema) -> dict[str, object]:
    """The agreed settings without the grams of public bases, which are not for the unit."""
    settings = dict(schema.agreed)
    settings["fields"] = {
        name: {key: value for key, value in field.items() if key != "grams"}
        for name, field in settings["fields"].items()
    }
    return settings
