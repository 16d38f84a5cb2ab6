"""The paper's encoding: gram counts, so that every record can be compared with every other.

A field has a column of counts, null where the value is missing and, from the left owner, a column
of thresholds, one for each number of edits. Two fields whose values people swap have a column of
tags, null where one of the values is missing, and so has a field whose nicknames are known, null
where a name is in no group.
"""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from gramlink.embedding.thresholds import highest
from gramlink.embedding.vectors import Encoded, Vectors
from gramlink.encodings.encoding import Compared, EncodedRecords, LevelCodes, Material, Rows
from gramlink.encodings.tags import NONE, nickname_tags, swap_tags, tag_key
from gramlink.errors import InvalidParameter
from gramlink.matching.chance import Chance, Frequencies, Gaps, Kin, by_chance
from gramlink.matching.comparison import Comparison
from gramlink.matching.pairs import Pairs, Progress, match
from gramlink.matching.pass_choice import chosen_passes
from gramlink.matching.passes import Candidates, Pass, candidates
from gramlink.privacy.exposure import Disclosure
from gramlink.records.levels import Levels
from gramlink.records.schema import Schema

Words = npt.NDArray[np.uint64]

MOST_GRAMS, LONGEST_GRAM = 1000, 6
SAMPLE_SEED = 2013


