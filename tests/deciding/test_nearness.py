"""Records of one field: how likely pairs are matches, by how near they are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.deciding.joint import Learner, marginals
from gramlink.deciding.linkage import decide_near
from gramlink.deciding.nearness import Chance, _classes, _step, groups_of, judge
from gramlink.deciding.rules import rule_named
from gramlink.embedding.base import merge
from gramlink.embedding.thresholds import coarse, thresholds
from gramlink.embedding.vectors import embed
from gramlink.lab.datasets import corrupt, sample, surnames
from gramlink.matching.pairs import Pairs, match
from gramlink.mining.miners import mine_field
from gramlink.privacy.budget import Budget
from gramlink.records.choices import RULES
from gramlink.records.schema import checked_schema
from gramlink.records.strings import Strings
from reference import nearness as definition

SIZES, SCALE = (5, 4), 6
FIVE = np.full(5, 7)  # records of one length
DISTANCES = st.sampled_from([0, 9, 18, 36, 40, 72, 200, 5000])
NEAR = st.dictionaries(
    st.tuples(st.integers(0, SIZES[0] - 1), st.integers(0, SIZES[1] - 1)), DISTANCES, max_size=9
).map(lambda found: sorted(((i, j, d) for (i, j), d in found.items()), key=in_order))
WITHIN = st.dictionaries(
    st.tuples(st.integers(0, SIZES[0] - 1), st.integers(0, SIZES[0] - 1)), DISTANCES, max_size=12
).map(lambda found: sorted(((i, j, d) for (i, j), d in found.items()), key=in_order))


LENGTHS = st.lists(st.integers(1, 9), min_size=SIZES[0], max_size=SIZES[0])


def in_order(pair):
    return pair[0], pair[2], pair[1]


def forest(pairs):
    """The pairs but for those that would close a circle, in which learning is not quite exact."""
    trees, kept = {}, []
    for i, j, squared in pairs:
        one, other = (trees.setdefault(record, {record}) for record in (("l", i), ("r", j)))
        if one is not other:
            one |= other
            trees.update(dict.fromkeys(other, one))
            kept.append((i, j, squared))
    return kept


def as_pairs(listed):
    columns = zip(*listed, strict=True) if listed else ((), (), ())
    return Pairs(*(np.array(column, np.int64) for column in columns), SCALE)


def judged_of(pairs, within, lengths=FIVE, rule="one-to-one", coverage=1.0, sizes=SIZES):
    return judge(as_pairs(pairs), as_pairs(within), lengths, sizes, rule_named(rule), coverage)


@given(lengths=st.lists(st.integers(0, 30), max_size=60))
def test_groups_are_of_records_of_about_the_same_length(lengths):
    found = groups_of(np.array(lengths, np.int64)).tolist()
    assert found == (definition.groups(lengths) if lengths else [])


@settings(deadline=None, max_examples=100)
@given(pairs=NEAR.filter(len), within=WITHIN, lengths=LENGTHS)
def test_chance_agrees_with_its_definition(pairs, within, lengths):
    ours, own = as_pairs(pairs), as_pairs(within)
    step = _step(ours, own)
    classes = _classes(ours, step)
    class_of = definition.classes(pairs, within, SCALE)
    assert classes.tolist() == [class_of[squared] for _, _, squared in pairs]
    count = 1 + max(classes.tolist())
    chance = Chance.of(own, step, groups_of(np.array(lengths)), count)
    expected = definition.chance(within, class_of, lengths, count)
    of_pairs = [expected[i][class_of[squared]] for i, _, squared in pairs]
    assert chance.of_pairs(ours.left, classes) == pytest.approx(of_pairs)
    assert chance.expected == pytest.approx([sum(row[k] for row in expected) for k in range(count)])


@pytest.mark.parametrize("rule", RULES)
@settings(deadline=None, max_examples=25)
@given(pairs=NEAR.map(forest), within=WITHIN, lengths=LENGTHS)
def test_what_is_learnt_agrees_with_its_definition(rule, pairs, within, lengths):
    judged = judged_of(pairs, within, np.array(lengths), rule, 0.99)
    probability, matches = definition.judge(pairs, within, lengths, SIZES, SCALE, rule, 0.99)
    assert judged.probability == pytest.approx(probability, abs=0.02)
    assert judged.matches == pytest.approx(matches, abs=0.1)


@settings(deadline=None, max_examples=50)
@given(pairs=NEAR, within=WITHIN, seed=st.integers(0, 2**32))
def test_other_numbers_for_the_records_change_nothing(pairs, within, seed):
    source = np.random.default_rng(seed)
    one, other = (source.permutation(size).tolist() for size in SIZES)
    turned = sorted(((one[i], other[j], d) for i, j, d in pairs), key=in_order)
    own = sorted(((one[i], one[j], d) for i, j, d in within), key=in_order)
    before, after = (judged_of(*files).probability for files in ((pairs, within), (turned, own)))
    places = {pair[:2]: place for place, pair in enumerate(turned)}
    assert [after[places[one[i], other[j]]] for i, j, _ in pairs] == pytest.approx(
        before.tolist(), abs=1e-6
    )


@settings(deadline=None, max_examples=50)
@given(pairs=NEAR.filter(len), within=WITHIN)
def test_no_record_has_more_than_one_match_on_average(pairs, within):
    judged = judged_of(pairs, within)
    for side in range(2):
        assert np.bincount([pair[side] for pair in pairs], judged.probability).max() <= 1 + 1e-9
    assert judged.matches <= min(SIZES)


def test_a_left_record_with_many_neighbours_is_matched_with_less_confidence():
    pairs = [(i, i, 0) for i in range(50)] + [(50, 50, 36), (51, 51, 36)]
    within = [(50, other, 36) for other in range(40)]
    judged = judged_of(pairs, within, np.full(100, 7), sizes=(100, 100))
    assert judged.probability[50] < judged.probability[51]


@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_step_by_step_a_learner_comes_to_the_joint_probabilities(data):
    drawn = data.draw(
        st.dictionaries(
            st.tuples(st.integers(0, 6), st.integers(0, 6)), st.floats(-6, 3), min_size=1
        )
    )
    left, right = (np.array([pair[side] for pair in drawn]) for side in range(2))
    log_odds = np.array(list(drawn.values()))
    for rule in map(rule_named, RULES):
        learner = Learner(left, right, (7, 7), rule)
        for _ in range(300):
            found = learner.nearer(log_odds)
        assert found == pytest.approx(marginals(left, right, log_odds, rule), abs=0.05)


@pytest.mark.parametrize("overlap", [1.0, 0.5])
def test_surnames_are_linked_well_and_the_estimates_come_true(overlap):
    count = 1500
    names = sample(surnames(), int(count * (2 - overlap)), seed=5)
    schema = checked_schema(fields=({"name": "surname", "size": 1000, "miner": "exact"},))
    (field,) = schema.fields
    left, plain = (Strings.of(some, field.spelling) for some in (names[:count], names[-count:]))
    right = corrupt(plain, 1, seed=5)
    base = merge((mine_field(side, field, Budget(0)) for side in (left, right)), field.size)
    limits = coarse(thresholds(left, base, field, schema), base.scale)[:, -1]
    ours, theirs = embed(left, base), embed(right, base)
    first = len(names) - count
    ids = [f"{row:05}" for row in range(len(names))]
    linkage = decide_near(
        match(ours, limits, theirs), match(ours, limits, ours), ours.counts.sum(axis=1),
        ids[:count], ids[first:],
        "one-to-one", 0.5, 0.1, schema.recall,
    )  # fmt: skip
    links, truth = linkage.links, count - first
    correct = sum(one == other for one, other in zip(links.left, links.right, strict=True))
    assert 2 * correct / (len(links) + truth) > (0.99 if overlap == 1 else 0.92)
    assert linkage.precision == pytest.approx(correct / len(links), abs=0.04)
    assert linkage.recall == pytest.approx(correct / truth, abs=0.04)
