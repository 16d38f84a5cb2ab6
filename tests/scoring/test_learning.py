from collections import Counter
from itertools import product

import numpy as np
import pytest

from gramlink.matching.chance import Gaps, Kin
from gramlink.records.levels import Levels
from gramlink.scoring.learning import BELIEVED, FIRMLY, _kindred, beginnings, changed, grown
from gramlink.scoring.mixture import Patterns, Sort

LEVELS = (Levels(1),) * 5  # given name, surname, date of birth, street, city
NOTHING_MISSING = Gaps(np.zeros((1, 5), np.bool_), np.ones(1))


def sort(count, *equal):
    """Pairs that are equal so often in each field, and else mostly farther."""
    return Sort(count, tuple(np.array([e, 0.3 * (1 - e), 0.7 * (1 - e), 1]) for e in equal))


RANDOM = sort(200_000.0, 0.01, 0.005, 0.001, 0.001, 0.01)
USUAL = sort(3000.0, 0.9, 0.92, 0.95, 0.93, 0.95)
MOVED = sort(600.0, 0.92, 0.93, 0.95, 0.001, 0.01)
SWAPPED = sort(400.0, 0.001, 0.001, 0.95, 0.92, 0.96)  # given name for surname
RELATIVES = sort(4000.0, 0.01, 0.95, 0.002, 0.94, 0.96)
START = sort(500.0, 0.9, 0.9, 0.9, 0.9, 0.9)


def patterns_of(*sorts, seed=1):
    """As many pairs of each sort as it has."""
    source, counts = np.random.default_rng(seed), Counter()
    for one in sorts:
        columns = [source.choice(3, int(one.count), p=shares[:3]) for shares in one.shares]
        counts += Counter(zip(*(column.tolist() for column in columns), strict=True))
    rows = sorted(counts)
    return Patterns(np.array(rows), np.array([counts[row] for row in rows]), LEVELS)


def found(*sorts, known=(RANDOM,), believed=BELIEVED, seed=1):
    patterns = patterns_of(*known, *sorts, seed=seed)
    logs = np.logaddexp.reduce([one.log_expected(patterns.levels) for one in known])
    return grown(patterns, NOTHING_MISSING, lambda _: logs, [START], [believed]).sorts


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sorts", [(USUAL,), (USUAL, MOVED), (USUAL, MOVED, SWAPPED)])
def test_there_are_as_many_sorts_as_the_pairs_ask_for(sorts, seed):
    made = sorted(found(*sorts, seed=seed), key=lambda one: -one.count)
    assert [one.count for one in made] == pytest.approx([one.count for one in sorts], rel=0.2)
    # shares may slide between two sorts that are alike in all other fields; their sum may not
    every = np.array(list(product(range(3), repeat=len(LEVELS))))
    expected, wanted = (
        sum(np.exp(one.log_expected(every)) for one in several) for several in (made, sorts)
    )
    assert np.abs(expected - wanted).sum() <= 0.06 * wanted.sum()


@pytest.mark.parametrize("in_part", [True, False])
def test_pairs_that_are_known_and_hardly_ever_seen_hide_no_sort(in_part):
    patterns = patterns_of(RANDOM, USUAL, MOVED)
    logs = RANDOM.log_expected(patterns.levels)
    far = (patterns.levels == 2).all(axis=1)

    def known(sorts):
        # many more than are seen, and their number follows a little from the matches
        return np.where(far, np.log(1e10 + 1e5 * len(sorts)), logs)

    made = grown(patterns, NOTHING_MISSING, known, [START], [BELIEVED], in_part=in_part).sorts
    assert (len(made) >= 2) is in_part


def test_where_all_is_explained_no_sort_is_added():
    (one,) = found()
    assert one.count < 30


def test_relatives_that_are_known_are_no_matches():
    made = found(USUAL, MOVED, known=(RANDOM, RELATIVES))
    assert sum(one.count for one in made) == pytest.approx(3600, rel=0.03)


def test_relatives_that_are_not_known_are_a_sort_of_their_own():
    few = Sort(500.0, USUAL.shares)
    made = found(few, RELATIVES, believed=FIRMLY)
    matches = [one for one in made if one.shares[0][0] > 0.5]
    assert sum(one.count for one in matches) == pytest.approx(500, rel=0.1)


def test_a_further_sort_begins_where_most_is_left_over():
    patterns = patterns_of(RANDOM, USUAL, MOVED)
    logs = np.zeros(len(patterns.counts))
    known = RANDOM.log_expected(patterns.levels)
    (first, *_) = beginnings(patterns, logs, known, [USUAL])
    assert [round(float(shares[0])) for shares in first.shares] == [1, 1, 1, 0, 0]
    every = RANDOM.log_expected(patterns.levels)
    patterns = Patterns(patterns.levels, np.floor(np.exp(every)).astype(np.int64), LEVELS)
    assert list(beginnings(patterns, logs, every, [])) == []


def test_a_household_that_moved_took_everybody_with_it():
    still, moved = changed([RELATIVES], [USUAL, MOVED], RANDOM, LEVELS)
    assert still.count + moved.count == pytest.approx(RELATIVES.count)
    assert moved.count / still.count == pytest.approx(MOVED.count / USUAL.count)
    for one, before in zip(still.shares, RELATIVES.shares, strict=True):
        assert one == pytest.approx(before)
    for field in (3, 4):
        assert moved.shares[field][0] < 0.4 < RELATIVES.shares[field][0]
    assert moved.shares[1][0] == pytest.approx(RELATIVES.shares[1][0], abs=0.01)
    for shares in moved.shares:
        assert shares[:3].sum() == pytest.approx(1)


def test_without_matches_relatives_are_as_they_were():
    none = sort(0.0, 0.9, 0.9, 0.9, 0.9, 0.9)
    (still,) = changed([RELATIVES], [none], RANDOM, LEVELS)
    assert still.count == RELATIVES.count


def test_relatives_are_as_near_as_matches_where_they_are_equal_and_as_anybody_where_not():
    match = Sort(100.0, (np.array([0.9, 0.06, 0.04, 1]),))
    random = Sort(1e6, (np.array([0.5, 0.1, 0.4, 1]),))
    household = _kindred(Kin(70.0, np.array([0.3]), 0.01), match, random, (Levels(1),))
    expected = 0.3 * np.array([0.9, 0.06, 0.04]) + 0.7 * np.array([0, 0.2, 0.8])
    assert household.shares[0][:-1] == pytest.approx(expected)
    assert household.shares[0][-1] == 1
    assert (household.count, household.seen) == (70.0, 0.01)
    assert _kindred(Kin(70.0, np.array([0.3])), match, random, (Levels(1),)).seen == 1
