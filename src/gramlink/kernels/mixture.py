"""One round of expectation maximisation over the patterns of pairs."""

import numpy as np
import numpy.typing as npt

from gramlink.kernels.jit import serial

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@serial
def shared_out(
    levels: Ints, counts: Ints, known: Floats, log_counts: Floats, log_shares: Floats
) -> tuple[float, Floats, Floats]:
    """The pairs of each pattern, shared out among sorts by how many each expects.

    `known` is the logarithm of how many pairs of each pattern are of no sort; sort s has the
    logarithms `log_counts[s]`, and `log_shares[s, f, l]` for level l of field f. Returned are
    the sum of counts times the logarithm of what is expected, how many pairs each sort gets, and
    how many of them have each level in each field.
    """
    sorts, fields, most = log_shares.shape
    totals = np.zeros(sorts)
    sums = np.zeros((sorts, fields, most))
    parts = np.empty(sorts)
    explained = 0.0
    for p in range(len(levels)):
        high = known[p]
        for s in range(sorts):
            part = log_counts[s]
            for f in range(fields):
                part += log_shares[s, f, levels[p, f]]
            parts[s] = part
            high = max(high, part)
        whole = np.exp(known[p] - high)
        for s in range(sorts):
            parts[s] = np.exp(parts[s] - high)
            whole += parts[s]
        explained += counts[p] * (np.log(whole) + high)
        for s in range(sorts):
            weight = counts[p] * parts[s] / whole
            totals[s] += weight
            for f in range(fields):
                sums[s, f, levels[p, f]] += weight
    return explained, totals, sums
