"""Proposing which columns of a file, or of two owners' files, become which fields."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from gramlink.errors import InvalidRecords
from gramlink.io.parquet import READER, from_bytes, to_bytes
from gramlink.records.csv import short
from gramlink.records.proposal.guess import IDS, ROWS, Guess, date_of_parts, guess
from gramlink.records.proposal.headings import Heading, by_ids_names, heading_of, parts_of_birth
from gramlink.records.proposal.placeholders import present
from gramlink.records.proposal.proposal import Proposal, ProposedField, shown
from gramlink.records.proposal.repeats import Repeat, repeats
from gramlink.records.tables import header, is_parquet, parquet_limits, read_table, reading

LOOKED_AT = 10_000  # records
MOST_FIELDS = 50  # that a schema can have

NAMELESS = "it has no name"
TWICE = "another column has the same name"
UNREADABLE = "it is not text, or has cells that are too long"
TOO_MANY = f"a schema has at most {MOST_FIELDS} fields"


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The first records of a file, and why some columns are not among them.

    Privacy: raw records; they stay with their owner.
    """

    name: str
    columns: Mapping[str, pl.Series]
    left_out: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Candidate:
    """Columns that may become a field."""

    heading: Heading
    columns: tuple[str, ...]
    guess: Guess


def read_sample(path: Path, separator: str | None = None, encoding: str | None = None) -> Sample:
    """The start of a CSV or Parquet file; columns that cannot be read are left out.

    Privacy: reads raw records; they stay with their owner.
    """
    names = header(path, separator, encoding)
    once = [name for name, count in Counter(names).items() if name and count == 1]
    left_out = {
        name or f"(column {place})": TWICE if name else NAMELESS
        for place, name in enumerate(names, 1)
        if name not in once
    }

    options = {"separator": separator, "encoding": encoding, "limit": LOOKED_AT}
    if not once:
        read_table(path, separator=separator, encoding=encoding)  # raises an error that says why
    if is_parquet(path):
        order = {"path": str(path.absolute()), "columns": once, "options": options}
        with reading(path.name):
            limits = parquet_limits(path, once, LOOKED_AT)
            found, unread = READER.call(_read_there, order, limits=limits)
        return Sample(path.name, from_bytes(found).to_dict(), left_out | json.loads(unread))
    columns, unreadable = _readable(path, once, options)
    return Sample(path.name, columns, left_out | unreadable)


def _read_there(order: Mapping[str, Any], *_: object) -> list[bytes]:
    """What is read of a Parquet file, in another process."""
    columns, unreadable = _readable(Path(order["path"]), order["columns"], order["options"])
    return [to_bytes(pl.DataFrame(dict(columns))), json.dumps(unreadable).encode()]


def _readable(
    path: Path, names: Sequence[str], options: Mapping[str, Any]
) -> tuple[Mapping[str, pl.Series], dict[str, str]]:
    """The columns that can be read, and why the others are left out."""
    try:
        return read_table(path, columns=names, **options).columns, {}
    except InvalidRecords:
        columns: dict[str, pl.Series] = {}
        unreadable = {}
        for name in names:
            try:
                columns |= read_table(path, columns=[name], **options).columns
            except InvalidRecords:
                unreadable[name] = UNREADABLE
        if not columns:
            raise
        return columns, unreadable


def propose(sample: Sample, *, fields: Sequence[str] = (), id_column: str = "") -> Proposal:
    """A schema for a file, with the columns asked for or with all that are suitable.

    >>> frame = pl.DataFrame({"id": ["7", "3"], "First Name": ["ANN", "BOB"], "note": ["", ""]})
    >>> proposal = propose(Sample("a.csv", frame.to_dict(), {}))
    >>> [(field.name, field.guess.kind) for field in proposal.fields], proposal.left_out
    ([('given_name', 'text')], {'note': 'it is empty'})

    Privacy: reads raw records; a proposal is fit to be public.
    """
    chosen = choose_id(sample, id_column, fields)
    found, left_out = candidates(sample, chosen, fields)
    if not fields:
        out = repeated(sample, found)
        left_out |= reasons(found, out)
        found = [one for place, one in enumerate(found) if place not in out]
    names = unique_names([one.heading for one in found])
    return as_proposal(sample, chosen, names, found, left_out)


def as_proposal(
    sample: Sample,
    id_column: str,
    names: Sequence[str],
    found: Sequence[Candidate],
    left_out: Mapping[str, str],
) -> Proposal:
    """The candidates as fields with these names, up to as many as a schema can have."""
    fields = [
        ProposedField(name, one.columns, one.guess) for name, one in zip(names, found, strict=True)
    ]
    cut = {column: TOO_MANY for field in fields[MOST_FIELDS:] for column in field.columns}
    return Proposal(sample.name, id_column, tuple(fields[:MOST_FIELDS]), {**left_out, **cut})


