"""Noise for tests: the same in every run, or none. The package itself has no such thing.

Budget(Fraction(1), draw=seeded(7))
Budget(Fraction(1), draw=silent)
"""

import math
from fractions import Fraction
from random import Random

import numpy as np

from gramlink.privacy.noise import Draw


class Seeded(Draw):
    """Discrete Laplace noise from a seed, as the difference of two geometric variables."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.generator = np.random.default_rng(seed)

    def __call__(self, values: np.ndarray, scale: Fraction) -> np.ndarray:
        stop = -math.expm1(-1 / float(scale))
        first, second = self.generator.geometric(stop, size=(2, len(values)))
        return np.asarray(values, dtype=np.int64) + first - second


class Silent(Seeded):
    """No noise at all, so that a test can state the outcome."""

    def __call__(self, values: np.ndarray, scale: Fraction) -> np.ndarray:  # noqa: ARG002
        return np.array(values, dtype=np.int64)

    def largest(self, count: int, of: int, scale: Fraction) -> np.ndarray:  # noqa: ARG002
        return np.zeros(count, dtype=np.int64)


def seeded(seed: int) -> Draw:
    """A source of noise of its own: start a new one for each run to compare."""
    return Seeded(seed)


silent = Silent(0)
