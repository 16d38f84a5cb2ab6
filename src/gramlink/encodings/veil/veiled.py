"""The veiled encoding: rows that the linkage unit can compare only where two owners share a key."""

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from gramlink.encodings.encoding import Compared, EncodedRecords, Material
from gramlink.encodings.veil.compared import ComparedRows
from gramlink.encodings.veil.keys import read_keys
from gramlink.encodings.veil.layout import Layout, spelt
from gramlink.encodings.veil.plan import check_plan, of_households, planned
from gramlink.encodings.veil.rows import Writer
from gramlink.encodings.veil.sketch import read_cut_offs, scales
from gramlink.errors import InvalidParameter, InvalidSchema
from gramlink.matching.pairs import Pairs, Progress
from gramlink.privacy.exposure import Disclosure
from gramlink.records.fields import Field
from gramlink.records.schema import Schema

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

COLUMN = "rows"
CHECK = "[0-9a-f]{64}"
CHUNK = 50_000  # records that are made into objects at once


@dataclass(frozen=True, slots=True, eq=False)
class VeiledRecords(EncodedRecords):
    """Records as rows, one for each key, which show nothing to whoever lacks the owners' secret.

    Privacy: of two records that share a key, the linkage unit learns in which fields they are
    equal, near, far or missing; of all others, nothing. `docs/veil.md` has the proof.
    """

    rows: Bytes
    layout: Layout
    cut_offs: tuple[tuple[int, ...], ...]
    fields: tuple[Field, ...]
    check: str

    name: ClassVar[str] = "veiled"
    shown_as: ClassVar[str] = "veiled rows"
    unit_learns: ClassVar[str] = (
        "which records share a key of the owners, such as a name and a date of birth, and in which "
        "fields these are equal, near, far apart or missing; of all others nothing"
    )
    needs_secret: ClassVar[bool] = True
    hides_grams: ClassVar[bool] = True

    @classmethod
    def of(cls, material: Material) -> Self:
        """The rows of an owner's records."""
        schema, secret = material.schema, material.secret
        if secret is None:
            raise InvalidParameter(
                "the veiled encoding needs a secret that the owners of this exchange share",
                hint="each owner contributes to it: see docs/veil.md",
            )
        layout = _layout(schema)
        of_fields = scales(schema, dict(material.bases))
        return cls(
            Writer(material, secret, layout, of_fields).written(),
            layout,
            tuple(of_fields[name].cut_offs for name in layout.names),
            schema.fields,
            secret.check,
        )

    @classmethod
    def disclosure(cls, schema: Schema) -> Disclosure:
        """A row for each key, with fresh draws of each field that the key does not fix."""
        return _layout(schema).disclosure

    @classmethod
    def columns_of(
        cls,
        shape: Any,
        schema: Schema,
        present: Collection[str],  # noqa: ARG003
    ) -> dict[str, pl.DataType | type[pl.DataType]]:
        """One column, with the bytes of a record."""
        _read_shape(shape, schema)
        return {COLUMN: pl.Binary}

    @classmethod
    def check_schema(cls, schema: Schema) -> None:
        """Several fields are needed, of which one tells the members of a household apart."""
        if len(schema.fields) == 1:
            raise _one_field()
        check_plan(schema)

    @classmethod
    def warnings(cls, schema: Schema) -> tuple[str, ...]:
        """Stated passes that pair members of a household."""
        return tuple(
            f"the pass {key} is shared by members of a household: the linkage unit learns who "
            "lives together"
            for key in of_households(schema)
        )

    @classmethod
    def size(cls, schema: Schema) -> int:
        """The same for every record."""
        return _layout(schema).width

    @classmethod
    def least(cls, shape: Any, schema: Schema) -> int:
        """Random bytes cannot be packed."""
        layout, _, _ = _read_shape(shape, schema)
        return layout.width

    @classmethod
    def read(cls, rows: pl.DataFrame, shape: Any, schema: Schema) -> Self:
        """The rows as they were sent."""
        layout, cut_offs, check = _read_shape(shape, schema)
        sent = rows[COLUMN]
        if sent.null_count() or (sent.bin.size() != layout.width).any():
            raise ValueError(f"a record does not have {layout.width} bytes")
        kind = pl.Array(pl.UInt8, layout.width)
        found = sent.bin.reinterpret(dtype=kind).to_numpy().reshape(len(sent), layout.width)
        if layout.repeated(found):
            raise ValueError("two of its records have the same tag")
        return cls(found, layout, cut_offs, schema.fields, check)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def shape(self) -> dict[str, Any]:
        """The keys, the cut-offs, and a word that shows whether the secrets are the same."""
        return {
            "keys": spelt(self.layout.keys),
            "cut_offs": dict(zip(self.layout.names, map(list, self.cut_offs), strict=True)),
            "check": self.check,
        }

    @property
    def secret_check(self) -> str:
        """The word in the shape."""
        return self.check

    @property
    def leads(self) -> bool:
        """Every owner sends the same."""
        return True

    def columns(self) -> dict[str, pl.Series]:
        """One column, with the bytes of a record."""
        parts = [self._column(start) for start in range(0, len(self), CHUNK)]
        return {COLUMN: pl.concat([pl.Series([], dtype=pl.Binary), *parts])}

    def _column(self, start: int) -> pl.Series:
        whole, width = self.rows[start : start + CHUNK].tobytes(), self.layout.width
        records = [whole[at : at + width] for at in range(0, len(whole), width)]
        return pl.Series(records, dtype=pl.Binary)

    @property
    def digest(self) -> str:
        """The SHA-256 of the rows."""
        return hashlib.sha256(np.ascontiguousarray(self.rows).data).hexdigest()

    def compare(self, right: Self) -> Compared:
        """Only records that share a key can be compared."""
        return ComparedRows(self, right)

    @property
    def lengths(self) -> Ints:
        """Of one field alone nothing can be told."""
        raise _one_field()

    def near(self, right: Self, progress: Progress | None = None) -> Pairs:  # noqa: ARG002
        """Of one field alone nothing can be told."""
        raise _one_field()


def _layout(schema: Schema) -> Layout:
    return Layout(tuple(field.name for field in schema.fields), planned(schema))


def _read_shape(shape: Any, schema: Schema) -> tuple[Layout, tuple[tuple[int, ...], ...], str]:
    if not isinstance(shape, dict) or shape.keys() != {"keys", "cut_offs", "check"}:
        raise ValueError("its shape is not that of a veiled bundle")
    names = tuple(field.name for field in schema.fields)
    if not isinstance(shape["cut_offs"], dict) or set(shape["cut_offs"]) != set(names):
        raise ValueError("its fields are not those of its settings")
    check = shape["check"]
    if not isinstance(check, str) or not re.fullmatch(CHECK, check):
        raise ValueError("it does not say which secret it was made with")
    cut_offs = tuple(
        read_cut_offs(shape["cut_offs"][field.name], schema.edits_of(field))
        for field in schema.fields
    )
    return Layout(names, read_keys(shape["keys"], schema.fields)), cut_offs, check


def _one_field() -> InvalidSchema:
    return InvalidSchema(
        "the veiled encoding cannot link records of one field",
        hint='add fields to linkage.toml, or set encoding = "vectors"',
    )
