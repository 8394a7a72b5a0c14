"""The search for the least quantile: against brute force, and at the ends of what floats hold."""

from itertools import pairwise
from math import ceil, inf, log, sqrt

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import norm

from tcdp_sim.calibration.optimal import LargestError, Tail, best_noise, optimal_noise
from tcdp_sim.calibration.optimal.least_quantile import least_halves
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.noise import Gaussian
from tcdp_sim.noise.lattice import LatticeNoise
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, PureDP


@pytest.mark.parametrize("guess", [0, 3, 40, 200])
@pytest.mark.parametrize("allowed", [0.7, 1e-3, 1e-9])
@pytest.mark.parametrize("power", [1.0, 2.0, 4.0])
def test_the_search_is_that_of_brute_force(guess, allowed, power):
    chances = [float(np.exp(-((h / 20) ** power) - 0.1)) for h in range(2000)]
    asked = set()

    def tail(h):
        asked.add(h)
        return Bounds(0.99 * chances[h], chances[h], 1.01 * chances[h])

    found = least_halves(tail, allowed, guess)
    assert found.upper == next(h for h in range(2000) if 1.01 * chances[h] <= allowed)
    assert found.lower == next(h for h in range(2000) if 0.99 * chances[h] <= allowed)
    assert len(asked) <= 25


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.001, 0.01, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("narrow", [True, False])
def test_gaps_are_below_one_per_cent(rho, narrow):
    """At the quantile for a million errors, whose noise keeps the promise by sums of 40 digits."""
    omega = max(0.75 / sqrt(rho), 1.3) if narrow else inf
    best = optimal_noise(TCDP(rho, omega), LargestError(1e6, 0.95), coordinates=2)
    noise, quantile = best.noise, best.bounds
    assert quantile.lower == quantile.upper
    tail = optimal_noise(TCDP(rho, omega), Tail(quantile.upper), coordinates=2).bounds
    assert 0.99 * tail.upper < tail.lower <= tail.estimate <= tail.upper <= 1 - 0.95**1e-6
    assert optimal_noise(TCDP(rho, omega), Tail(quantile.upper - 0.5), coordinates=2).bounds.lower > 1 - 0.95**1e-6
    orders = 1 + (min(omega, 3 * quantile.upper) - 1) * np.array([1e-3, 0.1, 0.3, 0.6, 0.999])
    for order in orders:
        assert 2 * divergence(noise, mp.mpf(float(order))) <= order * rho * (1 + 1e-12)


def divergence(noise, order):
    """D_order of the noise and itself moved by one, by mpmath from the table; the far tails are geometric series."""
    with mp.workdps(40):
        table = [mp.mpf(value) for value in noise.log_mass]
        table.append(table[-1] - noise.fall)
        half = [mp.exp(each) for each in table]
        last = half[-1] / (1 - mp.exp(-mp.mpf(noise.fall)))
        total = 2 * (mp.fsum(half[:-1]) + last) - (half[0] if noise.offset == 0 else 0)
        pairs = list(pairwise(table))
        terms = [mp.exp(order * a + (1 - order) * b) + mp.exp(order * b + (1 - order) * a) for a, b in pairs]
        terms += [half[0]] if noise.offset == 0.5 else []
        beyond = mp.exp(order * noise.fall) + mp.exp((1 - order) * noise.fall)
        return mp.log((mp.fsum(terms) + last * mp.exp(-mp.mpf(noise.fall)) * beyond) / total) / (order - 1)


def test_the_sums_of_this_file_are_right():
    """A table that is geometric throughout: D_a of the discrete Laplace law, in closed form."""
    c, a = 0.7, 3.0
    q = np.exp(-c)
    truth = log((np.exp((a - 1) * c) + np.exp(-a * c)) / (1 + q)) / (a - 1)
    for table in ((0.0, -c), (0.0, -c, -2 * c, -3 * c)):
        assert float(divergence(LatticeNoise(0.0, table, c), mp.mpf(a))) == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize("k", [1e50, 1e100, 1e248])
