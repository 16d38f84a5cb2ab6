import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparisons import NAMES, Files, files, numbered, swapping_files
from gramlink.errors import InvalidParameter
from gramlink.kernels import comparison as kernels
from gramlink.matching import passes as module
from gramlink.matching.passes import SWAP, Pass, candidates, some_equal
from reference import comparing as definition


@st.composite
def files_and_passes(draw, least=1):
    two = draw(files(least=least))
    fields = range(len(two.bases))
    one = st.fixed_dictionaries({}, optional={f: st.integers(0, two.edits[f]) for f in fields})
    return two, draw(st.lists(one.filter(bool), min_size=1, max_size=4))


def listed(found):
    columns = (found.left.tolist(), found.right.tolist(), found.levels.tolist())
    return list(zip(*columns, strict=True))


def check(two, passes, *, same=False):
    ours = list(zip(*two.left, strict=True))
    theirs = ours if same else list(zip(*two.right, strict=True))
    limits = list(zip(*two.limits, strict=True))
    comparison = two.comparison.within_left if same else two.comparison
    named = [Pass({NAMES[f]: edits for f, edits in one.items()}) for one in passes]
    found = candidates(comparison, named)
    kept, numbers, added = definition.candidates(ours, limits, theirs, two.bases, passes, same)
    expected = [
        (i, j, [definition.level(*one) for one in zip(apart, limits[i], strict=True)])
        for i, j, apart in kept
    ]
    assert listed(found) == expected
    assert (list(found.found), list(found.added)) == (numbers, added)
    assert found.passes == tuple(named)
    assert len(found) == len(kept) == sum(added)
    return found


@settings(deadline=None, max_examples=75)
@given(both=files_and_passes())
def test_candidates_are_the_pairs_that_meet_a_pass_each_once_and_in_order(both):
    check(*both)


@settings(deadline=None, max_examples=50)
@given(both=files_and_passes(2))
def test_so_they_are_within_one_file(both):
    check(*both, same=True)


@st.composite
def files_and_swapping_passes(draw):
    two = draw(swapping_files(least=2))
    more = range(2, len(two.bases))
    fields = range(len(two.bases))
    plain = st.fixed_dictionaries({}, optional={f: st.integers(0, two.edits[f]) for f in fields})
    swaps = st.fixed_dictionaries(
        {0: st.just(SWAP), 1: st.just(SWAP)},
        optional={f: st.integers(0, two.edits[f]) for f in more},
    )
    passes = draw(st.lists(plain.filter(bool), max_size=3))
    return two, [*passes, *draw(st.lists(swaps, min_size=1, max_size=2))]


@settings(deadline=None, max_examples=75)
@given(both=files_and_swapping_passes(), same=st.booleans())
def test_passes_that_ask_for_swapped_fields_find_them_each_pair_once(both, same):
    two, passes = both
    ours = list(zip(*two.left, strict=True))
    theirs = ours if same else list(zip(*two.right, strict=True))
    limits = list(zip(*two.limits, strict=True))
    comparison = two.comparison.within_left if same else two.comparison
    named = [Pass({NAMES[f]: edits for f, edits in one.items()}) for one in passes]
    found = candidates(comparison, named)
    expected, numbers, added = [], [0] * len(passes), [0] * len(passes)
    for i, j in definition.pairs(len(ours), len(theirs), same):
        apart = definition.squares(ours[i], theirs[j], two.bases)
        levels = definition.levels(ours[i], theirs[j], limits[i], two.bases, two.swaps)
        meets = [
            n
            for n, one in enumerate(passes)
            if definition.satisfies(
                apart, limits[i], {f: edits for f, edits in one.items() if edits != SWAP}
            )
            and all(levels[f] == len(limits[i][f]) + 1 for f in one if one[f] == SWAP)
            and (one.get(0) != SWAP or definition.swapped(ours[i], theirs[j], (0, 1)))
        ]
        if meets:
            expected.append((i, j, levels))
            added[meets[0]] += 1
        for n in meets:
            numbers[n] += 1
    assert listed(found) == expected
    assert (list(found.found), list(found.added)) == (numbers, added)


def test_too_many_swapped_pairs_are_refused():
    two = Files((("A",) * 30, ("B",) * 30), (("B",) * 30, ("A",) * 30), (("A", "B"),) * 2,
                (((0,),) * 30,) * 2, ((0, 1),))  # fmt: skip
    one = Pass({"first": SWAP, "second": SWAP})
    assert len(candidates(two.comparison, [one], most=900)) == 900
    with pytest.raises(InvalidParameter, match=r"more than 899 pairs.*first swapped"):
        candidates(two.comparison, [one], most=899)


def test_a_file_of_one_record_has_no_pairs_within():
    found = candidates(numbered([[1]], [[1]]).within_left, [Pass({"first": 1})])
    assert (len(found), found.found) == (0, (0,))


@settings(deadline=None, max_examples=40)
@given(both=files_and_passes(2), same=st.booleans())
def test_parts_do_not_change_the_candidates(both, same):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK_PAIRS", 5)
        check(*both, same=same)


