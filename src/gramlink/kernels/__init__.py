"""The hot loops: numba on plain arrays, no types of ours, no files, no parties.

**What they read.** Strings come as `codes` (uint8 symbols, one string after the other) and
`offsets` (string i is codes[offsets[i]:offsets[i + 1]]). A gram of q symbols is the number
they spell in base |symbols|; with its length beside it, `gram * 8 + q`, it is a `key`, unique
over all lengths. A vector is a row of uint8 counts, one for each gram of the base. Distances
are squared and scaled: a count that differs by d in a gram of length q adds (d * scale / q)²,
where scale is the least common multiple of the lengths. So everything is a whole number.

    codes, offsets ──► occurrences ──► grams of each record, for mining
          │                 └────────► counts ───────────────┐
          └──► thresholds (with edits) ──► a limit each ──┐  │
                                                          ▼  ▼
                                       join or comparison ──► pairs ──► score, greedy ──► links

**How the join avoids most pairs.** With grams of 1 to 3 symbols one step in a count of a
single symbol adds 36 to the squared distance, of two symbols 9, of three 4. A limit of 53, one
typo by the paper's rule, leaves room for one step in the single symbols. So a record's matches
have its very counts of single symbols, but for one step: some thirty possibilities, each of
which is looked up (`index`). The key of a vector is the sum of count * multiplier over those
grams, with a random multiplier each; a step adds or takes a multiplier. What is looked up is
checked with the exact distance, and little else is met.

A larger limit leaves room for more steps. Two or three are still looked up; beyond, where the
limit allows s steps in single symbols, either at most t of them are taken, or more than t, and
then what is left of the limit allows few steps in the grams of the next length, which have an
index of their own. Where even that is too much, all vectors are scanned by their `signatures`,
counts in unary, one bit for "at least 1", one for "at least 2": a few words whose differing
bits, weighed by gram length, are a lower bound of the distance. `gramlink.matching.join` tries the
ways on some records of each class of limits and takes the cheapest; each finds all pairs.

    module        what it has
    jit           the compiler's options, in one place
    lookup        gram -> coordinate, as a small hash table
    occurrences   the grams of each string: distinct ones for mining, counts for embedding
    edits         random edits
    thresholds    how far a match may lie: Algorithm 2, worst case, calibrated
    tree          the prefix tree's consistency constraints
    index         vectors by their counts of some grams, and all within a few steps
    signatures    lower bounds of distances from bits that differ
    join          all pairs of vectors within the left one's limit
    interning     one number for equal rows of bytes
    comparison    pairs of records of several fields that a pass finds, with all their distances
    score         the odds that a pair is a match
    greedy        deciding one-to-one

Only this package and `gramlink.lab.rivals.kernels` import numba, and nothing imports their
modules before it computes: numba takes a second to import. Functions marked `inlined` are
compiled into their callers, where passing arrays would cost more than the work itself.
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
