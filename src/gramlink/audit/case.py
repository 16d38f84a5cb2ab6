"""A case: two owners' records, and what the linkage unit sees of them under each encoding."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gramlink.audit.known import Known
from gramlink.audit.seen import Coded, Codes, Sharing, seen
from gramlink.audit.weakened import household_keys, unveiled
from gramlink.embedding.base import Base
from gramlink.embedding.projection import agree
from gramlink.embedding.vectors import embed
from gramlink.encodings.encoding import Material
from gramlink.encodings.secret import Secret
from gramlink.encodings.veil.veiled import VeiledRecords
from gramlink.parties.linkage_unit import LinkageUnit
from gramlink.parties.owner import Owner
from gramlink.records.choices import VECTORS
from gramlink.records.reading import Records
from gramlink.records.schema import Schema, checked_schema
from gramlink.records.strings import distinct

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Register:
    """A register of persons, and which of them each of our records is of, -1 if none.

    Of its persons, the share `present` is in one of the two files.
    """

    records: Records
    truth: Ints
    present: float

    @classmethod
    def of(cls, records: Records, whose: Sequence[str | None], ours: Records) -> "Register":
        """A register of which `whose` says whose of our records, by its id, each person is.

        As many of the others in it are taken to be in the other file as it has of ours.
        """
        place = {own: row for row, own in enumerate(whose) if own is not None}
        truth = np.array([place.get(own, -1) for own in ours.ids], np.int64)
        return cls(records, truth, float((truth >= 0).mean()))

    @property
    def coverage(self) -> float:
        """The share of our records whose persons it has."""
        return float((self.truth >= 0).mean())


def without_noise(schema: Schema) -> Schema:
    """The schema for what nobody else is shown: grams as they are, and vectors."""
    fields = tuple(
        field.model_copy(update={"miner": "exact"}) if field.mined else field
        for field in schema.fields
    )
    return checked_schema(**{**dict(schema), "fields": fields, "encoding": VECTORS})


def same_persons(ours: Records, theirs: Records, schema: Schema) -> Ints:
    """Which of their records each of ours is of one person with, -1 if none, as linked here.

    Privacy: reads both; nothing leaves the process.
    """
    schema = without_noise(schema)
    one, other = Owner("ours", ours, schema, b"ours"), Owner("theirs", theirs, schema, b"theirs")
    projection = agree(one.mine(None), other.mine(None))
    unit = LinkageUnit.of(one.embed(projection), other.embed(projection))
    links = one.translate(other.translate(unit.link("one-to-one").links))
    there = {own: row for row, own in enumerate(theirs.ids)}
    here = {own: row for row, own in enumerate(ours.ids)}
    found = np.full(len(ours), -1)
    for left, right in zip(links.left, links.right, strict=True):
        found[here[left]] = there[right]
    return found


@dataclass(frozen=True)
class Case:
    """Our records, another owner's, and the bases that both agreed on.

    Privacy: holds raw records and made-up secrets; nothing of it leaves the process.
    """

    ours: Records
    theirs: Records
    schema: Schema
    bases: Mapping[str, Base]

    @classmethod
    def of(cls, ours: Records, theirs: Records, schema: Schema) -> "Case":
        """The bases are mined without noise, since nobody is shown them."""
        schema = without_noise(schema)
        sides = zip(("ours", "theirs"), (ours, theirs), strict=True)
        owners = [Owner(name, one, schema, name.encode()) for name, one in sides]
        bases = agree(*(owner.mine(None) for owner in owners)).bases
        return cls(ours, theirs, schema, bases)

    def __len__(self) -> int:
        return len(self.ours)

    @cached_property
    def vectors(self) -> Coded:
        """What the unit sees of our records as vectors, but for thresholds."""
        fields = []
        for field in self.schema.fields:
            column, base = self.ours[field.name], self.bases[field.name]
            texts, place = distinct(column)
            counts = embed(texts, base).counts
            found, code = np.unique(counts, axis=0, return_inverse=True)
            places = np.where(column.missing, -1, code.ravel()[place])
            fields.append(Codes(found.astype(np.float32), places, base.lengths))
        return Coded(tuple(fields))

    def secret(self, exchange: int = 0) -> Secret:
        """A secret for one exchange; made up, so that an audit comes out the same each time."""
        parts = {"left": bytes([exchange]) * 32, "right": bytes(32)}
        return Secret.of(parts, exchange=f"audit {exchange}", schema="audit")

    def veiled(self, exchange: int = 0) -> Sharing:
        """What the unit sees of both owners' records under the veil."""
        return self._veiled[exchange] if exchange in self._veiled else self._made(exchange)

    @cached_property
    def _veiled(self) -> dict[int, Sharing]:
        return {}

    def _made(self, exchange: int) -> Sharing:
        # passes of vectors may be within edits, which the veil cannot do
        schema = self.schema
        if any(any(one.values()) for one in schema.passes):
            schema = schema.model_copy(update={"passes": ()})
        sides = [
            VeiledRecords.of(
                Material(
                    owner, records.columns, self.bases, schema, left, owner.encode() * 8,
                    self.secret(exchange),
                )
            )
            for owner, records, left in (("ours", self.ours, True), ("theirs", self.theirs, False))
        ]  # fmt: skip
        found = seen(sides[0], sides[1])
        assert isinstance(found, Sharing)  # noqa: S101
        self._veiled[exchange] = found
        return found

    @cached_property
    def exact(self) -> Sharing:
        """The veil with distances as they are, in place of parities."""
        keys = self.veiled().layout
        return unveiled(self.ours, self.theirs, self.schema, self.bases, keys, unique=True)

    @cached_property
    def households(self) -> Sharing:
        """The same with keys that households share, and that any number of records may have."""
        keys = household_keys(self.schema)
        return unveiled(self.ours, self.theirs, self.schema, self.bases, keys, unique=False)

    def known(self, register: Register) -> Known:
        """What an attacker with this register knows: the worst case, the parities included."""
        return Known(
            register.records,
            self.schema,
            self.bases,
            (self.secret(),),
            register.present,
            float(np.clip(register.coverage, 0.02, 0.98)),
        )
