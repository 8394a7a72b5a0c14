"""delta by stretched means, against quadrature and closed forms, and intervals that keep their level.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8, and a test of a
miss rate has one of 1e-6 at most.
"""

import mpmath
import numpy as np
import pytest
from allocation_references import adding, removing
from scipy.integrate import quad
from scipy.stats import binom, norm

from tcdp_sim import UserError
from tcdp_sim.core.numerics import TINY
from tcdp_sim.exact import Bounds, Estimate
from tcdp_sim.exact.training import moments, stretched_means
from tcdp_sim.exact.training.moments import Moments

DIRECTIONS = ("forward", "backward")
MIXTURES = {  # means as rows, weights, sigma
    "one": (np.array([[1.0]]), np.array([1.0]), 0.7),
    "bins": (np.eye(2), np.array([0.5, 0.5]), 0.8),
    "unequal": (np.array([[1.0], [2.0]]), np.array([0.7, 0.3]), 1.0),
    "overlap": (np.array([[1.0, 0.5], [0.2, 1.5], [0.0, 0.3]]), np.array([0.2, 0.3, 0.5]), 0.9),
}


def kappa_of(means, sigma):
    return float((means**2).sum(axis=1).max()) / sigma**2


def drawn(means, weights, sigma, alpha, direction, size, rng):
    """Losses and log weights of draws from the stretched mixture."""
    factor = alpha if direction == "forward" else 1 - alpha
    x = factor * means[rng.choice(len(means), size, p=weights)] + sigma * rng.standard_normal((size, means.shape[1]))
    squares, logs = (means**2).sum(axis=1), np.log(weights)
    return stretched_means.losses(x @ means.T, squares, logs, sigma, alpha, direction)


def delta_on_a_grid(means, weights, sigma, epsilon, direction):
    """The hockey-stick divergence by the sum over a fine grid, up to 1e-4 of it in two dimensions."""
    axis = np.linspace(-9.0, 11.0, 200_001 if means.shape[1] == 1 else 2001)
    points = np.stack(np.meshgrid(*[axis] * means.shape[1], indexing="ij"), axis=-1)
    cell = (axis[1] - axis[0]) ** means.shape[1]

    def density(mean):
        return norm.pdf(points, mean, sigma).prod(axis=-1)

    mixed, plain = sum(w * density(m) for w, m in zip(weights, means)), density(np.zeros(means.shape[1]))
    p, q = (mixed, plain) if direction == "forward" else (plain, mixed)
    return float(np.maximum(p - np.exp(epsilon) * q, 0.0).sum() * cell)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("name", MIXTURES)
def test_the_mean_is_delta_whatever_the_stretch(name, direction):
    means, weights, sigma = MIXTURES[name]
    truth = delta_on_a_grid(means, weights, sigma, 0.8, direction)
    for alpha in (1.0, stretched_means.best_stretch(kappa_of(means, sigma), 0.8).alpha, 2.5):
        loss, log_weight = drawn(means, weights, sigma, alpha, direction, 40_000, np.random.default_rng(4))
        found = Moments.of(stretched_means.values(loss, log_weight, 0.8, np.inf))
        assert abs(found.mean - truth) < 5.5 * found.relative_error * found.mean + 1e-4 * truth


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("name", MIXTURES)
def test_no_value_exceeds_the_bound(name, direction):
    means, weights, sigma = MIXTURES[name]
    kappa = kappa_of(means, sigma)
    for epsilon in (0.0, 0.5, 3.0, 10.0):
        stretch = stretched_means.best_stretch(kappa, epsilon)
        loss, log_weight = drawn(means, weights, sigma, stretch.alpha, direction, 20_000, np.random.default_rng(5))
        raw = stretched_means.values(loss, log_weight, epsilon, np.inf)
        assert raw.max() <= stretch.bound * (1 + 1e-12)
        if name == "one" and raw.max() > 0:  # a single mean attains the bound where L = epsilon + log(a / (a - 1))
            assert raw.max() > 0.98 * stretch.bound


