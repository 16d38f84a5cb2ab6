"""Pairs that share keys, and how near they are by what their rows show."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from gramlink.encodings.veil.rows import Writer
from gramlink.encodings.veil.shared import Shared
from veiling import KEYS, NAMES, SCALES, SECRET, SOME_KEYS, Party, layout_of, parties, veiled

BORN = [["born", "whole"]]
MANY = 3000
SURNAMES = ["MILLER", "MILLERS", "MEIER", "MANN", "MANNEN", "NANNAMANN", ""]
SURNAME = NAMES.index("surname")


def both(surnames, others, keys):
    """Pairs of which each shares its keys, with these surnames."""
    return [
        veiled(
            Party(
                name,
                b"key",
                tuple(("ANNA", one, f"{row:08d}", "12345", "F") for row, one in enumerate(column)),
            ),
            keys,
        )
        for name, column in (("clinic", surnames), ("office", others))
    ]


def parities_apart():
    """In how many of 256 parities each two surnames differ."""
    texts = [one for one in SURNAMES if one]
    party = Party("clinic", b"key", tuple(("", one, "", "", "") for one in texts))
    writer = Writer(party.material, SECRET, layout_of([BORN]), SCALES)
    found = writer._values[SURNAME].parities
    return {
        (a, b): int(np.bitwise_count(one ^ other).sum())
        for (a, one), (b, other) in product(zip(texts, found, strict=True), repeat=2)
    }


@pytest.mark.parametrize(
    "keys",
    [[BORN], [BORN, [*BORN, ["sex", "whole"]], [*BORN, ["postcode", "whole"]]]],
    ids=["one row", "three rows"],
)
def test_levels_are_those_of_the_values_within_the_error_of_so_many_draws(keys):
    source = np.random.default_rng(1)
    ours, theirs = ([SURNAMES[n] for n in source.integers(0, len(SURNAMES), MANY)] for _ in "ab")
    one, other = both(ours, theirs, keys)
    levels = one.compare(other).shared.levels[:, SURNAME]
    assert len(levels) == MANY
    limit, draws = SCALES["surname"].cut_offs[1] / 2**16, 56 * len(keys)
    apart, by_chance = parities_apart(), 256.0 ** -len(keys)
    for a, b in product(SURNAMES, repeat=2):
        some = levels[[pair == (a, b) for pair in zip(ours, theirs, strict=True)]]
        if a == b != "":
            assert (some == 0).all()
            continue
        assert (some == 0).mean() < 0.05
        if "" in (a, b):
            expected = {3: 1 - by_chance}
        else:
            share = apart[a, b] / 256
            near = sum(
                math.comb(draws, k) * share**k * (1 - share) ** (draws - k)
                for k in range(int(limit * draws) + 1)
            )
            expected = {3: 0, 2: 1 - near, 0: 0 if share else by_chance}
        for level, likely in expected.items():
            error = math.sqrt(likely * (1 - likely) / len(some)) + 2 / len(some)
            assert (some == level).mean() == pytest.approx(likely, abs=5 * error)


@settings(max_examples=30)
@given(owners=parties(2), keys=SOME_KEYS)
def test_a_pair_has_a_place_if_it_shares_a_key(owners, keys):
    one, other = (veiled(party, keys) for party in owners)
    shared = one.compare(other).shared
    pairs = list(zip(shared.left.tolist(), shared.right.tolist(), strict=True))
    every = list(product(range(len(one)), range(len(other))))
    left, right = (np.array([pair[side] for pair in every], np.int64) for side in (0, 1))
    places = shared.place(left, right).tolist()
    assert places == [pairs.index(pair) if pair in pairs else -1 for pair in every]
    assert len(shared) == len(pairs)


def test_each_pair_is_there_once_and_knows_all_its_keys():
    days = (
        f"{year}{month:02d}{day:02d}"
        for year, month, day in product((1900, 1901), range(1, 13), range(1, 26))
    )
    people = tuple(("ANNA", "MILLER", day, "1", "F") for day in days)
    one, other = (veiled(Party(name, b"k", people), KEYS) for name in ("clinic", "office"))
    shared = one.compare(other).shared
    assert shared.left.tolist() == shared.right.tolist() == list(range(600))
    assert shared.keys[:, 0].all()  # surname and birth
    assert not shared.keys[:, 6].any()  # sex: everybody's is the same
    assert (shared.levels == 0).all()


def test_empty_files_share_nothing():
    layout = layout_of(KEYS)
    none = np.empty((0, layout.width), np.uint8)
    shared = Shared.of(none, none, layout, np.zeros((5, 3), np.int64), np.array([2, 1, 2, 2, 0]))
    assert len(shared) == 0
    assert shared.levels.shape == (0, 5)
    assert shared.place(np.array([0]), np.array([3])).tolist() == [-1]
