"""Exact sums of what noise costs, checked before any noise is drawn.

With floats a budget could be overspent, so costs are fractions. Neighbouring data sets
differ by one record. A person with m records is protected at m times epsilon.
"""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gramlink.errors import BudgetExceeded, InvalidParameter
from gramlink.privacy.noise import LARGEST, SCALES, SYSTEM, Counts, Draw, Rehearsal
from gramlink.privacy.numbers import fraction, positive_epsilon


class Budget:
    """What one charge allows a miner to spend: epsilon, exact, checked before each draw.

    >>> budget = Budget(Fraction(1))
    >>> noisy = budget.laplace([120, 7], sensitivity=1, epsilon=Fraction(1, 3))
    >>> budget.left
    Fraction(2, 3)

    Privacy: everything drawn from one budget costs at most its epsilon in total, provided
    that branches are only used on records that no other branch sees.
    """

    def __init__(self, epsilon: Fraction, draw: Draw = SYSTEM) -> None:
        self.epsilon = fraction(epsilon)
        if self.epsilon < 0:
            raise InvalidParameter(f"a budget must be at least 0, not {shown(self.epsilon)}")
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

    def laplace(self, values: npt.ArrayLike, *, sensitivity: int, epsilon: Fraction) -> Counts:
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
    ) -> tuple[Counts, Counts]:
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

    def rehearsal(self) -> "Budget":
        """The same budget to try things with: it draws no noise, and is no part of this one.

        Privacy: costs nothing, and tells nothing of the values that noise would be added to.
        """
        trial = Budget(self.epsilon, Rehearsal())
        trial._spent = self._spent
        return trial

    def _scale(self, sensitivity: int, epsilon: Fraction) -> Fraction:
        """Spend epsilon, and return the scale of noise it buys."""
        cost = positive_epsilon(epsilon)
        scale = sensitivity / cost
        if not SCALES[0] <= scale <= SCALES[1]:
            size = "large" if scale < SCALES[0] else "small"
            raise InvalidParameter(
                f"epsilon {shown(cost)} is too {size} to draw noise with",
                hint="spend more, or give the field a larger share"
                if size == "small"
                else "spend less: noise this small protects nobody",
            )
        self._spend(cost)
        return scale

    def _spend(self, cost: Fraction) -> None:
        if self._spent + cost > self.epsilon:
            raise BudgetExceeded(
                f"this draw costs epsilon {shown(cost)}, only {shown(self.left)} is left"
            )
        self._spent += cost


def shown(epsilon: Fraction) -> str:
    """An epsilon to print: a decimal if that is exact and short, otherwise a fraction.

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
        raise InvalidParameter("noise can only be added to a list of whole numbers")
    if counts.min() < -LARGEST or counts.max() > LARGEST:
        raise InvalidParameter("a count above 2^52 is too large to add noise to")
    return counts.astype(np.int64)
