"""Explaining: why a pair of records is linked, or is not."""

from dataclasses import dataclass

import numpy as np

from gramlink.encodings.encoding import Compared
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
    """The reasons for a pair, and its match weight, which is their sum and `together`.

    `together` is what fields say jointly and not one by one: an address that is shared by
    a household counts once, and so does a move.
    """

    reasons: tuple[Reason, ...]
    together: float
    weight: float
    probability: float  # of the pair alone, whatever other candidates its records have


def explain(compared: Compared, model: Model, left: int, right: int) -> Explanation:
    """Why a pair of rows has the match weight it has; any pair, linked or not.

    Privacy: the linkage unit's; with it, an owner learns how near the other's values are.
    """
    pair = np.array([left], np.int32), np.array([right], np.int32)
    levels, log_odds = score_again(compared, model, *pair)
    frequencies = compared.frequencies()
    reasons = []
    for field, (name, of) in enumerate(zip(model.names, model.levels, strict=True)):
        code = levels[0, field]
        level = of.names[code]
        rarity = 0.0
        if code == EQUAL:
            number = frequencies.numbers[left, field]
            rarity = -float(log_frequencies(frequencies, model, field)[number]) / np.log(2)
        reasons.append(Reason(name, level, model.weights[name][level], rarity))
    weight = float(log_odds[0] - model.log_prior_odds) / np.log(2)
    return Explanation(
        tuple(reasons),
        weight - sum(reason.weight + reason.rarity for reason in reasons),
        weight,
        float(1 / (1 + np.exp(-np.clip(log_odds[0], -500, 500)))),
    )
