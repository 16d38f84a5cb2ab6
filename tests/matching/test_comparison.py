import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparisons import Files, encoded, files, numbered, swapping_files
from gramlink.embedding.vectors import Encoded, Vectors
from gramlink.errors import InvalidParameter, Mismatch
from gramlink.kernels.comparison import FARTHEST, glances_of, least_squared
from gramlink.matching.comparison import Comparison
from gramlink.records.levels import Levels
from reference import comparing as definition

SEEDS = st.integers(0, 2**32)


def surely_beyond(values, field, a, b, limit):
    """Whether a glance shows that two values are farther than a limit."""
    numbers = np.zeros((2, len(values.widths)), np.int32)
    numbers[:, field] = a, b
    one, other = glances_of(numbers, values, field)
    return least_squared(*one, *other, values.glance_weights[field]) > limit


def all_pairs(comparison):
    rows, others = np.indices((len(comparison.left), len(comparison.right)))
    return rows.ravel(), others.ravel()


def records(columns):
    return list(zip(*columns, strict=True))


def vectors(counts, lengths):
    counts = np.array(counts, np.uint8)
    return Vectors(counts, tuple(lengths), np.zeros(len(counts), bool))


def of_counts(left, right, lengths, limit=0):
    thresholds = np.tile(np.array([0, limit], np.int64), (len(left), 1))
    return Comparison.of(
        {"x": Encoded(vectors(left, lengths), thresholds)},
        {"x": Encoded(vectors(right, lengths))},
    )


@settings(deadline=None, max_examples=60)
@given(two=files())
def test_distances_and_levels_agree_with_the_definition(two):
    comparison = two.comparison
    left, right = all_pairs(comparison)
    squared = comparison.squared(left, right)
    levels = comparison.levels_of(left, right)
    ours, theirs = records(two.left), records(two.right)
    for row, (i, j) in enumerate(zip(left, right, strict=True)):
        apart = definition.squares(ours[i], theirs[j], two.bases)
        assert squared[row].tolist() == apart
        assert levels[row].tolist() == [
            definition.level(square, two.limits[f][i]) for f, square in enumerate(apart)
        ]


@settings(deadline=None, max_examples=40)
@given(two=files())
def test_values_have_the_same_number_if_and_only_if_they_have_the_same_vector(two):
    comparison = two.comparison
    assert tuple(comparison.edits) == two.edits
    for field, base in enumerate(two.bases):
        texts = two.left[field] + two.right[field]
        counts = encoded(texts, base).vectors.counts
        numbers = [*comparison.left[:, field].tolist(), *comparison.right[:, field].tolist()]
        kinds = {n: row.tolist() for n, row in zip(numbers, counts, strict=True) if n >= 0}
        for number, text, row in zip(numbers, texts, counts.tolist(), strict=True):
            assert (number < 0) == (text == "")
            assert number < 0 or kinds[number] == row
        assert len({tuple(row) for row in kinds.values()}) == len(kinds)


@settings(deadline=None, max_examples=40)
@given(two=files())
def test_the_vectors_of_known_values_come_back(two):
    comparison = two.comparison
    for field, base in enumerate(two.bases):
        known = encoded(two.right[field], base).vectors
        back = comparison.vectors(field, comparison.right[:, field])
        assert back.lengths == known.lengths
        assert back.missing.tolist() == known.missing.tolist()
        assert np.array_equal(back.counts[~known.missing], known.counts[~known.missing])


@settings(deadline=None, max_examples=100)
@given(size=st.sampled_from([1, 2, 15, 16, 17, 63, 64, 65, 130, 200]), seed=SEEDS)
def test_a_glance_never_rejects_a_pair_within_the_limit(size, seed):
    source = np.random.default_rng(seed)
    lengths = source.integers(1, source.integers(2, 5), size).tolist()
    counts = source.integers(0, source.integers(2, 4), (6, size))
    comparison = of_counts(counts[:3], counts[3:], lengths)
    left, right = all_pairs(comparison)
    squared = comparison.squared(left, right)[:, 0]
    for i, j, square in zip(left, right, squared.tolist(), strict=True):
        a, b = comparison.left[i, 0], comparison.right[j, 0]
        assert not surely_beyond(comparison.values, 0, a, b, square)


