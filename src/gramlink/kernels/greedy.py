"""Deciding one-to-one: each record is taken at most once."""

import numpy as np
import numpy.typing as npt

from gramlink.kernels.jit import Int, serial

Ints = npt.NDArray[np.int64]


@serial
def take_first(order: Ints, left: Ints, right: Ints, lefts: Int, rights: Int) -> Ints:
    """The pairs, in the given order, whose records no earlier pair has taken."""
    left_taken = np.zeros(lefts, np.bool_)
    right_taken = np.zeros(rights, np.bool_)
    chosen = np.empty(min(lefts, rights), np.int64)
    count = 0
    for pair in order:
        if not left_taken[left[pair]] and not right_taken[right[pair]]:
            left_taken[left[pair]] = right_taken[right[pair]] = True
            chosen[count] = pair
            count += 1
    return chosen[:count]
