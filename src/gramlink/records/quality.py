"""Quality: what an owner should check in its records before spending anything.

Counts and row numbers only: neither a `Quality` nor what is printed of it says what a cell
holds. Only `bad_rows` has more, namely ids, and is for the owner's eyes only.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import polars as pl

from gramlink.records.fields import Field, Kind
from gramlink.records.reading import (
    CUT,
    IMPOSSIBLE,
    MOSTLY_OUTSIDE,
    NOTHING_LEFT,
    OUTSIDE,
    UNREADABLE,
    Problem,
    Records,
)
from gramlink.records.schema import Schema
from gramlink.records.strings import Strings, distinct
from gramlink.records.suspicions import suspicions
from gramlink.records.tables import SHOWN

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

WORST = 2  # with problems in this many fields a row is among the worst; one is listed anyway

_INVALID = (UNREADABLE, IMPOSSIBLE, NOTHING_LEFT)
_BAD = (*_INVALID, CUT, MOSTLY_OUTSIDE)
_EMPTY = "no value in any field"


@dataclass(frozen=True, slots=True)
class FieldQuality:
    """What was found in one field.

    `missing` counts cells that are empty or hold a word for "not known"; `invalid` those that
    cannot be read as a date, name a day that does not exist, or have nothing left after
    normalising; `outside` those with a symbol outside the alphabet; `cut` those that are too
    long. `epsilon` is what mining will cost.
    """

    name: str
    kind: Kind
    columns: tuple[str, ...]
    values: int
    distinct: int
    missing: int
    invalid: int
    outside: int
    cut: int
    epsilon: Fraction
    problems: tuple[Problem, ...]
    suspicions: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Identical:
    """Records that equal another in all fields, and the first few groups of their rows.

    Missing values equal each other; records without any value are left out.
    """

    records: int
    groups: int
    rows: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Worst:
    """A row, and in which fields it has a problem."""

    row: int
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Quality:
    """What was found in records: by field, and over all fields.

    `clean` records have no problem, and a missing value counts as one; `bad` ones are those
    that `bad_rows` lists; `empty` ones have no value at all.

    Privacy: names columns and rows but never says what a cell holds. The counts are exact,
    so it stays with the owner.
    """

    name: str
    records: int
    fields: tuple[FieldQuality, ...]
    clean: int
    bad: int
    empty: int
    worst: tuple[Worst, ...]
    identical: Identical
    unique: bool  # whether the schema says that nobody is in the file twice

    @property
    def epsilon(self) -> Fraction:
        """What mining all fields will cost."""
        return sum((field.epsilon for field in self.fields), Fraction(0))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Those of all fields."""
        return tuple(problem for field in self.fields for problem in field.problems)

    @property
    def suspicions(self) -> tuple[Problem, ...]:
        """Those of all fields."""
        return tuple(problem for field in self.fields for problem in field.suspicions)


def assess(records: Records, schema: Schema) -> Quality:
    """What an owner should look at in its records.

    >>> from gramlink.records.reading import read_records
    >>> schema = Schema(fields=(Field(name="surname"), Field(name="born", kind="date")))
    >>> people = {"id": ["1", "2"], "surname": ["Ng", ""], "born": ["1980-02-01", "1980-02-30"]}
    >>> found = assess(read_records(pl.DataFrame(people), schema), schema)
    >>> found.bad, found.fields[1].invalid, found.worst
    (1, 1, (Worst(row=2, fields=('surname', 'born')),))

    Privacy: reads raw records; the result has exact counts and stays with the owner.
    """
    rows = _rows(records)
    costs = schema.costs
    fields, kinds = [], []
    for field in schema.fields:
        values, kind = distinct(records[field.name])
        fields.append(_field(records, field, values, kind, rows, costs[field.name]))
        kinds.append(kind)
    troubled = [_mask(len(records), one.problems) for one in fields]
    bad = _mask(len(records), (p for one in fields for p in one.problems if _is_bad(p)))
    empty = _empty(records, schema)
    return Quality(
        name=records.name,
        records=len(records),
        fields=tuple(fields),
        clean=int(np.sum(~np.logical_or.reduce(troubled))),
        bad=int(np.sum(bad | empty)),
        empty=int(empty.sum()),
        worst=_worst(troubled, bad, rows, schema),
        identical=_identical(kinds, empty, rows),
        unique=schema.unique,
    )