@dataclass(frozen=True, slots=True, eq=False)
class VectorRecords(EncodedRecords):
    """Records as gram counts, with thresholds from the left owner.

    Privacy: whoever has the base, or enough of these and a public list of names, can name
    nearly every record.
    """

    fields: Mapping[str, Encoded]
    tags: Mapping[tuple[str, str], Words] = dataclasses.field(default_factory=dict)
    groups: Mapping[str, Words] = dataclasses.field(default_factory=dict)

    name: ClassVar[str] = "vectors"
    shown_as: ClassVar[str] = "gram counts"
    unit_learns: ClassVar[str] = (
        "gram counts and rounded thresholds of each; with effort it could infer values, which is "
        "why it must be trusted"
    )

    @classmethod
    def of(cls, material: Material) -> Self:
        """The records as they were embedded."""
        strings, schema = material.strings, material.schema
        key = tag_key(schema, material.bases)
        both = {(a, b): swap_tags(strings[a], strings[b], key) for a, b in schema.swaps}
        named = {one.name: one.nicknames for one in schema.fields if one.nicknames}
        groups = {name: nickname_tags(strings[name], of, key) for name, of in named.items()}
        return cls(material.fields, both, groups)

    @classmethod
    def disclosure(cls, schema: Schema) -> Disclosure:  # noqa: ARG003
        """Everything: whoever has the base can read a value off its counts."""
        return Disclosure(rows=1, draws=None)

    @classmethod
    def columns_of(
        cls, shape: Any, schema: Schema, present: Collection[str]
    ) -> dict[str, pl.DataType | type[pl.DataType]]:
        """The columns of counts and, if any field has them, of thresholds."""
        lengths = _lengths(shape, schema)
        leads = any(_thresholds(name) in present for name in lengths)
        columns: dict[str, pl.DataType | type[pl.DataType]] = {}
        for name, grams in lengths.items():
            columns[_counts(name)] = pl.Array(pl.UInt8, len(grams))
            if leads:
                edits = schema.edits_of(schema[name])
                columns[_thresholds(name)] = pl.Array(pl.Int64, edits + 1)
        columns |= {_tags(pair): pl.UInt64 for pair in schema.swaps}
        return columns | {_groups(one.name): pl.UInt64 for one in schema.fields if one.nicknames}

    @classmethod
    def check_schema(cls, schema: Schema) -> None:
        """Records of any schema have vectors."""

    @classmethod
    def size(cls, schema: Schema) -> int:
        """A byte for each gram, and thresholds."""
        grams = sum(one.size if one.mined else len(one.public_grams) for one in schema.fields)
        return grams + sum(8 * (schema.edits_of(field) + 1) for field in schema.fields)

    @classmethod
    def read(cls, rows: pl.DataFrame, shape: Any, schema: Schema) -> Self:
        """The vectors and thresholds of a bundle's rows."""
        lengths = _lengths(shape, schema)
        fields = {name: _read(rows, name, grams) for name, grams in lengths.items()}
        named = [one.name for one in schema.fields if one.nicknames]
        return cls(
            fields,
            {pair: _read_tags(rows, pair) for pair in schema.swaps},
            {name: _read_groups(rows, name) for name in named},
        )

    def __len__(self) -> int:
        return len(next(iter(self.fields.values())).vectors)

    @property
    def shape(self) -> dict[str, list[int]]:
        """The lengths of each field's grams."""
        return {name: list(field.vectors.lengths) for name, field in self.fields.items()}

    @property
    def leads(self) -> bool:
        """Whether every field has thresholds."""
        return all(field.thresholds is not None for field in self.fields.values())

    def columns(self) -> dict[str, pl.Series]:
        """Counts and thresholds, field by field."""
        columns = {}
        for name, field in self.fields.items():
            vectors, limits = field.vectors, field.thresholds
            counts = pl.Series(vectors.counts, dtype=pl.Array(pl.UInt8, len(vectors.lengths)))
            known = pl.Series(~vectors.missing)
            columns[_counts(name)] = pl.select(pl.when(known).then(counts)).to_series()
            if limits is not None:
                kind = pl.Array(pl.Int64, limits.shape[1])
                columns[_thresholds(name)] = pl.Series(limits, dtype=kind)
        every = {_tags(pair): sent for pair, sent in self.tags.items()}
        every |= {_groups(name): sent for name, sent in self.groups.items()}
        for name, sent in every.items():
            known = pl.Series(sent != NONE)
            columns[name] = pl.select(pl.when(known).then(pl.Series(sent))).to_series()
        return columns

    def compare(self, right: Self) -> Compared:
        """Everything can be compared with everything."""
        both = {pair: (sent, right.tags[pair]) for pair, sent in self.tags.items()}
        groups = {name: (sent, right.groups[name]) for name, sent in self.groups.items()}
        return ComparedVectors(Comparison.of(self.fields, right.fields, both, groups))

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How many grams of the first field's base each record has."""
        first = next(iter(self.fields.values()))
        return np.asarray(first.vectors.counts.sum(axis=1), np.int64)

    def near(self, right: Self, progress: Progress | None = None) -> Pairs:
        """All pairs within the left record's threshold for the most edits."""
        name = next(iter(self.fields))
        ours, theirs = self.fields[name], right.fields[name]
        if ours.thresholds is None:
            raise InvalidParameter("the left records need thresholds in every field")
        return match(ours.vectors, ours.thresholds[:, -1], theirs.vectors, progress)


@dataclass(frozen=True, slots=True, eq=False)
class ComparedVectors:
    """Two files of vectors, as scoring sees them."""

    comparison: Comparison

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields."""
        return self.comparison.names

    @property
    def levels(self) -> tuple[Levels, ...]:
        """The levels that each field tells apart."""
        return self.comparison.levels

    @property
    def pairs(self) -> int:
        """How many pairs of records there are."""
        return self.comparison.pairs

    @property
    def sizes(self) -> tuple[int, int]:
        """How many records the left and the right file have."""
        return len(self.comparison.left), len(self.comparison.right)

    @property
    def same(self) -> bool:
        """Whether one file is compared with itself."""
        return self.comparison.same

    def suited_passes(self) -> tuple[Pass, ...]:
        """Passes chosen by trying them on some of these records."""
        return chosen_passes(self.comparison)

    def candidates(self, passes: Sequence[Pass], progress: Progress | None = None) -> Candidates:
        """All pairs that at least one pass finds, exactly."""
        return candidates(self.comparison, passes, progress)

    def tells(self, left: int, right: int) -> bool:  # noqa: ARG002
        """All records can be compared."""
        return True

    def levels_of(self, left: Rows, right: Rows) -> LevelCodes:
        """The levels of any pairs of rows, exactly."""
        return self.comparison.levels_of(left, right)

    def by_chance(self) -> tuple[Chance, ...]:
        """How near pairs are by chance alone, in each field."""
        return by_chance(self.comparison)

    def gaps(self) -> Gaps:
        """Which fields pairs miss."""
        ours, theirs = self.comparison.left < 0, self.comparison.right < 0
        return Gaps.of(ours, None if self.same else theirs)

    def frequencies(self) -> Frequencies:
        """How frequent each left record's values are in both files."""
        return Frequencies.of(self.comparison)

    def within_left(self, most: int) -> "ComparedVectors":
        """The left file compared with itself; at most `most` of its records, chosen at random."""
        return ComparedVectors(self.comparison.within_left.sampled(most, SAMPLE_SEED))

    def kin(self) -> tuple[Kin, ...]:
        """Nothing: the left file compared with itself shows them."""
        return ()


