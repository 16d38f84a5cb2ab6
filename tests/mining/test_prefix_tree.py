import math
from dataclasses import replace
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from gramlink.errors import InvalidParameter
from gramlink.kernels.tree import consistent, decreasing, project
from gramlink.mining.estimates import GRID, Estimates
from gramlink.mining.miners import mine_field, read_again
from gramlink.mining.prefixes import Tree
from gramlink.privacy.budget import Budget
from gramlink.records.fields import CATCH_ALL, Field
from gramlink.records.strings import Strings
from noise import Seeded, seeded, silent
from reference import mining as definition
from reference.grams import ranked
from reference.mining import Recording

ALPHABET = "BA "  # out of alphabetical order, as the default alphabet is
NAMES = ["tree-linear", "tree-exponential", "tree-adaptive", "tree-hybrid"]
MINERS = pytest.mark.parametrize("miner", NAMES)
EPSILONS = st.builds(Fraction, st.integers(1, 400), st.integers(1, 20))
SEEDS = st.integers(0, 2**32)
TEXTS = st.lists(
    st.tuples(st.text(ALPHABET + CATCH_ALL, max_size=8), st.sampled_from([1, 1, 2, 30])),
    max_size=12,
).map(lambda drawn: [text for text, times in drawn for _ in range(times)])
WHOLE = 1000  # a size that no tree here has grams for


def field(miner, **settings):
    settings = {"alphabet": ALPHABET, "q_max": 2, "height": 4, "size": WHOLE} | settings
    return Field(name="name", miner=miner, **settings)


def mined(records, ours, epsilon=Fraction(1), noise=silent):
    return mine_field(Strings.of(records, ours.spelling), ours, Budget(epsilon, draw=noise))


class Blind(Seeded):
    """Noisy values that have nothing to do with the true ones, many of them large."""

    def __call__(self, values, scale):
        return super().__call__(np.zeros_like(values), 4 * scale)


def agree(found, expected):
    """Whether counts differ by rounding only, a gram's count being 0 if it is not there."""
    return all(
        abs(found.get(gram, 0) - expected.get(gram, 0)) <= Fraction(1, GRID)
        for gram in found.keys() | expected.keys()
    )


@MINERS
@settings(deadline=None)
@given(data=st.data(), records=TEXTS, epsilon=EPSILONS, seed=SEEDS)
def test_the_tree_agrees_with_its_definition(miner, data, records, epsilon, seed):
    q_max = data.draw(st.integers(1, 3), label="q_max")
    q_min = data.draw(st.integers(1, q_max), label="q_min")
    height = data.draw(st.integers(q_max + 1 if miner == "tree-hybrid" else 1, 6), label="height")
    size = data.draw(st.integers(1, 20), label="size")
    ours = field(miner, q_min=q_min, q_max=q_max, height=height)
    kept = definition.tree(
        records, ours.symbols, epsilon, height, q_max, miner, seeded(seed)
    )  # fmt: skip
    found = mined(records, ours, epsilon, seeded(seed))
    assert found.tree.counts == kept
    counts = dict(zip(found.grams, found.counts, strict=True))
    assert agree(counts, definition.tree_grams(kept, q_min, q_max))
    few = mined(records, ours.model_copy(update={"size": size}), epsilon, seeded(seed))
    best = ranked(counts, size)
    assert (few.grams, few.counts) == (tuple(best), tuple(best.values()))


@MINERS
def test_without_noise_the_tree_finds_the_counts_of_common_prefixes(miner):
    records = ["AB"] * 900 + ["BA"] * 500 + ["C"] * 300
    found = mined(records, field(miner, alphabet="ABC"), Fraction(1))
    assert found.tree.counts == {"A": 900, "B": 500, "C": 300, "AB": 900, "BA": 500}
    assert dict(zip(found.grams, found.counts, strict=True)) == {
        "A": 1400,
        "B": 1400,
        "AB": 900,
        "BA": 500,
        "C": 300,
    }
    assert found.grams == ("A", "B", "AB", "BA", "C")


def test_the_more_symbols_there_are_the_more_records_a_prefix_needs():
    # ln(101) = 4.6 for a hundred symbols and the catch-all; for few symbols, 2.83
    hundred = "".join(chr(0x4E00 + i) for i in range(98)) + "AB"
    records = ["A"] * 4 + ["B"] * 5
    for alphabet, kept in ((hundred, {"B": 5}), ("AB", {"A": 4, "B": 5})):
        ours = field("tree-linear", alphabet=alphabet, height=1)
        assert mined(records, ours).tree.counts == kept


@MINERS
def test_the_default_alphabet_will_do_though_its_blank_comes_last(miner):
    records = ["DE LA CRUZ", "DELACRUZ", "D ARC"] * 500
    ours = Field(name="name", miner=miner)
    tree = mined(records, ours, Fraction(1)).tree
    assert tree.counts["DE "] == tree.counts["DEL"] == tree.counts["D "] == 500


