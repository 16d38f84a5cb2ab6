"""The audit: every attack on every encoding, at several overlaps with a register, and its table."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gramlink.audit import alignment, components, frequencies, nearest
from gramlink.audit.case import Case, Register
from gramlink.audit.claims import Claims
from gramlink.audit.evidence import Evidence
from gramlink.audit.known import Known
from gramlink.audit.seen import Coded, Seen, Sharing

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Chances = Iterator[Floats | None]
Progress = Callable[[int, int], None]

VEILED, VECTORS, EXACT, HOUSEHOLDS = (
    "veiled",
    "vectors",
    "veil with exact distances",
    "veil of households, exact distances",
)
MOST, FEW = 10_000, 300  # victims under the veil, where most show nothing, and otherwise
EXCHANGES = 3
SEED = 2013


@dataclass(frozen=True, slots=True)
class Attack:
    """An attack: from what the unit sees, and what an attacker knows, to chances.

    `about` says how it works. It returns None where it does not apply.
    """

    name: str
    about: str
    chances: Callable[[Seen, Known, Ints], Chances | None]


def _nearest(seen: Seen, known: Known, victims: Ints) -> Chances | None:
    if isinstance(seen, Coded) and known.bases and all(one.lengths for one in seen.fields):
        return nearest.chances(seen, known, victims)
    return None


def _alignment(seen: Seen, known: Known, victims: Ints) -> Chances:
    if isinstance(seen, Coded):
        return alignment.chances(seen, known, victims)
    return components.chances(Evidence((seen,), known, distances=False), victims)


def _frequencies(seen: Seen, known: Known, victims: Ints) -> Chances | None:
    if isinstance(seen, Coded):
        return frequencies.chances(seen, known, victims)
    return None  # no two rows of an owner have anything in common


def _components(seen: Seen, known: Known, victims: Ints) -> Chances | None:
    if isinstance(seen, Sharing) and known.bases:
        return components.chances(Evidence((seen,), known), victims)
    return None


def _tags(seen: Seen, known: Known, victims: Ints) -> Chances | None:
    if isinstance(seen, Sharing):
        evidence = Evidence((seen,), known, distances=False, votes=False)
        return components.chances(evidence, victims)
    return None


NEAREST = Attack(
    "nearest neighbour",
    "With the bases known, embeds the register and takes the nearest person.",
    _nearest,
)
ALIGNMENT = Attack(
    "alignment",
    "Without the bases, learns from values that stand out by their frequency what names look like; "
    "of shared keys, compares only which fields agree.",
    _alignment,
)
FREQUENCIES = Attack(
    "frequencies",
    "Takes each record for the person whose values are as frequent, one by one and two by two.",
    _frequencies,
)
COMPONENTS = Attack(
    "fingerprints",
    "With the bases and the parities known, looks for the two persons who share just these keys "
    "and fields and are as far apart, and lets neighbours vote.",
    _components,
)
TAGS = Attack(
    "absent tags",
    "Takes each record for a person whose keys are as unique in the register as its tags say.",
    _tags,
)
ATTACKS = (NEAREST, ALIGNMENT, FREQUENCIES, COMPONENTS, TAGS)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attack on an encoding went, with a register of some coverage."""

    encoding: str
    attack: str
    coverage: float
    claims: Claims
    control: bool = False

    @property
    def facts(self) -> dict[str, object]:
        """The same for a program."""
        claims = self.claims
        return {
            "encoding": self.encoding,
            "attack": self.attack,
            "register": round(self.coverage, 4),
            "records": len(claims.records),
            "in_register": claims.covered,
            "named": round(claims.named, 6),
            "precision": round(claims.precision, 6),
            "sure": claims.sure,
            "sure_precision": round(claims.sure_precision, 6),
            "anonymity": list(claims.crowds),
            "control": self.control,
        }


@dataclass(frozen=True, slots=True)
class Driver:
    """How many of the named records are named still if a key or a field is left out."""

    what: str
    left: int
    of: int


@dataclass(frozen=True, slots=True)
class Audit:
    """What attacks make of a case."""

    records: int
    outcomes: tuple[Outcome, ...]
    drivers: tuple[Driver, ...]

    def worst(self, encoding: str) -> Outcome | None:
        """The attack that names most under an encoding."""
        some = [one for one in self.outcomes if one.encoding == encoding]
        return max(some, key=lambda one: one.claims.named, default=None)


