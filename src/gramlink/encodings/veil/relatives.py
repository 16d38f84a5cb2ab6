"""Relatives: what members of a household, and neighbours, have in common, and the keys they share.

Privacy: reads no record.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from gramlink.encodings.veil.keys import EITHER, PARTS, WHOLE, Key
from gramlink.encodings.veil.population import known_of
from gramlink.matching.chance import Kin

HOUSEHOLD = 1.2  # pairs with members of the same household that a record has in the other file
SELDOM = 0.15  # the share of them that a key may be shared by
MADE_UP, SEED = 20_000, 2013

KEPT = {  # how much of a date's rarity a part of it keeps
    "year and month": 0.48,
    "month and day": 0.56,
    "year and day": 0.75,
    "day and month either way round": 0.94,
}
KEPT_SORTED = 0.97

Fields = tuple[tuple[str, str], ...]  # names with kinds


def rarity(name: str, kind: str, part: str) -> float:
    """How much of a value's rarity a part of it keeps: the share of its bits.

    >>> rarity("surname", "text", "whole"), rarity("postcode", "digits", "first 4")
    (1.0, 0.8)
    """
    if part in (WHOLE, EITHER):
        return 1.0
    if part == "sorted":
        return KEPT_SORTED
    if kind == "date":
        return KEPT[part]
    # the first symbols of a text say more than the last, and both more than their number
    share = PARTS[part].symbols / known_of(name, kind).length
    return float(share ** (0.4 if kind == "text" else 1.0))


def together(key: Key, kinds: dict[str, str]) -> float:
    """The share of the pairs of members of a household that have a key in common."""
    shares = []
    for one in key.components:
        for name in one.fields:
            known = known_of(name, kinds[name])
            bits = known.bits * rarity(name, kinds[name], one.part)
            shares.append(known.household + (1 - known.household) * 2.0**-bits)
    return float(np.prod(shares))


def kin_of(fields: Fields, keys: tuple[Key, ...], sizes: tuple[int, int]) -> tuple[Kin, ...]:
    """Members of a household, and neighbours, in files of two sizes."""
    known = [known_of(name, kind) for name, kind in fields]
    shared = tuple(one.household for one in known)
    found = [Kin(HOUSEHOLD * min(sizes), np.array(shared), _met(fields, keys, shared))]
    places = [2.0 ** -one.chance[0] for one in known if one.neighbours is not None]
    if len(places) > 1:  # the place is what the rarest of them says
        near = [
            2.0 ** -one.chance[0] if one.neighbours is None else one.neighbours for one in known
        ]
        count = sizes[0] * sizes[1] * min(places)
        found.append(Kin(count, np.array(near)))
    return tuple(found)


@lru_cache(maxsize=32)
def _met(fields: Fields, keys: Sequence[Key], equal: tuple[float, ...]) -> float:
    """The share of made-up relatives, equal so often in each field, that share some key."""
    source = np.random.default_rng(SEED)
    same, luck = {}, {}
    for (name, _), share in zip(fields, equal, strict=True):
        same[name] = source.random(MADE_UP) < share
        luck[name] = source.random(MADE_UP)  # for all parts: who shares six letters shares three
    kinds = dict(fields)
    met = np.zeros(MADE_UP, bool)
    for key in keys:
        shares = np.ones(MADE_UP, bool)
        for one in key.components:
            for name in one.fields:
                known = known_of(name, kinds[name])
                chance = 2.0 ** -(known.bits * rarity(name, kinds[name], one.part))
                shares &= same[name] | (luck[name] < chance)
        met |= shares
    return float((met.sum() + 1) / (MADE_UP + 1))
