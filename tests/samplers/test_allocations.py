"""Draws of a random allocation, against sums over all choices of steps and against quadrature.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

from itertools import combinations

import numpy as np
import pytest
from allocation_references import adding, removing
from scipy.stats import norm

from tcdp_sim.samplers.allocations import AllocationDraws
from tcdp_sim.samplers.mean_products import log_mean_products
from tcdp_sim.samplers.tilted_ratios import TiltedRatios

rng = np.random.default_rng


def mean(values, truth):
    assert abs(values.mean() - truth) <= 5.5 * values.std() / np.sqrt(len(values))
    return values.std() / np.sqrt(len(values)) / truth


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_mean_products_are_those_of_all_choices_of_steps(k):
    y = rng(2).lognormal(0, 2, (5, 6))
    for factors, found in zip((k - 1, k), log_mean_products(y, k)):
        truth = [np.mean([np.prod(row[list(chosen)]) for chosen in combinations(range(6), factors)]) for row in y]
        np.testing.assert_allclose(found, np.log(truth), rtol=1e-12, atol=1e-15)


def test_mean_products_of_many_and_of_too_few_entries():
    assert log_mean_products(np.full((1, 9_999), 3.0), 100)[1] == pytest.approx(100 * np.log(3), rel=1e-10)
    fewer, none = log_mean_products(np.array([[2.0, 3.0]]), 3)
    assert (fewer[0], none[0]) == (pytest.approx(np.log(6)), -np.inf)
    assert log_mean_products(np.zeros((1, 0)), 1) == (0.0, -np.inf)


@pytest.mark.parametrize("mean_of_x", [0.0, 1.3])
def test_tilted_ratios_have_the_moments_of_the_untilted_law(mean_of_x):
    """Weighted moments 0, 1 and 2 of y; the tilt draws far from the law itself."""
    law = TiltedRatios(0.8, mean_of_x, lambda y: 1.5 * np.log1p(y))
    y, log_weight = law.draw((400, 500), rng(3))
    weight = np.exp(log_weight)
    for power in (0, 1, 2):
        truth = np.exp(power * (0.8 * mean_of_x - 0.32) + 0.5 * (0.8 * power) ** 2)
        assert mean((weight * y**power).ravel(), truth) < 0.01
    assert law.mean_ratio == pytest.approx(y.mean(), rel=0.01)
    assert y.mean() > 1.5 * np.exp(0.8 * mean_of_x)


@pytest.mark.parametrize("epsilon", [0.3, 1.5, 4.0])
@pytest.mark.parametrize("direction", ["adding", "removing"])
def test_a_single_step_is_gaussian_noise(direction, epsilon):
    draws, slopes = AllocationDraws(1.2, 1, 1, epsilon, direction).sample(40_000, rng=rng(4))
    mu = 1 / 1.2
    delta = norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    slope = np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    if direction == "adding":  # nothing is left to draw
        np.testing.assert_allclose(draws, delta, rtol=1e-12)
        np.testing.assert_allclose(slopes, slope, rtol=1e-12)
    else:
        assert mean(draws, delta) < 0.1
        assert mean(slopes, slope) < 0.1


@pytest.mark.parametrize(("steps", "tries"), [(2, 2), (3, 3)])
def test_a_record_in_all_steps_is_gaussian_noise(steps, tries):
    """k = t: the losses add up to that of one step with sensitivity sqrt(t)."""
    mu, epsilon = np.sqrt(steps) / 1.5, 2.0
    delta = norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    for direction in ("adding", "removing"):
        draws, _ = AllocationDraws(1.5, steps, tries, epsilon, direction).sample(40_000, rng=rng(8))
        assert mean(draws, delta) < 0.05


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
    both = -np.expm1(-np.maximum(gap, 0)), np.exp(-gap) * (gap > 0)
    for plain, tilted in zip(both, AllocationDraws(sigma, 3, k, epsilon, direction).sample(100_000, rng=rng(6))):
        error = np.hypot(plain.std() / np.sqrt(size), tilted.std() / np.sqrt(100_000))
        assert abs(plain.mean() - tilted.mean()) <= 5.5 * error
        assert error < 0.02 * plain.mean()  # a lost weight would be seen


@pytest.mark.parametrize(
    ("steps", "k", "epsilon", "direction", "error"),
    [
        (100, 1, 0.858, "adding", 0.12),
        (100, 1, 0.486, "removing", 3),
        (300, 3, 1.2, "adding", 2),
        (300, 3, 1.0, "removing", 3),
    ],
)
def test_rare_deltas_have_small_errors(steps, k, epsilon, direction, error):
    """The standard deviation of a draw over its mean; the weights of a bad tilt are far more unequal."""
    draws, slopes = AllocationDraws(1.0, steps, k, epsilon, direction).sample(200_000 // steps, rng=rng(7))
    assert 1e-8 < draws.mean() < 1e-5
    assert draws.std() < error * draws.mean()
    assert slopes.std() < max(2 * error, 0.3) * slopes.mean()


@pytest.mark.parametrize(
    ("steps", "epsilon", "direction"), [(2, 4.0, "adding"), (3, 0.7, "adding"), (2, 0.5, "removing")]
)
def test_normal_intervals_cover_the_exact_delta(steps, epsilon, direction):
    """400 intervals of 500 draws, against quadrature; fewer than 365 hold once in 2,000 seeds."""
    truth = (adding if direction == "adding" else removing)(1.0, steps, epsilon)
    draws = AllocationDraws(1.0, steps, 1, epsilon, direction).sample(200_000, rng=rng(10))[0].reshape(400, 500)
    middle, reach = draws.mean(axis=1), 1.96 * draws.std(axis=1) / np.sqrt(500)
    covered = np.abs(middle - truth) <= reach
    assert 365 <= covered.sum() < 400
    assert abs(draws.mean() - truth) <= 5.5 * draws.std() / np.sqrt(draws.size)


def test_the_slope_is_the_derivative_of_delta():
    """The same stream at two epsilons, so that the noise of the draws nearly cancels in the difference."""
    found = [AllocationDraws(1.0, 40, 2, 1.0 + h, "adding").sample(20_000, rng=rng(9)) for h in (-0.02, 0.0, 0.02)]
    difference = (found[0][0].mean() - found[2][0].mean()) / 0.04
    assert found[1][1].mean() == pytest.approx(difference, rel=0.02)


def test_blocks_are_drawn_one_after_the_other():
    draws = AllocationDraws(1.0, 5000, 1, 0.1, "removing")
    found = draws.sample(300, rng=rng(1))[0]
    assert len(set(found[found > 0])) == (found > 0).sum() > 100


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sigma": 0.0}, "sigma = 0"),
        ({"steps": 0}, "steps = 0"),
        ({"participations": 11}, "participations = 11 is not valid; valid: a whole number from 1 to 10"),
        ({"epsilon": -1.0}, "epsilon = -1"),
        ({"direction": "up"}, "direction = "),
    ],
)
def test_mistakes_are_one_line(change, message):
    right = {"sigma": 1.0, "steps": 10, "participations": 1, "epsilon": 1.0, "direction": "adding"}
    with pytest.raises(ValueError, match=message):
        AllocationDraws(**(right | change))
