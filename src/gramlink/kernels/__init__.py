"""The hot loops: numba on plain arrays, no types of ours, no files, no roles.

    jit           the compiler's options, in one place
    lookup        gram -> coordinate, as a small hash table
    occurrences   the grams of each string: distinct ones for mining, counts for embedding
    edits         random edits, and what one edit can do to a vector
    thresholds    how far a record's match may lie: Algorithm 2, worst case, calibrated
    tree          the prefix tree's consistency constraints
    join          all pairs of vectors within the left one's threshold
    levenshtein   edit distance on plain text, for comparison

Strings come as `codes` (uint8 symbols, one string after the other) and `offsets`
(string i is codes[offsets[i]:offsets[i + 1]]). A gram of q symbols is the number they
spell in base |symbols|; with its length beside it, `gram * 8 + q`, it is a `key`, unique
over all lengths. Only this package imports numba, and nothing imports this package
before it computes: numba takes a second to import.
"""

from collections.abc import Callable

_announce: Callable[[], None] | None = None


def on_first_compilation(announce: Callable[[], None]) -> None:
    """Call `announce` once, when a kernel has to be compiled because it is not on disk."""
    global _announce
    _announce = announce


def compilation_starts() -> None:
    """For `jit` to tell that a kernel is being compiled."""
    global _announce
    if _announce:
        announce, _announce = _announce, None
        announce()
