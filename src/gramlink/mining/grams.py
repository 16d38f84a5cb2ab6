"""Grams as numbers and as text: the number is what their symbols spell in base |symbols|."""

import numpy as np
import numpy.typing as npt

from gramlink.records.strings import Strings

Ints = npt.NDArray[np.int64]


def spelled(grams: Ints, q: int, symbols: str) -> list[str]:
    """The texts of grams of length q.

    >>> spelled(np.array([0, 5]), 2, "ABC")
    ['AA', 'BC']
    """
    digits = grams[:, None] // len(symbols) ** np.arange(q - 1, -1, -1) % len(symbols)
    return ["".join(symbols[d] for d in row) for row in digits.tolist()]


def document_frequencies(strings: Strings, q: int) -> tuple[Ints, Ints]:
    """The grams of length q that occur, ascending, and how many strings hold each.

    Privacy: exact counts; one record moves each of them by at most 1.
    """
    from gramlink.kernels.occurrences import distinct_grams

    grams, _ = distinct_grams(strings.codes, strings.offsets, q, len(strings.symbols))
    return np.unique(grams, return_counts=True)
