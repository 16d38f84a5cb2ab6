"""How settings and numbers are written in pictures, tables and captions."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from gramlink.lab.experiments.experiment import DRAW, Experiment, Measured, Plot, Table

NOTHING = "–"
LABELS = {"exact": "exact (no privacy)"}
NOT_PRIVATE = ("exact", "random")

_COLUMNS = {
    "count": "N",
    "size": "k",
    "epsilon": "ε",
    "threshold": "thresholds",
    "decide": "deciding",
    "f1": "F1",
    "found": "share found",
}
_HEADS = {
    "count": "N = ",
    "size": "k = ",
    "epsilon": "ε = ",
    "threshold": "thresholds: ",
    "decide": "deciding: ",
    "mined_on": "mined on ",
    "data": "",
    "miner": "",
    "method": "",
    "policy": "",
}
_PARTS = {"policy": ("threshold", "decide")}  # what a column puts into words
_PADDED = {"yes": "padded", "no": "not padded"}


def plain(value: Any) -> str:
    """A value as text: thousands apart, no exponent, no digits that say nothing.

    >>> [plain(v) for v in (149910, 0.1, 12350.4, 0.000123, "0.05", None)]
    ['149,910', '0.1', '12,350', '0.000123', '0.05', '–']
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NOTHING
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if value == int(value):
        return f"{int(value):,}"
    text = significant(float(value), 4)
    return text.rstrip("0").rstrip(".") if "." in text else text


def significant(value: float, digits: int) -> str:
    """A number rounded to so many digits, and never to fewer than its whole part has.

    >>> significant(0.012345, 3), significant(12345.6, 3), significant(2.5, 3)
    ('0.0123', '12,346', '2.50')
    """
    before = math.floor(math.log10(abs(value))) + 1 if value else 1
    return f"{value:,.{max(digits - before, 0)}f}"


def column(name: str, labels: Mapping[str, str] | None = None) -> str:
    """What a column is called at the head of a table.

    >>> column("epsilon"), column("bytes_a_record"), column("mine", {"mine": "mining"})
    ('ε', 'bytes a record', 'mining')
    """
    return (labels or {}).get(name) or _COLUMNS.get(name, name.replace("_", " "))


def word(value: Any, labels: Mapping[str, str] | None = None) -> str:
    """What a value is called.

    >>> word("exact"), word("fpm"), word(5000)
    ('exact (no privacy)', 'fpm', '5,000')
    """
    return {**LABELS, **(labels or {})}.get(str(value)) or plain(value)


def said(setting: str, value: Any, labels: Mapping[str, str] | None = None) -> str:
    """A setting and its value in words.

    >>> said("count", 5000), said("edits", 1), said("threshold", "paper"), said("padded", "yes")
    ('N = 5,000', 'up to 1 edit', 'thresholds: paper', 'padded')
    """
    return _all_said(setting, [word(value, labels)], labels)


def facts(experiment: Experiment, measured: Measured, shown: Plot | Table) -> str:
    """What is held fixed, and how often it was drawn: what a picture needs to stand alone."""
    if isinstance(shown, Plot):
        varied = [*shown.panels, shown.series, shown.x]
        named, measured = varied, with_values(measured, shown.y)
    else:
        varied = [*shown.rows, *shown.across]
        named = [*varied, *shown.values, *shown.once]
    named = [*named, *(name for one in named for name in _PARTS.get(one, ()))]
    frame, labels = measured.frame, experiment.labels
    grids = (*experiment.full, *experiment.quick, *experiment.tiny)
    settings = dict.fromkeys(name for grid in grids for name in grid)
    public = "miner" in frame.columns and frame["miner"].is_in(NOT_PRIVATE).all()
    said = _only_value(shown, labels)
    for name in settings:
        if name in named or name == DRAW or name not in frame.columns:
            continue
        if name == "epsilon" and public:
            continue
        values = _explained(frame, name, varied, labels)
        if values:
            text = _all_said(name, values, labels)
            said.append(f"miner: {text}" if name == "miner" else text)
            said[-1] += " per owner" if name == "epsilon" else ""
    if DRAW in frame.columns and frame.height:
        said.append(_draws(frame, varied, noisy="epsilon" in frame.columns and not public))
    return " · ".join(said)


def heading(experiment: Experiment) -> str:
    """Where it is in the paper, and what it is about."""
    text = f"{experiment.where}: {experiment.title}"
    return text[:1].upper() + text[1:]


def with_values(measured: Measured, what: str) -> Measured:
    """The rows in which something was measured, as a number."""
    if what not in measured.frame.columns:
        return Measured(measured.frame.clear())
    number = pl.col(what).cast(pl.Float64)
    return Measured(
        measured.frame.with_columns(number).filter(number.is_not_null() & ~number.is_nan())
    )


def _only_value(shown: Plot | Table, labels: Mapping[str, str]) -> list[str]:
    """What a table shows, if its header names only what varies across."""
    if isinstance(shown, Plot) or not shown.across or len(shown.values) + len(shown.once) > 1:
        return []
    return [column(shown.values[0], labels)]


def _all_said(setting: str, values: Sequence[str], labels: Mapping[str, str] | None) -> str:
    text = ", ".join(values)
    if setting == "edits":
        return "no edits" if text == "0" else f"up to {text} edit{'' if text == '1' else 's'}"
    if setting == "padded" and text in _PADDED:
        return _PADDED[text]
    return _HEADS.get(setting, f"{column(setting, labels)}: ") + text


def _explained(
    frame: pl.DataFrame, name: str, varied: Sequence[str], labels: Mapping[str, str] | None
) -> list[str]:
    """The values of a setting; if another setting decides which, with that one's value."""
    values = [v for v in frame[name].unique(maintain_order=True).to_list() if plain(v) != NOTHING]
    words = [word(value, labels) for value in values]
    if len(values) < 2:
        return words
    for other in varied:
        groups = frame.group_by(other, maintain_order=True).agg(pl.col(name).unique())
        if groups.height <= 8 and all(len(found) == 1 for found in groups[name]):
            where: dict[Any, list[str]] = {value: [] for value in values}
            for by, found in groups.iter_rows():
                where[found[0]].append(word(by, labels))
            return [
                f"{word} ({', '.join(where[v])})" for word, v in zip(words, values, strict=True)
            ]
    counts = frame.group_by(varied).agg(pl.col(name).n_unique())[name]
    return words if counts.max() == 1 else [*words[:-1], f"{words[-1]} (mean over these)"]


def _draws(frame: pl.DataFrame, varied: Sequence[str], noisy: bool) -> str:
    counts = frame.group_by(varied).agg(pl.col(DRAW).n_unique())[DRAW].to_list()
    few, many = min(counts), max(counts)
    number = f"{many} draw{'s' if many > 1 else ''}"
    seeds = frame[DRAW].unique().sort().to_list()
    if len(seeds) == 1:
        text = f"seed {seeds[0]}"
    elif seeds == list(range(seeds[0], seeds[-1] + 1)):
        text = f"seeds {seeds[0]} to {seeds[-1]}"
    else:
        text = f"seeds {', '.join(map(str, seeds))}"
    text += "; noise cannot be seeded" if noisy else ""
    return f"{number if few == many else f'{few} to {number}'} ({text})"
