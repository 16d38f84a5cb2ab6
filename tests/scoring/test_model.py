import json
import math
from dataclasses import replace

import numpy as np
import pytest

from gramlink.errors import InvalidFile
from gramlink.matching.chance import Gaps
from gramlink.matching.passes import SWAP, Pass
from gramlink.records.levels import Levels
from gramlink.scoring.mixture import Patterns, Sort
from gramlink.scoring.model import DISTRUST, ODD, TRUST, Model, Within

NAMES, LEVELS = ("surname", "born"), (Levels(1), Levels(0))
GOOD = Sort(90.0, (np.array([0.8, 0.12, 0.08, 1]), np.array([0.9, 0.1, 1])))
MOVED = Sort(10.0, (np.array([0.2, 0.1, 0.7, 1]), np.array([0.9, 0.1, 1])))
RANDOM = Sort(10_000.0, (np.array([0.01, 0.02, 0.97, 1]), np.array([0.001, 0.999, 1])))
RELATED = Sort(50.0, (np.array([0.9, 0.02, 0.08, 1]), np.array([0.01, 0.99, 1])))
SEEN = Patterns(np.array([[0, 1], [2, 1], [1, 0]]), np.array([40, 9000, 3]), LEVELS)
# a surname is missing in a tenth of the pairs, in half of these with the date of birth
GAPS = Gaps(np.array([[False, False], [True, False], [True, True]]), np.array([0.9, 0.05, 0.05]))
WITHIN = Within(SEEN, GAPS, Sort(8_000.0, RANDOM.shares), (Sort(30.0, RELATED.shares),))
EVERY = np.array([[a, b] for a in range(4) for b in range(3)])


def model(**changes):
    parts = {
        "names": NAMES,
        "levels": LEVELS,
        "pairs": 10_000,
        "gaps": GAPS,
        "matches": (GOOD, MOVED),
        "random": RANDOM,
        "related": (RELATED,),
        "passes": (Pass({"surname": 1}), Pass({"born": 0})),
        "within": WITHIN,
    }
    return Model(**{**parts, **changes})


def test_weights_are_log2_of_m_over_u():
    weights = model().weights
    assert list(weights) == list(NAMES)
    assert list(weights["surname"]) == ["equal", "within 1", "farther", "missing"]
    assert list(weights["born"]) == ["equal", "farther", "missing"]
    assert weights["surname"]["equal"] == pytest.approx(np.log2((0.9 * 0.8 + 0.1 * 0.2) / 0.01))
    assert weights["born"]["missing"] == pytest.approx(0)
    assert model().prior == pytest.approx(100 / 10_000)


def test_a_missing_value_weighs_nothing():
    for weights in model().weights.values():
        assert weights["missing"] == 0
    missing = np.array([[3, 2]])
    assert model().log_matches(missing) == pytest.approx(np.log(100))


def alike(*equal, count=10.0):
    """A sort of pairs that are equal so often in each of three fields."""
    return Sort(count, tuple(np.array([share, 1 - share, 1]) for share in equal))


def test_who_differs_in_what_a_household_does_not_share_is_no_match():
    names, levels = ("surname", "street", "born"), (Levels(0),) * 3
    gaps = Gaps(np.zeros((1, 3), np.bool_), np.ones(1))
    relatives = alike(0.9, 0.9, 0.01, count=500.0)
    strangers = alike(0.001, 0.001, 0.001, count=10_000.0)
    files = model(
        names=names, levels=levels, gaps=gaps, random=strangers, related=(relatives,), within=None
    )
    # relatives share surname and street, so that the date of birth is all that makes a person
    assert files.could_match(alike(0.05, 0.9, 0.9))
    assert not files.could_match(alike(0.05, 0.05, 0.9))  # in too little they agree
    assert not files.could_match(alike(0.9, 0.9, 0.05))
    # unless there are more of them than relatives
    assert files.could_match(alike(0.9, 0.9, 0.05, count=600.0))
    # where nobody is related, a match may differ in one field
    alone = replace(files, related=())
    assert alone.could_match(alike(0.05, 0.9, 0.9))
    assert alone.could_match(alike(0.9, 0.9, 0.05))
    assert not alone.could_match(alike(0.05, 0.9, 0.05))