def test_very_many_errors(k):
    """Gaussian noise keeps the promise, and the tail of the noise is summed by mpmath."""
    promise = TCDP(0.1, 0.75 / sqrt(0.1))
    best = optimal_noise(promise, LargestError(k, 0.95), coordinates=2)
    noise, quantile = best.noise, best.bounds
    assert quantile == (quantile.upper,) * 3
    with mp.workdps(30):
        allowed = -mp.expm1(mp.log(mp.mpf("0.95")) / mp.mpf(k))
        table = [mp.exp(mp.mpf(each)) for each in noise.log_mass]
        first = ceil(quantile.upper - noise.offset + 1e-9)
        ratio = mp.exp(-mp.mpf(noise.fall))
        tail = 2 * (mp.fsum(table[first:]) + table[-1] * ratio / (1 - ratio))
        assert tail <= allowed
        assert 2 * divergence(noise, mp.mpf(2.3)) <= 2.3 * 0.1
    assert 15 < quantile.upper < norm.isf(1e-50 / 4, scale=sqrt(10))


@pytest.mark.parametrize("rho", [0.1, 2.0])
def test_zcdp_of_very_many_errors_is_just_below_gaussian_noise(rho):
    quantile = optimal_noise(ZCDP(rho), LargestError(1e100, 0.95), coordinates=2).bounds
    gaussian = float(Gaussian(1 / sqrt(rho)).isf_log(log(-log(0.95) / 2) - 100 * log(10)))
    assert 0.95 * gaussian - 1 < quantile.lower <= quantile.upper <= ceil(2 * gaussian) / 2
    assert quantile.upper - quantile.lower <= 0.5


def test_an_interval_where_the_bounds_do_not_decide():
    wide = least_halves(lambda h: Bounds(10.0**-h / 10, 10.0**-h, 10.0**-h), 1e-5, 9)
    assert wide == (4, 5, 5)


@pytest.mark.parametrize(
    ("guarantee", "objective"),
    [(PureDP(0.1), LargestError(1e100)), (ApproxDP(0.1, 1e-9), LargestError(1e8))],
)
def test_closed_forms_have_their_least_quantile(guarantee, objective):
    """Brute force over the multiples of 1/2."""
    found = optimal_noise(guarantee, objective).bounds
    assert found.lower == found.upper
    assert optimal_noise(guarantee, Tail(found.upper)).bounds.upper <= objective.tail
    assert optimal_noise(guarantee, Tail(found.upper - 0.5)).bounds.lower > objective.tail


def test_a_promise_far_beyond_the_grid_of_orders():
    """So large an omega is zCDP."""
    wide = optimal_noise(TCDP(0.1, 1e6), LargestError(1e6, 0.5)).bounds
    assert wide == optimal_noise(ZCDP(0.1), LargestError(1e6, 0.5)).bounds


@pytest.mark.parametrize("guarantee", [TCDP(10.0, 1.01), TCDP(5.0, 1.5), ZCDP(20.0), TCDP(1e-3, 1.001)])
@pytest.mark.parametrize("beyond", [0.0, 0.5, 1.0])
def test_little_noise_and_small_errors(guarantee, beyond):
    best = optimal_noise(guarantee, Tail(beyond))
    noise, tail = best.noise, best.bounds
    omega = getattr(guarantee, "omega", 40.0)
    assert 0.98 * tail.upper <= tail.lower <= tail.upper
    for order in 1 + (omega - 1) * np.array([1e-3, 0.02, 0.3, 0.99]):
        assert divergence(noise, mp.mpf(float(order))) <= order * guarantee.rho * (1 + 1e-12)


def test_a_second_search_solves_nothing(monkeypatch):
    """Planning and simulating ask for the same noise."""
    solved = []
    solve = best_noise.best_on_lattice
    monkeypatch.setattr(best_noise, "best_on_lattice", lambda *problem: solved.append(problem) or solve(*problem))
    first = optimal_noise(TCDP(0.37, 3.0), LargestError(1e4, 0.95)).noise
    assert 1 <= len(solved) <= 8
    solved.clear()
    assert optimal_noise(TCDP(0.37, 3.0), LargestError(1e4, 0.95)).noise == first
    assert not solved
