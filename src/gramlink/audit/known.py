"""What an attacker knows: the method, the schema, the bases, and a register of persons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gramlink.embedding.base import Base
from gramlink.encodings.secret import Secret
from gramlink.encodings.veil.keys import Key
from gramlink.encodings.veil.sketch import masks, parities, scales
from gramlink.records.fields import Field
from gramlink.records.reading import Records
from gramlink.records.schema import Schema
from gramlink.records.strings import Strings, distinct

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]

GUESSES = 4  # secrets made up to average over, where the owners' is not known


@dataclass(frozen=True)
class Known:
    """What an attacker knows.

    `bases` are those that the owners project on; without them, the attacker knows only the schema.
    `secrets` are those of each exchange, of which only the parities are used: the worst case. Of
    the register's persons, the share `present` is in one of the two files.

    Privacy: a register may be anyone's; what follows from it stays with whoever attacks.
    """

    register: Records
    schema: Schema
    bases: Mapping[str, Base]
    secrets: tuple[Secret, ...] = ()
    present: float = 0.9
    coverage: float = 0.98

    def __len__(self) -> int:
        return len(self.register)

    @cached_property
    def fields(self) -> tuple[tuple[Strings, Ints], ...]:
        """For each field its different values, and which of them each person has, -1 if none."""
        found = []
        for field in self.schema.fields:
            column = self.register[field.name]
            texts, place = distinct(column)
            found.append((texts, np.where(column.missing, -1, place)))
        return tuple(found)

    @cached_property
    def values(self) -> Ints:
        """Which value each person has in each field, -1 if none."""
        return np.stack([place for _, place in self.fields], axis=1)

    def groups(self, key: Key) -> Ints:
        """Which persons share a key: a number for each, -1 for those who do not have it."""
        if key not in self._groups:
            self._groups[key] = groups(key, self.schema, self.fields)
        return self._groups[key]

    @cached_property
    def _groups(self) -> dict[Key, Ints]:
        return {}

    @cached_property
    def parities(self) -> tuple[tuple[Words, ...], ...]:
        """For each exchange, and each field, the parities of each value, if the bases are known.

        Where the owners' secrets are not known, those of some that are made up: what they have in
        common is how often parities differ.
        """
        if not self.bases:
            return ()
        secrets = self.secrets or tuple(Secret(bytes([n]) * 32) for n in range(GUESSES))
        scaled = scales(self.schema, dict(self.bases))

        def of(field: Field, texts: Strings, secret: Secret) -> Words:
            base = self.bases[field.name]
            return parities(texts, field, base, masks(field, base, scaled[field.name], secret))

        return tuple(
            tuple(
                of(field, texts, secret)
                for field, (texts, _) in zip(self.schema.fields, self.fields, strict=True)
            )
            for secret in secrets
        )


def groups(key: Key, schema: Schema, fields: Sequence[tuple[Strings, Ints]]) -> Ints:
    """Which records share a key, from the values of their fields; -1 where a part is missing."""
    names = [field.name for field in schema.fields]
    found = np.zeros(len(fields[0][1]), np.int64)
    there = np.ones(len(found), bool)
    for component in key.components:
        parts = []
        known: dict[str, int] = {}  # one for both fields of a component, which may be swapped
        for name in component.fields:
            texts, place = fields[names.index(name)]
            cuts = [component.cut(text) for text in texts]
            codes = [-1 if cut is None else known.setdefault(cut, len(known)) for cut in cuts]
            part = np.append(np.array(codes, np.int64), -1)[place]
            there &= part >= 0
            parts.append(part)
        if len(parts) == 2:
            there &= parts[0] != parts[1]
            parts = [np.minimum(*parts), np.maximum(*parts)]
        for part in parts:
            _, found = np.unique(found * (len(known) + 1) + part, return_inverse=True)
    return np.where(there, found, -1)


def multiplicity(group: Ints) -> Ints:
    """How many others are in each one's group; 0 for those in none."""
    counts = np.bincount(group + 1)
    counts[0] = 1
    return counts[group + 1] - 1


def sharers(group: Ints, most: int = 12) -> tuple[Ints, Ints]:
    """The pairs of members of groups of at most `most`, the first before the second."""
    order = np.argsort(group, kind="stable")
    order = order[group[order] >= 0]
    ranked = group[order]
    _, sizes = np.unique(ranked, return_counts=True)
    size = np.repeat(sizes, sizes)
    firsts, seconds = [], []
    for step in range(1, most):
        same = np.flatnonzero((ranked[step:] == ranked[:-step]) & (size[step:] <= most))
        firsts.append(order[same])
        seconds.append(order[same + step])
    one, other = np.concatenate(firsts), np.concatenate(seconds)
    return np.minimum(one, other), np.maximum(one, other)