def test_relatives_that_everybody_knows_of_tell_what_makes_a_person_where_none_is_learnt():
    names, levels = ("surname", "street", "born"), (Levels(0),) * 3
    gaps = Gaps(np.zeros((1, 3), np.bool_), np.ones(1))
    files = model(
        names=names, levels=levels, gaps=gaps, random=alike(0.001, 0.001, 0.001, count=10_000.0),
        related=(), within=None, known=(alike(0.9, 0.9, 0.01, count=500.0),),
    )  # fmt: skip
    assert files.could_match(alike(0.05, 0.9, 0.9))
    assert not files.could_match(alike(0.9, 0.9, 0.05))
    assert files.could_match(alike(0.9, 0.9, 0.05, count=600.0))
    assert replace(files, known=()).could_match(alike(0.9, 0.9, 0.05))


def test_the_only_field_that_relatives_do_not_share_is_named_if_there_are_many():
    names, levels = ("given", "surname", "street"), (Levels(0),) * 3
    gaps = Gaps(np.zeros((1, 3), np.bool_), np.ones(1))
    strangers = alike(0.001, 0.001, 0.001, count=10_000.0)
    files = model(
        names=names, levels=levels, gaps=gaps, random=strangers, within=None,
        matches=(alike(0.9, 0.9, 0.9, count=100.0),),
        related=(alike(0.01, 0.9, 0.9, count=101.0),),
    )  # fmt: skip
    assert files.alone == "given"
    assert replace(files, related=(alike(0.01, 0.9, 0.9, count=99.0),)).alone is None
    assert replace(files, related=(alike(0.01, 0.1, 0.9, count=500.0),)).alone is None
    two = alike(0.01, 0.9, 0.9, count=101.0)
    shared = replace(files, related=(two, alike(0.9, 0.9, 0.01, count=500.0)))
    assert shared.alone == "street"  # what most relatives do not share


def test_what_is_near_agrees_though_it_is_seldom_equal():
    misspelt = Sort(10.0, (np.array([0.02, 0.9, 0.08, 1]), np.array([0.9, 0.1, 1])))
    apart = Sort(10.0, (np.array([0.02, 0.02, 0.96, 1]), np.array([0.01, 0.99, 1])))
    assert model().could_match(misspelt)
    assert not model().could_match(apart)


def test_what_is_within_two_edits_does_not_agree_by_that():
    names, levels = ("born", "surname", "city"), (Levels(2), Levels(0), Levels(0))
    gaps = Gaps(np.zeros((1, 3), np.bool_), np.ones(1))
    differs, same = np.array([0.01, 0.99, 1]), np.array([0.9, 0.1, 1])
    random = Sort(10_000.0, (np.array([0.001, 0.002, 0.01, 0.987, 1]), *[differs] * 2))
    files = model(names=names, levels=levels, gaps=gaps, random=random, related=(), within=None)
    one, two = np.array([0.02, 0.9, 0.08, 0, 1]), np.array([0.02, 0.08, 0.9, 0, 1])
    assert files.could_match(Sort(10.0, (one, differs, same)))
    assert not files.could_match(Sort(10.0, (two, differs, same)))


def test_duplicates_agree_in_all_that_makes_a_person_and_nearly_everywhere():
    names, levels = ("given", "born", "surname", "street", "phone"), (Levels(0),) * 5
    gaps = Gaps(np.zeros((1, 5), np.bool_), np.ones(1))
    family = alike(0.01, 0.02, 0.9, 0.9, 0.8, count=500.0)
    strangers = alike(*[0.001] * 5, count=10_000.0)
    file = model(
        names=names, levels=levels, gaps=gaps, random=strangers, related=(family,), within=None
    )
    assert file.same_person(alike(*[0.9] * 5))
    assert file.same_person(alike(0.9, 0.9, 0.9, 0.9, 0.0))  # another telephone
    assert not file.same_person(alike(0.9, 0.9, 0.9, 0.0, 0.0))
    assert not file.same_person(alike(0.0, 0.9, 0.9, 0.9, 0.9))  # a twin
    assert not file.same_person(alike(0.9, 0.0, 0.9, 0.9, 0.9))  # the same name as a parent