def audit(
    case: Case,
    registers: Sequence[Register],
    others: Mapping[str, Coded] | None = None,
    *,
    exchanges: int = EXCHANGES,
    progress: Progress | None = None,
) -> Audit:
    """Attack our records as each encoding shows them; `others` are further encodings.

    Privacy: for the owner alone; it charges nothing and sends nothing.
    """
    first = registers[0]
    jobs: list[tuple[str, Seen, Attack, Register, bool]] = []
    encodings: dict[str, Seen] = {VEILED: case.veiled(), VECTORS: case.vectors, **(others or {})}
    for register in registers:
        for name, seen in encodings.items():
            jobs += [
                (name, seen, attack, register, False)
                for attack in ATTACKS
                # learning what codes look like takes longest, and the best register helps it most
                if register is first or attack is not ALIGNMENT or isinstance(seen, Sharing)
            ]
        if exchanges > 1:
            jobs.append((VEILED, case.veiled(), repeated(case, exchanges), register, False))
    jobs.append((EXACT, case.exact, COMPONENTS, first, True))
    jobs.append((HOUSEHOLDS, case.households, COMPONENTS, first, True))
    outcomes = []
    known: dict[int, Known] = {}
    for done, (name, seen, attack, register, control) in enumerate(jobs):
        if progress:
            progress(done, len(jobs) + 1)
        knows = known.setdefault(id(register), case.known(register))
        victims = some_of(case, seen, few=name == HOUSEHOLDS)
        chances = attack.chances(seen, knows, victims)
        if chances is not None:
            claims = Claims.of(chances, victims, register.truth)
            outcomes.append(Outcome(name, attack.name, register.coverage, claims, control))
    drivers = driving(case, first, known[id(first)])
    if progress:
        progress(1, 1)
    return Audit(len(case), tuple(outcomes), drivers)


def repeated(case: Case, exchanges: int) -> Attack:
    """The fingerprints of several exchanges with the same records, added up."""

    def chances(_: Seen, known: Known, victims: Ints) -> Chances:
        secrets = tuple(case.secret(number) for number in range(exchanges))
        knows = replace(known, secrets=secrets)
        rounds = tuple(case.veiled(number) for number in range(exchanges))
        return components.chances(Evidence(rounds, knows), victims)

    return Attack(
        f"fingerprints of {exchanges} exchanges",
        "Adds up what the same persons show in several exchanges.",
        chances,
    )


def some_of(case: Case, seen: Seen, *, few: bool = False) -> Ints:
    """The records to attack: a random sample where there are too many.

    Under the veil most show nothing and take no time.
    """
    most = FEW if few or isinstance(seen, Coded) else MOST
    rows = np.arange(len(case))
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(SEED).choice(rows, most, replace=False))


def driving(case: Case, register: Register, known: Known) -> tuple[Driver, ...]:
    """Which keys and fields the veil's named records are named by, the strongest first."""
    seen = case.veiled()
    victims = some_of(case, seen)
    claims = Claims.of(
        components.chances(Evidence((seen,), known), victims), victims, register.truth
    )
    named = victims[claims.right]
    if not len(named):
        return ()
    without = [(f"key: {key}", seen.without_key(k)) for k, key in enumerate(seen.layout)]
    without += [(f"field: {name}", seen.without_field(f)) for f, name in enumerate(seen.names)]
    found = []
    for what, left in without:
        still = Claims.of(components.chances(Evidence((left,), known), named), named,
                          register.truth)  # fmt: skip
        found.append(Driver(what, int(still.right.sum()), len(named)))
    return tuple(sorted(found, key=lambda one: one.left))


def named(case: Case, register: Register) -> dict[str, float]:
    """The share of our records that the strongest attack names, under the veil and as vectors.

    The bases are known to the attacker and, under the veil, the parities, too.

    Privacy: for experiments; it reads raw records and sends nothing.
    """
    known = case.known(register)
    shares = {}
    for name, seen, attack in (
        (VEILED, case.veiled(), COMPONENTS),
        (VECTORS, case.vectors, NEAREST),
    ):
        victims = some_of(case, seen)
        chances = attack.chances(seen, known, victims)
        assert chances is not None  # noqa: S101
        shares[name] = Claims.of(chances, victims, register.truth).named
    return shares
