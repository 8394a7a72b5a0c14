"""Random allocation, against quadrature for two and three steps, simulation and a Gaussian limit.

The oracles (`allocation_references`) integrate the definition; they use no grid, spread law or transform.
"""

import numpy as np
import pytest
from allocation_references import adding, ratio, removing
from scipy.integrate import quad
from scipy.stats import norm

from tcdp_sim.core.numerics import root
from tcdp_sim.exact import allocation_epsilon, allocation_profile
from tcdp_sim.exact.allocation import profile
from tcdp_sim.exact.allocation.profile import one_large_ratio
from tcdp_sim.exact.allocation.step import spread
from tcdp_sim.exact.allocation.sums import sums

CASES = [(1.0, 2, 0.5), (1.0, 2, 4.0), (0.6, 2, 3.0), (4.0, 2, 0.2), (1.0, 3, 0.7)]


@pytest.mark.parametrize(("sigma", "steps", "epsilon"), CASES)
def test_two_and_three_steps_by_quadrature(sigma, steps, epsilon):
    for direction, truth, tolerance in (
        ("adding", adding(sigma, steps, epsilon), 1e-3),
        ("removing", removing(sigma, steps, epsilon), 0.9),
    ):
        found = allocation_profile(sigma, steps, epsilon, tolerance, direction)
        assert found.lower - 2e-12 <= truth <= found.upper + 2e-12
        assert found.upper - found.lower <= tolerance * found.upper + 1e-11


@pytest.mark.parametrize(("sigma", "steps", "epsilon"), [*CASES, (1.0, 2, 0.01), (0.3, 2, 24.3), (0.3, 2, 20.0)])
def test_one_large_ratio_is_a_lower_end_and_close_for_little_noise(sigma, steps, epsilon):
    """For sigma = .3 the truth is the closed form of one step at the strike that remains after the other's mean."""
    truth = adding(sigma, steps, epsilon)
    found = one_large_ratio(sigma, steps, epsilon)
    assert found <= truth * (1 + 1e-7)
    assert found >= truth * (0.99 if sigma < 0.5 else 0.3)


@pytest.mark.parametrize(("sigma", "epsilon"), [(0.3, 0.01), (0.5, 0.1), (1.0, 0.1)])
def test_one_large_ratio_counts_disjoint_outcomes(sigma, epsilon):
    """Two steps: the mean over the outcomes with one ratio above u and one below, by quadrature, for the best u."""
    c = 2 * np.exp(epsilon)
    z, (x, weight) = np.linspace(-2, 12, 281)[:, None], np.polynomial.legendre.leggauss(400)
    low = -12.0
    other = low + 0.5 * (z - low) * (x + 1)  # below u
    rest = c - ratio(other + 0.5 / sigma, sigma) * np.exp(-0.5 / sigma**2)
    start = np.maximum(z, sigma * np.log(np.maximum(rest, 1e-300)))
    above = norm.sf(start - 1 / sigma) - rest * norm.sf(start)
    truth = (0.5 * (z - low) * weight * norm.pdf(other) * above).sum(axis=1).max()
    found = one_large_ratio(sigma, 2, epsilon)
    assert 0.9 * truth < found <= truth * (1 + 1e-6)


@pytest.mark.parametrize("side", [-0.99, 0.99])
def test_roots_are_rounded_to_the_safe_side(monkeypatch, side):
    """A root finder that is off by as much as its contract allows."""
    monkeypatch.setattr(profile, "root", lambda f, low, high, close: root(f, low, high, 1e-14) + side * close)
    monkeypatch.setattr(profile, "_ends", lambda law, epsilon, direction: (np.exp(-epsilon), np.exp(-epsilon)))
    for delta in (0.3, 0.01):
        ends = [profile._crossing(None, "both", end, delta, 0.0, 9.0, 0.05) for end in (0, 1)]
        assert ends[0] <= -np.log(delta) <= ends[1]
        assert ends[1] - ends[0] == pytest.approx(0.1)
        assert profile._one_step(1.0, profile._step_epsilon(1.0, delta)) <= delta


