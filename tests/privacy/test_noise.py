import math
from decimal import Decimal
from fractions import Fraction
from random import SystemRandom

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from gramlink.errors import BudgetExceeded
from gramlink.privacy import noise
from gramlink.privacy.budget import Budget
from gramlink.privacy.noise import SYSTEM, Draw, Rehearsal
from noise import seeded

EPSILONS = st.builds(Fraction, st.integers(1, 10**9), st.integers(1, 10**9))


def follows(found, reference, low, high):
    """Whether values are distributed as the reference is, by a chi-square test.

    Chance alone makes it fail less than once in a million times.
    """
    found, reference = histogram(found, low, high), histogram(reference, low, high)
    expected = reference * (found.sum() / reference.sum())
    common = expected >= 20
    found = np.append(found[common], found[~common].sum())
    expected = np.append(expected[common], expected[~common].sum())
    assert len(expected) > 5
    statistic = ((found - expected) ** 2 / np.maximum(expected, 1)).sum()
    return statistic < len(expected) + 10 * math.sqrt(2 * len(expected))


def histogram(values, low, high):
    return np.bincount(np.clip(values, low, high) - low, minlength=high - low + 1)


@settings(deadline=None)
@given(epsilon=EPSILONS, sensitivity=st.integers(1, 10_000))
def test_opendp_prices_no_release_above_its_epsilon(epsilon, sensitivity):
    scale = sensitivity / epsilon
    mechanism = noise._measurement(scale)
    assert Fraction(mechanism.map(sensitivity)) <= epsilon
    assert Fraction(mechanism.map(1)) * sensitivity <= epsilon
    assert scale <= noise._rounded(scale) <= scale * (1 + Fraction(1, 10**9))


def test_a_release_that_opendp_prices_higher_is_not_drawn(monkeypatch):
    monkeypatch.setattr(noise, "_rounded", lambda scale: float(scale))
    with pytest.raises(BudgetExceeded, match="OpenDP"):
        Budget(Fraction(1)).laplace([1], sensitivity=1, epsilon=Fraction(1, 7))


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(1, Fraction(2)), (6144, Fraction(1, 40))])
def test_opendp_noise_has_the_variance_of_its_scale(sensitivity, epsilon):
    values = np.full(noise.CHUNK + 1, 1000)
    noisy = Budget(Fraction(2)).laplace(values, sensitivity=sensitivity, epsilon=epsilon)
    p = math.exp(-epsilon / sensitivity)
    variance = 2 * p / (1 - p) ** 2
    assert noisy.dtype == np.int64
    assert len(noisy) == len(values)
    assert abs((noisy - 1000).mean()) < 8 * math.sqrt(variance / len(values))
    assert 0.85 < (noisy - 1000).var() / variance < 1.15


def test_opendp_noise_is_discrete_laplace():
    scale, count = Fraction(2), 20_000
    drawn = SYSTEM(np.zeros(count, dtype=np.int64), scale)
    p = math.exp(-1 / scale)
    for value in range(-8, 9):
        chance = (1 - p) / (1 + p) * p ** abs(value)
        deviation = math.sqrt(count * chance * (1 - chance))
        # eight deviations happen by chance less than once in a hundred billion times
        assert abs((drawn == value).sum() - count * chance) < 8 * deviation


def test_the_largest_counts_have_room_for_noise():
    values = np.array([noise.LARGEST, -noise.LARGEST])
    assert np.abs(SYSTEM(values, Fraction(1)) - values).max() < 200


def test_large_vectors_keep_their_order_in_threads():
    values = np.arange(2 * noise.CHUNK + 7) * 1000
    noisy = Budget(Fraction(100)).laplace(values, sensitivity=1, epsilon=Fraction(100))
    assert np.array_equal(noisy, values)  # with this epsilon noise has a chance of 1e-43


def test_every_hidden_rank_is_as_likely_as_the_others():
    source = seeded(5)
    drawn = np.concatenate([source.ranks(3, 10) for _ in range(2000)])
    assert np.abs(np.bincount(drawn, minlength=10) - 600).max() < 6 * math.sqrt(600)


@pytest.mark.parametrize("scale", [Fraction(2, 3), Fraction(5)])
def test_the_quantile_inverts_the_distribution_function(scale):
    p = math.exp(-1 / scale)
    reached = 0.0
    for x in range(-12, 13):
        below, reached = reached, (p**-x if x <= 0 else 1 + p - p ** (x + 1)) / (1 + p)
        if x > -12:
            middle = Decimal((below + reached) / 2)
            assert noise._quantile(middle.ln(), scale) == x


@pytest.mark.parametrize(
    ("source", "count", "of", "runs"),
    [(seeded(1), 1, 1, 2000), (seeded(1), 5, 5, 1000), (SYSTEM, 2, 40, 1000)],
    ids=["one", "all", "few of many"],
)
def test_the_largest_noises_are_distributed_as_those_of_a_brute_force_draw(source, count, of, runs):
    scale = Fraction(3)
    ours = np.array([source.largest(count, of, scale) for _ in range(runs)])
    drawn = seeded(2)(np.zeros(50 * runs * of, dtype=np.int64), scale).reshape(-1, of)
    theirs = -np.sort(-drawn, axis=1)[:, :count]
    for rank in range(count):
        assert follows(ours[:, rank], theirs[:, rank], -25, 40)
    for rank in range(1, count):
        gaps = [kind[:, rank - 1] - kind[:, rank] for kind in (ours, theirs)]
        assert follows(*gaps, 0, 40)


def test_the_test_of_distributions_can_tell_two_scales_apart():
    zeros = np.zeros(1000, dtype=np.int64)
    assert follows(seeded(1)(zeros, 3), seeded(2)(zeros.repeat(50), 3), -25, 40)
    assert not follows(seeded(1)(zeros, 4), seeded(2)(zeros.repeat(50), 3), -25, 40)
    assert not follows(seeded(1)(zeros + 1, 3), seeded(2)(zeros.repeat(50), 3), -25, 40)


def test_the_largest_noises_come_in_descending_order():
    found = SYSTEM.largest(100, 28**5, Fraction(1500))
    assert (np.diff(found) <= 0).all()
    # the largest of n exceeds scale * ln(n / 2) by a Gumbel variable
    assert -6 < found[0] / 1500 - math.log(28**5 / 2) < 30


def test_hidden_and_written_noise_have_the_same_scale(monkeypatch):
    seen = []
    quantile = noise._quantile
    monkeypatch.setattr(
        noise, "_quantile", lambda log, scale: seen.append(scale) or quantile(log, scale)
    )
    SYSTEM.largest(1, 10, Fraction(7))
    assert seen == [Fraction(noise._rounded(Fraction(7)))]
    assert float(seen[0]) > 7


def test_no_source_of_noise_in_the_package_can_be_seeded():
    assert isinstance(SYSTEM.random, SystemRandom)
    assert Draw.__subclasses__()  # those of the tests
    assert [kind for kind in Draw.__subclasses__() if "gramlink" in kind.__module__] == [Rehearsal]


def test_a_rehearsal_tells_nothing_of_the_values_and_fails_where_drawing_would(monkeypatch):
    trial, values = Rehearsal(), np.array([5, 2**40], np.int64)
    assert trial(values, Fraction(3)).tolist() == [0, 0]
    assert len(trial.largest(3, 10, Fraction(1))) == 3
    monkeypatch.setattr(noise, "_rounded", lambda scale: float(scale) / 2)  # twice the price
    with pytest.raises(BudgetExceeded, match="OpenDP puts a higher price"):
        trial(values, Fraction(3))