@pytest.mark.parametrize("kappa", [1e-6, 0.04, 1.0, 4.0, 30.0, 400.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 4.0, 60.0])
def test_the_best_stretch_has_the_least_bound(kappa, epsilon):
    def bound(alpha):
        with mpmath.workdps(60):
            a = mpmath.mpf(alpha)
            excess = kappa * (a * a - a) / 2 - (a - 1) * mpmath.mpf(epsilon)
            return (a - 1) ** (a - 1) * a**-a * mpmath.exp(excess)

    alpha, found = stretched_means.best_stretch(kappa, epsilon)
    if alpha - 1 < 1e-9:
        assert found == pytest.approx(1.0, abs=1e-8)
        return
    exact = bound(alpha)
    assert exact <= found * (1 + 1e-12)
    assert found <= max(exact * (1 + 1e-6), TINY)
    for factor in (0.9, 1.1):
        assert bound(1 + factor * (mpmath.mpf(alpha) - 1)) >= exact * (1 - 1e-9)
    assert found <= 1.0  # the limit at alpha = 1 is 1, so the best one never exceeds it


@pytest.mark.parametrize(("sigma", "epsilon"), [(0.5, 5.0), (1.0, 2.0), (2.0, 0.5)])
def test_one_of_two_steps_against_quadrature(sigma, epsilon):
    stretch = stretched_means.best_stretch(1 / sigma**2, epsilon)
    for direction, truth in zip(DIRECTIONS, (adding(sigma, 2, epsilon), removing(sigma, 2, epsilon))):
        loss, log_weight = drawn(
            np.eye(2), np.full(2, 0.5), sigma, stretch.alpha, direction, 100_000, np.random.default_rng(6)
        )
        values = Moments.of(stretched_means.values(loss, log_weight, epsilon, stretch.bound))
        found = moments.bernstein(values, stretch.bound, 1 - 1e-7, "stretched means")
        assert found.lower <= truth <= found.upper
        if truth > 1e-9:
            assert found.effective > 1000 or direction == "backward"


def test_epochs_add_losses_and_weights():
    """Two epochs of one Gaussian step are one Gaussian step of sigma / sqrt(2), with the bound of the summed kappa."""
    sigma, epsilon, rng = 1.0, 3.0, np.random.default_rng(7)
    stretch = stretched_means.best_stretch(2 / sigma**2, epsilon)
    parts = [drawn(*MIXTURES["one"][:2], sigma, stretch.alpha, "forward", 50_000, rng) for _ in range(2)]
    loss, log_weight = (sum(each) for each in zip(*parts))
    raw = stretched_means.values(loss, log_weight, epsilon, np.inf)
    mu = np.sqrt(2) / sigma
    truth = norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    found = Moments.of(raw)
    assert raw.max() <= stretch.bound
    assert abs(found.mean - truth) < 5.5 * found.relative_error * found.mean


def missed(law, mean, bound, level, draws, repetitions=2000):
    """The number of intervals that miss the mean."""
    rng = np.random.default_rng(8)
    found = (moments.bernstein(Moments.of(law(rng, draws)), bound, level, "") for _ in range(repetitions))
    return sum(not each.lower <= mean <= each.upper for each in found)


@pytest.mark.parametrize("rare", [0.5, 0.05, 0.003])
def test_an_interval_misses_no_more_often_than_it_says(rare):
    """Rare values at the bound are the worst case; with 100 draws most samples do not see them."""
    hits = missed(lambda rng, size: 1.0 * (rng.random(size) < rare), rare, 1.0, 0.9, 100)
    assert binom.sf(hits - 1, 2000, 0.1) > 1e-6


