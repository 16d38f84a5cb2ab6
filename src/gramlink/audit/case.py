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
from gramlink.embedding.vectors import embed
from gramlink.encodings.encoding import Material
from gramlink.encodings.secret import Secret
from gramlink.encodings.veil.veiled import VeiledRecords
from gramlink.records.reading import Records
from gramlink.records.schema import Schema
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


@dataclass(frozen=True)
class Case:
    """Our records, another owner's, and the bases that both agreed on.

    Privacy: holds raw records and made-up secrets; nothing of it leaves the process.
    """

    ours: Records
    theirs: Records
    schema: Schema
    bases: Mapping[str, Base]

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