def test_shares_of_matches_are_those_of_its_sorts_by_their_counts():
    for one in model().match_shares:
        assert one[:-1].sum() == pytest.approx(1)
        assert one[-1] == pytest.approx(1)
    none = tuple(Sort(0.0, sort.shares) for sort in (GOOD, MOVED))
    assert model(matches=none).match_shares == GOOD.shares
    assert model(matches=none).prior == 0


def test_matches_of_a_pattern_are_those_of_all_sorts():
    expected = np.exp(GOOD.log_expected(EVERY)) + np.exp(MOVED.log_expected(EVERY))
    assert np.exp(model().log_matches(EVERY)) == pytest.approx(expected)
    known = EVERY[(EVERY < [3, 2]).all(axis=1)]
    assert np.exp(model().log_matches(known)).sum() == pytest.approx(100)


def test_other_pairs_are_as_the_sorts_say_where_nothing_was_counted():
    random, related = model(within=None).log_others(EVERY)
    assert random == pytest.approx(RANDOM.log_expected(EVERY))
    assert related == pytest.approx(RELATED.log_expected(EVERY))
    _, none = model(within=None, related=()).log_others(EVERY)
    assert (none == -np.inf).all()


def corrected(seen, expected):
    """The mean of a factor that is about 1 as a rule, and may be any now and then."""
    rules = ((1 - ODD, TRUST), (ODD, DISTRUST))
    # how likely the number is if the factor has a gamma distribution: negative binomial
    likely = [
        share
        * math.gamma(seen + trust) / math.gamma(trust) / math.factorial(seen)
        * (trust / (expected + trust)) ** trust * (expected / (expected + trust)) ** seen
        for share, trust in rules
    ] if seen < 150 else [1.0, 0.0]  # fmt: skip
    means = [(seen + trust) / (expected + trust) for _, trust in rules]
    return sum(p * mean for p, mean in zip(likely, means, strict=True)) / sum(likely)


def test_a_pattern_that_is_seen_far_too_often_is_believed():
    twins = np.array([[1, 0]])
    few = replace(WITHIN, patterns=Patterns(twins, np.array([20]), LEVELS), related=())
    times = np.exp(few.log_correction(twins))[0]
    assert times == pytest.approx(corrected(20, 8000 * 0.02 * 0.001 * 0.9), rel=1e-6)
    assert times > 15
    once = replace(few, patterns=Patterns(twins, np.array([1]), LEVELS))
    assert np.exp(once.log_correction(twins))[0] < 1.1


def test_pairs_that_are_equal_throughout_are_as_the_sorts_say_since_the_same_is_sent_once():
    assert np.exp(WITHIN.log_correction(np.array([[0, 0]]))) == pytest.approx(1)


def test_other_pairs_are_corrected_by_counts_the_more_so_the_larger_they_are():
    chosen = SEEN.levels
    both = np.exp(np.logaddexp(*model().log_others(chosen)))
    sorts = np.exp(np.logaddexp(*model(within=None).log_others(chosen)))
    expected = sum(np.exp(one.log_expected(chosen)) for one in (WITHIN.random, *WITHIN.related))
    expected *= 0.9  # of all pairs, so many miss nothing
    times = [corrected(int(n), float(e)) for n, e in zip(SEEN.counts, expected, strict=True)]
    assert both == pytest.approx(sorts * times, rel=1e-5)
    assert (both / sorts)[1] == pytest.approx(9000 / expected[1], rel=0.01)
    unseen = np.array([[1, 1]])  # what was never seen is expected all the same, but less
    assert np.exp(WITHIN.log_correction(unseen)) < 1
    # the two parts keep their proportion
    random, related = model().log_others(chosen)
    one, other = model(within=None).log_others(chosen)
    assert random - related == pytest.approx(one - other)


