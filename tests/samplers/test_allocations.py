"""Draws of a random allocation, against sums over all choices of steps and against quadrature.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm

from tcdp_sim.samplers.allocations import AllocationDraws, _log_mean_product

rng = np.random.default_rng


def mean(values, truth):
    assert abs(values.mean() - truth) <= 5.5 * values.std() / np.sqrt(len(values))
    return values.std() / np.sqrt(len(values)) / truth


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_the_ratio_is_the_mean_over_all_choices_of_steps(k):
    y = rng(2).lognormal(0, 2, (5, 6))
    truth = [np.mean([np.prod(row[list(chosen)]) for chosen in combinations(range(6), k)]) for row in y]
    np.testing.assert_allclose(_log_mean_product(y, k), np.log(truth), rtol=1e-12)


def test_many_participations_do_not_overflow():
    y = np.full((1, 10_000), 3.0)
    assert _log_mean_product(y, 100) == pytest.approx(100 * np.log(3), rel=1e-10)


@pytest.mark.parametrize("epsilon", [0.3, 1.5, 4.0])
@pytest.mark.parametrize("direction", ["adding", "removing"])
def test_a_single_step_is_gaussian_noise(direction, epsilon):
    draws, slopes = AllocationDraws(1.2, 1, 1, epsilon, direction).sample(40_000, rng=rng(4))
    mu = 1 / 1.2
    delta = norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    slope = np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    assert mean(draws, delta) < 0.1
    assert mean(slopes, slope) < 0.1


@pytest.mark.parametrize(("k", "epsilon"), [(1, 0.8), (2, 1.5), (3, 2.0)])
@pytest.mark.parametrize("direction", ["adding", "removing"])
def test_tilted_draws_have_the_mean_of_plain_ones(direction, k, epsilon):
    """Three steps; plain draws by the definition, with the mixture over all choices of k steps."""
    sigma, size = 1.0, 400_000
    x = rng(5).standard_normal((size, 3))
    if direction == "adding":
        x[:, :k] += 1 / sigma
    y = np.exp(x / sigma - 0.5 / sigma**2)
    ratio = np.mean([np.prod(y[:, list(chosen)], axis=1) for chosen in combinations(range(3), k)], axis=0)
    gap = np.log(ratio) * (1 if direction == "adding" else -1) - epsilon
    plain = -np.expm1(-np.maximum(gap, 0))
    tilted, _ = AllocationDraws(sigma, 3, k, epsilon, direction).sample(100_000, rng=rng(6))
    error = np.hypot(plain.std() / np.sqrt(size), tilted.std() / np.sqrt(100_000))
    assert abs(plain.mean() - tilted.mean()) <= 5.5 * error
    assert error < 0.05 * plain.mean()  # a lost weight would be seen


def test_rare_deltas_have_small_errors():
    draws, _ = AllocationDraws(1.0, 200, 1, 0.7, "adding").sample(20_000, rng=rng(7))
    assert 1e-9 < draws.mean() < 1e-6
    assert draws.std() / np.sqrt(20_000) < 0.1 * draws.mean()


def test_blocks_are_drawn_one_after_the_other():
    draws = AllocationDraws(1.0, 5000, 1, 0.1, "removing")
    found = draws.sample(300, rng=rng(1))[0]
    assert len(set(found[found > 0])) == (found > 0).sum() > 100


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sigma": 0.0}, "sigma = 0 is not valid"),
        ({"steps": 0}, "steps = 0 is not valid"),
        ({"participations": 11}, "participations = 11 is not valid; valid: a whole number from 1 to 10"),
        ({"epsilon": -1.0}, "epsilon = -1 is not valid"),
        ({"direction": "up"}, "direction = "),
    ],
)
def test_mistakes_are_one_line(change, message):
    right = {"sigma": 1.0, "steps": 10, "participations": 1, "epsilon": 1.0, "direction": "adding"}
    with pytest.raises(ValueError, match=message):
        AllocationDraws(**(right | change))
