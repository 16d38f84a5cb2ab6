"""What chance makes of pairs under the veil, where the unit sees no random pairs."""

from collections.abc import Sequence
from math import comb

import numpy as np

from gramlink.encodings.veil.keys import EITHER, WHOLE, Key
from gramlink.encodings.veil.population import known_of
from gramlink.encodings.veil.shared import Shared
from gramlink.encodings.veil.sketch import UNIT
from gramlink.kernels.cells import DRAWS
from gramlink.matching.chance import Chance, Gaps
from gramlink.matching.passes import Pass
from gramlink.records.fields import Field
from gramlink.records.levels import EQUAL, Levels

SAMPLE = 10**9  # pairs that what is known counts as
FAR = 0.46  # the share of parities in which two values differ that have nothing in common
SWAPPED = 2.0**-23  # the share of pairs that have each other's names the other way round
ALIKE = 0.6  # the share of fields that are near in pairs that are taken for matches


def by_chance(
    fields: Sequence[Field], cut_offs: Sequence[Sequence[int]], gaps: Gaps
) -> tuple[Chance, ...]:
    """How near the values of two people are by chance: what is known, and what draws make of it."""
    found = []
    for place, (field, cuts) in enumerate(zip(fields, cut_offs, strict=True)):
        known = known_of(field.name, field.kind)
        there = 1 - gaps.of_field(place)
        edits = len(cuts) - 1
        shares = np.zeros(edits + 3)
        for e in range(1, edits + 1):
            bits = known.chance[min(e, 2)]
            shares[e] = 2.0**-bits + _drawn(cuts[e]) - (_drawn(cuts[e - 1]) if e > 1 else 0.0)
        equal = 2.0 ** -known.chance[EQUAL]
        shares[edits + 1] = max(1 - equal - shares.sum(), 0.0)
        counts = np.rint(shares * there * SAMPLE).astype(np.int64)
        found.append(Chance(equal * there, counts))
    return tuple(found)


def _drawn(cut_off: int) -> float:
    """How likely a row shows two values that are far apart as within a cut-off."""
    most = cut_off * DRAWS // UNIT
    return sum(comb(DRAWS, k) * FAR**k * (1 - FAR) ** (DRAWS - k) for k in range(most + 1))


def passes_of(
    keys: Sequence[Key], shared: Shared, names: Sequence[str], levels: Sequence[Levels]
) -> tuple[Pass, ...]:
    """Each key as a pass, with the share of matches that it finds of those that satisfy it.

    It does not find them all, since a key must be unique, and may be of a part of a value.
    """
    near = shared.levels <= np.minimum(1, [of.edits for of in levels])
    alike = near.mean(axis=1) >= ALIKE if len(near) else np.zeros(0, bool)
    found = []
    for place, key in enumerate(keys):
        edits = dict(_edits(key, dict(zip(names, levels, strict=True))))
        plain = Pass(edits)
        others = np.delete(shared.keys, place, axis=1).any(axis=1)
        some = alike & others & plain.finds(shared.levels, names, levels)
        share = (int(shared.keys[some, place].sum()) + 1) / (int(some.sum()) + 1)
        found.append(Pass(edits, label=str(key), share=share))
    return tuple(found)


def _edits(key: Key, levels: dict[str, Levels]) -> list[tuple[str, int]]:
    """How near the fields of a key may be in pairs that share it, but for swapped ones."""
    found = [
        (name, 0 if one.part == WHOLE else levels[name].edits)
        for one in key.components
        if one.part != EITHER
        for name in one.fields
    ]
    return found or [(name, 0) for name in key.fields]
