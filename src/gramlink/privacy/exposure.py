"""Exposure: what a linkage unit was shown of a data set, and what that adds up to.

Epsilon does not cover it. An encoding may show everything about a record at once, or only some
draws from what there is to see. Fresh draws about the same values add up over exchanges: the more
of them a unit has seen, the better it knows how far apart values are. So they are counted.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gramlink.errors import InvalidLedger, InvalidParameter
from gramlink.io.files import fingerprint, table_in

UNSEALED = "not sealed"  # in the place of a unit's key: whoever has the file can read it
MOST = 10  # exposures to any one unit that add up, unless the owner sets another limit


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What an encoding shows of each record: so many rows and, of each field, so many draws.

    Without draws it shows everything, and showing it again shows nothing new.
    """

    rows: int
    draws: Mapping[str, int] | None

    @property
    def adds_up(self) -> bool:
        """Whether another bundle about the same records shows more."""
        return self.draws is not None


@dataclass(frozen=True, slots=True)
class Exposure:
    """One bundle for one linkage unit: of how many records, what of each, under which key."""

    exchange: str
    unit: str  # the key it is sealed to, or `UNSEALED`
    encoding: str
    records: int
    shown: Disclosure
    key: str  # fingerprint of the key of its pseudonyms
    digest: str = ""  # of what the bundle shows of records; empty before it is encoded
    time: str = ""

    @property
    def content(self) -> dict[str, Any]:
        """What an entry of a ledger says of it."""
        draws = self.shown.draws
        return {
            "unit": self.unit,
            "exchange": self.exchange,
            "encoding": self.encoding,
            "records": self.records,
            "rows": self.shown.rows,
            "draws": None if draws is None else dict(draws),
            "key": self.key,
            "digest": self.digest,
        }

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> "Exposure":
        """The exposure that an entry records; what cannot be one raises."""
        texts = {name: entry[name] for name in ("exchange", "unit", "encoding", "key", "digest")}
        if not all(isinstance(one, str) for one in texts.values()) or not texts["digest"]:
            raise InvalidLedger("an exposure does not say which bundle it is of")
        draws = entry["draws"]
        if draws is not None:
            draws = {name: whole(number) for name, number in table_in(entry, "draws").items()}
        shown = Disclosure(whole(entry["rows"]), draws)
        records, time = whole(entry["records"]), str(entry["time"])
        return cls(**texts, records=records, shown=shown, time=time)

    def repeats(self, other: "Exposure") -> bool:
        """Whether the unit was shown the very same before; before it is encoded, whether it may be.

        >>> one = Exposure("stroke", "age1", "veiled", 9, Disclosure(16, {"surname": 672}), "8a5c")
        >>> one.repeats(Exposure("stroke", "age1", "veiled", 9, one.shown, "8a5c", "0f3e"))
        True
        """
        ours = (self.exchange, self.unit, self.encoding, self.records, self.key)
        theirs = (other.exchange, other.unit, other.encoding, other.records, other.key)
        return ours == theirs and self.digest in ("", other.digest)


@dataclass(frozen=True, slots=True)
class Total:
    """What one linkage unit was shown, added up; the order does not matter."""

    unit: str
    exposures: tuple[Exposure, ...]

    @property
    def records(self) -> int:
        """How many records it was shown at most in one bundle."""
        return max(one.records for one in self.exposures)

    @property
    def rows(self) -> int:
        """How many rows of one record it was shown, at most, where exposures add up."""
        return sum(one.shown.rows for one in self.exposures if one.shown.adds_up)

    @property
    def draws(self) -> dict[str, int]:
        """How many draws of each field of one record it was shown, at most."""
        total: dict[str, int] = {}
        for one in self.exposures:
            for field, number in (one.shown.draws or {}).items():
                total[field] = total.get(field, 0) + number
        return dict(sorted(total.items()))

    @property
    def everything(self) -> tuple[Exposure, ...]:
        """The exposures that showed everything about their records."""
        return tuple(one for one in self.exposures if not one.shown.adds_up)

    @property
    def joined(self) -> tuple[tuple[Exposure, ...], ...]:
        """Exposures whose records the unit can join, as their pseudonyms have the same key."""
        by_key: dict[str, list[Exposure]] = {}
        for one in self.exposures:
            by_key.setdefault(one.key, []).append(one)
        return tuple(tuple(group) for group in by_key.values() if len(group) > 1)


def totals(exposures: Iterable[Exposure]) -> tuple[Total, ...]:
    """What each linkage unit was shown, added up, in the order of the units' keys."""
    by_unit: dict[str, list[Exposure]] = {}
    for one in exposures:
        by_unit.setdefault(one.unit, []).append(one)
    return tuple(Total(unit, tuple(by_unit[unit])) for unit in sorted(by_unit))


def counted(exposures: Iterable[Exposure], unit: str) -> int:
    """How many exposures add up at a linkage unit.

    What is not sealed counts for every unit, since any of them may have read it.
    """
    adding = [one.unit for one in exposures if one.shown.adds_up]
    open_to_all = adding.count(UNSEALED)
    if unit != UNSEALED:
        return open_to_all + adding.count(unit)
    return open_to_all + max((adding.count(one) for one in set(adding) - {UNSEALED}), default=0)


def reader(unit: str) -> str:
    """Who can read it, in words.

    >>> reader(UNSEALED)
    'whoever has the files, which are not sealed'
    """
    if unit == UNSEALED:
        return "whoever has the files, which are not sealed"
    found = fingerprint(hashlib.sha256(unit.encode()).hexdigest())
    return f"the linkage unit with the key {found}"


def whole(number: object) -> int:
    """How many there are of something."""
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise InvalidParameter(f"{number!r} is not a whole number from 0 on")
    return number