@settings(deadline=None, max_examples=40)
@given(both=files_and_passes(2), same=st.booleans())
def test_values_whose_keys_collide_are_told_apart(both, same):
    def colliding(numbers, fields):
        return np.where((numbers[:, fields] < 0).any(axis=1), -1, 7)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "keys_of_rows", colliding)
        check(*both, same=same)


@settings(deadline=None, max_examples=40)
@given(both=files_and_passes())
def test_two_passes_that_are_the_same_add_nothing_the_second_time(both):
    two, passes = both
    found = check(two, [passes[0], *passes, passes[0]])
    assert found.found[0] == found.found[1] == found.found[-1]
    assert found.added[1] == found.added[-1] == 0


def test_a_missing_value_meets_no_pass():
    comparison = numbered([[-1, 5], [1, 1]], [[-1, 5], [1, 1]])
    assert listed(candidates(comparison, [Pass({"first": 0})])) == [(1, 1, [0, 0])]
    assert listed(candidates(comparison, [Pass({"first": 1})])) == [(1, 1, [0, 0])]
    found = candidates(comparison, [Pass({"first": 0, "second": 0}), Pass({"second": 0})])
    assert (found.found, found.added) == ((1, 4), (1, 3))
    assert found.levels.tolist() == [[3, 0], [3, 0], [3, 0], [0, 0]]


def test_where_nothing_is_near_there_are_no_candidates():
    for values in ([-1, -1], [3, 6]):
        comparison = numbered([values, values], [[100], [100]])
        found = candidates(comparison, [Pass({"first": 0}), Pass({"second": 1})])
        assert (len(found), found.found, found.added) == (0, (0, 0), (0, 0))
        assert found.levels.shape == (0, 2)


def test_too_many_pairs_are_refused_with_what_to_do():
    comparison = numbered([[1] * 30], [[1] * 30])
    for edits in (0, 1):
        one = Pass({"first": edits})
        assert len(candidates(comparison, [one], most=900)) == 900
        for most in (899, 1, 0):
            with pytest.raises(InvalidParameter, match=f"more than {most} pairs.*{one}") as caught:
                candidates(comparison, [one], most=most)
            assert "linkage.toml" in caught.value.hint


def test_pairs_of_all_passes_and_parts_count_together(monkeypatch):
    comparison = numbered([[1, 1, 7], [1, 7, 1]], [[1, 1, 9], [1, 9, 1]])
    both = [Pass({"first": 0}), Pass({"second": 0})]
    assert candidates(comparison, both, most=7).added == (4, 3)
    with pytest.raises(InvalidParameter, match="more than 6 pairs"):
        candidates(comparison, both, most=6)
    monkeypatch.setattr(module, "CHUNK_PAIRS", 2)
    assert candidates(comparison, both, most=7).added == (4, 3)
    with pytest.raises(InvalidParameter, match="more than 6 pairs"):
        candidates(comparison, both, most=6)


def test_more_pairs_than_a_kernel_starts_with_are_all_kept():
    comparison = numbered([[1] * 60, range(60)], [[1] * 60, range(60)])
    found = candidates(comparison, [Pass({"first": 0})])
    rows, others = np.indices((60, 60))
    assert np.array_equal(found.left, rows.ravel())
    assert np.array_equal(found.right, others.ravel())
    assert np.array_equal(found.levels[:, 1], np.minimum(abs(rows - others).ravel(), 2))


def test_progress_is_told_pass_by_pass():
    told = []
    passes = [Pass({"first": 0}), Pass({"first": 1})]
    candidates(numbered([[1]], [[1]]), passes, lambda *done: told.append(done))
    assert told == [(1, 2), (2, 2)]


def test_a_pass_names_a_field_and_prints_as_it_reads():
    with pytest.raises(InvalidParameter, match="at least one field"):
        Pass({})
    assert str(Pass({"surname": 2, "sex": 0})) == "surname within 2, sex equal"
    assert Pass({"y": 1}).needs(("x", "y")).tolist() == [-1, 1]


@settings(deadline=None, max_examples=60)
@given(two=files(most_fields=3), same=st.booleans(), seed=st.integers(0, 2**32))
def test_pairs_that_are_equal_in_some_fields_are_counted_and_drawn(two, same, seed):
    comparison = two.comparison.within_left if same else two.comparison
    fields = np.arange(len(two.bases))
    ours, theirs = comparison.left.tolist(), comparison.right.tolist()
    equal = {
        (i, j)
        for i, one in enumerate(ours)
        for j, other in enumerate(theirs)
        if one == other and -1 not in one
    }
    total, left, right = some_equal(comparison, fields, 500, seed)
    assert total == len(equal)
    drawn = set(zip(left.tolist(), right.tolist(), strict=True))
    assert drawn <= equal
    assert len(left) == (500 if equal else 0)
    if len(equal) <= 20:
        assert drawn == equal
