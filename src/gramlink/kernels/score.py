"""The odds of each candidate pair: is it a match, or one of the other sorts?"""

import numba
import numpy as np
import numpy.typing as npt

from gramlink.kernels.jit import parallel

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int32]
Levels = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]


@parallel
def log_odds(
    patterns: Numbers, levels: Levels, left: Numbers, numbers: Numbers, frequencies: Floats,
    offsets: Ints, matches: Floats, random: Floats, related: Floats,
) -> Floats:  # fmt: skip
    """The logarithm of the odds that each pair is a match.

    `matches`, `random` and `related` are the logarithms of how many pairs of each pattern
    are expected. Where a field is equal, random pairs are as likely as the value is frequent:
    `frequencies[offsets[f] + v]` is the logarithm of how many times more frequent value v is
    than the average value.
    """
    n = len(patterns)
    result = np.empty(n, np.float64)
    for k in numba.prange(n):
        chance = random[patterns[k]]
        for f in range(levels.shape[1]):
            if levels[k, f] == 0:
                chance += frequencies[offsets[f] + numbers[left[k], f]]
        other = related[patterns[k]]
        high, low = max(chance, other), min(chance, other)
        result[k] = matches[patterns[k]] - (high + np.log1p(np.exp(low - high)))
    return result
