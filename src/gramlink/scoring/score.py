"""Scoring: how likely each candidate pair is a match, learnt without labels.

The model is that of Fellegi and Sunter: a field's level (equal, within 1 edit, ..., farther,
missing) says how much more often matches have it than other pairs. Where real files differ
from the textbook, so does the model:

- What is missing says nothing: the model is told it, and does not learn it.
- Pairs that do not match are not all alike. Two members of a household share a surname, an
  address and a telephone; with independent fields they would look like matches, and
  expectation maximisation would take them for matches. The pairs within the left file show what
  pairs that do not match look like: sorts of `related` pairs are learnt there, and are known
  before any match is looked for. Duplicates among them are left out.
- Matches are not all alike. People who move change street, place and postcode at once. There
  are as many sorts of matches as the data ask for (`learning`).
- The number of pairs is known, and what chance alone makes of them follows from random pairs.
  So the number of matches is what is left over, whatever the start.
- A rare value that is equal says more than a common one. The linkage unit sees equal vectors
  and their counts.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gramlink.encodings.encoding import Compared, LevelCodes
from gramlink.matching.chance import Frequencies
from gramlink.matching.passes import Candidates
from gramlink.records.levels import EQUAL
from gramlink.scoring.learning import learn
from gramlink.scoring.mixture import Patterns
from gramlink.scoring.model import Model

DEVIATIONS = 2.0  # that chance makes of a count
NOTABLE = 0.1  # part of matches in a pattern

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Candidate pairs with the natural logarithm of their odds to match.

    `misfit` is how far the pairs that look like matches are from what the model expects of them,
    by the number of matches.
    """

    candidates: Candidates
    log_odds: Floats
    model: Model
    misfit: float = 0.0

    @property
    def weights(self) -> Floats:
        """The match weight of each pair: log2 of how many times likelier a match is than before."""
        return np.asarray((self.log_odds - self.model.log_prior_odds) / np.log(2))


def score(compared: Compared, found: Candidates) -> Scored:
    """Learn a model from candidate pairs, with no labels, and weigh each pair by it.

    Privacy: what the linkage unit computes, from what it has.
    """
    patterns, place = Patterns.of(found.levels, compared.levels)
    model = learn(compared, found, patterns)
    odds = _log_odds(compared.frequencies(), found.left, found.levels, patterns, place, model)
    return Scored(found, odds, model, misfit(patterns, model))


def misfit(patterns: Patterns, model: Model) -> float:
    """How many pairs there are too many or too few, beyond chance, by the number of matches.

    Only patterns count that are of matches in a notable part.
    """
    matches = sum(sort.count for sort in model.matches)
    if matches < 1:
        return 0.0
    logs = (model.log_matches(patterns.levels), *model.log_others(patterns.levels))
    log_gaps = model.gaps.log_shares(patterns.levels, patterns.of_fields)
    whole = np.logaddexp.reduce(logs, axis=0)
    expected = np.exp(whole + log_gaps)
    beyond = np.abs(patterns.counts - expected) - DEVIATIONS * np.sqrt(expected) - 1
    return float(np.maximum(beyond, 0)[logs[0] - whole > np.log(NOTABLE)].sum() / matches)


def score_again(
    compared: Compared, model: Model, left: Numbers, right: Numbers
) -> tuple[LevelCodes, Floats]:
    """The levels and the log odds of any pairs of rows under a model."""
    levels = compared.levels_of(left, right)
    patterns, place = Patterns.of(levels, compared.levels)
    return levels, _log_odds(compared.frequencies(), left, levels, patterns, place, model)


def _log_odds(
    frequencies: Frequencies,
    left: Numbers,
    levels: LevelCodes,
    patterns: Patterns,
    place: Numbers,
    model: Model,
) -> Floats:
    from gramlink.kernels.score import log_odds

    rarer = [log_frequencies(frequencies, model, field) for field in range(len(model.names))]
    return log_odds(
        place,
        levels,
        left,
        frequencies.numbers,
        np.concatenate(rarer),
        frequencies.starts,
        model.log_matches(patterns.levels),
        *model.log_others(patterns.levels),
    )


def log_frequencies(frequencies: Frequencies, model: Model, field: int) -> Floats:
    """For each value the logarithm of how many times more frequent it is than on average."""
    average = model.random.shares[field][EQUAL]
    return np.asarray(np.log(frequencies.of_field(field) / average))
