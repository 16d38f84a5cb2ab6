"""Choosing passes: those that find the most matches for the pairs they make us look at.

How many of the matches a pass finds is estimated with made-up matches: their fields are missing
as often as in the two files and wrong as often as in files of this sort, and some have several
fields changed at once, as after a move. How many pairs it finds is estimated by
trying it on some of the records.
"""

from collections.abc import Iterator
from itertools import combinations, permutations

import numpy as np

from gramlink.errors import InvalidParameter
from gramlink.matching.comparison import Comparison, LevelCodes
from gramlink.matching.passes import SWAP, Pass, candidates, some_equal
from gramlink.records.levels import EQUAL

SAMPLED = 10_000  # records of each side that a pass is tried on
MADE_UP = 20_000  # matches
# Of the values that are known on both sides, and of the fields of a record that has changed.
WRONG, MISTYPED, CHANGED, CHANGES = 0.07, 0.08, 0.2, 0.4
EACH, AT_LEAST = 2, 50_000  # pairs that a pass may find: so many a record, and some more
LOOKED_AT = 50  # pairs to look at for each that it may find
TRIED = 20_000  # pairs that the share of near ones is estimated from
ROUGHLY = 4  # a pass that seems to find so many times what it may does find too many
ENOUGH = 0.001  # the share of matches that a further pass must add
MOST = 16


def chosen_passes(comparison: Comparison, seed: int = 2013) -> tuple[Pass, ...]:
    """Passes for these records, the one that finds most first.

    Privacy: what the linkage unit computes, from what it has.
    """
    if comparison.pairs == 0:
        return (Pass({comparison.names[0]: 0}),)
    matches = _made_up(comparison, seed)
    sample = comparison.sampled(SAMPLED, seed)
    factor = comparison.pairs / max(1, sample.pairs)
    records = max(len(comparison.left), len(comparison.right))
    room = (EACH * records + AT_LEAST) / factor
    names, levels = comparison.names, comparison.levels
    options = {one: one.finds(matches, names, levels) for one in _options(comparison)}
    chosen: list[Pass] = []
    missed = np.ones(MADE_UP, bool)
    while options and len(chosen) < MOST:
        gains = {one: float((finds & missed).mean()) for one, finds in options.items()}
        best = max(gains, key=lambda one: (gains[one], -len(one.edits)))
        if gains[best] < ENOUGH and chosen:
            break
        finds = options.pop(best)
        if _fits(best, sample, room):
            chosen.append(best)
            missed &= ~finds
    if not chosen:
        raise InvalidParameter(
            "the fields say too little: with any of them, too many pairs are left to compare",
            hint="add a field, such as a date of birth, or state passes in linkage.toml",
        )
    return (*chosen, *_of_swaps(comparison))


def _of_swaps(comparison: Comparison) -> Iterator[Pass]:
    """A pass for each two fields that people swap, if it finds few enough pairs."""
    room = EACH * max(len(comparison.left), len(comparison.right)) + AT_LEAST
    for swap in comparison.swaps:
        if swap.pairs <= room:
            yield Pass({comparison.names[field]: SWAP for field in swap.fields})


def _options(comparison: Comparison) -> Iterator[Pass]:
    """One field within its edits; one or two equal, and another within its edits."""
    edits = dict(zip(comparison.names, comparison.edits.tolist(), strict=True))
    for name in edits:
        yield from (Pass({name: e}) for e in range(edits[name] + 1))
    for equal, near in permutations(edits, 2):
        yield from (Pass({equal: 0, near: e}) for e in range(edits[near] + 1))
    for near in edits:
        for pair in combinations([name for name in edits if name != near], 2):
            equal_fields = dict.fromkeys(pair, 0)
            yield from (Pass({**equal_fields, near: e}) for e in range(edits[near] + 1))


def _made_up(comparison: Comparison, seed: int) -> LevelCodes:
    """Levels of matches as they may be, with values missing as often as in these files."""
    source = np.random.default_rng(seed)
    changed = source.random(MADE_UP) < CHANGED
    columns = []
    for field, of in enumerate(comparison.levels):
        known = 1.0
        for numbers in (comparison.left[:, field], comparison.right[:, field]):
            known *= float((numbers >= 0).mean()) if len(numbers) else 0.0
        wrong = source.random(MADE_UP) < np.where(changed, CHANGES, WRONG)
        mistyped = source.random(MADE_UP) < MISTYPED
        typos = np.minimum(source.geometric(0.8, MADE_UP), of.farther)
        levels = np.where(wrong, of.farther, np.where(mistyped, typos, EQUAL))
        levels[source.random(MADE_UP) >= known] = of.missing
        columns.append(levels.astype(np.uint8))
    return np.stack(columns, axis=1)


def _fits(one: Pass, sample: Comparison, room: float) -> bool:
    """Whether a pass finds few enough pairs, and looks at few enough, on a sample."""
    needs = one.needs(sample.names)
    equal = np.flatnonzero(needs == 0)
    if len(equal):
        total, left, right = some_equal(sample, equal, TRIED, seed=1)
        if total > LOOKED_AT * room:
            return False
    else:
        total, (left, right) = sample.pairs, sample.random_pairs(TRIED, seed=1)
    near = one.finds(sample.levels_of(left, right), sample.names, sample.levels)
    expected = float(near.mean()) * total if total else 0.0
    if len(equal) or expected > ROUGHLY * room:
        return expected <= room
    # too few of all pairs to be seen among some at random
    return candidates(sample, [one]).found[0] <= max(room, 1)
