"""What attacks read is what the linkage unit sees."""

import numpy as np
import pytest

from audit.worlds import SCHEMA, case
from gramlink.audit.case import Case
from gramlink.audit.seen import Coded, Sharing, seen
from gramlink.encodings.encoding import Material
from gramlink.encodings.vectors import VectorRecords
from gramlink.encodings.veil.veiled import VeiledRecords
from gramlink.records.levels import EQUAL

COUNT = 600


@pytest.fixture(scope="module")
def sides():
    one = case(COUNT)
    return [
        VeiledRecords.of(
            Material(owner, records.columns, one.bases, SCHEMA, True, owner.encode(), one.secret())
        )
        for owner, records in (("ours", one.ours), ("theirs", one.theirs))
    ]


def test_observations_of_shared_pairs_are_those_that_levels_are_made_of(sides):
    compared, found = sides[0].compare(sides[1]), seen(*sides)
    shared = compared.shared
    assert isinstance(found, Sharing)
    assert (found.left == shared.left).all()
    assert (found.right == shared.right).all()
    assert (found.keys == shared.keys).all()
    missing = np.array([len(cuts) + 1 for cuts in sides[0].cut_offs])  # before any is swapped
    assert (found.equal == (shared.levels == EQUAL)).all()
    assert (found.missing == (shared.levels == missing)).all()
    for field, (of, cuts) in enumerate(zip(compared.levels, sides[0].cut_offs, strict=True)):
        between = ~found.equal[:, field] & ~found.missing[:, field]
        share = found.apart[between, field] / found.drawn[between, field]
        for edits in range(1, of.edits + 1):
            within = shared.levels[between, field] <= edits
            assert (within == (share * 65536 <= cuts[edits])).all()


def test_equal_values_agree_in_all_parities_and_far_ones_in_half(sides):
    found = seen(*sides)
    for field in range(len(found.names)):
        drawn = found.drawn[:, field] > 0
        assert not found.apart[drawn & found.equal[:, field], field].any()
    far = ~found.equal & ~found.missing & (found.apart * 3 > found.drawn)
    assert 0.4 < (found.apart[far] / found.drawn[far]).mean() < 0.5


def test_a_case_shows_of_vectors_what_a_bundle_shows():
    one = case(COUNT)
    bundle = VectorRecords.of(Material("ours", one.ours.columns, one.bases, SCHEMA, False, b"key"))
    shown = seen(bundle, bundle)
    assert isinstance(shown, Coded)
    for ours, theirs in zip(one.vectors.fields, shown.fields, strict=True):
        assert ours.lengths == theirs.lengths
        there = ours.place >= 0
        assert (there == (theirs.place >= 0)).all()
        assert (ours.features[ours.place[there]] == theirs.features[theirs.place[there]]).all()


def test_passes_within_edits_are_left_to_the_plan_under_the_veil():
    one = case(COUNT)
    passes = ({"surname": 1, "date_of_birth": 0},)
    other = Case(one.ours, one.theirs, SCHEMA.model_copy(update={"passes": passes}), one.bases)
    assert other.veiled().layout == one.veiled().layout
