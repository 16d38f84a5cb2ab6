"""Fingerprints of records that share keys: who in a register could look like that?

Two records that share keys are of one person, or of two who have something in common. If of one,
the keys that they do not share, though their fields agree, are keys that somebody else has, too:
a register says who has such keys. If of two, a register says which two persons share just these
keys, agree in just these fields, and are as far apart in the others as the parities say. A record
that shares keys with several others must fit all of them: what each says of it is passed on to
its neighbours, as votes.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gramlink.audit.evidence import FALSE, Evidence

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

MOST_EDGES = 24  # of a component
ROUNDS = 3
FORGOTTEN = 1000  # pairs whose likelihoods are kept at a time


@dataclass
class _Solver:
    """Who in the register each record is, as chances; the last is that of nobody in it."""

    evidence: Evidence

    def __post_init__(self) -> None:
        seen, known = self.evidence.seen, self.evidence.known
        self.count = len(known)
        self.prior = np.full(self.count + 1, known.coverage / self.count)
        self.prior[-1] = 1 - known.coverage
        self.of_left = _lists(seen.left)
        self.of_right = _lists(seen.right)
        keys, due = seen.keys, seen.keys | self.evidence.due
        _, self.tagged = np.unique(np.hstack([keys, due]), axis=0, return_inverse=True)
        self.tagged = self.tagged.ravel()
        self.tags: dict[int, Floats] = {}
        self.edges: dict[int, _Edge] = {}

    def posterior(self, victim: int) -> Floats | None:
        """The chances of one of the left owner's records; None if nothing is seen of it."""
        own = self.of_left.get(victim, [])
        if not own:
            return None
        edges = self._component(own) if self.evidence.votes else own[:1]
        if len(edges) == 1:
            return self._weighed([self._edge(edges[0]).to_left(None)])
        return self._voted(victim, edges)

    def _component(self, own: list[int]) -> list[int]:
        """The pairs that hang together with these, the nearest first."""
        seen, found = self.evidence.seen, dict.fromkeys(own)
        queue = list(own)
        while queue and len(found) < MOST_EDGES:
            edge = queue.pop(0)
            near = self.of_left[int(seen.left[edge])] + self.of_right[int(seen.right[edge])]
            for one in near:
                if one not in found and len(found) < MOST_EDGES:
                    found[one] = None
                    queue.append(one)
        return list(found)

    def _voted(self, victim: int, edges: list[int]) -> Floats:
        """Sums and products over a component, a few times to and fro."""
        seen = self.evidence.seen
        ends = {(e, side): int((seen.left, seen.right)[side][e]) for e in edges for side in (0, 1)}
        mail: dict[tuple[int, int], Floats] = {}  # to this side of a pair, from the other
        for _ in range(ROUNDS):
            sent = {}
            for e, side in ends:
                there = 1 - side
                told = [
                    mail[f, there]
                    for f in edges
                    if f != e and ends[f, there] == ends[e, there] and mail
                ]
                view = self._normal(np.prod(told, axis=0)) if told else None
                edge = self._edge(e)
                sent[e, side] = edge.to_left(view) if side == 0 else edge.to_right(view)
            mail = sent
        return self._weighed([mail[e, 0] for e in edges if ends[e, 0] == victim])

    def _normal(self, view: Floats) -> Floats:
        total = float((view * self.prior).sum())  # not BLAS, whose threads would wait for work
        return view / total if total > 0 else np.ones(len(view))

    def _weighed(self, told: list[Floats]) -> Floats:
        weights = self.prior * np.prod([one / one.max() for one in told], axis=0)
        total = weights.sum()
        return np.asarray(weights / total if total > 0 else self.prior)

    def _edge(self, pair: int) -> "_Edge":
        if pair not in self.edges:
            self.edges[pair] = self._made(pair)
        return self.edges[pair]

    def _made(self, pair: int) -> "_Edge":
        evidence = self.evidence
        seen, same = evidence.seen, evidence.same
        alone = float(evidence.of_one[pair])
        couples = evidence.couples if evidence.votes else None
        if couples is None or not len(couples.first):
            person = same * self._tags(pair)
            return _Edge(person, *_NOBODY, rest=FALSE * float(person.max()))
        keys, equal = seen.keys[pair], seen.equal[pair]
        unequal = ~equal & ~seen.missing[pair]
        pattern = couples.here @ keys + couples.gone @ ~keys
        pattern += couples.equal @ equal + couples.unequal @ unequal
        near, found = couples.looking(evidence, pair, pattern)
        highest = max(alone, float(found.max()))  # likelihoods are relative to it: they are tiny
        person = same * np.exp(alone - highest) * self._tags(pair)
        scale = (1 - same) * self.count / len(couples.first)
        weights = scale * np.exp(found - highest)
        rest = weights.sum() / self.count * (1 - evidence.known.coverage**2) + 1e-300
        return _Edge(person, couples.first[near], couples.second[near], weights, float(rest))

    def _tags(self, pair: int) -> Floats:
        """How likely each person's keys are there, and not there, as in this pair."""
        number = int(self.tagged[pair])
        if number not in self.tags:
            here, gone = self.evidence.chances
            keys, due = self.evidence.seen.keys[pair], self.evidence.due[pair]
            found = np.exp(here @ keys + gone @ (due & ~keys))
            self.tags[number] = np.append(found, found.mean())
        return self.tags[number]


@dataclass(frozen=True, slots=True, eq=False)
class _Edge:
    """How likely a pair looks as it does, by who its records are of."""

    person: Floats  # of one person, by whom
    first: Ints  # of two persons, by which two
    second: Ints
    weights: Floats
    rest: float

    def to_left(self, view: Floats | None) -> Floats:
        """By who the left record is of, given what is thought of the right one."""
        return self._passed(self.first, self.second, view)

    def to_right(self, view: Floats | None) -> Floats:
        """The other way round."""
        return self._passed(self.second, self.first, view)

    def _passed(self, to: Ints, of: Ints, view: Floats | None) -> Floats:
        found = self.person + self.rest if view is None else self.person * view + self.rest
        weights = self.weights if view is None else self.weights * view[of]
        np.add.at(found, to, weights)
        return found


_NOBODY = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


def chances(evidence: Evidence, victims: Ints) -> Iterator[Floats | None]:
    """For each of these records, the chance that it is of each person of the register.

    The last chance is that it is of nobody there. None where nothing is seen of the record.
    """
    solver = _Solver(evidence)
    for victim in victims.tolist():
        yield solver.posterior(victim)
        if len(solver.edges) > FORGOTTEN:
            solver.edges.clear()


def _lists(ends: Ints) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for pair, end in enumerate(ends.tolist()):
        found.setdefault(end, []).append(pair)
    return found
