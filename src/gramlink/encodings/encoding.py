"""The seam between what an owner sends of its records and what the linkage unit does with it."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from gramlink.embedding.base import Base
from gramlink.embedding.thresholds import coarse, thresholds
from gramlink.embedding.vectors import Encoded, embed
from gramlink.encodings.secret import Secret
from gramlink.matching.chance import Chance, Frequencies, Gaps, Kin
from gramlink.matching.pairs import Pairs, Progress
from gramlink.matching.passes import Candidates, Pass
from gramlink.privacy.exposure import Disclosure
from gramlink.records.choices import ENCODINGS
from gramlink.records.fields import Field
from gramlink.records.levels import Levels
from gramlink.records.schema import Schema
from gramlink.records.strings import Strings

LevelCodes = npt.NDArray[np.uint8]
Rows = npt.NDArray[np.integer[Any]]


class Compared(Protocol):
    """The records of two owners side by side, or of one owner with themselves.

    Privacy: the linkage unit's; as sensitive as the bundles.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields."""

    @property
    def levels(self) -> tuple[Levels, ...]:
        """The levels that each field tells apart."""

    @property
    def pairs(self) -> int:
        """How many pairs of records there are."""

    @property
    def sizes(self) -> tuple[int, int]:
        """How many records the left and the right file have."""

    @property
    def same(self) -> bool:
        """Whether one file is compared with itself."""

    def suited_passes(self) -> tuple[Pass, ...]:
        """Passes that suit these records, for a schema that states none."""

    def candidates(self, passes: Sequence[Pass], progress: Progress | None = None) -> Candidates:
        """All pairs that at least one pass finds, with their levels."""

    def tells(self, left: int, right: int) -> bool:
        """Whether anything can be told of a pair of rows."""

    def levels_of(self, left: Rows, right: Rows) -> LevelCodes:
        """The levels of any pairs of rows."""

    def by_chance(self) -> tuple[Chance, ...]:
        """How near pairs are by chance alone, in each field."""

    def gaps(self) -> Gaps:
        """Which fields pairs miss."""

    def frequencies(self) -> Frequencies:
        """How frequent each left record's values are."""

    def within_left(self, most: int) -> "Compared":
        """The left file compared with itself; at most `most` of its records, chosen at random."""

    def kin(self) -> tuple[Kin, ...]:
        """What is known of relatives, where the left file cannot be compared with itself."""


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """What an owner has to make a bundle from: its records, the bases, and its keys.

    `left` says whether it sends what only left owners send.

    Privacy: raw records and keys; it never leaves the owner.
    """

    owner: str
    strings: Mapping[str, Strings]
    bases: Mapping[str, Base]
    schema: Schema
    left: bool
    key: bytes = field(repr=False)  # this owner's own
    secret: Secret | None = None  # what the owners of this exchange share

    @property
    def fields(self) -> dict[str, Encoded]:
        """The records embedded: vectors, and thresholds if this owner is a left one."""
        return {field.name: self._embedded(field) for field in self.schema.fields}

    def _embedded(self, field: Field) -> Encoded:
        strings, base = self.strings[field.name], self.bases[field.name]
        vectors = embed(strings, base)
        if not self.left:
            return Encoded(vectors)
        limits = thresholds(strings, base, field, self.schema)
        return Encoded(vectors, coarse(limits, base.scale))


class EncodedRecords(ABC):
    """One owner's records, as an encoding shows them to the linkage unit.

    Privacy: what an encoding shows is for the linkage unit only, and is not covered by epsilon.
    """

    name: ClassVar[str]  # in the manifest of a bundle
    shown_as: ClassVar[str]  # what an owner is told that it sends
    unit_learns: ClassVar[str]  # what the linkage unit learns of records, in a sentence's end
    needs_secret: ClassVar[bool] = False  # of the owners, for each exchange
    hides_grams: ClassVar[bool] = False  # even from whoever knows which they are

    @classmethod
    @abstractmethod
    def of(cls, material: Material) -> Self:
        """The owner's embedded records, encoded."""

    @classmethod
    @abstractmethod
    def disclosure(cls, schema: Schema) -> Disclosure:
        """What it shows the linkage unit of each record, which ledgers add up.

        It follows from the schema alone, so that an owner can refuse before anything is encoded.
        """

    @classmethod
    @abstractmethod
    def columns_of(
        cls, shape: Any, schema: Schema, present: Collection[str]
    ) -> dict[str, pl.DataType | type[pl.DataType]]:
        """The columns that a bundle of this shape must have, with their types.

        `present` are the columns it has. A shape that cannot be is a `ValueError`.
        """

    @classmethod
    @abstractmethod
    def check_schema(cls, schema: Schema) -> None:
        """Refuse a schema whose records it cannot encode, before anything is spent on them."""

    @classmethod
    def warnings(cls, schema: Schema) -> tuple[str, ...]:  # noqa: ARG003
        """What a schema makes it show that others would not."""
        return ()

    @classmethod
    @abstractmethod
    def size(cls, schema: Schema) -> int:
        """About how many bytes of a record are sent, before they are packed."""

    @classmethod
    def least(cls, shape: Any, schema: Schema) -> int:  # noqa: ARG003
        """How many bytes each record takes, however well the rest is packed.

        A shape that cannot be is a `ValueError`.
        """
        return 0

    @classmethod
    @abstractmethod
    def read(cls, rows: pl.DataFrame, shape: Any, schema: Schema) -> Self:
        """What `columns` wrote. What it cannot have written is a `ValueError`."""

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def shape(self) -> Any:
        """What must be the same at all owners, as JSON; part of the manifest."""

    @property
    def secret_check(self) -> str:
        """The same for owners who share a secret, of which it tells nothing; empty if none does."""
        return ""

    @property
    @abstractmethod
    def leads(self) -> bool:
        """Whether it contains what only left owners send."""

    @abstractmethod
    def columns(self) -> dict[str, pl.Series]:
        """The columns exactly as they are sent."""

    @property
    def digest(self) -> str:
        """The SHA-256 of all that is shown: the same for the same records, keys and secret."""
        whole = BytesIO()
        pl.DataFrame(self.columns()).write_ipc(whole)
        return hashlib.sha256(whole.getbuffer()).hexdigest()

    @abstractmethod
    def compare(self, right: Self) -> Compared:
        """These records compared with another owner's; these are the left ones."""

    @property
    @abstractmethod
    def lengths(self) -> npt.NDArray[np.int64]:
        """How long each record is in the first field, in any unit, for records of one field."""

    @abstractmethod
    def near(self, right: Self, progress: Progress | None = None) -> Pairs:
        """All pairs that are near enough in the first field, for records of one field."""


def encoding_of(name: str) -> type[EncodedRecords]:
    """The encoding of this name."""
    found: type[EncodedRecords] = ENCODINGS[name].value
    return found