def test_a_glance_sees_that_values_with_other_grams_are_far():
    comparison = of_counts([[1] * 40 + [0] * 40], [[0] * 40 + [1] * 40], [1] * 80)
    assert surely_beyond(comparison.values, 0, 0, 1, 63)
    # 64 heaviest grams and the next 16 are seen, so nothing of it is lost
    assert surely_beyond(comparison.values, 0, 0, 1, 79)
    assert not surely_beyond(comparison.values, 0, 0, 1, 80)


def test_the_second_word_of_a_glance_counts_lighter_grams_as_what_they_weigh():
    # lengths 1 and 2: squared weights 4 and 1
    comparison = of_counts([[1, 1, 1]], [[0, 0, 0]], [1, 2, 2])
    assert surely_beyond(comparison.values, 0, 0, 1, 5)
    assert not surely_beyond(comparison.values, 0, 0, 1, 6)


def test_a_distance_beyond_32_bits_is_capped_and_no_limit_reaches_it():
    lengths = (*(1,) * 30, 3, 4, 5)
    far = sum((255 * (60 // q)) ** 2 for q in lengths)
    assert far > 2**31
    full, none = [[255] * 33], [[0] * 33]
    for limit in (0, 2**31 - 2, 2**31 - 1, 2**31, far, 2**62):
        comparison = of_counts(full, none, lengths, limit)
        squared = comparison.squared(np.array([0]), np.array([0]))
        assert squared.tolist() == [[FARTHEST]]
        assert comparison.levels_of(np.array([0]), np.array([0])).tolist() == [[2]]


def test_the_largest_distance_below_the_cap_is_exact():
    lengths = (1,) * 33000  # each coordinate makes 255², and 33,000 of them nearly 2^31
    far = 255**2 * 33000
    assert far < FARTHEST
    comparison = of_counts([[255] * 33000], [[0] * 33000], lengths, far)
    squared = comparison.squared(np.array([0]), np.array([0]))
    assert squared.tolist() == [[far]]
    assert comparison.levels_of(np.array([0]), np.array([0])).tolist() == [[1]]


def test_missing_is_the_last_level_even_where_both_are_missing():
    comparison = numbered([[-1, -1, 3]], [[-1, 3, -1]])
    rows = np.arange(3)
    squared = comparison.squared(rows, rows)
    assert squared.tolist() == [[-1], [-1], [-1]]
    assert comparison.levels_of(rows, rows).tolist() == [[3], [3], [3]]


def test_each_left_record_has_limits_of_its_own():
    column = ("AAB", "AAB")
    ours = {"x": encoded(column, ("A", "B"), [[0, 1, 2], [0, 2, 9]])}
    comparison = Comparison.of(ours, {"x": encoded(["AA", "A"], ("A", "B"))})
    left, right = all_pairs(comparison)  # distances 1 and 2
    assert comparison.levels_of(left, right).ravel().tolist() == [1, 2, 1, 1]


def test_fields_with_different_edits_stand_side_by_side():
    ours = {"x": encoded(["AB"], ("A", "B"), [[0]]), "y": encoded(["AB"], ("A", "B"), [[0, 1, 2]])}
    theirs = {"x": encoded(["A"], ("A", "B")), "y": encoded(["BBB"], ("A", "B"))}
    comparison = Comparison.of(ours, theirs)
    assert comparison.levels == (Levels(0), Levels(2))
    one = np.array([0])
    assert comparison.levels_of(one, one).tolist() == [[1, 3]]


def test_other_bases_and_left_records_without_thresholds_are_refused():
    ours, theirs = encoded(["A"], ("A", "B"), [[0]]), encoded(["A"], ("A", "AB"))
    with pytest.raises(Mismatch, match="different bases"):
        Comparison.of({"x": ours}, {"x": theirs})
    with pytest.raises(InvalidParameter, match="need thresholds"):
        Comparison.of({"x": theirs}, {"x": theirs})


@settings(deadline=None, max_examples=30)
@given(count=st.integers(2, 6), seed=SEEDS)
def test_random_pairs_of_a_file_with_itself_are_of_two_records(count, seed):
    comparison = numbered([range(count)], [[0]]).within_left
    left, right = comparison.random_pairs(2000, seed)
    assert (left != right).all()
    seen = set(zip(left.tolist(), right.tolist(), strict=True))
    assert seen == {(i, j) for i in range(count) for j in range(count) if i != j}


def test_random_pairs_of_two_files_are_any():
    left, right = numbered([[0, 1]], [[0, 1, 2]]).random_pairs(1000, 1)
    seen = set(zip(left.tolist(), right.tolist(), strict=True))
    assert seen == {(i, j) for i in range(2) for j in range(3)}


def test_a_file_within_itself_counts_each_pair_once():
    comparison = numbered([range(5)], [range(7)])
    assert (comparison.pairs, comparison.within_left.pairs) == (35, 10)


def test_a_sample_keeps_records_with_their_limits():
    limits = [[0, n] for n in range(40)]
    ours = {"x": encoded(["A" * (n + 1) for n in range(40)], ("A",), limits)}
    comparison = Comparison.of(ours, {"x": encoded(["B"], ("A",))})
    some = comparison.sampled(10, 3)
    assert (len(some.left), len(some.right)) == (10, 1)
    rows = some.limits[:, 0, 1].tolist()
    assert rows == sorted(set(rows)) != list(range(10))
    assert some.vectors(0, some.left[:, 0]).counts[:, 0].tolist() == [row + 1 for row in rows]
    columns = [range(40), range(1, 41)]
    within = numbered(columns, columns).within_left.sampled(10, 3)
    assert np.array_equal(within.left, within.right)
    assert within.same
    assert len(numbered(columns, columns).sampled(100, 3).left) == 40


@settings(deadline=None, max_examples=60)
@given(two=swapping_files(), same=st.booleans())
def test_two_values_the_other_way_round_are_swapped(two, same):
    comparison = two.comparison.within_left if same else two.comparison
    left, right = all_pairs(comparison)
    ours = records(two.left)
    theirs = ours if same else records(two.right)
    limits = list(zip(*two.limits, strict=True))
    found = comparison.levels_of(left, right).tolist()
    assert found == [
        definition.levels(ours[i], theirs[j], limits[i], two.bases, two.swaps)
        for i, j in zip(left, right, strict=True)
    ]
    (swap,) = comparison.swaps
    both = swap.swapped(left, right)
    assert swap.pairs == both.sum()


def test_a_sample_keeps_who_is_swapped_with_whom():
    values = ("A", "B", "AB", "BA", "AA", "BB")
    turned = values[::-1]
    limits = tuple(((0, 1),) * 6 for _ in range(2))
    grams = (("A", "B", "AB", "BA"),) * 2  # so that no two values are equal
    whole = Files((values, turned), (turned, values), grams, limits, ((0, 1),)).comparison
    some = whole.sampled(3, seed=1)
    rows, others = (
        [every.tolist().index(row) for row in chosen.tolist()]
        for every, chosen in ((whole.left, some.left), (whole.right, some.right))
    )
    left, right = all_pairs(some)
    found = some.swaps[0].swapped(left, right)
    expected = whole.swaps[0].swapped(np.array(rows)[left], np.array(others)[right])
    assert found.tolist() == expected.tolist()
    assert whole.swaps[0].pairs == 6
