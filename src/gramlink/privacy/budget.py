"""The only place where noise is drawn, and the exact sums of what it costs.

All noise is discrete Laplace noise on integers: P(x) = (1-p)/(1+p) p^|x| with
p = exp(-1/scale). Floating-point noise would give the true counts away in its last
bits, and sums of floats would let a budget be overspent, so costs are fractions.

Neighbouring data sets differ by one record. A person with m records is protected at
m times epsilon.
"""

import math
import os
from concurrent.futures import ThreadPoolExecutor
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from random import Random, SystemRandom
from typing import Any

import numpy as np
import numpy.typing as npt

from gramlink.errors import BudgetExceeded, InvalidParameter
from gramlink.privacy.numbers import fraction, positive_epsilon

Counts = npt.NDArray[np.int64]

LARGEST = 2**52  # values and, nearly surely, values with noise stay far from the ends of int64
SCALES = (Fraction(1, 2**40), Fraction(2**40))
CHUNK = 20_000
BITS = 320
DIGITS = Context(prec=200)


class Draw:
    """Where noise comes from: OpenDP and the operating system's random bits.

    Tests hand a `Budget` a seeded one of their own; there is none in this package.
    """

    random: Random = SystemRandom()

    def __call__(self, values: Counts, scale: Fraction) -> Counts:
        """The values, each with fresh discrete Laplace noise of this scale.

        Privacy: costs the L1 sensitivity of the values, divided by the scale.
        """
        chunks = np.array_split(values, max(1, math.ceil(len(values) / CHUNK)))
        if len(chunks) == 1:
            return _noisy(values, scale)
        # OpenDP lets go of the interpreter's lock while it draws
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            return np.concatenate(list(threads.map(lambda chunk: _noisy(chunk, scale), chunks)))

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


