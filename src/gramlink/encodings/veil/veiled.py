"""The veiled encoding: rows that the linkage unit can compare only where two owners share a key."""

import hashlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from gramlink.encodings.encoding import Compared, EncodedRecords, LevelCodes, Material, Rows
from gramlink.encodings.veil.chance import SWAPPED, by_chance, passes_of
from gramlink.encodings.veil.keys import EITHER, read_keys
from gramlink.encodings.veil.layout import Layout, spelt
from gramlink.encodings.veil.plan import check_plan, of_households, planned
from gramlink.encodings.veil.relatives import kin_of
from gramlink.encodings.veil.rows import Writer
from gramlink.encodings.veil.shared import Shared
from gramlink.encodings.veil.sketch import read_cut_offs, scales
from gramlink.errors import InvalidParameter, InvalidSchema
from gramlink.matching.chance import Chance, Frequencies, Gaps, Kin
from gramlink.matching.pairs import Pairs, Progress
from gramlink.matching.passes import Candidates, Pass
from gramlink.privacy.exposure import Disclosure
from gramlink.records.fields import Field
from gramlink.records.levels import EQUAL, Levels
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


@dataclass(frozen=True)
class ComparedRows:
    """Two owners' rows, as scoring sees them."""

    ours: VeiledRecords
    theirs: VeiledRecords
    same: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields."""
        return self.ours.layout.names

    @property
    def levels(self) -> tuple[Levels, ...]:
        """The levels that each field tells apart."""
        partners = {one: (other, True) for one, other in self._swaps}
        partners |= {other: (one, False) for one, other in self._swaps}
        roles = (partners.get(name, ("", True)) for name in self.names)
        return tuple(
            Levels(len(cuts) - 1, partner, leads=leads)
            for cuts, (partner, leads) in zip(self.ours.cut_offs, roles, strict=True)
        )

    @property
    def _swaps(self) -> dict[tuple[str, ...], list[int]]:
        """Two fields that keys have either way round, and these keys; no field twice."""
        found: dict[tuple[str, ...], list[int]] = {}
        for place, key in enumerate(self.ours.layout.keys):
            for one in key.components:
                taken = {name for fields in found for name in fields}
                if one.part == EITHER and (one.fields in found or taken.isdisjoint(one.fields)):
                    found.setdefault(one.fields, []).append(place)
        return found

    @cached_property
    def _told(self) -> LevelCodes:
        """The levels of the pairs that share a key.

        Two fields that differ, and are the same either way round, are swapped.
        """
        levels = self.shared.levels.copy()
        for fields, keys in self._swaps.items():
            both = [self.names.index(name) for name in fields]
            codes = np.array([(of.farther, of.missing) for of in (self.levels[f] for f in both)]).T
            found = levels[:, both]
            unlike = ((found != EQUAL) & (found <= codes[0])).all(axis=1)
            swapped = self.shared.keys[:, keys].any(axis=1) & unlike
            # in a row, missing values have the code after farther
            found = np.where(found > codes[0], codes[1], found)
            found[swapped] = codes[1] - 1
            levels[:, both] = found
        return levels

    @property
    def pairs(self) -> int:
        """How many pairs of records there are."""
        return len(self.ours) * len(self.theirs)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many records the left and the right file have."""
        return len(self.ours), len(self.theirs)

    @cached_property
    def shared(self) -> Shared:
        """The pairs that share a key."""
        edits = np.array([of.edits for of in self.levels])
        cut_offs = np.zeros((len(edits), int(edits.max()) + 1), np.int64)
        for row, one in zip(cut_offs, self.ours.cut_offs, strict=True):
            row[: len(one)] = one
        return Shared.of(self.ours.rows, self.theirs.rows, self.ours.layout, cut_offs, edits)

    def suited_passes(self) -> tuple[Pass, ...]:
        """One for each key: the owners have chosen them."""
        return passes_of(self.ours.layout.keys, self.shared, self.names, self.levels)

    def candidates(
        self,
        passes: Sequence[Pass],  # noqa: ARG002
        progress: Progress | None = None,
    ) -> Candidates:
        """All pairs that share a key."""
        shared = self.shared
        if progress:
            progress(1, 1)
        first = np.bincount(shared.keys.argmax(axis=1), minlength=len(self.ours.layout.keys))
        return Candidates(
            shared.left,
            shared.right,
            self._told,
            self.suited_passes(),
            tuple(shared.keys.sum(axis=0).tolist()),
            tuple(first.tolist()),
        )

    def tells(self, left: int, right: int) -> bool:
        """Only records that share a key can be compared."""
        return bool(self.shared.place(np.array([left]), np.array([right]))[0] >= 0)

    def levels_of(self, left: Rows, right: Rows) -> LevelCodes:
        """The levels of any pairs of rows; all missing where they share no key."""
        found = np.tile(np.array([of.missing for of in self.levels], np.uint8), (len(left), 1))
        place = self.shared.place(left.astype(np.int64), right.astype(np.int64))
        known = np.flatnonzero(place >= 0)
        found[known] = self._told[place[known]]
        return found

    def by_chance(self) -> tuple[Chance, ...]:
        """What everybody knows of such fields."""
        found = by_chance(self.ours.fields, self.ours.cut_offs, self.gaps())
        return tuple(
            Chance(chance.equal, np.insert(chance.counts, of.swapped, 0), SWAPPED)
            if of.swapped is not None
            else chance
            for chance, of in zip(found, self.levels, strict=True)
        )

    def gaps(self) -> Gaps:
        """Which fields pairs miss, of those that share a key."""
        missing = np.array([of.missing for of in self.levels])
        return Gaps.seen(self._told == missing)

    def frequencies(self) -> Frequencies:
        """The same for all values: the unit sees none."""
        known = [chance.equal for chance in self.by_chance()]
        return Frequencies(
            np.zeros((len(self.ours), len(known)), np.int32),
            np.array(known),
            np.arange(len(known)),
        )

    def within_left(self, most: int) -> "ComparedRows":  # noqa: ARG002
        """Nothing: no two records of one owner share a row."""
        none = replace(self.ours, rows=self.ours.rows[:0])
        return ComparedRows(none, none, same=True)

    def kin(self) -> tuple[Kin, ...]:
        """What everybody knows of households and neighbours."""
        fields = tuple((field.name, field.kind) for field in self.ours.fields)
        return kin_of(fields, self.ours.layout.keys, self.sizes)


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
