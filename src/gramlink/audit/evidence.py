"""Evidence: how likely pairs that share keys look as they do, by which persons they are of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gramlink.audit.known import Known, multiplicity, sharers
from gramlink.audit.seen import Sharing

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

ALIKE = 0.55  # of the fields that a pair of one person shows, at least so many are equal
SPOILT = 0.08  # of a person's values, those that differ between the files
FALSE = 0.002  # of different values, those that are the same after all
STRAY = 0.004  # of keys, those that are or are not there for no reason
NOWHERE = 1e-4
CLOSE, KEPT = 14.0, 4000
TYPO, OTHER = 0.25, 0.47  # the share of parities that differ after a typo, or for another value
TYPOS = 0.6


@dataclass(frozen=True)
class Evidence:
    """What an attacker makes of shared keys.

    `distances` says whether it reads how far values are apart, and `votes` whether a record's
    neighbours count, and persons who have a key in common.
    """

    rounds: Sequence[Sharing]
    known: Known
    distances: bool = True
    votes: bool = True

    @property
    def seen(self) -> Sharing:
        """The first exchange, whose pairs are attacked."""
        return self.rounds[0]

    @cached_property
    def groups(self) -> Ints:
        """Which persons of the register share each key."""
        return np.stack([self.known.groups(key) for key in self.seen.layout], axis=1)

    @cached_property
    def involved(self) -> Bools:
        """Which fields each key looks at."""
        names = self.seen.names
        return np.array([[name in key.fields for name in names] for key in self.seen.layout])

    @cached_property
    def due(self) -> Bools:
        """Which keys a pair must share, if nobody else has them."""
        differs = (~self.seen.equal).astype(np.int64) @ self.involved.T.astype(np.int64)
        return np.asarray(differs == 0)

    @cached_property
    def again(self) -> tuple[Ints, ...]:
        """For each exchange, where each pair of the first is among its pairs, or -1."""
        width = 1 + max(int(one.right.max(initial=0)) for one in self.rounds)
        asked = self.seen.left * width + self.seen.right
        found = []
        for one in self.rounds:
            codes = np.append(one.left * width + one.right, np.iinfo(np.int64).max)
            place = np.searchsorted(codes, asked)
            found.append(np.where(codes[place] == asked, place, -1))
        return tuple(found)

    @cached_property
    def same(self) -> float:
        """About which share of the pairs is of one person."""
        shown = (~self.seen.missing).sum(axis=1)
        alike = self.seen.equal.sum(axis=1) >= ALIKE * shown
        return float(np.clip(alike.mean() if len(alike) else 0.5, 0.05, 0.98))

    @cached_property
    def chances(self) -> tuple[Floats, Floats]:
        """How likely each person's keys are sent by both owners, and not, as logarithms."""
        others = np.stack([multiplicity(one) for one in self.groups.T], axis=1).astype(float)
        if not self.seen.unique:
            here = np.full(others.shape, 1 - STRAY)
            return np.log(here), np.log(1 - here)
        share = min(self.known.present * (1 - SPOILT), 0.98)
        here = (1 - share) ** others
        # persons whom the register does not have: as many as explain what is missing
        seen = self.due.sum(axis=0)
        there = ((self.seen.keys & self.due).sum(axis=0) + 1) / (seen + 2)
        hidden = np.minimum(there / np.maximum(here.mean(axis=0), 1e-6), 1.0)
        here = np.clip(here * hidden, STRAY, 1 - STRAY)
        return np.log(here), np.log(1 - here)

    @cached_property
    def couples(self) -> "Couples":
        """The pairs of persons of the register who have a key in common."""
        return Couples.of(self)

    @cached_property
    def of_one(self) -> Floats:
        """How likely each pair's fields look like that if it is of one person, as logarithms."""
        seen = self.seen
        unequal = ~seen.equal & ~seen.missing
        found = np.where(seen.equal, np.log(1 - SPOILT), 0.0)
        if seen.exact is not None and self.distances:
            apart = np.log(SPOILT) + self.background
        elif self.distances:
            k, n = self._summed(lambda one: one.apart), self._summed(lambda one: one.drawn)
            apart = np.log(SPOILT) + np.logaddexp(
                np.log(TYPOS) + drawn_so(k, n, np.array(TYPO)),
                np.log(1 - TYPOS) + drawn_so(k, n, np.array(OTHER)),
            )
        else:
            apart = np.full(unequal.shape, np.log(SPOILT))
        return np.asarray((found + np.where(unequal, apart, 0.0)).sum(axis=1))

    def _summed(self, what: Callable[[Sharing], Ints]) -> Ints:
        """What each pair shows in all exchanges that it is in."""
        result = np.zeros(self.seen.apart.shape, np.int64)
        for one, place in zip(self.rounds, self.again, strict=True):
            there = place >= 0
            result[there] += what(one)[place[there]]
        return result

    @cached_property
    def background(self) -> Floats:
        """How frequent each distance is among all that are seen in its field, as logarithms."""
        exact = self.seen.exact
        assert exact is not None  # noqa: S101
        found = np.zeros(exact.shape)
        for field, column in enumerate(exact.T):
            _, place, counts = np.unique(column, return_inverse=True, return_counts=True)
            found[:, field] = np.log((counts[place.ravel()] + 0.5) / (len(column) + 1))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Couples:
    """Pairs of persons who share a key, each both ways round, and what their records would show."""

    first: Ints
    second: Ints
    here: Floats  # the logarithm of how likely a key is shared, and is not
    gone: Floats
    equal: Floats
    unequal: Floats
    apart: tuple[Floats, ...]  # for each exchange, the share of parities that differ
    exact: Ints | None

    @classmethod
    def of(cls, evidence: Evidence) -> "Couples":
        """All of them."""
        known, seen = evidence.known, evidence.seen
        pairs = [sharers(one) for one in evidence.groups.T]
        count = len(known)
        codes = np.unique(np.concatenate([a * count + b for a, b in pairs]))
        a, b = codes // count, codes % count
        first, second = np.concatenate([a, b]), np.concatenate([b, a])
        groups = evidence.groups
        share = (groups[first] == groups[second]) & (groups[first] >= 0)
        others = np.stack([multiplicity(one) for one in groups.T], axis=1)[first] - 1
        alone = (1 - min(known.present * (1 - SPOILT), 0.98)) ** np.maximum(others, 0)
        if not seen.unique:
            alone = np.ones(others.shape)
        sent = np.clip(np.where(share, alone * (1 - SPOILT), STRAY / 4), NOWHERE, 1 - STRAY)
        one, other = known.values[first], known.values[second]
        none = (one < 0) | (other < 0)
        same = (one == other) & ~none
        equal = np.where(none, 0.5, np.where(same, (1 - SPOILT) ** 2, FALSE))
        apart = tuple(
            np.stack(
                [_differing(words, one[:, f], other[:, f]) for f, words in enumerate(of_fields)],
                axis=1,
            )
            for of_fields in known.parities
        )
        if known.parities and not known.secrets:
            apart = (np.mean(apart, axis=0),)
        exact = None
        if seen.exact is not None and known.bases:
            exact = squared(known, first, second)
        return cls(
            first, second, np.log(sent), np.log(1 - sent), np.log(equal), np.log(1 - equal),
            apart, exact,
        )  # fmt: skip

    def looking(self, evidence: Evidence, pair: int, pattern: Floats) -> tuple[Ints, Floats]:
        """Which of them a pair could be, and how likely they look like that, as logarithms."""
        if not len(self.first):
            return np.zeros(0, np.int64), np.zeros(0)
        near = np.flatnonzero(pattern >= pattern.max() - CLOSE)
        if len(near) > KEPT:
            near = near[np.argpartition(-pattern[near], KEPT)[:KEPT]]
        found = pattern[near].copy()
        seen = evidence.seen
        fields = np.flatnonzero(~seen.equal[pair] & ~seen.missing[pair])
        if not evidence.distances or not len(fields):
            return near, found
        if self.exact is not None and seen.exact is not None:
            same = self.exact[near][:, fields] == seen.exact[pair, fields]
            rare = evidence.background[pair, fields]
            found += np.log(0.9 * same + SPOILT * np.exp(rare)).sum(axis=1)
            return near, found
        drawn, stray = np.zeros((len(near), len(fields))), np.zeros(len(fields))
        for number, chance in enumerate(self.apart):
            one, place = evidence.rounds[number], evidence.again[number][pair]
            if place >= 0:
                k, n = one.apart[place, fields], one.drawn[place, fields]
                drawn += drawn_so(k, n, chance[near][:, fields])
                stray += drawn_so(k, n, np.array(OTHER))
        # a value that is another than the register's is so in all exchanges
        found += np.logaddexp(np.log(1 - SPOILT) + drawn, np.log(SPOILT) + stray).sum(axis=1)
        return near, found


def drawn_so(differing: Ints, of: Ints, share: Floats) -> Floats:
    """The logarithm of a binomial chance, but for how many ways there are."""
    share = np.clip(share, 0.01, 0.9)
    return np.asarray(differing * np.log(share) + (of - differing) * np.log(1 - share))


def _differing(words: npt.NDArray[np.uint64], one: Ints, other: Ints) -> Floats:
    bits = np.bitwise_count(words[one] ^ words[other]).sum(axis=1, dtype=np.int64)
    return np.asarray(bits / (64 * words.shape[1]))


def squared(known: Known, one: Ints, other: Ints) -> Ints:
    """The squared distances of persons in each field."""
    from gramlink.embedding.vectors import embed

    found = []
    for field, (texts, place) in zip(known.schema.fields, known.fields, strict=True):
        coordinates = embed(texts, known.bases[field.name]).coordinates.astype(np.int64)
        difference = coordinates[place[one]] - coordinates[place[other]]
        found.append((difference**2).sum(axis=1))
    return np.stack(found, axis=1)
