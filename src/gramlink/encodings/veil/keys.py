"""Keys: what two records must share to be comparable under the veil.

A key is a conjunction of components, each a value of a field or a part of it. The components of a
key are of different fields, so that the exclusive or of their hashes is that of the whole.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gramlink.records.fields import FIRST_PLACE, Field

Cut = Callable[[str], str | None]  # the part of a value, or None if there is none
WHOLE, EITHER = "whole", "either way round"
MOST_KEYS = 64


def _first(count: int) -> Cut:
    return lambda text: _joined(text)[:count] if len(_joined(text)) >= count else None


def _last(count: int) -> Cut:
    return lambda text: _joined(text)[-count:] if len(_joined(text)) >= count else None


def _sorted(text: str) -> str | None:
    """The symbols in order: two that were exchanged make no difference."""
    return "".join(sorted(_joined(text))) or None


def _joined(text: str) -> str:
    """The text without blanks, which people set as they like."""
    return text.replace(" ", "")


def _dated(cut: Cut) -> Cut:
    """A part of a date, whose symbols are digits in their places."""

    def part(text: str) -> str | None:
        digits = [ord(symbol) - FIRST_PLACE for symbol in text]
        if len(digits) != 8 or not all(0 <= digit < 80 for digit in digits):
            return None
        return cut("".join(str(digit % 10) for digit in digits))

    return part


def _unordered(date: str) -> str:
    """The year with month and day in ascending order: as often as not, one stands for the other."""
    return date[:4] + "".join(sorted((date[4:6], date[6:])))


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the values of a kind of field: how to cut it out, and about how long it is."""

    kinds: tuple[str, ...]
    cut: Cut
    symbols: int = 0


PARTS: dict[str, Part] = {
    WHOLE: Part(("text", "digits", "date", "category"), lambda text: text or None),
    "initial": Part(("text",), _first(1), 1),
    "first 3": Part(("text",), _first(3), 3),
    "last 3": Part(("text",), _last(3), 3),
    "first 6": Part(("text",), _first(6), 6),
    "last 6": Part(("text",), _last(6), 6),
    "sorted": Part(("text", "digits"), _sorted),
    "first 4": Part(("digits",), _first(4), 4),
    "last 4": Part(("digits",), _last(4), 4),
    "year and month": Part(("date",), _dated(lambda date: date[:6])),
    "month and day": Part(("date",), _dated(lambda date: date[4:])),
    "year and day": Part(("date",), _dated(lambda date: date[:4] + date[6:])),
    "day and month either way round": Part(("date",), _dated(_unordered)),
}


@dataclass(frozen=True, slots=True, order=True)
class Component:
    """A part of a field, or of two fields the values of both, either way round.

    >>> print(Component(("surname",), "first 3"))
    surname (first 3)
    """

    fields: tuple[str, ...]
    part: str = WHOLE

    def __str__(self) -> str:
        names = " and ".join(self.fields)
        return names if self.part == WHOLE else f"{names} ({self.part})"

    @property
    def spelt(self) -> list[str]:
        """As it stands in a manifest."""
        return [*self.fields, self.part]

    @property
    def cut(self) -> Cut:
        """How its part is cut out of a value."""
        return PARTS[WHOLE if self.part == EITHER else self.part].cut


@dataclass(frozen=True, slots=True)
class Key:
    """What two records must share.

    >>> key = Key((Component(("surname",)), Component(("born",), "year and month")))
    >>> print(key, sorted(key.fixed), sep=" / ")
    surname, born (year and month) / ['surname']
    """

    components: tuple[Component, ...]

    def __str__(self) -> str:
        return ", ".join(map(str, self.components))

    @property
    def fixed(self) -> frozenset[str]:
        """The fields whose values are equal in any two records that share it."""
        return frozenset(one.fields[0] for one in self.components if one.part == WHOLE)

    @property
    def fields(self) -> tuple[str, ...]:
        """All fields that it looks at."""
        return tuple(name for one in self.components for name in one.fields)

    @property
    def spelt(self) -> list[list[str]]:
        """As it stands in a manifest."""
        return [one.spelt for one in self.components]


def read_keys(spelt: Any, fields: Sequence[Field]) -> tuple[Key, ...]:
    """The keys of a manifest; a `ValueError` if a schema of these fields cannot have them."""
    if not isinstance(spelt, list) or not 1 <= len(spelt) <= MOST_KEYS:
        raise ValueError(f"it does not have 1 to {MOST_KEYS} keys")
    by_name = {field.name: field for field in fields}
    keys = tuple(Key(tuple(_components(one, by_name))) for one in spelt)
    for key in keys:
        if not key.components or len(set(key.fields)) < len(key.fields):
            raise ValueError("a key is empty, or has a field twice")
    if len(set(keys)) < len(keys):
        raise ValueError("a key is there twice")
    return keys


def _components(spelt: Any, fields: Mapping[str, Field]) -> Iterator[Component]:
    if not isinstance(spelt, list):
        raise ValueError("a key is not a list")
    for one in spelt:
        if not isinstance(one, list) or not one or not all(isinstance(name, str) for name in one):
            raise ValueError("a part of a key is not a list of names")
        yield _component(one, fields)


def _component(spelt: list[str], fields: Mapping[str, Field]) -> Component:
    *names, part = spelt
    if not names or not all(name in fields for name in names):
        raise ValueError("a key has a field that its settings do not have")
    if (part == EITHER) != (len(names) == 2) or len(names) > 2:
        raise ValueError("a key has two fields in one place")
    if part != EITHER and (part not in PARTS or fields[names[0]].kind not in PARTS[part].kinds):
        raise ValueError("a key has a part that its field does not have")
    return Component(tuple(names), part)