@pytest.mark.parametrize("points", [2**7, 2**9, 2**11])
def test_coarse_grids_have_wide_brackets_that_hold(points):
    """Two steps: here the spread law alone is off by far more than rounding, so each end has to do its part."""
    sigma, epsilon = 1.0, 0.5
    law = sums(sigma, 2, 3000.0, 6000.0, points)
    for found, truth in (
        (law.adding(epsilon), adding(sigma, 2, epsilon)),
        (law.removing(epsilon), removing(sigma, 2, epsilon)),
    ):
        assert found[0] <= truth <= found[1]
    spread_law = law.with_record.mean(np.maximum(1 - 2 * np.exp(epsilon) / np.maximum(law.value, 1e-9), 0))[0]
    assert spread_law > adding(sigma, 2, epsilon) * (1 + 1e-6)


def test_an_epsilon_rounds_its_roots_outwards(monkeypatch):
    """The same through the public function: with the worst roots allowed its ends still contain the truth."""
    for side in (-0.99, 0.99):
        monkeypatch.setattr(
            profile, "root", lambda f, low, high, close, side=side: root(f, low, high, 1e-14) + side * close
        )
        found = allocation_epsilon(1.0, 2, 1e-4, 0.05)
        assert adding(1.0, 2, found.upper) <= 1e-4 <= adding(1.0, 2, found.lower)


def test_little_noise_has_narrow_brackets():
    """Quadrature at the ends: a record in one of two steps, where one ratio decides."""
    found = allocation_epsilon(0.3, 2, 1e-9, 0.1)
    assert found.upper - found.lower < 0.1
    assert adding(0.3, 2, found.upper) <= 1e-9 * (1 + 1e-6)
    assert adding(0.3, 2, found.lower) >= 1e-9 * (1 - 1e-6)
    many = allocation_epsilon(0.5, 1000, 1e-6, 0.1)
    assert many.upper - many.lower < 0.1


def test_a_large_delta_needs_no_epsilon():
    """The advantage of a single step of sigma = 1 is 2 Phi(1/2) - 1 = .383, and nothing is above delta = .999."""
    for delta in (0.39, 0.999999999):
        assert allocation_epsilon(1.0, 100, delta) == (0.0, 0.0, 0.0)
    assert allocation_epsilon(1.0, 2, 0.01).lower > 0


def test_the_larger_direction_counts():
    both = [allocation_profile(1.0, 2, 0.5, direction=direction).upper for direction in ("adding", "removing")]
    assert allocation_profile(1.0, 2, 0.5).upper == max(both)


@pytest.mark.parametrize(("sigma", "steps"), [(1.0, 2), (0.7, 2)])
def test_epsilon_is_the_inverse_of_delta(sigma, steps):
    found = allocation_epsilon(sigma, steps, 1e-5)
    assert adding(sigma, steps, found.upper) <= 1e-5 <= adding(sigma, steps, found.lower)
    assert found.upper - found.lower < 1e-3


def test_a_known_bracket_of_another_tool_is_met_and_left_far_behind():
    """PLD-accounting 2.0 prints .84304 and .87524 for sigma 1, 100 steps and delta 1e-6."""
    found = allocation_epsilon(1.0, 100, 1e-6)
    assert 0.84304 < found.lower <= found.upper < 0.87524
    assert found.upper - found.lower < 1e-4


