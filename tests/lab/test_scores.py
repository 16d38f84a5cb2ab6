import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlink.lab.scores import Scores, score

PAIRS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")))


@given(links=PAIRS, truth=PAIRS)
def test_scores_agree_with_their_definitions(links, truth):
    scores = score(iter(links), iter(truth))
    correct = len(set(links) & set(truth))
    assert scores == Scores(len(set(links)), len(set(truth)), correct)
    if correct:
        assert scores.precision == correct / len(set(links))
        assert scores.recall == correct / len(set(truth))
        harmonic = 2 / (1 / scores.precision + 1 / scores.recall)
        assert scores.f1 == pytest.approx(harmonic)
    else:
        assert (scores.precision, scores.recall, scores.f1) == (0, 0, 0)


def test_all_and_only_the_truth_scores_1():
    scores = score([("a", "x"), ("b", "y")], [("b", "y"), ("a", "x"), ("a", "x")])
    assert (scores.precision, scores.recall, scores.f1) == (1, 1, 1)


def test_the_sides_of_a_pair_are_not_exchanged():
    assert score([("a", "x")], [("x", "a")]).correct == 0


def test_no_links_and_no_truth_score_0():
    assert (Scores(0, 0, 0).precision, Scores(0, 0, 0).recall, Scores(0, 0, 0).f1) == (0, 0, 0)
