"""Deciding on scored pairs: links, possible links, and how good they are likely to be."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from gramlink.deciding.joint import best_set, posterior
from gramlink.deciding.links import Links
from gramlink.deciding.nearness import judge
from gramlink.deciding.rules import Contest, Rule, rule_named
from gramlink.matching.pairs import Pairs
from gramlink.matching.passes import Pass
from gramlink.records.levels import EQUAL
from gramlink.scoring.model import Model
from gramlink.scoring.score import Scored

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.integer[Any]]

FEW = 50  # matches, from which estimates are within 0.02 or so
NOTHING = "no pair looks like a match"
ROUGH = f"fewer than {FEW} pairs look like matches: the estimates are rough"
ONE_FIELD = "records of one field can be alike by chance: the estimates are rough"
POOR = 0.1  # misfit
NEARLY_ALL, SELDOM = 0.98, 0.3  # shares that make one wonder


@dataclass(frozen=True, slots=True, eq=False)
class Linkage:
    """Links, possible links for review, and what is known about how good they are.

    `precision` is the share of the links that are likely true; `recall` the share of all
    likely matches that are links. They need no truth, and are None where nothing is likely.
    Records of one field have no `model`, no `passes` and no `histogram`: their pairs are all
    that are near enough. `passes` are the passes with how many pairs each found, and how many
    no earlier one had. `histogram` says how many candidate pairs have a match weight of each
    whole number.
    """

    links: Links
    possible: Links
    precision: float | None = None
    recall: float | None = None
    model: Model | None = None
    passes: tuple[tuple[Pass, int, int], ...] = ()
    histogram: tuple[tuple[int, int], ...] = ()
    warnings: tuple[str, ...] = ()


def decide_scored(
    scored: Scored,
    left_ids: Sequence[str],
    right_ids: Sequence[str],
    rule: str,
    accept: float,
    review: float,
) -> Linkage:
    """The best set of pairs that a rule allows, each with a probability of at least `accept`.

    Pairs of at least `review` are possible links, if the rule would let them stand beside
    the links. Rows are in the order of their ids, which decides between equals.
    """
    keeping = rule_named(rule)
    found = scored.candidates
    sizes = len(left_ids), len(right_ids)
    expected = sum(sort.count for sort in scored.model.matches)
    joint = posterior(found.left, found.right, scored.log_odds, sizes, keeping, expected)
    probability = joint.probability
    rows = _decided(found, probability, scored.log_odds, keeping, accept, review)
    details = pl.DataFrame(
        {
            "match_weight": pl.Series(scored.weights.round(3)),
            "match_probability": pl.Series(probability.round(6)),
        }
    )
    chosen, possible = (
        _links(found, one, details[one].hstack(_levels(scored, one)), left_ids, right_ids)
        for one in rows
    )
    total = float(probability.sum()) / max(scored.model.coverage, 1e-9)
    return Linkage(
        chosen,
        possible,
        *_estimates(probability, rows[0], total),
        scored.model,
        tuple(zip(found.passes, found.found, found.added, strict=True)),
        _histogram(scored),
        warnings_of(scored.model, scored.misfit),
    )


def warnings_of(model: Model, misfit: float = 0.0) -> tuple[str, ...]:
    """Warnings about estimates and about columns: mapped wrongly, it seems, or saying nothing."""
    found = []
    if model.prior * model.pairs < 1:
        found.append(NOTHING)
        return tuple(found)
    if model.prior * model.pairs < FEW:
        found.append(ROUGH)
    if not model.steady:
        found.append("learning what matches look like did not settle: the estimates are rough")
    if misfit > POOR:
        found.append(
            "the pairs are not as the model expects (a misfit of "
            f"{misfit:.0%} of the matches): the estimates are rough"
        )
    if model.alone:
        found.append(
            f"only {model.alone} tells one person from relatives: a match that differs there goes "
            "unseen, and the estimated recall may be too high"
        )
    shares = zip(model.names, model.match_shares, model.random.shares, strict=True)
    for field, (name, matches, random) in enumerate(shares):
        if model.gaps.of_field(field) > NEARLY_ALL:
            found.append(f"{name} is missing in nearly all pairs: it says nothing")
        elif random[EQUAL] > NEARLY_ALL:
            found.append(f"{name} is equal in nearly all pairs: it says nothing")
        elif matches[EQUAL] < SELDOM:
            found.append(
                f"{name} is seldom equal in matches: does one of the owners use another "
                "column, or write it differently?"
            )
    return tuple(found)


def decide_near(
    pairs: Pairs,
    within: Pairs,
    lengths: Ints,
    left_ids: Sequence[str],
    right_ids: Sequence[str],
    rule: str,
    accept: float,
    review: float,
    coverage: float,
) -> Linkage:
    """The same of records of one field, by how near they are.

    `within` are the near pairs of the left file with itself, `lengths` how long its records are,
    and `coverage` is the share of matches that are near enough to be among the pairs.
    """
    keeping = rule_named(rule)
    judged = judge(pairs, within, lengths, (len(left_ids), len(right_ids)), keeping, coverage)
    probability = judged.probability
    rows = _decided(pairs, probability, probability, keeping, accept, review)
    details = pl.DataFrame({"distance": pairs.distances, "match_probability": probability.round(6)})
    chosen, possible = (_links(pairs, one, details[one], left_ids, right_ids) for one in rows)
    if judged.matches < 1:
        warnings: tuple[str, ...] = (NOTHING,)
    else:
        warnings = (ONE_FIELD,) if judged.matches >= FEW else (ONE_FIELD, ROUGH)
    return Linkage(
        chosen, possible, *_estimates(probability, rows[0], judged.matches), warnings=warnings
    )


def _estimates(
    probability: Floats, chosen: Ints, matches: float
) -> tuple[float | None, float | None]:
    """The precision and the recall of the chosen pairs, if there are so many matches."""
    right_ones = float(probability[chosen].sum())
    return (
        right_ones / len(chosen) if len(chosen) else None,
        right_ones / matches if matches else None,
    )


def _histogram(scored: Scored) -> tuple[tuple[int, int], ...]:
    whole, counts = np.unique(np.floor(scored.weights).astype(int), return_counts=True)
    return tuple(zip(whole.tolist(), counts.tolist(), strict=True))


class _Found(Protocol):
    """Pairs of rows."""

    @property
    def left(self) -> Rows: ...

    @property
    def right(self) -> Rows: ...


def _decided(
    found: _Found, probability: Floats, better: Floats, rule: Rule, accept: float, review: float
) -> tuple[Ints, Ints]:
    """The places of the links, and of the pairs that could be looked at; `better` breaks ties."""
    chosen = best_set(found.left, found.right, probability, rule, accept)
    chosen = _kept(found, chosen, better, rule)
    return chosen, _beside(found, np.flatnonzero(probability >= review), chosen, rule)


def _kept(found: _Found, rows: Ints, better: Floats, rule: Rule) -> Ints:
    """Of the best set that a rule's limits allow, what the rule itself keeps, the best first."""
    left, right = (side[rows].astype(np.int64) for side in (found.left, found.right))
    _, rank = np.unique(-better[rows], return_inverse=True)
    # rows are in the order of their ids
    places = [np.arange(int(side.max(initial=-1)) + 1) for side in (left, right)]
    return rows[rule.keep(Contest(left, right, rank, *places))]


def _beside(found: _Found, rows: Ints, chosen: Ints, rule: Rule) -> Ints:
    """The rows that are not chosen, and whose records are free as the rule asks."""
    free = ~np.isin(rows, chosen)
    if rule.one_per_left:
        free &= ~np.isin(found.left[rows], found.left[chosen])
    if rule.one_per_right:
        free &= ~np.isin(found.right[rows], found.right[chosen])
    return rows[free]


def _levels(scored: Scored, rows: Ints) -> pl.DataFrame:
    """The level of each field, by its name."""
    fields = enumerate(zip(scored.model.names, scored.model.levels, strict=True))
    return pl.DataFrame(
        {
            f"level_{name}": pl.Series(
                np.array(levels.names)[scored.candidates.levels[rows, field]].tolist(),
                dtype=pl.String,
            )
            for field, (name, levels) in fields
        }
    )


def _links(
    found: _Found,
    rows: Ints,
    details: pl.DataFrame,
    left_ids: Sequence[str],
    right_ids: Sequence[str],
) -> Links:
    return Links(
        tuple(left_ids[i] for i in found.left[rows].tolist()),
        tuple(right_ids[j] for j in found.right[rows].tolist()),
        details,
    )
