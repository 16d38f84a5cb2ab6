"""The only place where noise is drawn.

All noise is discrete Laplace noise on integers: P(x) = (1-p)/(1+p) p^|x| with
p = exp(-1/scale). Floating-point noise would give the true counts away in its last bits.
"""

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from random import Random, SystemRandom
from typing import Any

import numpy as np
import numpy.typing as npt

from gramlink.engines.local import in_order
from gramlink.errors import BudgetExceeded

Counts = npt.NDArray[np.int64]

LARGEST = 2**52  # values and, nearly surely, values with noise stay far from the ends of int64
SCALES = (Fraction(1, 2**40), Fraction(2**40))
CHUNK = 20_000
BITS = 320
DIGITS = Context(prec=200)


class Draw:
    """Where noise comes from: OpenDP and the operating system's random bits.

    Tests give a `Budget` a seeded source of their own; this package has none.
    """

    random: Random = SystemRandom()

    def __call__(self, values: Counts, scale: Fraction) -> Counts:
        """The values, each with fresh discrete Laplace noise of this scale.

        Privacy: costs the L1 sensitivity of the values, divided by the scale.
        """
        chunks = np.array_split(values, max(1, math.ceil(len(values) / CHUNK)))
        if len(chunks) == 1:
            return _noisy(values, scale)
        # OpenDP releases the interpreter's lock while it draws
        return np.concatenate(list(in_order(lambda chunk: _noisy(chunk, scale), chunks)))

    def largest(self, count: int, of: int, scale: Fraction) -> Counts:
        """The `count` largest of `of` independent noises, largest first.

        With V uniform, V1^(1/M) is distributed as the largest of M uniforms, times
        V2^(1/(M-1)) as the second, and so on; the inverse of the distribution function
        turns them into noises. Uniforms have 320 bits and logarithms 200 digits, so for
        scales up to 2^40 and counts up to a thousand the outcome deviates from the ideal
        with a probability below 2^-180.

        Privacy: the noise has the scale that OpenDP draws the written-out values with.
        """
        exact = Fraction(_rounded(scale))
        found, log = [], Decimal(0)
        with localcontext(DIGITS):
            for rank in range(count):
                uniform = Decimal(2 * self.random.getrandbits(BITS) + 1) / 2 ** (BITS + 1)
                log += uniform.ln() / (of - rank)
                found.append(_quantile(log, exact))
        return np.array(found, dtype=np.int64)

    def ranks(self, count: int, of: int) -> Counts:
        """Distinct whole numbers below `of`, chosen uniformly, ascending."""
        return np.array(sorted(self.random.sample(range(of), count)), dtype=np.int64)


SYSTEM = Draw()


class Rehearsal(Draw):
    """Draws nothing: makes each measurement, so that what must fail fails before it is paid for."""

    def __call__(self, values: Counts, scale: Fraction) -> Counts:
        """As many zeros, once OpenDP has made the measurement.

        Privacy: costs nothing.
        """
        _measurement(scale)
        return np.zeros_like(values)

    def largest(self, count: int, of: int, scale: Fraction) -> Counts:
        """The first one, `count` times, as the others are found like it."""
        return np.repeat(super().largest(1, of, scale), count)


def _rounded(scale: Fraction) -> float:
    """A float slightly above this scale, so that rounding inside OpenDP cannot matter."""
    return float(scale) * (1 + 2**-50)


def _measurement(scale: Fraction) -> Any:
    """OpenDP's mechanism of this scale, whose cost OpenDP itself has confirmed."""
    # Commands that draw no noise should not wait for OpenDP, nor any for its prelude, which
    # imports pandas and scikit-learn where they are installed.
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_laplace
    from opendp.metrics import l1_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    mechanism = make_laplace(
        # int would mean 32 bits
        vector_domain(atom_domain(T="i64")),
        l1_distance(T="i64"),
        scale=_rounded(scale),
    )
    # The loss is linear in the distance, so a distance of 1 stands for all of them.
    if Fraction(mechanism.map(1)) * scale > 1:
        raise BudgetExceeded("OpenDP puts a higher price on this noise; nothing was drawn")
    return mechanism


def _noisy(values: Counts, scale: Fraction) -> Counts:
    mechanism = _measurement(scale)
    return np.array(mechanism(values) if len(values) else [], dtype=np.int64)


def _quantile(log: Decimal, scale: Fraction) -> int:
    """The least x whose distribution function reaches exp(log), for discrete Laplace noise."""
    width = Decimal(scale.numerator) / scale.denominator
    both = 1 + (-1 / width).exp()  # 1 + p
    below = log.exp()
    if below * both <= 1:  # F(x) = p^-x / (1+p) for x <= 0
        return math.ceil(width * (below * both).ln())
    # F(x) = 1 - p^(x+1) / (1+p) for x >= -1
    return math.ceil(-width * ((1 - below) * both).ln()) - 1
