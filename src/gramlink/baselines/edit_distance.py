"""Edit distance on the plain text: the quality that privacy is measured against."""

import numpy as np

from gramlink.matching import Pairs
from gramlink.strings import Strings


def within_edits(left: Strings, right: Strings, edits: int) -> Pairs:
    """All pairs of texts within so many edits, in the order of `match`.

    >>> names = Strings.of(["ANNA"], "AN*"), Strings.of(["NANA", "ANN", "AN"], "AN*")
    >>> pairs = within_edits(*names, edits=1)
    >>> pairs.right.tolist(), pairs.squared.tolist()
    ([1], [1])

    Privacy: none. Both sides' plain text in one place.
    """
    from gramlink.kernels.levenshtein import near

    texts = (left.codes, left.offsets, right.codes, right.offsets, edits)
    counts, _, _ = near(*texts, np.zeros(len(left) + 1, np.int64), False)
    begins = np.concatenate([[0], np.cumsum(counts)])
    _, places, distances = near(*texts, begins, True)
    owner = np.repeat(np.arange(len(left)), counts)
    order = np.lexsort((places, distances, owner))
    return Pairs(owner, places[order], distances[order] ** 2)
