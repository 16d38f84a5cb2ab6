"""The plan: which keys a record has, chosen with what is known of any population.

Made-up matches have values as rare as people's are, and errors as files have. A key finds a match
if none of its parts has changed, and if nobody else in either file has it. Of all keys of up to
three parts, those are taken one after the other that find most of what is still missed, and few
strangers. Keys that members of a household share are left out: the unit must not learn who lives
together.

Privacy: reads no record.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import nlargest
from itertools import combinations

import numpy as np
import numpy.typing as npt

from gramlink.encodings.veil.keys import EITHER, MOST_KEYS, PARTS, WHOLE, Component, Key
from gramlink.encodings.veil.population import Known, known_of
from gramlink.encodings.veil.relatives import HOUSEHOLD, SELDOM, Fields, rarity, together
from gramlink.errors import InvalidSchema
from gramlink.records.schema import Schema

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

MOST_FIELDS = 10  # that keys are made of: with more, there are too many keys to try
MOST_TRIED = 16  # keys of the same fields
MADE_UP, SEED = 4096, 2013
FINE, FINER = 2**10, 2**20  # shares are in parts of these
SMALLEST, LARGEST = 3.0, 6.3  # files of a thousand to two million records, as powers of ten
SOME_SIZES = 10.0 ** np.linspace(SMALLEST, LARGEST, 8)
MISSING = 0.05
MOVED, SWAPPED = 0.1, 0.01
EXCHANGED = 0.2  # of typos, the share that exchange two symbols
CARELESS, TIMES = 0.1, 4.0  # the share of records with so many times as many errors
DATES = {  # what is wrong with a date that is wrong: the parts that stay as they were
    "year and month": 0.35,
    "month and day": 0.2,
    "year and day": 0.2,
    "day and month either way round": 0.25,
}
AGAIN = 10  # finding a match is worth so many times as much as finding it once more
HARM = 0.01  # what not to find two strangers is worth, as they are what names people
WORTH = 1e-5  # the share of matches that a further key must add


def planned(schema: Schema) -> tuple[Key, ...]:
    """The keys of a schema: those that it states, or as many as its `rows` that find most."""
    if schema.passes:
        return _stated(schema)
    check_plan(schema)
    return _chosen(tuple((field.name, field.kind) for field in schema.fields), schema.rows)


def check_plan(schema: Schema) -> None:
    """Refuse a schema for which there is no plan, without making one."""
    if schema.passes:
        _stated(schema)
        return
    fields = _telling(tuple((field.name, field.kind) for field in schema.fields))
    if next(_allowed(fields), None) is None:
        raise InvalidSchema(
            "no field tells the members of a household apart, which the veil needs",
            hint='add a given name or a date of birth to linkage.toml, or set encoding = "vectors"',
        )


def of_households(schema: Schema) -> tuple[Key, ...]:
    """The stated keys that members of a household often share."""
    kinds: dict[str, str] = {field.name: field.kind for field in schema.fields}
    return tuple(key for key in planned(schema) if together(key, kinds) > SELDOM)


def _stated(schema: Schema) -> tuple[Key, ...]:
    """The keys that a schema states, with their fields in the order of the schema."""
    if any(any(one.values()) for one in schema.passes):
        raise InvalidSchema(
            "under the veil, fields of a pass are equal: it cannot compare within edits",
            hint="in linkage.toml, set the edits of all passes to 0, or leave the passes out",
        )
    keys = tuple(
        Key(tuple(Component((field.name,)) for field in schema.fields if field.name in one))
        for one in schema.passes
    )
    if len(set(keys)) < len(keys) or len(keys) > MOST_KEYS:
        raise InvalidSchema(
            f"the veil needs different passes, at most {MOST_KEYS}",
            hint="in linkage.toml, delete the passes that are there twice",
        )
    return keys


@lru_cache(maxsize=16)
def _chosen(fields: Fields, most: int) -> tuple[Key, ...]:
    people = _People.made_up(fields)
    keys = _best_of_each(list(_allowed(_telling(fields))), people.promise, MOST_TRIED)
    found, harm = np.empty((len(keys), MADE_UP), np.uint16), np.empty(len(keys))
    for n, key in enumerate(keys):
        shares, harm[n] = people.found(key)
        found[n] = np.rint(shares * FINE)
    finds = found.astype(np.float64)
    harm = np.rint(harm * HARM * MADE_UP * FINE * FINER)
    missed, once_more = np.full(MADE_UP, float(FINER)), np.zeros(MADE_UP)
    chosen: list[Key] = []
    while len(chosen) < most:
        # whole numbers below 2^53, so that every machine comes to the same sums
        gains = finds @ (AGAIN * missed + once_more) - AGAIN * harm
        best = int(np.argmax(gains))
        if gains[best] < WORTH * AGAIN * MADE_UP * FINE * FINER:
            break
        chosen.append(keys[best])
        newly = np.rint(missed * finds[best] / FINE)
        once_more += newly - np.rint(once_more * finds[best] / FINE)
        missed -= newly
        finds[best] = harm[best] = 0
    return tuple(chosen)


def _best_of_each(keys: Sequence[Key], promise: Callable[[Key], int], most: int) -> list[Key]:
    """The keys that promise most, of each set of fields so many."""
    of_fields: dict[tuple[str, ...], list[Key]] = {}
    for key in keys:
        of_fields.setdefault(key.fields, []).append(key)
    return [key for some in of_fields.values() for key in nlargest(most, some, key=promise)]


def _telling(fields: Fields) -> Fields:
    """The fields that tell most of who somebody is, in their order."""

    def told(field: tuple[str, str]) -> float:
        known = known_of(*field)
        return known.bits * (1 - known.typos - known.changes)

    most = sorted(fields, key=told, reverse=True)[:MOST_FIELDS]
    return tuple(field for field in fields if field in most)


def _allowed(fields: Fields) -> Iterator[Key]:
    """Keys that the members of a household seldom share."""
    kinds = dict(fields)
    return (key for key in _options(fields) if together(key, kinds) <= SELDOM)


def _options(fields: Fields) -> Iterator[Key]:
    """All keys of up to three components of different fields."""
    components = [
        Component((name,), cut)
        for name, kind in fields
        for cut, part in PARTS.items()
        if kind in part.kinds and part.symbols < known_of(name, kind).length
    ]
    names = dict(fields)
    if names.get("given_name") == names.get("surname") == "text":
        components.append(Component(("given_name", "surname"), EITHER))
    for count in (1, 2, 3):
        for some in combinations(components, count):
            key = Key(some)
            if len(set(key.fields)) == len(key.fields):
                yield key


@dataclass(frozen=True, eq=False)
class _People:
    """Made-up matches: how rare their values are, and what has happened to them."""

    known: dict[str, Known]
    kinds: dict[str, str]
    size: Floats  # of the files that each match is in
    bits: dict[str, Floats]
    equal: dict[str, Bools]
    kept: dict[tuple[str, str], Bools]  # parts that are as they were

    @classmethod
    def made_up(cls, fields: Fields) -> "_People":
        source = np.random.default_rng(SEED)
        size = 10 ** source.uniform(SMALLEST, LARGEST, MADE_UP)
        moved = source.random(MADE_UP) < MOVED
        swapped = source.random(MADE_UP) < SWAPPED
        times = np.where(source.random(MADE_UP) < CARELESS, TIMES, 1.0)
        known = {name: known_of(name, kind) for name, kind in fields}
        bits, equal, kept = {}, {}, {}
        for name, kind in fields:
            of = known[name]
            bits[name] = np.maximum(source.normal(of.bits, of.spread, MADE_UP), 0.3)
            there = source.random(MADE_UP) >= MISSING * times
            changed = source.random(MADE_UP) < of.changes * times
            if of.moves:
                changed |= moved
            mistyped = source.random(MADE_UP) < of.typos * times
            place = source.integers(0, of.length, MADE_UP)
            wrong = source.random(MADE_UP)
            exchanged = swapped & (name in ("given_name", "surname"))
            same = there & ~changed
            equal[name] = same & ~mistyped & ~exchanged
            kept[name, EITHER] = same & ~mistyped
            low = 0.0
            for cut, part in PARTS.items():
                if kind not in part.kinds or cut == WHOLE:
                    continue
                if kind == "date":
                    untouched = (low <= wrong) & (wrong < low + DATES[cut])
                    low += DATES[cut]
                elif cut == "sorted":
                    untouched = wrong < EXCHANGED
                elif cut.startswith(("first", "initial")):
                    untouched = place >= part.symbols
                else:
                    untouched = place < of.length - part.symbols
                kept[name, cut] = same & (~mistyped | untouched) & ~exchanged
        return cls(known, dict(fields), size, bits, equal, kept)

    def promise(self, key: Key) -> int:
        """About how many matches it finds, in parts of a million, at a glance."""
        same, bits = 1.0, 0.0
        for one in key.components:
            for name in one.fields:
                same *= self.share[name, one.part]
                bits += self.known[name].bits * rarity(name, self.kinds[name], one.part)
        others = 2 * (SOME_SIZES * 2.0**-bits + HOUSEHOLD * together(key, self.kinds))
        return round(1e6 * same * float(np.exp(-others).mean()))

    @cached_property
    def share(self) -> dict[tuple[str, str], float]:
        """How often each part of a field is as it was."""
        whole = {(name, WHOLE): float(equal.mean()) for name, equal in self.equal.items()}
        return whole | {part: float(kept.mean()) for part, kept in self.kept.items()}

    def found(self, key: Key) -> tuple[Floats, float]:
        """How likely each match is found by it, and how many pairs of strangers, per record."""
        same = np.ones(MADE_UP, bool)
        bits = np.zeros(MADE_UP)
        for one in key.components:
            for name in one.fields:
                same &= self.equal[name] if one.part == WHOLE else self.kept[name, one.part]
                bits += self.bits[name] * rarity(name, self.kinds[name], one.part)
        strangers = self.size * 2.0**-bits
        unique = np.exp(-2 * (strangers + HOUSEHOLD * together(key, self.kinds)))
        return same * unique, float((strangers * unique).mean())
