from contextlib import suppress

import numpy as np
import pytest

from comparisons import NAMES, numbered
from gramlink.errors import GramlinkError
from gramlink.matching import pass_choice as choosing
from gramlink.matching.pass_choice import AT_LEAST, EACH, MOST, chosen_passes
from gramlink.matching.passes import candidates

NONE = -1


def columns(count, sizes, seed, missing=0.0):
    """So many values at random in each field, some of them missing."""
    source = np.random.default_rng(seed)
    drawn = [source.integers(0, size, count) * 3 for size in sizes]
    return [np.where(source.random(count) < missing, NONE, column) for column in drawn]


def shown(passes):
    return [str(one) for one in passes]


def check(comparison):
    """The passes, which can be run, find few pairs each and are the same the next time."""
    passes = chosen_passes(comparison)
    assert 1 <= len(passes) <= MOST
    assert shown(passes) == shown(chosen_passes(comparison))
    assert len(set(shown(passes))) == len(passes)
    room = EACH * max(len(comparison.left), len(comparison.right)) + AT_LEAST
    found = candidates(comparison, passes)
    assert max(found.found) <= 1.2 * room  # an estimate
    for one in passes:
        for name, edits in one.edits.items():
            assert 0 <= edits <= comparison.edits[NAMES.index(name)]
    return passes, found


@pytest.mark.parametrize("sizes", [(4000, 4000), (2, 300, 3000), (2, 50, 400, 4000)])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_chosen_passes_find_no_more_pairs_than_there_is_room_for(sizes, missing):
    left, right = columns(3000, sizes, 1, missing), columns(2500, sizes, 2, missing)
    check(numbered(left, right))


def test_passes_of_a_sample_fit_the_whole_files_too(monkeypatch):
    monkeypatch.setattr(choosing, "SAMPLED", 1000)
    check(numbered(columns(4000, (30, 400, 4000), 1), columns(4000, (30, 400, 4000), 2)))


def test_a_field_that_tells_little_is_not_a_pass_of_its_own():
    comparison = numbered(columns(2000, (2, 4000), 1), columns(2000, (2, 4000), 2))
    passes, _ = check(comparison)
    assert "first equal" not in shown(passes)
    assert shown(passes)[0] == "second within 1"


def test_a_field_that_is_mostly_missing_is_not_relied_on():
    left, right = columns(2000, (4000, 4000), 1), columns(2000, (4000, 4000), 2)
    known = shown(check(numbered(left, right))[0])
    assert known[0].startswith("first")
    right[0][np.random.default_rng(3).random(2000) < 0.9] = NONE
    passes = shown(check(numbered(left, right))[0])
    assert passes[0].startswith("second")


def test_copies_are_found_though_any_one_field_is_wrong():
    sizes = (3000, 3000, 3000)
    left = columns(2000, sizes, 1)
    right = [column.copy() for column in left]
    wrong = columns(2000, sizes, 3)
    for row in range(2000):
        right[row % 3][row] = wrong[row % 3][row]
    _, found = check(numbered(left, right))
    both = set(zip(found.left.tolist(), found.right.tolist(), strict=True))
    assert {(row, row) for row in range(2000)} <= both


@pytest.mark.parametrize(("left", "right"), [([NONE] * 50, range(50)), ([NONE] * 50, [NONE] * 50)])
def test_a_field_that_is_missing_everywhere_is_no_obstacle(left, right):
    _, found = check(numbered([left, range(50)], [right, range(50)]))
    assert {(row, row) for row in range(50)} <= set(
        zip(found.left.tolist(), found.right.tolist(), strict=True)
    )


def test_where_all_is_missing_the_passes_find_nothing():
    _, found = check(numbered([[NONE] * 20] * 2, [[NONE] * 20] * 2))
    assert len(found) == 0


def test_a_field_of_one_value_is_no_obstacle():
    _, found = check(numbered([[7] * 1000, range(0, 3000, 3)], [[7] * 1000, range(0, 3000, 3)]))
    assert len(found) >= 1000


@pytest.mark.parametrize("count", [1, 2])
def test_tiny_files_have_passes(count):
    check(numbered([range(count)] * 3, [range(count)] * 3))
    check(numbered([range(count)] * 3, [range(500, 600)] * 3))
    check(numbered([range(500, 600)] * 3, [range(count)] * 3))


def test_two_records_of_one_file_have_passes():
    check(numbered([[1, 5], [2, 2]], [[1], [2]]).within_left)


def test_one_record_of_one_file_is_compared_with_nothing():
    comparison = numbered([[1], [2]], [[1], [2]]).within_left
    with suppress(GramlinkError):
        assert len(candidates(comparison, chosen_passes(comparison))) == 0


def test_files_that_share_nothing_have_passes():
    _, found = check(numbered([range(0, 600, 3)] * 2, [range(900, 1500, 3)] * 2))
    assert len(found) == 0


def test_files_in_which_every_pass_finds_too_much_have_a_pass_or_a_clear_error():
    few = [[1, 2] * 500, [3] * 1000]
    comparison = numbered(few, few)
    with suppress(GramlinkError):
        candidates(comparison, chosen_passes(comparison))