def test_a_pass_that_finds_a_share_of_what_meets_it_covers_as_much():
    passes = (Pass({"surname": 1}, share=0.5), Pass({"born": 0}, share=0.8))
    expected = 0.0
    for part, near, equal in ((0.9, 0.92, 0.9), (0.1, 0.3, 0.9)):
        none = 1 - (1 - 0.5 * near) * (1 - 0.8 * equal)
        expected += part * (0.9 * none + 0.05 * 0.8 * equal)
    assert model(passes=passes).coverage == pytest.approx(expected, abs=0.005)
    assert model(passes=passes).coverage < model().coverage
    whole = tuple(replace(one, share=1.0) for one in passes)
    assert model(passes=whole).coverage == model().coverage


def test_coverage_is_the_share_of_matches_that_meet_a_pass():
    found = 0.0
    for sort in (GOOD, MOVED):
        near, born = sort.shares[0][:2].sum(), sort.shares[1][0]
        either = 1 - (1 - near) * (1 - born)
        found += sort.count / 100 * (0.9 * either + 0.05 * born)
    assert model().coverage == pytest.approx(found, abs=0.005)
    assert model().coverage == model().coverage
    both = model(passes=(Pass({"surname": 0, "born": 0}),))
    assert both.coverage == pytest.approx(0.9 * (0.9 * 0.72 + 0.1 * 0.18), abs=0.005)


def test_a_model_comes_back_from_its_file():
    back = Model.from_json(model().to_json(), "model.json")
    assert back.to_json() == model().to_json()
    assert (back.names, back.levels, back.pairs) == (NAMES, LEVELS, 10_000)
    assert [dict(one.edits) for one in back.passes] == [{"surname": 1}, {"born": 0}]
    assert np.array_equal(back.log_matches(EVERY), model().log_matches(EVERY))
    for one, other in zip(back.log_others(EVERY), model().log_others(EVERY), strict=True):
        assert np.array_equal(one, other)
    unsteady = model(steady=False)
    assert Model.from_json(unsteady.to_json(), "x").to_json() == unsteady.to_json()
    bare = model(within=None, related=())
    assert Model.from_json(bare.to_json(), "x").to_json() == bare.to_json()
    none = Patterns(np.empty((0, 2), np.int64), np.empty(0, np.int64), LEVELS)
    nothing = model(within=Within(none, GAPS, RANDOM, ()))
    assert Model.from_json(nothing.to_json(), "x").to_json() == nothing.to_json()


SWAPPING = (Levels(1, "surname"), Levels(0, "given_name", leads=False))
TURNED = Sort(10.0, (np.array([0.1, 0.05, 0.05, 0.8, 1]), np.array([0.2, 0.8, 1, 1])))


def swapping(**changes):
    usual = Sort(90.0, (np.array([0.85, 0.05, 0.06, 0.04, 1]), np.array([0.9, 0.1, 1, 1])))
    random = Sort(10_000.0, (np.array([0.01, 0.02, 0.969, 0.001, 1]), np.array([0.01, 0.99, 1, 1])))
    # fmt: off
    parts = {"names": ("given_name", "surname"), "levels": SWAPPING, "matches": (usual, TURNED),
             "random": random, "related": (), "within": None,
             "passes": (Pass({"surname": 0}), Pass(dict.fromkeys(("given_name", "surname"), SWAP)))}
    # fmt: on
    return model(**{**parts, **changes})


def test_of_two_swapped_fields_one_weighs():
    weights = swapping().weights
    assert weights["given_name"]["swapped"] == pytest.approx(np.log2((0.9 * 0.04 + 0.08) / 0.001))
    assert weights["surname"]["swapped"] == 0


def test_coverage_counts_fields_that_are_swapped_together():
    nothing_missing = Gaps(np.zeros((1, 2), np.bool_), np.ones(1))
    expected = 0.9 * (0.96 * 0.9 + 0.04) + 0.1 * (0.2 * 0.2 + 0.8)
    assert swapping(gaps=nothing_missing).coverage == pytest.approx(expected, abs=0.006)


def test_pairs_that_are_mostly_swapped_agree_in_both_fields():
    assert swapping().could_match(TURNED)
    farther = Sort(10.0, (np.array([0.1, 0.05, 0.85, 0.001, 1]), np.array([0.2, 0.8, 1, 1])))
    assert not swapping().could_match(farther)


