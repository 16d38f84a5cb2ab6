"""Explaining: why a pair of records is linked, or is not."""

from dataclasses import dataclass

import numpy as np

from gramlink.deciding.joint import posterior
from gramlink.deciding.rules import rule_named
from gramlink.encodings.encoding import Compared
from gramlink.errors import InvalidParameter
from gramlink.records.levels import EQUAL
from gramlink.scoring.model import Model
from gramlink.scoring.score import log_frequencies, score_again


@dataclass(frozen=True, slots=True)
class Reason:
    """What one field adds to the match weight: by its level, and by how rare an equal value is."""

    field: str
    level: str
    weight: float
    rarity: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """The reasons for a pair, in bits that add up to the log odds of its probability.

    The match weight is the sum of the reasons, of `together` and of `related`. `together` is what
    fields say jointly and not one by one: who moved has another street, and another city.
    `related` is what pairs of relatives take away that look like this one. `prior` is what was to
    be expected of any two records, by how many matches there are, and `rivals` what other
    candidates of the two records take away, or add if these have better ones themselves.
    """

    reasons: tuple[Reason, ...]
    together: float
    related: float
    weight: float
    prior: float
    rivals: float
    probability: float


def explain(
    compared: Compared, model: Model, left: int, right: int, rule: str = "one-to-one"
) -> Explanation:
    """Why a pair of rows has the probability it has; any pair that can be compared.

    Privacy: the linkage unit's; with it, an owner learns how near the other's values are.
    """
    if not compared.tells(left, right):
        raise InvalidParameter(
            "the two records share no key, so nothing can be told of them",
            hint="under the veil, only records that share a key are compared; others are not "
            "linked",
        )
    found = compared.candidates(model.passes)
    lefts, rights = np.append(found.left, np.int32(left)), np.append(found.right, np.int32(right))
    (same,) = np.nonzero((found.left == left) & (found.right == right))
    if len(same):
        lefts, rights = found.left, found.right
    place = int(same[0]) if len(same) else len(lefts) - 1
    levels, log_odds = score_again(compared, model, lefts, rights)
    expected = sum(sort.count for sort in model.matches)
    joint = posterior(lefts, rights, log_odds, compared.sizes, rule_named(rule), expected)
    reasons = _reasons(compared, model, left, levels[place])
    weight = float(log_odds[place] - model.log_prior_odds) / np.log(2)
    prior = float(model.log_prior_odds + joint.log_shift) / np.log(2)
    random, relatives = (float(one[0]) for one in model.log_others(levels[[place]].astype(int)))
    random -= float(np.log(2)) * sum(reason.rarity for reason in reasons)
    related = -float(np.logaddexp(random, relatives) - random) / np.log(2)
    probability = float(joint.probability[place])
    odds = np.log2(max(probability, 1e-300)) - np.log2(max(1 - probability, 1e-300))
    return Explanation(
        reasons=reasons,
        together=weight - related - sum(reason.weight + reason.rarity for reason in reasons),
        related=related,
        weight=weight,
        prior=prior,
        rivals=float(odds) - weight - prior,
        probability=probability,
    )


def _reasons(
    compared: Compared, model: Model, left: int, levels: np.ndarray[tuple[int], np.dtype[np.uint8]]
) -> tuple[Reason, ...]:
    frequencies = compared.frequencies()
    reasons = []
    for field, (name, of) in enumerate(zip(model.names, model.levels, strict=True)):
        level = of.names[levels[field]]
        rarity = 0.0
        if levels[field] == EQUAL:
            number = frequencies.numbers[left, field]
            rarity = -float(log_frequencies(frequencies, model, field)[number]) / np.log(2)
        reasons.append(Reason(name, level, model.weights[name][level], rarity))
    return tuple(reasons)
