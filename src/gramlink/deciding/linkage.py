"""Deciding on scored pairs: links, possible links, and how good they are likely to be."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from gramlink.deciding.joint import best_set, posterior
from gramlink.deciding.links import Links
from gramlink.deciding.rules import Contest, Rule, rule_named
from gramlink.matching.passes import Pass
from gramlink.records.levels import EQUAL
from gramlink.scoring.model import Model
from gramlink.scoring.score import Scored

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FEW = 50  # matches, from which estimates are within 0.02 or so
NEARLY_ALL, SELDOM = 0.98, 0.3  # shares that make one wonder


@dataclass(frozen=True, slots=True, eq=False)
class Linkage:
    """Links, possible links for review, and what is known about how good they are.

    `precision` is the share of the links that are likely true; `recall` the share of all
    likely matches that are links. They need no truth, and are None where there is no model:
    records of one field are linked by distance alone. `passes` are the passes with how many
    pairs each found, and how many no earlier one had. `histogram` says how many candidate
    pairs have a match weight of each whole number.
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
    chosen = _kept(scored, best_set(found.left, found.right, probability, keeping, accept), keeping)
    possible = _beside(scored, np.flatnonzero(probability >= review), chosen, keeping)
    total = float(probability.sum()) / max(scored.model.coverage, 1e-9)
    right_ones = float(probability[chosen].sum())
    return Linkage(
        _links(scored, probability, chosen, left_ids, right_ids),
        _links(scored, probability, possible, left_ids, right_ids),
        right_ones / len(chosen) if len(chosen) else None,
        right_ones / total if total else None,
        scored.model,
        tuple(zip(found.passes, found.found, found.added, strict=True)),
        _histogram(scored),
        warnings_of(scored.model),
    )


def warnings_of(model: Model) -> tuple[str, ...]:
    """Warnings about estimates and about columns: mapped wrongly, it seems, or saying nothing."""
    found = []
    if model.prior * model.pairs < 1:
        found.append("no pair looks like a match")
        return tuple(found)
    if model.prior * model.pairs < FEW:
        found.append(f"fewer than {FEW} pairs look like matches: the estimates are rough")
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


def _histogram(scored: Scored) -> tuple[tuple[int, int], ...]:
    whole, counts = np.unique(np.floor(scored.weights).astype(int), return_counts=True)
    return tuple(zip(whole.tolist(), counts.tolist(), strict=True))


def _kept(scored: Scored, rows: Ints, rule: Rule) -> Ints:
    """Of the best set that a rule's limits allow, what the rule itself keeps, the best first."""
    found = scored.candidates
    left, right = (side[rows].astype(np.int64) for side in (found.left, found.right))
    _, rank = np.unique(-scored.log_odds[rows], return_inverse=True)
    # rows are in the order of their ids
    places = [np.arange(int(side.max(initial=-1)) + 1) for side in (left, right)]
    return rows[rule.keep(Contest(left, right, rank, *places))]


def _beside(scored: Scored, rows: Ints, chosen: Ints, rule: Rule) -> Ints:
    """The rows that are not chosen, and whose records are free as the rule asks."""
    found = scored.candidates
    free = ~np.isin(rows, chosen)
    if rule.one_per_left:
        free &= ~np.isin(found.left[rows], found.left[chosen])
    if rule.one_per_right:
        free &= ~np.isin(found.right[rows], found.right[chosen])
    return rows[free]


def _links(
    scored: Scored,
    probability: Floats,
    rows: Ints,
    left_ids: Sequence[str],
    right_ids: Sequence[str],
) -> Links:
    found, model = scored.candidates, scored.model
    details = {
        "match_weight": pl.Series(scored.weights[rows].round(3)),
        "match_probability": pl.Series(probability[rows].round(6)),
    }
    for field, (name, levels) in enumerate(zip(model.names, model.levels, strict=True)):
        names = np.array(levels.names)
        details[f"level_{name}"] = pl.Series(
            names[found.levels[rows, field]].tolist(), dtype=pl.String
        )
    return Links(
        tuple(left_ids[i] for i in found.left[rows].tolist()),
        tuple(right_ids[j] for j in found.right[rows].tolist()),
        pl.DataFrame(details),
    )