def bad_rows(records: Records, schema: Schema) -> pl.DataFrame:
    """The rows to fix before linking, each with its id and the reason.

    Reasons are dates that cannot be read or do not exist; values that have nothing left after
    normalising, are mostly outside the alphabet, or are cut; and records without any value. A
    missing value alone is no reason.

    >>> from gramlink.records.reading import read_records
    >>> schema = Schema(fields=(Field(name="surname"),))
    >>> people = pl.DataFrame({"id": ["007", "8", "9"], "surname": ["Ng", "??", ""]})
    >>> for row in bad_rows(read_records(people, schema), schema).iter_rows():
    ...     print(row)
    (2, '8', 'surname: nothing left after normalising; no value in any field')
    (3, '9', 'no value in any field')

    Privacy: holds ids, so it is for the owner alone; it holds nothing else from a cell.
    """
    names = {field.name for field in schema.fields}
    reasons = [
        (problem.places, f"{problem.column}: {problem.what}")
        for problem in records.problems
        if problem.field in names and _is_bad(problem)
    ]
    reasons.append((np.flatnonzero(_empty(records, schema)), _EMPTY))
    listed = pl.concat(
        pl.DataFrame({"place": places}, {"place": pl.Int64}).with_columns(reason=pl.lit(reason))
        for places, reason in reasons
    )
    # a stable sort keeps the order of the fields
    joined = (
        listed.sort("place", maintain_order=True)
        .group_by("place", maintain_order=True)
        .agg(pl.col("reason").str.join("; "))
    )
    places = joined["place"].to_numpy()
    return pl.DataFrame(
        {
            "row": pl.Series(_rows(records)[places], dtype=pl.Int64),
            "id": pl.Series([records.ids[place] for place in places], dtype=pl.String),
            "reason": joined["reason"],
        }
    )


def _rows(records: Records) -> Ints:
    return np.asarray(records.rows or range(1, 1 + len(records)), np.int64)


def _is_bad(problem: Problem) -> bool:
    return problem.what.startswith(_BAD)


def _mask(size: int, problems: Iterable[Problem]) -> Bools:
    """Which records have one of these problems."""
    mask = np.zeros(size, np.bool_)
    for problem in problems:
        mask[problem.places] = True
    return mask


def _empty(records: Records, schema: Schema) -> Bools:
    empty: Bools = np.logical_and.reduce([records[one.name].missing for one in schema.fields])
    return empty


def _field(
    records: Records, field: Field, values: Strings, kind: Ints, rows: Ints, cost: Fraction
) -> FieldQuality:
    problems = tuple(p for p in records.problems if p.field == field.name)

    def count(*begins: str) -> int:
        return int(_mask(len(records), (p for p in problems if p.what.startswith(begins))).sum())

    none = records[field.name].missing
    # an unreadable date, or a value with nothing left, is missing from here on
    invalid = _mask(len(records), (p for p in problems if p.what.startswith(_INVALID)))
    return FieldQuality(
        name=field.name,
        kind=field.kind,
        columns=field.columns,
        values=int(np.sum(~none)),
        distinct=int(np.sum(~values.missing)),
        missing=int(np.sum(none & ~invalid)),
        invalid=int(invalid.sum()),
        outside=count(OUTSIDE),
        cut=count(CUT),
        epsilon=cost,
        problems=problems,
        suspicions=tuple(suspicions(field, values, kind, rows)),
    )


def _worst(troubled: Sequence[Bools], bad: Bools, rows: Ints, schema: Schema) -> tuple[Worst, ...]:
    """The rows with a problem in the most fields; of those, bad ones first."""
    fields = np.stack(troubled).sum(axis=0)
    places = np.flatnonzero(fields >= WORST)
    rank = 2 * fields[places] + bad[places]
    places = places[np.argsort(-rank, kind="stable")][:SHOWN]
    return tuple(
        Worst(
            int(rows[place]),
            tuple(f.name for f, one in zip(schema.fields, troubled, strict=True) if one[place]),
        )
        for place in places.tolist()
    )


def _identical(kinds: Sequence[Ints], empty: Bools, rows: Ints) -> Identical:
    """Records that are of the same kind in every field."""
    from gramlink.kernels.interning import intern_rows

    table = np.stack(kinds, axis=1).astype(np.int32)
    record, _ = intern_rows(table.view(np.uint8))  # numbered as they appear
    sizes = np.bincount(record[~empty], minlength=int(record.max()) + 1)
    shared = np.flatnonzero(sizes > 1)
    groups = tuple(_first(rows[record == one]) for one in shared[:SHOWN].tolist())
    return Identical(int(sizes[shared].sum()), len(shared), groups)


def _first(rows: Ints) -> tuple[int, ...]:
    return tuple(rows[:SHOWN].tolist())