class Budget:
    """What one charge allows a miner to spend: epsilon, exact, checked before each draw.

    >>> budget = Budget(Fraction(1))
    >>> noisy = budget.laplace([120, 7], sensitivity=1, epsilon=Fraction(1, 3))
    >>> budget.left
    Fraction(2, 3)

    Privacy: all that is drawn from one budget together costs at most its epsilon, if
    branches are only used on records that no other branch sees.
    """

    def __init__(self, epsilon: Fraction, draw: Draw = SYSTEM) -> None:
        self.epsilon = fraction(epsilon)
        if self.epsilon < 0:
            raise InvalidParameter(f"a budget cannot be below 0, as {shown(self.epsilon)} is")
        self._draw = draw
        self._spent = Fraction(0)

    @property
    def spent(self) -> Fraction:
        """The sum of the costs so far."""
        return self._spent

    @property
    def left(self) -> Fraction:
        """What can still be spent."""
        return self.epsilon - self._spent

    def laplace(
        self, values: npt.ArrayLike, *, sensitivity: int, epsilon: Fraction
    ) -> npt.NDArray[np.int64]:
        """The values, each with discrete Laplace noise of scale sensitivity / epsilon.

        Privacy: costs `epsilon`, if adding or removing one record changes the values by
        at most `sensitivity` in sum (L1).
        """
        counts = _counts(values)
        if sensitivity < 1:
            raise InvalidParameter(f"a sensitivity must be at least 1, not {sensitivity}")
        scale = self._scale(sensitivity, epsilon)
        return self._draw(counts, scale)

    def top(
        self,
        values: npt.ArrayLike,
        k: int,
        *,
        epsilon: Fraction,
        hidden: int = 0,
        hidden_value: int = 0,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The places of the k largest values under noise of scale 2k / epsilon, ascending.

        `hidden` further values, too many to write out, all equal `hidden_value`; the
        second array has the ranks below `hidden` of those among the k largest, uniform
        at random. Of equal noisy values those written out come first, by place. The
        noise that selected is never released.

        Privacy: costs `epsilon`, if adding a record raises each value of the universe,
        written out or hidden, by 0 or 1, and removing one lowers them so.
        """
        # Of neighbouring data each value differs by 0 or 1, all in the same direction.
        # Add 2 to the noise of the k selected values: each then lies above all the others
        # by at least 1 on the neighbouring data too, so the same k are selected, however
        # ties are broken and whichever values are hidden. Adding 2 to k noises changes
        # their probability by a factor of at most exp(2k / scale) = exp(epsilon).
        counts = _counts(values)
        _counts([hidden_value])
        if k < 1:
            raise InvalidParameter(f"k must be at least 1, not {k}")
        if not 0 <= hidden < 2**63:
            raise InvalidParameter(f"there cannot be {hidden} hidden values")
        scale = self._scale(2 * k, epsilon)
        noisy = self._draw(counts, scale)
        if hidden:
            unseen = hidden_value + self._draw.largest(min(k, hidden), hidden, scale)
            noisy = np.concatenate([noisy, unseen])
        chosen = np.sort(np.argsort(-noisy, kind="stable")[:k])
        places = chosen[chosen < len(counts)]
        return places, self._draw.ranks(len(chosen) - len(places), hidden)

    def portion(self, epsilon: Fraction) -> "Budget":
        """A budget of its own for one of several releases; all of it counts as spent here.

        >>> budget = Budget(Fraction(1))
        >>> budget.portion(Fraction(1, 3)).left, budget.left
        (Fraction(1, 3), Fraction(2, 3))

        Privacy: costs `epsilon`; the costs of portions add up (sequential composition).
        """
        part = Budget(epsilon, self._draw)
        self._spend(part.epsilon)
        return part

    def branch(self) -> "Budget":
        """A budget for a part of the records, with the same amount already spent.

        Privacy: a record pays for its own branch only (parallel composition), so each
        branch must read records that no other branch, nor this budget from now on, reads.
        """
        part = Budget(self.epsilon, self._draw)
        part._spent = self._spent
        return part

    def _scale(self, sensitivity: int, epsilon: Fraction) -> Fraction:
        """Spend epsilon, and say what scale of noise it buys."""
        cost = positive_epsilon(epsilon)
        scale = sensitivity / cost
        if not SCALES[0] <= scale <= SCALES[1]:
            raise InvalidParameter(f"epsilon {shown(cost)} is too small or too large to draw noise")
        self._spend(cost)
        return scale

    def _spend(self, cost: Fraction) -> None:
        if self._spent + cost > self.epsilon:
            raise BudgetExceeded(
                f"this draw costs epsilon {shown(cost)}, only {shown(self.left)} is left"
            )
        self._spent += cost


def shown(epsilon: Fraction) -> str:
    """An epsilon to print: as a decimal if that is exact and short, else as a fraction.

    >>> shown(Fraction(1, 10)), shown(Fraction(2)), shown(Fraction(1, 3))
    ('0.1', '2', '1/3')
    """
    for digits in range(10):
        if (epsilon * 10**digits).denominator == 1:
            return f"{Decimal(int(epsilon * 10**digits)).scaleb(-digits):f}"
    return str(epsilon)


def _counts(values: npt.ArrayLike) -> Counts:
    """Whole numbers as int64, if they are small enough for noise never to overflow."""
    counts = np.asarray(values)
    if not counts.size:
        return np.zeros(0, dtype=np.int64)
    if counts.ndim != 1 or counts.dtype.kind not in "iu":
        raise InvalidParameter("noise is drawn for a list of whole numbers")
    if counts.min() < -LARGEST or counts.max() > LARGEST:
        raise InvalidParameter("a count above 2^52 is too large to draw noise for")
    return counts.astype(np.int64)


def _rounded(scale: Fraction) -> float:
    """A float of at least this scale, by so much that no rounding of OpenDP's matters."""
    return float(scale) * (1 + 2**-50)


def _measurement(scale: Fraction) -> Any:
    """OpenDP's mechanism of this scale, whose cost OpenDP itself has confirmed."""
    # Importing OpenDP takes half a second, which commands that draw nothing need not wait.
    import opendp.prelude as dp

    dp.enable_features("contrib")
    mechanism = dp.m.make_laplace(
        # int would mean 32 bits
        dp.vector_domain(dp.atom_domain(T="i64")),
        dp.l1_distance(T="i64"),
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
