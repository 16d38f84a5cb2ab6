"""A veil that is weak on purpose: attacks that cannot break this one prove nothing by failing.

It leaves out, one by one, what protects: keys that only one record of a file has, keys that no
household shares, and parities in the place of distances.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from gramlink.audit.known import groups, multiplicity
from gramlink.audit.seen import Sharing
from gramlink.embedding.base import Base
from gramlink.embedding.vectors import embed
from gramlink.encodings.veil.keys import Component, Key
from gramlink.encodings.veil.population import known_of
from gramlink.records.reading import Records
from gramlink.records.schema import Schema
from gramlink.records.strings import Strings, distinct

Ints = npt.NDArray[np.int64]

MOST = 400  # pairs of a key that many have
SHARED = 0.25  # a field that so many members of a household share
BITS = 14.0  # how rare a key of a household is, at least


def household_keys(schema: Schema) -> tuple[Key, ...]:
    """Keys that members of a household share: each two fields that say where they live."""
    shared = [
        field.name
        for field in schema.fields
        if known_of(field.name, field.kind).household >= SHARED and field.kind != "category"
    ]
    rare = {name: known_of(name, schema[name].kind).bits for name in shared}
    found = [
        Key((Component((one,)), Component((other,))))
        for place, one in enumerate(shared)
        for other in shared[place + 1 :]
        if rare[one] + rare[other] >= BITS
    ]
    return tuple(found) or tuple(Key((Component((field.name,)),)) for field in schema.fields[:2])


def unveiled(
    ours: Records, theirs: Records, schema: Schema, bases: Mapping[str, Base],
    keys: Sequence[Key], *, unique: bool,
) -> Sharing:  # fmt: skip
    """What the unit would see if distances were shown as they are, of these keys."""
    count = len(ours)
    columns = {field.name: _both(ours, theirs, field.name) for field in schema.fields}
    fields = []
    for column in columns.values():
        texts, place = distinct(column)
        fields.append((texts, np.where(column.missing, -1, place)))
    values = np.stack([place for _, place in fields], axis=1)
    lefts, rights, which = [], [], []
    for number, key in enumerate(keys):
        group = groups(key, schema, fields)
        left, right = _joined(group[:count], group[count:], unique=unique)
        lefts.append(left)
        rights.append(right)
        which.append(np.full(len(left), number))
    left, right = np.concatenate(lefts), np.concatenate(rights)
    codes, pair = np.unique(left * len(theirs) + right, return_inverse=True)
    shared = np.zeros((len(codes), len(keys)), bool)
    shared[pair.ravel(), np.concatenate(which)] = True
    left, right = codes // len(theirs), codes % len(theirs)
    one, other = values[left], values[count + right]
    missing = (one < 0) | (other < 0)
    exact = np.stack(
        [_squared(texts, bases[name], one[:, f], other[:, f])
         for f, (name, (texts, _)) in enumerate(zip(columns, fields, strict=True))],
        axis=1,
    )  # fmt: skip
    none = np.zeros(missing.shape, np.int64)
    return Sharing(
        count, left, right, tuple(columns), tuple(keys), shared, (one == other) & ~missing,
        missing, none, none, unique, exact,
    )  # fmt: skip


def _both(ours: Records, theirs: Records, name: str) -> Strings:
    return Strings.of([*ours[name], *theirs[name]], ours[name].symbols)


def _joined(left: Ints, right: Ints, *, unique: bool) -> tuple[Ints, Ints]:
    """The pairs of rows with the same number."""
    if unique:
        left = np.where(multiplicity(left) == 0, left, -1)
        right = np.where(multiplicity(right) == 0, right, -1)
    order = np.argsort(right, kind="stable")
    begin = np.searchsorted(right[order], left, "left")
    size = np.searchsorted(right[order], left, "right") - begin
    size[(left < 0) | (size > MOST)] = 0
    rows = np.repeat(np.arange(len(left)), size)
    place = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    return rows, order[np.repeat(begin, size) + place]


def _squared(texts: Strings, base: Base, one: Ints, other: Ints) -> Ints:
    coordinates = embed(texts, base).coordinates.astype(np.int64)
    return np.asarray(((coordinates[one] - coordinates[other]) ** 2).sum(axis=1))
