import numpy as np
import pytest

from gramlink.encodings.veil.chance import by_chance, passes_of
from gramlink.encodings.veil.shared import Shared
from gramlink.matching.chance import Gaps
from gramlink.records.levels import Levels
from veiling import FIELDS, KEYS, NAMES, SCALES, layout_of

CUT_OFFS = tuple(SCALES[name].cut_offs for name in NAMES)
LEVELS = tuple(Levels(len(one) - 1) for one in CUT_OFFS)
GAPS = Gaps(np.array([[False] * 5, [True, False, False, False, False]]), np.array([0.8, 0.2]))


def test_chance_is_a_share_for_each_level_that_is_not_missing():
    found = by_chance(FIELDS, CUT_OFFS, GAPS)
    for place, (chance, levels) in enumerate(zip(found, LEVELS, strict=True)):
        there = 1 - GAPS.of_field(place)
        assert len(chance.counts) == len(levels)
        assert chance.counts[0] == chance.counts[levels.missing] == 0
        assert (chance.counts >= 0).all()
        whole = chance.equal + chance.counts.sum() / 10**9
        assert whole == pytest.approx(there, abs=1e-6)
        assert chance.equal < 0.6 * there


def test_what_is_hardly_ever_drawn_by_chance_counts_as_near():
    """A wider cut-off takes more of those that are far apart."""
    narrow, wide = (by_chance(FIELDS[1:2], [cuts], NONE)[0] for cuts in ((0, 5000), (0, 25_000)))
    assert wide.counts[1] > narrow.counts[1]


NONE = Gaps(np.zeros((1, 1), bool), np.ones(1))


def shared(levels, keys):
    count = np.arange(len(levels), dtype=np.int32)
    return Shared(count, count, np.array(levels, np.uint8), np.array(keys, bool))


def test_a_pass_finds_the_share_of_what_looks_like_matches_that_another_key_finds():
    keys = layout_of(KEYS[:2]).keys
    alike, unlike = [0, 0, 0, 0, 0], [3, 2, 3, 3, 1]
    pairs = shared(
        [alike] * 10 + [unlike] * 5,
        [[True, True]] * 5 + [[False, True]] * 3 + [[True, False]] * 2 + [[True, True]] * 5,
    )
    one, other = passes_of(keys, pairs, NAMES, LEVELS)
    assert one.share == pytest.approx((5 + 1) / (8 + 1))  # of those that the second finds
    assert other.share == pytest.approx((5 + 1) / (7 + 1))
    assert str(one) == "surname, born"
    assert one.edits == {"surname": 0, "born": 0}
    assert other.edits == {"born": 2}  # swapped names are as far apart as any


def test_without_pairs_a_pass_is_taken_to_find_all():
    keys = layout_of(KEYS).keys
    none = shared(np.empty((0, 5)), np.empty((0, len(KEYS))))
    found = passes_of(keys, none, NAMES, LEVELS)
    assert [one.share for one in found] == [1.0] * len(KEYS)
    swapped = found[7]
    assert swapped.edits == {"given_name": 0, "surname": 0}
