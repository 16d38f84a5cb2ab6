"""The hot loops: numba on plain arrays, without our own types, files or parties.

**Input.** Strings come as `codes` (uint8 symbols, one string after the other) and `offsets`
(string i is codes[offsets[i]:offsets[i + 1]]). A gram of q symbols is the number they spell in
base |symbols|; combined with its length, `gram * 8 + q`, it is a `key`, unique across all
lengths. A vector is a row of uint8 counts, one for each gram of the base. Distances are squared
and scaled: a count that differs by d in a gram of length q adds (d * scale / q)², where scale
is the least common multiple of the lengths, so all of them are whole numbers.

    codes, offsets ──► occurrences ──► grams of each record, for mining
          │                 └────────► counts ───────────────┐
          └──► thresholds (with edits) ──► a limit each ──┐  │
                                                          ▼  ▼
                                       join or comparison ──► pairs ──► score, matchings ──► links

**How the join avoids most pairs.** With grams of 1 to 3 symbols, a step of one in a count adds
36 to the squared distance for a single symbol, 9 for two symbols and 4 for three. A limit of
53, one typo by the paper's rule, leaves room for one step in the single symbols. So a record's
matches have the same counts of single symbols, give or take one step: about thirty
possibilities, and each is looked up (`index`). The key of a vector is the sum of
count * multiplier over those grams, with a random multiplier for each; a step adds or subtracts
one multiplier. Vectors found this way are checked with the exact distance; hardly any others
are touched.

A larger limit leaves room for more steps. Two or three are still looked up. Beyond that, where
the limit allows s steps in single symbols, a match takes either at most t of them, or more than
t, and then the rest of the limit allows few steps in the grams of the next length, which have
an index of their own. Where even that is too much, all vectors are scanned by their
`signatures`, counts in unary, one bit for "at least 1", one for "at least 2": a few words whose
differing bits, weighted by gram length, are a lower bound on the distance.
`gramlink.matching.join` tries these ways on some records of each class of limits and takes the
cheapest; each way finds all pairs.

    module        what it has
    jit           the compiler's options, in one place
    lookup        gram -> coordinate, as a small hash table
    occurrences   the grams of each string: distinct ones for mining, counts for embedding
    edits         random edits
    thresholds    how far a match may lie: Algorithm 2, worst case, calibrated
    tree          the prefix tree's consistency constraints
    index         looking up vectors by their counts of some grams, within a few steps
    signatures    lower bounds on distances, from bits that differ
    join          all pairs of vectors within the left one's limit
    interning     the same number for equal rows of bytes
    comparison    pairs of records of several fields that a pass finds, with all their distances
    score         the odds that a pair is a match
    mixture       how pairs of each pattern are shared out among sorts
    matchings     how likely pairs are if no record has two matches, and the best set of them
    greedy        deciding one-to-one by distance alone
    cells         how long the parts of a veiled row are; numbers alone
    veil          parities of values, rows of records under the veil, and what shared rows tell

Only this package and `gramlink.lab.rivals.kernels` import numba, and no other module
imports what does until it has something to compute: importing numba takes a second. Functions
marked `inlined` are compiled into their callers, since passing arrays would cost more than the
work itself.
"""

from collections.abc import Callable

_announce: Callable[[], None] | None = None


def on_first_compilation(announce: Callable[[], None]) -> None:
    """Call `announce` once, when a kernel has to be compiled because it is not on disk."""
    global _announce
    _announce = announce


def compilation_starts() -> None:
    """Called by `jit` when it starts to compile a kernel."""
    global _announce
    if _announce:
        announce, _announce = _announce, None
        announce()