def test_an_interval_of_a_rare_loss_keeps_its_level():
    means, weights, sigma = MIXTURES["bins"]
    epsilon = 6.0
    truth, stretch = adding(sigma, 2, epsilon), stretched_means.best_stretch(1 / sigma**2, epsilon)

    def law(rng, size):
        loss, log_weight = drawn(means, weights, sigma, stretch.alpha, "forward", size, rng)
        return stretched_means.values(loss, log_weight, epsilon, stretch.bound)

    assert truth < 1e-6
    assert binom.sf(missed(law, truth, stretch.bound, 0.9, 300) - 1, 2000, 0.1) > 1e-6
    found = moments.bernstein(Moments.of(law(np.random.default_rng(9), 100_000)), stretch.bound, 0.95, "")
    assert found.upper - found.lower < 0.1 * truth


def test_the_interval_is_the_one_of_maurer_and_pontil():
    values = np.array([0.0, 0.5, 0.25, 1.0, 0.0, 0.125])
    found = moments.bernstein(Moments.of(values), 2.0, 0.9, "")
    each = np.log(4 / 0.1)
    away = np.sqrt(2 * values.var(ddof=1) * each / 6) + 7 * 2.0 * each / 15
    assert moments.half_width(Moments.of(values), 2.0, 0.9, 6) == pytest.approx(away, rel=1e-13)
    assert (found.lower, found.upper) == (0.0, 2.0)
    assert found.effective == pytest.approx(values.sum() ** 2 / (values**2).sum(), rel=1e-13)


def test_draws_for_a_target_have_its_width():
    values = Moments.of(np.random.default_rng(1).random(1000) ** 4)
    needed = moments.draws_for(values, 1.0, 0.95, 0.01)
    assert moments.half_width(values, 1.0, 0.95, needed) == pytest.approx(0.01 * values.mean, rel=1e-4)


def test_moments_of_parts_are_those_of_the_whole():
    values = np.random.default_rng(2).lognormal(size=1001) * 1e-9
    whole = moments.merged([Moments.of(part) for part in np.split(values, [1, 17, 600])])
    assert whole.draws == 1001
    assert whole.mean == pytest.approx(values.mean(), rel=1e-13)
    assert whole.variance == pytest.approx(values.var(ddof=1), rel=1e-12)
    assert whole.largest == values.max()


@pytest.mark.parametrize(
    "values",
    [np.zeros(1000), np.r_[np.ones(3), np.zeros(10**6)], np.r_[np.full(1000, 1e-3), [10.0]], np.ones(50)],
)
def test_few_effective_draws_have_no_normal_interval(values):
    with pytest.raises(UserError, match="effective sample size"):
        moments.normal(Moments.of(values), 0.95, "draws")


def test_draws_that_are_all_zero_have_an_honest_interval():
    found = moments.bernstein(Moments.of(np.zeros(1000)), 0.5, 0.95, "stretched means")
    assert found.estimate == found.lower == found.effective == 0
    assert 0.005 < found.upper < 0.01
    assert found.relative_width == np.inf


def test_an_estimate_says_that_it_has_a_confidence():
    found = Estimate(0.1, 0.2, 0.3, 0.95, "stretched means", 1000, 77.4)
    assert "with confidence 0.95" in repr(found)
    assert "effective sample size 77" in repr(found)
    assert not any(word in repr(found) for word in ("proved", "certified", "bracket"))
    assert not isinstance(found, Bounds)
    assert not isinstance(found, tuple)  # it does not unpack as bounds do
    with pytest.raises(TypeError):
        1 - found
    with pytest.raises(ValueError, match=r"valid: 0\.1 to 0\.3"):
        Estimate(0.1, 0.4, 0.3, 0.95, "", 1, 1.0)


def test_the_grid_agrees_with_quadrature():
    means, weights, sigma = MIXTURES["unequal"]

    def integrand(x):
        mixed = sum(w * norm.pdf(x, m[0], sigma) for w, m in zip(weights, means))
        return max(mixed - np.exp(0.8) * norm.pdf(x, 0, sigma), 0.0)

    assert delta_on_a_grid(means, weights, sigma, 0.8, "forward") == pytest.approx(
        quad(integrand, -9, 11, limit=500)[0], rel=1e-6
    )
