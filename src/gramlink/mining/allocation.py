"""How the prefix tree's budget is shared between its levels. A strategy is a function.

Every strategy gives the levels 1..height shares that sum to exactly epsilon, so that a
path from the root to a leaf of full height costs epsilon. Section 4.2.1 of the paper.
"""

from collections.abc import Callable
from fractions import Fraction

from gramlink.errors import InvalidParameter

Allocation = Callable[[Fraction, int, int], tuple[Fraction, ...]]


def linear(epsilon: Fraction, height: int, q_max: int) -> tuple[Fraction, ...]:  # noqa: ARG001
    """The same share for every level."""
    return (epsilon / height,) * height


def exponential(epsilon: Fraction, height: int, q_max: int) -> tuple[Fraction, ...]:  # noqa: ARG001
    """Each level twice the one above it."""
    # Printed: levels 0..h-1 of a unit epsilon/(2^(h+1) - 1), which spends 0.498 epsilon.
    return tuple(epsilon * 2**i / (2**height - 1) for i in range(height))


def hybrid(epsilon: Fraction, height: int, q_max: int) -> tuple[Fraction, ...]:
    """Half for the first q_max levels, growing linearly; half below, growing exponentially."""
    if height <= q_max:
        raise InvalidParameter(f"hybrid needs a height above q_max = {q_max}, not {height}")
    # Section 4.2.1 prints (i+1) for level i, which spends 1.25 epsilon at q_max = 3; we use i.
    upper = (epsilon * i / (q_max * (q_max + 1)) for i in range(1, q_max + 1))
    below = height - q_max
    lower = (epsilon * 2**i / (2 * (2**below - 1)) for i in range(below))
    return (*upper, *lower)