def test_many_steps_against_plain_simulation():
    """At 5.5 standard errors, a fresh seed has a false-alarm rate of 4e-8."""
    rng, steps, epsilon = np.random.default_rng(1), 50, 0.2
    sums = sum(ratio(rng.standard_normal(400_000), 1.0) for _ in range(steps))
    for direction, draws in (
        ("adding", np.maximum(sums / steps - np.exp(epsilon), 0)),
        ("removing", np.maximum(1 - np.exp(epsilon) * sums / steps, 0)),
    ):
        found = allocation_profile(1.0, steps, epsilon, direction=direction)
        assert abs(draws.mean() - found.estimate) <= 5.5 * draws.std() / np.sqrt(len(draws))
        assert draws.mean() > 30 * draws.std() / np.sqrt(len(draws))  # a wrong delta would be seen


def test_many_steps_with_much_noise_are_gaussian():
    """The sum is nearly normal: its loss is that of one Gaussian step with mean exp(1 / sigma^2) - 1 over steps."""
    sigma, steps = 20.0, 4000
    mu = np.sqrt(np.expm1(1 / sigma**2) / steps)
    found = allocation_profile(sigma, steps, 2 * mu)
    limit = norm.cdf(-2 + mu / 2) - np.exp(2 * mu) * norm.cdf(-2 - mu / 2)
    assert found.estimate == pytest.approx(limit, rel=5e-3)


def test_more_steps_and_more_noise_protect_more():
    deltas = [allocation_profile(sigma, steps, 0.5).estimate for sigma, steps in ((1, 5), (1, 50), (1.5, 50))]
    assert deltas == sorted(deltas, reverse=True)
    assert deltas[0] > 2 * deltas[2]


@pytest.mark.parametrize("width", [0.01, 0.3, 40.0])
def test_one_step_keeps_its_mass_mean_and_second_moment(width):
    """Spreading keeps mass and mean, and adds at most h^2 / 4 to the second moment."""
    step = spread(0.8, width, int(3000 / width))
    points = width * np.arange(len(step.mass))
    assert step.mass.sum() == pytest.approx(1 - step.beyond[0], abs=1e-12)
    assert points @ step.mass == pytest.approx(1 - step.beyond[1], abs=1e-10)
    truth = np.exp(1 / 0.64) * norm.cdf(0.8 * np.log(points[-1]) + 0.5 / 0.8 - 2 / 0.8)
    added = points**2 @ step.mass - truth
    assert -1e-9 <= added <= min(width**2 / 4, width) + 1e-9


def test_bounds_on_the_distance_hold():
    """The mean of Y given the point it was spread to, by quadrature in each cell."""
    sigma, width = 0.9, 0.05
    step = spread(sigma, width, 400)
    for j in (1, 2, 3, 10, 40, 200):
        point = j * width

        def weighted(y, power, point=point):
            x = sigma * np.log(y) + 0.5 / sigma
            return y**power * norm.pdf(x) * sigma / y * (1 - abs(y - point) / width)

        mass, moment = (
            sum(
                quad(weighted, *ends, (power,))[0]
                for ends in ((max(point - width, 1e-12), point), (point, point + width))
            )
            for power in (0, 1)
        )
        assert mass == pytest.approx(step.mass[j], rel=1e-6)
        away = mass * (moment / mass - point)
        assert -step.down[j] * (1 + 1e-6) <= away <= step.up[j] * (1 + 1e-6)
        assert max(step.down[j], step.up[j]) <= mass * width * (1 + 1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: allocation_profile(0.1, 10, 1.0), "sigma = 0.1"),
        (lambda: allocation_profile(1.0, 1, 1.0), "steps = 1 is not valid; valid: a whole number from 2 to 1e06"),
        (lambda: allocation_profile(1.0, 10, -1.0), "epsilon = -1"),
        (lambda: allocation_profile(1.0, 10, 1.0, direction="up"), "direction = 'up' is not|direction = up is not"),
        (lambda: allocation_epsilon(1.0, 10, 1e-12), "delta = 1e-12"),
        (lambda: allocation_epsilon(1.0, 10, 1e-6, tolerance=0.0), "tolerance = 0"),
    ],
)
def test_mistakes_are_one_line(call, message):
    with pytest.raises(ValueError, match=message):
        call()
