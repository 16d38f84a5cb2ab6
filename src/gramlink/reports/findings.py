"""What `gramlink check` found, in lines of text and as facts for a program."""

from collections.abc import Iterator, Sequence
from typing import Any

from gramlink.privacy.budget import shown
from gramlink.records.quality import Identical, Quality
from gramlink.records.reading import Problem


def finding_lines(found: Quality, name: str, *, listed: bool) -> Iterator[str]:
    """What was found, for a person; `listed` if the rows to mend are in their own file.

    Privacy: names columns and rows, and never says what a cell holds; the counts are exact,
    so it stays with the owner.
    """
    yield f"{name}: {found.records:,} records, {found.clean:,} without any problem"
    yield ""
    yield from _table(found)
    yield ""
    for problem in found.problems:
        yield f"  {problem}"
    if not found.problems and not found.suspicions:
        yield "  nothing to report"
    for suspicion in found.suspicions:
        yield f"  suspicious, {suspicion}"
    if found.empty:
        yield f"  {_records(found.empty)} without a value in any field"
    if found.worst:
        yield "  the worst rows, and in which fields:"
        for one in found.worst:
            yield f"    {one.row}: {', '.join(one.fields)}"
    if found.identical.records:
        yield from _identical(found.identical, unique=found.unique)
    if found.bad:
        where = "" if listed else "; --bad-rows FILE.csv lists them"
        yield f"  to mend: {_records(found.bad)}{where}"


def _identical(identical: Identical, *, unique: bool) -> Iterator[str]:
    kinds = "1 kind" if identical.groups == 1 else f"{identical.groups:,} kinds"
    more = "; ..." if identical.groups > len(identical.rows) else ""
    rows = "; ".join(", ".join(map(str, group)) for group in identical.rows)
    yield f"  the same in all fields: {_records(identical.records)} of {kinds}"
    yield f"    rows {rows}{more}"
    if unique:
        yield "    if they are one person twice, keep one record, or set `unique = false`"


def _records(count: int) -> str:
    return "1 record" if count == 1 else f"{count:,} records"


def _table(found: Quality) -> list[str]:
    """The fields, one per line, with words on the left and numbers on the right."""
    head = ("field", "kind", "column", "values", "distinct", "missing", "invalid", "outside",
            "cut", "epsilon")  # fmt: skip
    rows: list[Sequence[str]] = [head]
    for one in found.fields:
        counts = (one.values, one.distinct, one.missing, one.invalid, one.outside, one.cut)
        words = (one.name, one.kind, "+".join(one.columns))
        rows.append((*words, *(f"{count:,}" for count in counts), shown(one.epsilon)))
    last = ("all", "", "", *[""] * 6, shown(found.epsilon))
    if len(found.fields) > 1:
        rows.append(last)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(
            cell.ljust(width) if place < 3 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def finding_facts(found: Quality) -> dict[str, Any]:
    """What was found, for a program."""
    return {
        "records": found.records,
        "clean": found.clean,
        "bad": found.bad,
        "empty": found.empty,
        "epsilon": str(found.epsilon),
        "fields": [
            {
                "name": one.name,
                "kind": one.kind,
                "columns": list(one.columns),
                "values": one.values,
                "distinct": one.distinct,
                "missing": one.missing,
                "invalid": one.invalid,
                "outside": one.outside,
                "cut": one.cut,
                "epsilon": str(one.epsilon),
                "problems": list(map(_fact, one.problems)),
                "suspicions": list(map(_fact, one.suspicions)),
            }
            for one in found.fields
        ],
        "worst": [{"row": one.row, "fields": list(one.fields)} for one in found.worst],
        "identical": {
            "records": found.identical.records,
            "groups": found.identical.groups,
            "rows": [list(group) for group in found.identical.rows],
        },
        "unique": found.unique,
    }


def _fact(problem: Problem) -> dict[str, Any]:
    return {"what": problem.what, "count": problem.count, "rows": list(problem.rows)}
