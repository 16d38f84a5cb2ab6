"""Records made up from an owner's own: what a partner may have of the same persons, and strangers.

Nothing of this leaves the process.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gramlink.encodings.veil.population import known_of
from gramlink.records.fields import FIRST_PLACE, Field
from gramlink.records.reading import Records
from gramlink.records.schema import Schema
from gramlink.records.strings import Strings

Ints = npt.NDArray[np.int64]

MISSING = 0.03  # of the partner's values
MOVED = 0.06  # of the persons, those who have another address at the partner's
NEIGHBOURS = 0.5  # of the strangers, those who have a record's whole address
HOME = 0.9  # a field that so many members of a household share is of the household


def gathered(name: str, parts: Sequence[tuple[Records, Ints]]) -> Records:
    """Rows of several files, in this order."""
    fields = parts[0][0].columns
    columns = {field: _joined([one[field].take(rows) for one, rows in parts]) for field in fields}
    ids = [f"{number}" for number in range(sum(len(rows) for _, rows in parts))]
    return Records(name, tuple(ids), columns, ())


def _joined(columns: Sequence[Strings]) -> Strings:
    codes = np.concatenate([one.codes for one in columns])
    lengths = np.concatenate([one.lengths for one in columns])
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return Strings(codes, offsets, columns[0].symbols)


def strangers(records: Records, schema: Schema, count: int, source: np.random.Generator) -> Records:
    """Persons whose values are those of different records, and as frequent as these.

    Some have the address of a record, whole; so there are namesakes and neighbours.
    """
    home = source.integers(0, len(records), count)
    settled = source.random(count) < NEIGHBOURS
    columns = {}
    for field in schema.fields:
        together = settled & (known_of(field.name, field.kind).household >= HOME)
        rows = np.where(together, home, source.integers(0, len(records), count))
        columns[field.name] = records[field.name].take(rows)
    return Records("strangers", tuple(map(str, range(count))), columns, ())


def partner(records: Records, schema: Schema, source: np.random.Generator) -> tuple[Records, Ints]:
    """As many records as a partner may have: half are of the same persons, with errors.

    Also returns which of our records each is of, -1 for strangers. Values are mistyped, changed
    and missing as often as `population` says that they are.
    """
    both = source.permutation(len(records))[: len(records) // 2]
    others = strangers(records, schema, len(records) - len(both), source)
    same = _recorded(records, both, schema, source)
    whole = gathered("partner", [(same, np.arange(len(same))), (others, np.arange(len(others)))])
    order = source.permutation(len(whole))
    of = np.concatenate([both, np.full(len(others), -1)])
    return gathered("partner", [(whole, order)]), of[order]


def registered(
    ours: Records, others: Records, schema: Schema, coverage: float, source: np.random.Generator
) -> tuple[Records, Ints]:
    """A register that covers a share of our persons and of others, with strangers for the rest.

    Also returns which of its persons each of our records is of, -1 if it does not have them.
    """
    count = len(ours) + len(others)
    whole = gathered("register", [(one, np.arange(len(one))) for one in (ours, others)])
    chosen = source.permutation(count)[: round(coverage * count)]
    new = strangers(ours, schema, count - len(chosen), source)
    both = gathered("register", [(whole, chosen), (new, np.arange(len(new)))])
    order = source.permutation(count)
    truth = np.full(count, -1)
    truth[chosen] = np.arange(len(chosen))
    place = np.empty(count, np.int64)
    place[order] = np.arange(count)
    truth = np.where(truth >= 0, place[truth], -1)
    return gathered("register", [(both, order)]), truth[: len(ours)]


def _recorded(records: Records, rows: Ints, schema: Schema, source: np.random.Generator) -> Records:
    moved = source.random(len(rows)) < MOVED
    home = source.integers(0, len(records), len(rows))
    columns = {}
    for field in schema.fields:
        known = known_of(field.name, field.kind)
        other = source.random(len(rows)) < known.changes
        from_whom = np.where(other, source.integers(0, len(records), len(rows)), rows)
        if known.moves:
            from_whom = np.where(moved, home, from_whom)
        column = records[field.name].take(from_whom)
        typed = np.flatnonzero(source.random(len(rows)) < known.typos)
        gone = source.random(len(rows)) < MISSING
        columns[field.name] = _changed(column, field, typed, gone, source)
    return Records("partner", tuple(map(str, rows)), columns, ())


def _changed(
    column: Strings, field: Field, typed: Ints, gone: npt.NDArray[np.bool_],
    source: np.random.Generator,
) -> Strings:  # fmt: skip
    texts = list(column)
    for row in typed.tolist():
        if texts[row]:
            texts[row] = _mistyped(texts[row], field, source)
    for row in np.flatnonzero(gone).tolist():
        texts[row] = ""
    return Strings.of(texts, column.symbols)


def _mistyped(text: str, field: Field, source: np.random.Generator) -> str:
    """The text with one edit: a symbol replaced in its place, left out, or exchanged."""
    place = int(source.integers(len(text)))
    size = len(field.alphabet)
    new = int(source.integers(size))
    if field.placed:
        symbol = chr(FIRST_PLACE + place * size + new)
        return text[:place] + symbol + text[place + 1 :]
    edit = int(source.integers(3))
    if edit == 0 and len(text) > 1:
        return text[:place] + text[place + 1 :]
    if edit == 1 and place + 1 < len(text):
        return text[:place] + text[place + 1] + text[place] + text[place + 2 :]
    return text[:place] + field.alphabet[new] + text[place + 1 :]
