"""What was measured, as tables: text first, then cells for the page, or Markdown."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from gramlink.lab.experiments.experiment import Measured, Table
from gramlink.lab.experiments.report.words import NOTHING, column, said, significant, word

LONG = 30  # characters: text that may go over several lines
_NUMBER = re.compile(r"[-+−]?[\d,.]+%?( ± [\d,.]+)?")


def rows_of(
    table: Table, measured: Measured, labels: Mapping[str, str] | None = None
) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of a table, as text."""
    frame = measured.frame
    values = [name for name in table.values if name in frame.columns]
    across = _combinations(frame, table.across)
    once = [name for name in table.once if name in frame.columns]
    columns = [(name, there) for name in values for there in across]
    columns += [(name, {}) for name in once]
    several = len(values) + len(once) > 1 or not table.across
    header = [column(name, labels) for name in table.rows]
    for name, there in columns:
        words = [said(k, v, labels) for k, v in there.items()]
        header.append(", ".join([column(name, labels), *words] if several else words))
    kinds = {name: _kind(name, frame[name]) for name in (*values, *once)}
    rows = []
    for here in _combinations(frame, table.rows):
        cells = [word(value, labels) for value in here.values()]
        for name, there in columns:
            cells.append(_cell(_at(frame, {**here, **there})[name], kinds[name]))
        rows.append(cells)
    return header, rows


@dataclass(frozen=True, slots=True)
class Cells:
    """A table as the page shows it: each text with its class, numbers being to the right."""

    head: tuple[tuple[str, str], ...]
    rows: tuple[tuple[tuple[str, str], ...], ...]

    @classmethod
    def of(cls, header: Sequence[str], rows: Sequence[Sequence[str]]) -> "Cells":
        """The cells of a table of text: `n` for a number, `t` for text of several lines."""
        columns = zip(*rows, strict=True) if rows else [()] * len(header)
        kinds = [
            "n" if right else "t" if max(map(len, cells), default=0) > LONG else ""
            for right, cells in zip(_numeric(header, rows), columns, strict=True)
        ]
        head, *found = (tuple(zip(kinds, row, strict=True)) for row in (header, *rows))
        return cls(head, tuple(found))


def as_markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""A table in Markdown; a bar within a cell is escaped.

    >>> print(as_markdown(["data", "F1"], [["A|B", "0.5"]]))
    | data | F1 |
    | --- | ---: |
    | A\|B | 0.5 |
    """
    rule = ["---:" if right else "---" for right in _numeric(header, rows)]
    lines = [[_escaped(cell) for cell in row] for row in (header, *rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], rule, *lines[1:]))


def _combinations(frame: pl.DataFrame, names: Sequence[str]) -> list[dict[str, Any]]:
    """The settings that occur together, in order of appearance."""
    return frame.select(names).unique(maintain_order=True).to_dicts() if names else [{}]


def _at(frame: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
    same = [pl.col(name).eq_missing(value) for name, value in settings.items()]
    return frame.filter(*same) if same else frame


def _kind(name: str, values: pl.Series) -> str:
    """What sort of number a column has, and so how many digits of it mean something."""
    if not values.dtype.is_numeric():
        return "text"
    if "seconds" in name or "bytes" in name:
        return "amount"
    if values.dtype.is_integer():
        return "count"
    found = _numbers(values)
    return "score" if len(found) and found[0] >= 0 and found[-1] <= 1 else "number"


def _numbers(values: pl.Series) -> list[float]:
    return values.cast(pl.Float64).drop_nulls().drop_nans().sort().to_list()


def _cell(values: pl.Series, kind: str) -> str:
    if kind == "text":
        found = values.drop_nulls().unique(maintain_order=True).to_list()
        return ", ".join(map(str, found)) or NOTHING
    numbers = pl.Series(_numbers(values), dtype=pl.Float64)
    if not len(numbers):
        return NOTHING
    mean = float(numbers.sum() / len(numbers))
    if kind == "amount":
        return significant(mean, 3)
    if kind == "count":
        return f"{mean:,.0f}"
    text = f"{mean:,.3f}"
    spread = numbers.std()
    if kind == "score" and isinstance(spread, float):
        return f"{text} ± {spread:.3f}"
    return text


def _numeric(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[bool]:
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    return [
        any(cell != NOTHING for cell in cells)
        and all(cell == NOTHING or _NUMBER.fullmatch(cell) for cell in cells)
        for cells in columns
    ]


def _escaped(cell: str) -> str:
    return re.sub(r"\s+", " ", cell).replace("|", "\\|")
