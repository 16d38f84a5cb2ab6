"""Model: what matches and other pairs look like, and what that makes a pair weigh."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import lgamma
from typing import Any

import numpy as np
import numpy.typing as npt

from gramlink.io.files import DAMAGE, damaged, from_json, to_json
from gramlink.matching.chance import Gaps
from gramlink.matching.passes import SWAP, Pass
from gramlink.records.levels import EQUAL, SWAPPED, Levels
from gramlink.scoring.mixture import Patterns, Sort

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SELDOM = 0.3  # the share of equal values that matches have at least, in all fields but one
ENOUGH = 0.4  # the share of fields in which matches of a sort are often equal, at least
NEARLY = 0.8  # and that of duplicates within a file
SELDOM_KNOWN = 0.7  # the share of missing values from which a field says too little
COMMON = 0.3  # the share of random pairs that are equal from which a field says too little
TRUST, DISTRUST = 20.0, 0.3  # pairs that what sorts expect of a pattern is worth, beside counts
ODD = 0.02  # the share of patterns of which they know little
SIMULATED, SEED = 50_000, 2013  # matches, to see how many the passes find


@dataclass(frozen=True, slots=True, eq=False)
class Within:
    """Pairs within the left file, which are never matches, and the sorts that explain them."""

    patterns: Patterns
    gaps: Gaps
    random: Sort
    related: tuple[Sort, ...]

    def log_correction(self, levels: Ints) -> Floats:
        """The logarithm of how many times more pairs of each pattern there are than expected.

        Most patterns are as frequent as the sorts expect, but for chance. A few are not, such as
        those of twins: no sort describes them, and they are seen far more often.
        """
        expected = np.logaddexp(self.random.log_expected(levels), _log_sum(self.related, levels))
        expected = np.exp(expected + self.gaps.log_shares(levels, self.patterns.of_fields))
        alike = (levels == EQUAL).all(axis=1)  # the same is sent once
        seen = np.where(alike, expected, self.patterns.counts_of(levels))
        likely = [
            np.log(share) + _log_seen(seen, expected, trust)
            for share, trust in ((1 - ODD, TRUST), (ODD, DISTRUST))
        ]
        odd = np.exp(likely[1] - np.logaddexp(*likely))
        usual, unusual = ((seen + trust) / (expected + trust) for trust in (TRUST, DISTRUST))
        return np.asarray(np.log((1 - odd) * usual + odd * unusual))


def _log_seen(seen: Floats, expected: Floats, trust: float) -> Floats:
    """The logarithm of how likely these numbers are, but for a part that is the same for any trust.

    What is expected is right up to a factor: the factor has a gamma distribution with a mean of 1,
    as if it had been found from so many pairs.
    """
    rising = np.array([lgamma(one + trust) - lgamma(trust) for one in seen.tolist()])
    share = np.log(expected / (expected + trust), where=expected > 0, out=np.zeros_like(expected))
    return np.asarray(rising + trust * np.log(trust / (expected + trust)) + seen * share)


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """What the sorts of pairs look like, and how many there are of each.

    It is `steady` if more rounds of learning would hardly have changed it.
    """

    names: tuple[str, ...]
    levels: tuple[Levels, ...]
    pairs: int
    gaps: Gaps
    matches: tuple[Sort, ...]
    random: Sort
    related: tuple[Sort, ...]
    passes: tuple[Pass, ...]
    within: Within | None = None
    steady: bool = True
    known: tuple[Sort, ...] = ()  # relatives that everybody knows of, if nothing is learnt of any

    def log_matches(self, levels: Ints) -> Floats:
        """The logarithm of how many matches of each pattern there should be, given what it misses."""  # noqa: E501
        return _log_sum(self.matches, levels)

    def log_others(self, levels: Ints) -> tuple[Floats, Floats]:
        """The same for pairs that are not matches: those by chance, and related ones."""
        random, related = self.random.log_expected(levels), _log_sum(self.related, levels)
        correction = self.within.log_correction(levels) if self.within else 0.0
        return random + correction, related + correction

    @property
    def match_shares(self) -> tuple[Floats, ...]:
        """m: the share of matches that have each level, for each field."""
        total = sum(sort.count for sort in self.matches)
        if total <= 0:
            return self.matches[0].shares
        return tuple(
            sum((sort.count / total) * sort.shares[field] for sort in self.matches)  # type: ignore[misc]
            for field in range(len(self.names))
        )

    def same_person(self, sort: Sort) -> bool:
        """Whether a sort within the left file is of duplicates: pairs that agree nearly throughout.

        They agree in all that makes a person, which is what relatives do not share: a given name,
        a date of birth.
        """
        agreeing = all(self._often(sort, field) for field in self._personal or self._telling)
        return agreeing and self._agreeing(sort) >= NEARLY * len(self._telling)

    def could_match(self, sort: Sort) -> bool:
        """Whether pairs of a sort may be matches, and not relatives that nothing else has shown.

        Matches hardly ever differ in more than one field that makes a person, nor in the only one
        there is, unless there are more such pairs than relatives. And they agree in some fields.
        """
        times = self.pairs / self.within.random.count if self.within else 1.0
        personal = self._personal
        number = sum(one.count for one in self._relatives)
        seldom = sum(not self._often(sort, field) for field in personal or self._telling)
        few = seldom <= (len(personal) > 1)
        return self._enough(sort) and (few or 0 < times * number < sort.count)

    @property
    def alone(self) -> str | None:
        """The only field that tells matches from relatives, if those are more than matches."""
        matches = sum(one.count for one in self.matches)
        times = self.pairs / self.within.random.count if self.within else 1.0
        personal = self._personal
        if len(personal) != 1 or times * sum(one.count for one in self._relatives) <= matches:
            return None
        return self.names[personal[0]]

    @property
    def _relatives(self) -> list[Sort]:
        """The sorts of pairs that share more than one field."""
        related = self.within.related if self.within else self.known or self.related
        return [one for one in related if self._agreeing(one) > 1]

    @property
    def _personal(self) -> list[int]:
        """The fields that relatives seldom share."""
        relatives = self._relatives
        number = sum(one.count for one in relatives)
        return [
            field
            for field in self._telling
            if sum(one.count * float(one.shares[field][EQUAL]) for one in relatives)
            <= SELDOM * number
        ]

    def _enough(self, sort: Sort) -> bool:
        return self._agreeing(sort) >= ENOUGH * len(self._telling)

    def _agreeing(self, sort: Sort) -> int:
        """In how many fields that tell pairs apart those of a sort are often within one edit."""
        return sum(self._often(sort, field) for field in self._telling)

    def _often(self, sort: Sort, field: int) -> bool:
        levels, shares = self.levels[field], sort.shares[field]
        # within two edits many dates and postcodes are by chance
        near = float(shares[: min(EQUAL + 2, levels.farther)].sum())
        if levels.nickname is not None:
            near += float(shares[levels.nickname])
        if levels.swapped is not None:
            leader = field if levels.leads else self.names.index(levels.partner)
            swapped = float(sort.shares[leader][self.levels[leader].missing - 1])
            near = near + swapped if levels.leads else swapped + (1 - swapped) * near
        return near >= SELDOM

    @property
    def _telling(self) -> list[int]:
        """The fields that are known and tell pairs apart."""
        return [
            field
            for field, random in enumerate(self.random.shares)
            if self.gaps.of_field(field) < SELDOM_KNOWN and random[EQUAL] < COMMON
        ]

    @property
    def weights(self) -> dict[str, dict[str, float]]:
        """log2(m/u) of each level of each field: what it adds to a pair's match weight.

        A missing value adds nothing.
        """
        table = {}
        shares = zip(self.match_shares, self.random.shares, strict=True)
        for name, levels, (m, u) in zip(self.names, self.levels, shares, strict=True):
            ratio = np.log2(m / u)
            table[name] = dict(zip(levels.names, ratio.tolist(), strict=True))
        return table

    @property
    def prior(self) -> float:
        """λ: the share of all pairs that are matches."""
        return sum(sort.count for sort in self.matches) / max(1, self.pairs)

    @property
    def log_prior_odds(self) -> float:
        """The logarithm of the odds that any pair is a match, before it is looked at."""
        prior = min(max(self.prior, 1e-300), 1 - 1e-15)
        return float(np.log(prior / (1 - prior)))

    @property
    def coverage(self) -> float:
        """The share of matches that the passes find, if matches are as the model says."""
        source = np.random.default_rng(SEED)
        total = sum(sort.count for sort in self.matches)
        if total <= 0:
            return 1.0
        found = 0.0
        missing = self.gaps.draw(SIMULATED, source)
        for sort in self.matches:
            levels = np.stack(
                [
                    source.choice(of.speaking, SIMULATED, p=one[: of.speaking])
                    for one, of in zip(sort.shares, self.levels, strict=True)
                ],
                axis=1,
            )
            for field, of in enumerate(self.levels):
                if of.swapped is not None and not of.leads:
                    leader = self.names.index(of.partner)
                    swapped = levels[:, leader] == self.levels[leader].swapped
                    levels[swapped, field] = of.swapped
            levels = np.where(missing, [of.missing for of in self.levels], levels)
            missed = np.ones(SIMULATED)
            for one in self.passes:
                missed *= 1 - one.share * one.finds(levels, self.names, self.levels)
            found += sort.count / total * float(1 - missed.mean())
        return found

    def to_json(self) -> bytes:
        """A file that a person can read."""
        return to_json(
            "model",
            {
                "pairs": self.pairs,
                "levels": {
                    name: levels.names for name, levels in zip(self.names, self.levels, strict=True)
                },
                "swaps": [
                    [name, levels.partner]
                    for name, levels in zip(self.names, self.levels, strict=True)
                    if levels.partner and levels.leads
                ],
                "passes": [_spelt_pass(one) for one in self.passes],
                "gaps": _spelt_gaps(self.gaps),
                "random": self._sort(self.random),
                "within": self._within(),
                "related": [self._sort(sort) for sort in self.related],
                "matches": [self._sort(sort) for sort in self.matches],
                "known": [self._sort(sort) for sort in self.known],
                "steady": self.steady,
            },
        )

    def _within(self) -> dict[str, Any] | None:
        if self.within is None:
            return None
        patterns = self.within.patterns
        spelt = ("".join(map(str, row)) for row in patterns.levels.tolist())
        return {
            "gaps": _spelt_gaps(self.within.gaps),
            "random": self._sort(self.within.random),
            "related": [self._sort(sort) for sort in self.within.related],
            "patterns": dict(zip(spelt, patterns.counts.tolist(), strict=True)),
        }

    def _sort(self, sort: Sort) -> dict[str, Any]:
        shares = zip(self.names, sort.shares, strict=True)
        return {
            "count": sort.count,
            "seen": sort.seen,
            "shares": {name: one.tolist() for name, one in shares},
        }

    @classmethod
    def from_json(cls, data: bytes, name: str) -> "Model":
        """What `to_json` wrote."""
        content = from_json("model", data, name)
        try:
            names = tuple(content["levels"])
            levels = _levels(content["levels"], content.get("swaps", []))

            def sort(one: Mapping[str, Any]) -> Sort:
                shares = tuple(np.array(one["shares"][field], float) for field in names)
                if list(map(len, shares)) != list(map(len, levels)):
                    raise ValueError("a sort does not have a share for each level")
                if not all((x > 0).all() and np.isfinite(x).all() for x in shares):
                    raise ValueError("a share is not a number above 0")
                if not 0 < one["seen"] <= 1:
                    raise ValueError("the part of a sort that is seen is not from 0 to 1")
                return Sort(_number(one["count"]), shares, float(one["seen"]))

            inside = content["within"]
            within = None
            if inside is not None:
                within = Within(
                    _patterns(inside["patterns"], levels),
                    _gaps(inside["gaps"], len(names)),
                    sort(inside["random"]),
                    tuple(map(sort, inside["related"])),
                )
            of_fields = dict(zip(names, levels, strict=True))
            passes = tuple(_pass(one, of_fields) for one in content["passes"])
            if not isinstance(content["steady"], bool):
                raise ValueError("it does not say whether it is steady")
            if int(content["pairs"]) < 1 or not content["matches"] or not names:
                raise ValueError("it has no pairs, no fields or no matches")
            return cls(
                names,
                levels,
                int(content["pairs"]),
                _gaps(content["gaps"], len(names)),
                tuple(map(sort, content["matches"])),
                sort(content["random"]),
                tuple(map(sort, content["related"])),
                passes,
                within,
                content["steady"],
                tuple(map(sort, content["known"])),
            )
        except DAMAGE as error:
            raise damaged(name, error, "link again") from error


def _number(value: Any) -> float:
    """A number that is a valid count."""
    number = float(value)
    if not 0 <= number < float("inf"):
        raise ValueError("a count is not a number of at least 0")
    return number


def _levels(names: Mapping[str, Any], swaps: list[list[str]]) -> tuple[Levels, ...]:
    """The levels of each field, of which some are swapped with each other."""
    roles = {one: (other, True) for one, other in swaps}
    roles |= {other: (one, False) for one, other in swaps}
    if len(roles) < 2 * len(swaps) or not roles.keys() <= names.keys():
        raise ValueError("a field is swapped with two others, or is not there")
    roles = {name: roles.get(name, ("", True)) for name in names}
    return tuple(
        Levels.named(names[name], partner, leads=leads) for name, (partner, leads) in roles.items()
    )


def _spelt_pass(one: Pass) -> dict[str, Any]:
    edits = {name: SWAPPED if most == SWAP else most for name, most in one.edits.items()}
    return {"edits": edits, "label": one.label, "share": one.share}


def _pass(spelt: dict[str, Any], levels: dict[str, Levels]) -> Pass:
    """What `_spelt_pass` made."""
    label, share = spelt["label"], spelt["share"]
    if not isinstance(label, str) or not label.isprintable() or not 0 < share <= 1:
        raise ValueError("a pass has no label, or finds a share that cannot be")
    edits = {name: SWAP if most == SWAPPED else most for name, most in spelt["edits"].items()}
    if not edits.keys() <= levels.keys():
        raise ValueError("a pass has other fields")
    for name, most in edits.items():
        swaps = most == SWAP and edits.get(levels[name].partner) == SWAP
        if not swaps and most not in range(levels[name].edits + 1):
            raise ValueError("a pass has too many edits, or swaps one field alone")
    return Pass(edits, label, float(share))


def _patterns(counts: dict[str, int], of_fields: tuple[Levels, ...]) -> Patterns:
    codes = np.array([[int(level) for level in row] for row in counts], np.int64)
    codes = codes.reshape(len(counts), len(of_fields))
    if (codes >= list(map(len, of_fields))).any() or min(counts.values(), default=0) < 0:
        raise ValueError("a pattern does not fit its levels")
    return Patterns(codes, np.array(list(counts.values())), of_fields)


def _spelt_gaps(gaps: Gaps) -> dict[str, float]:
    """For each way of missing fields, 1 for each one that is missing, the share of pairs."""
    spelt = ("".join("01"[one] for one in row) for row in gaps.missing.tolist())
    return dict(zip(spelt, gaps.shares.tolist(), strict=True))


def _gaps(shares: dict[str, float], fields: int) -> Gaps:
    """What `_spelt_gaps` made."""
    missing = np.array([[digit == "1" for digit in row] for row in shares])
    counts = np.array([_number(share) for share in shares.values()])
    if missing.shape != (len(shares), fields) or not counts.sum() > 0:
        raise ValueError("what pairs miss does not fit its fields")
    return Gaps(missing, counts / counts.sum())


def _log_sum(sorts: tuple[Sort, ...], levels: Ints) -> Floats:
    if not sorts:
        return np.full(len(levels), -np.inf)
    parts = [sort.log_expected(levels) for sort in sorts]
    return np.asarray(np.logaddexp.reduce(parts, axis=0))
