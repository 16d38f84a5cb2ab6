"""An audit of the private miners, as `make bench ARGS="privacy"` does it at length.

With seeded noise it is the same in every run. With the noise of production, a miner that keeps its
epsilon is flagged less than once in a billion runs of the tests.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from benchmarks import canaries
from benchmarks.guessing import Runs, added, loss, odds_at_least
from benchmarks.privacy import Batched, Cheap, drawing, observed, owner

from gramlink.privacy.noise import SYSTEM
from noise import Seeded, seeded

ALPHA = 0.01
RARE = 1e-10
EXCESS = canaries.EXCESS

LEVELGRAM = {
    "levelgram, one length": (canaries.one_length(20), 250),
    "levelgram, many symbols": (canaries.one_length(40, held=12), 500),
    "levelgram, three lengths": (canaries.three_lengths(), 2200),
}
TREES = {
    "linear": (canaries.tree("tree-linear", 3, 60), 1000),
    "exponential": (canaries.tree("tree-exponential", 3, 60), 1000),
    "adaptive": (canaries.tree("tree-adaptive", 3, 15), 1000),
    "hybrid": (canaries.tree("tree-hybrid", 4, 14), 1000),
}
FPM = {"fpm": (canaries.chosen(), 6000), "fpm, hidden": (canaries.unseen(), 10_000)}
CASES = LEVELGRAM | TREES | FPM


class Quick(Seeded):
    """Draws every hidden noise, which of two is quicker than by order statistics."""

    def largest(self, count, of, scale):
        return -np.sort(-self(np.zeros(of, dtype=np.int64), scale))[:count]


def bound(case, miner, runs, alpha=ALPHA):
    """What is lost at least; number by number where one record moves many."""
    found = observed(case, miner, runs)
    return (added(found, case.parts, alpha) if case.parts else loss(found, alpha)).at_least


@pytest.mark.parametrize("name", CASES)
def test_no_private_miner_is_flagged(name):
    case, runs = CASES[name]
    assert bound(case, drawing(case, Quick(11)), runs) <= case.schema.epsilon


@pytest.mark.parametrize("name", LEVELGRAM | TREES)
def test_a_miner_that_spends_a_quarter_more_is_flagged(name):
    case, runs = CASES[name]
    assert case.excess == EXCESS
    assert bound(case, drawing(case, Cheap(EXCESS, Quick(12))), runs) > case.schema.epsilon


@pytest.mark.parametrize("name", FPM)
def test_fpm_that_spends_half_as_much_again_is_flagged(name):
    case, runs = CASES[name]
    mutant = Cheap(Fraction(3, 2) / case.loses, Quick(13))  # a quarter takes `make bench` to see
    assert bound(case, drawing(case, mutant), runs) > case.schema.epsilon


FEW = {
    "levelgram, one length": (canaries.one_length(20), 80),
    "levelgram, three lengths": (canaries.three_lengths(), 250),
    "hybrid": (canaries.tree("tree-hybrid", 4, 14), 300),
    "two fields": (canaries.two_fields(), 250),
    "fpm": (canaries.chosen(fewer=-15), 600),
    "fpm, hidden": (canaries.unseen(other=0), 1100),
}


@pytest.mark.parametrize("name", FEW)
def test_what_an_owner_mines_with_the_noise_of_production_is_not_flagged(name):
    case, runs = FEW[name]
    assert bound(case, owner(case), runs, RARE) <= case.schema.epsilon


@pytest.mark.parametrize("name", FEW)
def test_so_few_runs_flag_noise_that_is_far_too_small(name):
    case, runs = FEW[name]
    mutant = Cheap(Fraction(8 if "fpm" in name else 3), Quick(14))
    assert bound(case, drawing(case, mutant), runs, RARE) > case.schema.epsilon


class Observed(Seeded):
    """Lets a miner keep only what some record holds, as if it had not asked for the rest."""

    def __call__(self, values, scale):
        return np.where(values > 0, super().__call__(values, scale), -(10**6))


@pytest.mark.parametrize(
    ("case", "runs"), [(canaries.one_length(0), 60), (canaries.tree("tree-linear", 1, 0), 400)]
)
def test_a_miner_that_asks_only_for_what_it_saw_is_flagged(case, runs):
    assert bound(case, drawing(case, Observed(15)), runs) > case.schema.epsilon
    assert bound(case, drawing(case, seeded(15)), runs) <= case.schema.epsilon


def test_noise_drawn_in_batches_is_handed_out_once(monkeypatch):
    drawn = []
    monkeypatch.setattr(
        type(SYSTEM),
        "__call__",
        lambda _, values, scale: drawn.append(scale) or np.arange(len(values)),
    )
    source, fives = Batched(), np.full(8000, 5)
    given = [source(fives, Fraction(1)) - 5 for _ in range(3)]
    assert [batch[0] for batch in given] == [0, 8000, 0]
    assert (source(fives, Fraction(2)) == np.arange(8000) + 5).all()
    assert drawn == [1, 1, 2]


def answers(odds, runs, canaries=1, numbers=1):
    """Randomised response, which loses the logarithm of these odds with each number."""
    source = np.random.default_rng(17)
    coins = source.random((runs, canaries)) < 0.5
    lies = source.random((runs, canaries, numbers)) >= odds / (1 + odds)
    return Runs(coins, (coins[:, :, None] ^ lies).astype(float))


def test_what_randomised_response_loses_is_found_and_no_more():
    found = loss(answers(math.e, 4000, 5), ALPHA)
    assert found.trials == 20_000
    assert abs(found.point - 1) < 0.1
    assert 0.85 < found.at_least < found.point


def test_what_an_adversary_sees_nothing_of_loses_nothing():
    assert abs(loss(answers(1, 4000, 5), ALPHA).point) < 0.1


def test_losses_of_numbers_are_added_up():
    runs = answers(math.e, 4000, 5, numbers=3)
    found = added(runs, [slice(0, 1), slice(1, 3)], ALPHA)
    assert abs(found.point - 3) < 0.2
    assert 2.6 < found.at_least < found.point


@pytest.mark.parametrize(("of", "odds"), [(1, 0.5), (20, -1), (20, 2), (300, 1)])
@pytest.mark.parametrize("alpha", [0.05, 1e-6])
def test_the_bound_is_too_high_as_seldom_as_it_says(of, odds, alpha):
    chance = 1 / (1 + math.exp(-odds))
    ways = [math.comb(of, n) * chance**n * (1 - chance) ** (of - n) for n in range(of + 1)]
    wrong = sum(way for n, way in enumerate(ways) if odds_at_least(n, of, alpha) > odds)
    assert wrong <= alpha


def test_the_bound_agrees_with_the_exact_one_where_all_are_right():
    for of, alpha in [(10, 0.05), (40, 1e-3)]:
        chance = alpha ** (1 / of)
        assert odds_at_least(of, of, alpha) == pytest.approx(math.log(chance / (1 - chance)))