def choose_id(sample: Sample, asked: str = "", fields: Sequence[str] = ()) -> str:
    """The id column: the one asked for, or one with a different value in every record."""
    if asked:
        _check_columns(sample, [asked])
        return asked
    headings = [heading_of(column) for column in sample.columns if column not in fields]
    if not fields and _are_values(headings):
        raise InvalidRecords(
            f"the first row of {sample.name} looks like a record",
            hint="add a row above it that names the columns, or name the id column with --id",
        )
    whole = [one for one in by_ids_names(headings) if _all_differ(sample.columns[one.column])]
    called = [one for one in whole if one.of_ids]
    others = [one for one in whole if not (one.of_ids or one.meaning or one.of_dates)]
    looks = {one: guess(one, sample.columns[one.column]).unfit for one in others}
    alike = [one for one in others if looks[one] in (IDS, ROWS)]
    if best := [*called, *alike, *(one for one in others if not looks[one])]:
        return best[0].column
    raise InvalidRecords(
        f"no column of {sample.name} looks like ids, with a different value in every record",
        hint=f"name it with --id: {_listed(sample.columns)}{_reasons(sample.left_out)}",
    )


def _are_values(headings: Sequence[Heading]) -> bool:
    """Whether the file has no header: none of its names is known, and some are numbers."""
    known = any(heading.meaning or heading.of_ids or heading.of_dates for heading in headings)
    numbers = any(heading.name.replace("_", "").isdecimal() for heading in headings)
    return numbers and not known


def _all_differ(cells: pl.Series) -> bool:
    found = present(cells, ())
    return len(found) == len(cells) == found.n_unique()


def candidates(
    sample: Sample, id_column: str, fields: Sequence[str] = ()
) -> tuple[list[Candidate], dict[str, str]]:
    """The columns that may become fields, and why the others may not."""
    _check_columns(sample, fields)
    columns = list(dict.fromkeys(fields)) or [c for c in sample.columns if c != id_column]
    headings = [heading_of(column) for column in columns]
    found = [
        Candidate(one, (one.column,), guess(one, sample.columns[one.column])) for one in headings
    ]
    found, left_out = _with_birth(sample, found), dict(sample.left_out)
    if not fields:
        left_out |= {column: one.guess.unfit for one in found for column in one.columns}
        found = [one for one in found if not one.guess.unfit]
    if not found:
        raise _nothing_to_link(sample, left_out)
    return found, {column: why for column, why in left_out.items() if why}


def repeated(sample: Sample, found: Sequence[Candidate]) -> dict[int, Repeat]:
    """The candidates that say what others say, by their places."""
    return repeats(
        [(one.heading, one.guess, [sample.columns[c] for c in one.columns]) for one in found]
    )


def reasons(found: Sequence[Candidate], out: Mapping[int, Repeat]) -> dict[str, str]:
    """Why columns are left out that repeat others, which are named."""
    return {
        column: one.why.format(_enumerated([c for other in one.of for c in found[other].columns]))
        for place, one in sorted(out.items())
        for column in found[place].columns
    }


def _with_birth(sample: Sample, found: list[Candidate]) -> list[Candidate]:
    """The candidates, with the year, month and day of birth joined into one date."""
    parts = tuple(one.column for one in parts_of_birth([one.heading for one in found]))
    date = date_of_parts([sample.columns[part] for part in parts]) if parts else None
    if date is None:
        return found
    others = [one for one in found if one.heading.column not in parts]
    if any(one.heading.canonical == "date_of_birth" and not one.guess.unfit for one in others):
        return found  # of which they are parts
    first = next(place for place, one in enumerate(found) if one.heading.column in parts)
    return [*others[:first], Candidate(heading_of("date_of_birth"), parts, date), *others[first:]]


def unique_names(headings: Iterable[Heading]) -> list[str]:
    """A name for each field: the canonical one if it is the only one of that meaning.

    >>> unique_names([heading_of(name) for name in ("dob", "gender", "sex", "Sex")])
    ['date_of_birth', 'gender', 'sex', 'sex_2']
    """
    headings = list(headings)
    times = Counter(heading.canonical for heading in headings if heading.canonical)
    own = {heading.name for heading in headings if times[heading.canonical] != 1}
    names: list[str] = []
    for heading in headings:
        alone = times[heading.canonical] == 1 and heading.canonical not in own
        wanted = name = heading.canonical if alone else heading.name
        number = 1
        while name in names or (name in own and name != heading.name):
            number += 1
            name = f"{wanted}_{number}"
        names.append(name)
    return names


def _check_columns(sample: Sample, asked: Sequence[str]) -> None:
    for column in asked:
        if column in sample.left_out:
            raise InvalidRecords(
                f"{sample.name}: column {column!r} cannot be used: {sample.left_out[column]}",
                hint="correct the file, or choose another column",
            )
        if column not in sample.columns:
            raise InvalidRecords(
                f"{sample.name} has no column {column!r}", hint=f"it has {_listed(sample.columns)}"
            )


def _nothing_to_link(sample: Sample, left_out: Mapping[str, str]) -> InvalidRecords:
    if len(sample.columns) + len(sample.left_out) < 2:
        return InvalidRecords(
            f"{sample.name} has too few columns",
            hint="it needs an id and at least one value to link on",
        )
    return InvalidRecords(
        f"{sample.name} has no column to link on", hint=f"name one with --field{_reasons(left_out)}"
    )


def _reasons(left_out: Mapping[str, str]) -> str:
    return "".join(f"; {short(column)}: {why}" for column, why in left_out.items())


def _enumerated(columns: Sequence[str]) -> str:
    *first, last = map(shown, columns)
    return f"{', '.join(first)} and {last}" if first else last


def _listed(columns: Iterable[str]) -> str:
    return ", ".join(map(short, columns))