@MINERS
def test_a_tree_as_high_as_a_schema_allows_spells_its_prefixes_right(miner):
    # 28 symbols to the power of 14 do not fit into 64 bits
    name = "HUBERTBLAINEWOLFESCHLEGELSTEINHA"
    ours = Field(name="name", miner=miner, height=32)
    tree = mined([name] * 50, ours, Fraction(2**34)).tree
    assert tree.counts == {name[:level]: 50 for level in range(1, 33)}


@MINERS
@settings(deadline=None)
@given(records=TEXTS, one=st.text(ALPHABET + CATCH_ALL, max_size=8), seed=SEEDS, epsilon=EPSILONS)
def test_one_record_more_changes_what_noise_is_added_to_by_no_more_than_is_paid_for(
    miner, records, one, seed, epsilon
):
    # the noisy values of both runs are the same, so the nodes are, too
    before, after = (Recording(Blind(seed)) for _ in range(2))
    mined(records, field(miner), epsilon, before)
    mined([*records, one], field(miner), epsilon, after)
    assert before.loss(after) <= epsilon


@MINERS
@pytest.mark.parametrize("height", [3, 4, 5])
@pytest.mark.parametrize("times", [0, 1, 40])
def test_a_record_along_a_kept_path_uses_up_what_is_paid_for(miner, height, times):
    class Keeping(Seeded):
        """Keeps all nodes, with counts that let adaptive nodes hurry (1), or not (40)."""

        def __call__(self, values, scale):
            return np.full(len(values), math.ceil(scale * (3 + times)))

    before, after = (Recording(Keeping(0)) for _ in range(2))
    ours = field(miner, alphabet="A", height=height)
    mined([], ours, Fraction(3), before)
    mined(["A" * height], ours, Fraction(3), after)
    assert before.loss(after) == 3


@MINERS
@settings(deadline=None)
@given(records=TEXTS, seed=SEEDS, epsilon=EPSILONS)
def test_every_kept_node_asks_for_every_symbol(miner, records, seed, epsilon):
    source = Recording(Blind(seed))
    ours = field(miner)
    tree = mined(records, ours, epsilon, source).tree
    symbols = len(ours.symbols)
    assert source.lengths[0] == symbols
    assert all(length % symbols == 0 for length in source.lengths)
    parents = 1 + sum(len(prefix) < ours.height for prefix in tree.counts)
    if miner in ("tree-linear", "tree-exponential"):
        assert sum(source.lengths) == symbols * parents
    else:  # what a node in a hurry has kept are leaves
        assert sum(source.lengths) <= symbols * parents


@MINERS
@settings(deadline=None)
@given(some=TEXTS, others=TEXTS, seed=SEEDS)
def test_no_rule_of_the_tree_reads_a_true_count(miner, some, others, seed):
    first, second = (
        mined(records, field(miner), Fraction(1), Blind(seed)) for records in (some, others)
    )
    assert first == second


@MINERS
def test_a_prefix_that_no_record_has_may_be_kept(miner):
    found = [mined(["AB"] * 9, field(miner), Fraction(3), seeded(seed)) for seed in range(99)]
    assert any(set(one.tree.counts) - {"A", "AB"} for one in found)
    assert any(gram not in "AB" for one in found for gram in one.grams)


@MINERS
def test_a_level_costs_no_more_than_is_left_of_its_path(miner):
    for seed in range(20):
        source = Recording(Blind(seed))
        budget = Budget(Fraction(1), draw=source)
        ours = field(miner)
        mine_field(Strings.of(["AB"] * 9, ours.symbols), ours, budget)
        assert budget.spent <= 1
        assert all(1 / scale <= 1 for _, scale in source.calls)


def test_a_node_of_few_records_spends_all_it_has_left_on_its_children():
    class Script(Seeded):
        answers = iter([[2, 9], [5, 0], [3, 0], [7, 8]])

        def __call__(self, values, scale):  # noqa: ARG002
            return np.array(next(self.answers)) if len(values) else values

    # Hybrid shares of 12 are 6, 2 and 4, so a node needs 2.83 * 2 / 2 records to stay on
    # schedule after the first level: A has too few.
    source = Recording(Script(0))
    ours = field("tree-hybrid", alphabet="A", height=3, q_max=1)
    tree = mined([], ours, Fraction(12), source).tree
    assert [1 / scale for values, scale in source.calls if values] == [6, 2, 6, 4]
    star = CATCH_ALL
    assert tree.counts == {
        "A": 2, star: 9, "AA": 3, f"{star}A": 5, f"{star}AA": 7, f"{star}A{star}": 8,
    }  # fmt: skip