def test_a_model_with_swapped_fields_comes_back_from_its_file():
    back = Model.from_json(swapping().to_json(), "model.json")
    assert back.levels == SWAPPING
    assert [one.edits for one in back.passes] == [one.edits for one in swapping().passes]
    assert back.to_json() == swapping().to_json()
    assert json.loads(swapping().to_json())["swaps"] == [["given_name", "surname"]]


@pytest.mark.parametrize(
    "swaps", [[["given_name", "x"]], [["given_name", "given_name"]], [], [["surname"]], [1]]
)
def test_a_model_file_with_other_swaps_is_refused(swaps):
    content = json.loads(swapping().to_json())
    content["swaps"] = swaps
    with pytest.raises(InvalidFile):
        Model.from_json(json.dumps(content).encode(), "model.json")


def test_a_model_file_is_one_that_a_person_can_read():
    content = json.loads(model().to_json())
    assert content["gramlink"] == "model"
    assert content["levels"]["born"] == ["equal", "farther", "missing"]
    assert content["matches"][0]["shares"]["born"] == [0.9, 0.1, 1]


def change(*path, to):
    def changed(content):
        place = content
        for key in path[:-1]:
            place = place[key]
        if to is KeyError:
            del place[path[-1]]
        else:
            place[path[-1]] = to

    return changed


DAMAGES = [
    *(
        change(key, to=KeyError)
        for key in (
            "pairs",
            "levels",
            "passes",
            "gaps",
            "random",
            "within",
            "related",
            "matches",
            "steady",
        )
    ),
    change("steady", to=1),
    change("pairs", to="many"),
    change("levels", to=["surname", "born"]),
    change("levels", "born", to=["equal", "farther"]),
    change("levels", "born", to=7),
    change("random", "shares", "born", to=[0.5, 0.5]),
    change("random", "shares", "born", to=["a", "b", "c"]),
    change("random", "shares", "born", to=KeyError),
    change("matches", 0, "count", to=None),
    change("matches", to=7),
    change("passes", to=[{}]),
    change("passes", to=7),
    *(change("within", key, to=KeyError) for key in ("patterns", "gaps", "random", "related")),
    change("gaps", to={"0": 1.0}),
    change("gaps", to={}),
    change("gaps", "00", to="x"),
    change("within", "patterns", to={"0": 1}),
    change("within", "patterns", to={"xy": 1}),
    change("within", to=[1]),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_model_is_refused(damage):
    content = json.loads(model().to_json())
    damage(content)
    with pytest.raises(InvalidFile, match=r"model\.json is damaged"):
        Model.from_json(json.dumps(content).encode(), "model.json")


SENSELESS = [
    change("gaps", to={"00": 0.0}),
    change("gaps", to={"00": -1.0, "01": 2.0}),
    change("matches", to=[]),
    change("pairs", to=0),
    change("matches", 0, "count", to=float("nan")),
    change("matches", 0, "count", to=-5),
    change("random", "shares", "born", to=[0.0, 1.0, 0.0]),
    change("random", "shares", "born", to=[-1.0, 1.0, 1.0]),
    *(
        change("passes", to=[wrong])
        for wrong in ({"surname": "x"}, {"nothing": 1}, {"surname": 2}, {"surname": -1})
    ),
    change("within", "patterns", to={"01": "x"}),
    change("within", "patterns", to={"01": -3}),
]


@pytest.mark.parametrize("damage", SENSELESS)
def test_a_model_that_makes_no_sense_is_refused(damage):
    content = json.loads(model().to_json())
    damage(content)
    with pytest.raises(InvalidFile, match=r"model\.json is damaged"):
        Model.from_json(json.dumps(content).encode(), "model.json")


def test_another_file_is_not_a_model():
    with pytest.raises(InvalidFile, match="is not a model file but a projection file"):
        Model.from_json(b'{"gramlink": "projection", "version": 1}', "x.json")
    with pytest.raises(InvalidFile, match="damaged or not a model file"):
        Model.from_json(b"PK\x03\x04", "x.json")