def _counts(field: str) -> str:
    return f"{field}.counts"


def _thresholds(field: str) -> str:
    return f"{field}.thresholds"


def _tags(pair: tuple[str, str]) -> str:
    return f"{pair[0]}+{pair[1]}.tags"


def _groups(field: str) -> str:
    return f"{field}.nicknames"


def _read_groups(rows: pl.DataFrame, field: str) -> Words:
    sent = rows[_groups(field)]
    if (sent.is_not_null() & rows[_counts(field)].is_null()).any() or (sent == NONE).any():
        raise ValueError("a missing name has a group")
    return sent.fill_null(NONE).to_numpy().astype(np.uint64)


def _read_tags(rows: pl.DataFrame, pair: tuple[str, str]) -> Words:
    sent = rows[_tags(pair)]
    missing = rows[_counts(pair[0])].is_null() | rows[_counts(pair[1])].is_null()
    if (sent.is_null() != missing).any() or (sent == NONE).any():
        raise ValueError("a tag is there without both of its values, or is not there with them")
    return sent.fill_null(NONE).to_numpy().astype(np.uint64)


def _lengths(shape: Any, schema: Schema) -> dict[str, tuple[int, ...]]:
    """The gram lengths of each field, if they can be those of a base."""
    if not isinstance(shape, dict) or shape.keys() != {one.name for one in schema.fields}:
        raise ValueError("its fields are not those of its settings")
    for grams in shape.values():
        if not 1 <= len(grams) <= MOST_GRAMS or not all(
            isinstance(q, int) and 1 <= q <= LONGEST_GRAM for q in grams
        ):
            raise ValueError(
                f"its gram lengths are not up to {MOST_GRAMS:,} numbers from 1 to {LONGEST_GRAM}"
            )
    return {name: tuple(grams) for name, grams in shape.items()}


def _read(rows: pl.DataFrame, field: str, lengths: tuple[int, ...]) -> Encoded:
    sent = rows[_counts(field)]
    if sent.drop_nulls().explode().null_count():
        raise ValueError("a count is missing within a row")
    zeros = pl.lit([0] * len(lengths), dtype=sent.dtype)
    counts = pl.select(pl.lit(sent).fill_null(zeros)).to_series().to_numpy()
    vectors = Vectors(counts.reshape(len(rows), len(lengths)), lengths, sent.is_null().to_numpy())
    if _thresholds(field) not in rows.columns:
        return Encoded(vectors)
    limits = rows[_thresholds(field)]
    if limits.null_count() or limits.explode().null_count():
        raise ValueError("a threshold is missing")
    thresholds = limits.to_numpy().reshape(len(rows), limits.dtype.shape[0])  # type: ignore[attr-defined]
    if thresholds[:, 0].any() or (np.diff(thresholds, axis=1) < 0).any():
        raise ValueError("a threshold is not 0 for no edits, or falls as edits increase")
    for edits, most in enumerate(thresholds.max(axis=0, initial=0).tolist()):
        if most > highest(edits, lengths):
            raise ValueError(f"a threshold of {field} is higher than {edits} edits can make it")
    return Encoded(vectors, thresholds)