@pytest.mark.parametrize("miner", ["tree-linear", "tree-exponential", "tree-adaptive"])
@settings(deadline=None)
@given(
    records=TEXTS,
    epsilon=EPSILONS,
    seed=SEEDS,
    size=st.integers(1, 30),
    lengths=st.tuples(st.integers(1, 4), st.integers(1, 4)).map(sorted),
)
def test_a_tree_read_again_gives_what_mining_anew_with_the_same_noise_would(
    miner, records, epsilon, seed, size, lengths
):
    other = field(miner, size=size, q_min=lengths[0], q_max=lengths[1])
    first = mined(records, field(miner), epsilon, seeded(seed))
    assert read_again(first, other) == mined(records, other, epsilon, seeded(seed))
    assert read_again(first, field(miner)) == first


def test_grams_without_a_tree_cannot_be_read_again():
    without = replace(mined(["AB"] * 90, field("tree-linear")), tree=None)
    with pytest.raises(InvalidParameter, match="prefix tree"):
        read_again(without, field("tree-linear"))


def test_an_empty_tree_has_no_grams():
    assert read_again(Estimates((), (), Tree({})), field("tree-linear")).grams == ()


@MINERS
def test_no_records_at_all_give_an_empty_tree_without_noise(miner):
    for records in ([], ["", ""]):
        found = mined(records, field(miner))
        assert (found.grams, found.tree.counts) == ((), {})


@MINERS
@settings(deadline=None)
@given(records=TEXTS, missing=st.integers(0, 5), seed=SEEDS)
def test_missing_values_contribute_nothing(miner, records, missing, seed):
    assert mined(records, field(miner), Fraction(20), seeded(seed)) == mined(
        [""] * missing + records, field(miner), Fraction(20), seeded(seed)
    )


VALUES = st.lists(st.integers(-20, 20), max_size=9)


@settings(deadline=None)
@given(VALUES)
def test_the_kernel_of_isotonic_regression_agrees_with_the_min_max_formula(values):
    found = decreasing(np.array(values, np.float64))
    expected = [float(value) for value in definition.decreasing(values)]
    assert np.allclose(found, expected, rtol=0, atol=1e-9)


@settings(deadline=None)
@given(VALUES, st.integers(0, 40))
def test_the_kernel_of_projection_agrees_with_the_definition(values, limit):
    found = project(np.array(values, np.float64), float(limit))
    expected = [float(value) for value in definition.project(values, Fraction(limit))]
    assert np.allclose(found, expected, rtol=0, atol=1e-9)


@given(VALUES, st.integers(0, 40), st.data())
def test_no_allowed_point_is_closer_than_the_projection(values, limit, data):
    # the definition's own proof: it is the reference for the kernel
    found = definition.project(values, Fraction(limit))
    assert min(found, default=0) >= 0
    assert sum(found) <= limit
    other = data.draw(st.lists(st.integers(0, 20), min_size=len(values), max_size=len(values)))
    if sum(other) > limit:
        other = [Fraction(x * limit, sum(other)) for x in other]

    def distance(point):
        return sum((x - y) ** 2 for x, y in zip(point, values, strict=True))

    assert distance(found) <= distance(other)


def in_order(counts):
    return {prefix: counts[prefix] for prefix in sorted(counts, key=lambda p: (len(p), p))}


COUNTS = st.integers(-3, 40)
TREES = st.lists(st.text("AB", min_size=1, max_size=5), max_size=10).flatmap(
    lambda leaves: st.fixed_dictionaries(
        {leaf[:end]: COUNTS for leaf in leaves for end in range(1, len(leaf) + 1)}
    ).map(in_order)
)


@settings(deadline=None)
@given(TREES)
def test_the_kernel_of_consistency_agrees_with_the_definition(counts):
    expected = definition.consistent(counts)
    tree = Tree(counts)
    found = consistent(np.array([*counts.values()], np.float64), tree.parents)
    assert np.allclose(found, [float(expected[p]) for p in counts], rtol=0, atol=1e-9)


@settings(deadline=None)
@given(TREES)
def test_consistent_counts_contradict_each_other_nowhere(counts):
    found = consistent(np.array([*counts.values()], np.float64), Tree(counts).parents)
    smooth = dict(zip(counts, found, strict=True))
    assert min(found, default=0) >= 0
    for parent in counts:
        children = [smooth[prefix] for prefix in counts if prefix[:-1] == parent]
        assert sum(children) <= smooth[parent] + 1e-9


def test_the_children_of_a_prefix_that_is_projected_to_nothing_are_nothing():
    # "A" has no room for "AC" beside two siblings of 40, so there is no "ACA" either
    counts = {"A": 60, "AA": 40, "AB": 40, "AC": 6, "ACA": 6}
    found = dict(Tree(counts).grams(1, 3, GRID))
    assert found["ACA"] == found["CA"] == found["AC"] == 0


def test_a_tree_knows_its_parents():
    counts = {"B": 1, "A": 1, "BB": 1, "AB": 1, "AA": 1, "ABA": 1}
    assert Tree(counts).parents.tolist() == [-1, -1, 0, 1, 1, 3]
