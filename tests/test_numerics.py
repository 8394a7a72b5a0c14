"""Quadrature against closed forms, mpmath and SciPy; and what it says where it cannot succeed."""

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate as scipy_integrate

from tcdp_sim.core.numerics import MOST_PANELS, Bounds, closed_form, integrate

# name: (integrand, edges, the integral as a function of mpmath)
INTEGRALS = {
    "exponential": (np.exp, [0, 1], lambda: mp.e - 1),
    "polynomial": (lambda x: x**9 - 3 * x**2, [-1, 2], lambda: (mp.mpf(2) ** 10 - 1) / 10 - 9),
    "oscillating": (lambda x: np.cos(30 * x) + 1, [0, 2], lambda: mp.sin(60) / 30 + 2),
    "rational": (lambda x: 1 / (1 + 25 * x * x), [-1, 1], lambda: 2 * mp.atan(5) / 5),
    "root at an end": (np.sqrt, [0, 1], lambda: mp.mpf(2) / 3),
    "log at an end": (lambda x: -np.log(x), [0, 1], lambda: mp.mpf(1)),
    "pole outside": (lambda x: 1 / (x + 1e-3), [0, 1], lambda: mp.log((1 + mp.mpf(1e-3)) / mp.mpf(1e-3))),
    "kink at an edge": (lambda x: np.abs(x - 0.25), [0, 0.25, 1], lambda: mp.mpf(5) / 16),
    "jump at an edge": (lambda x: np.where(x > 0.3, x, 2.0), [0, 0.3, 1], lambda: (1 - mp.mpf(0.3) ** 2) / 2 + 0.6),
    "laplace": (lambda x: np.exp(-np.abs(x)), [-40, 0, 3, 40], lambda: 2 * (1 - mp.exp(-40))),
    "narrow peak": (
        lambda x: np.exp(-0.5 * ((x - 0.4) / 1e-6) ** 2),
        [0, 0.4 - 1e-5, 0.4, 0.4 + 1e-5, 1],
        lambda: mp.mpf(1e-6) * mp.sqrt(2 * mp.pi),
    ),
    "tiny": (lambda x: 1e-250 * np.exp(x), [0, 1], lambda: mp.mpf(1e-250) * (mp.e - 1)),
    "huge": (lambda x: 1e250 * np.exp(x), [0, 1], lambda: mp.mpf(1e250) * (mp.e - 1)),
    "signs that cancel in part": (lambda x: x * np.abs(x), [-1, 0, 2], lambda: mp.mpf(7) / 3),
}
every = pytest.mark.parametrize(("f", "edges", "truth"), INTEGRALS.values(), ids=INTEGRALS)


class Counting:
    """A function that counts the points at which it was asked."""

    def __init__(self, f):
        self.f, self.points = f, 0

    def __call__(self, x):
        self.points += len(x)
        return self.f(x)


@every
def test_the_bounds_contain_the_integral(f, edges, truth):
    lower, estimate, upper = integrate(f, edges)
    with mp.workdps(40):
        exact = truth()
        assert lower <= estimate <= upper
        assert lower <= exact <= upper


@every
def test_the_bounds_are_as_narrow_as_asked(f, edges, truth):
    for relative in (1e-5, 1e-10):
        lower, estimate, upper = integrate(f, edges, relative)
        assert 0 < upper - lower <= 4 * relative * abs(estimate)  # halving makes more shares than there were edges


def test_random_smooth_integrands_against_scipy():
    rng = np.random.default_rng(1)
    for _ in range(100):
        a, b, c = rng.normal(size=3)
        low, high = np.sort(rng.normal(scale=3, size=2))

        def f(x, a=a, b=b, c=c):
            return np.exp(-a * a * x * x) * (2 + np.cos(b * x + c))

        other, error = scipy_integrate.quad(f, low, high, epsabs=0, epsrel=1e-12)
        bounds = integrate(f, [low, high])
        assert bounds.lower - error <= other <= bounds.upper + error


def test_edges_may_come_in_any_order_and_repeat():
    assert integrate(np.exp, [1, 0, 0.5, 0, 0.5]) == integrate(np.exp, [0, 0.5, 1])


def test_an_empty_range_has_no_integral():
    assert integrate(np.exp, [1, 1]) == (0, 0, 0)


def test_too_few_rounds_leave_wide_bounds_that_hold():
    lower, _, upper = integrate(lambda x: np.sqrt(np.abs(x)), [0, 1], rounds=3)
    assert upper - lower > 1e-6  # far from the relative 1e-10 asked for
    assert lower <= 2 / 3 <= upper


def test_what_cannot_be_resolved_ends_in_time_with_wide_bounds():
    f = Counting(lambda x: (x * x * 1e9) % 1)
    lower, _, upper = integrate(f, [0, 1])
    assert upper - lower > 1e-3
    assert lower <= 0.5 <= upper  # to 1e-4, by the mean of a sawtooth
    assert f.points < 6 * 30 * MOST_PANELS


def test_an_integral_of_zero_ends_in_time_and_contains_zero():
    f = Counting(np.sin)
    lower, _, upper = integrate(f, [-np.pi, np.pi])
    assert lower <= 0 <= upper <= 1e-12
    assert f.points < 6 * 30 * MOST_PANELS


def test_the_integral_of_nan_is_nan():
    assert np.isnan(integrate(lambda x: np.nan * x, [0, 1])).all()


def test_a_function_that_vanishes_has_no_error():
    assert integrate(np.zeros_like, [-1, 0, 1]) == Bounds(0, 0, 0)


@pytest.mark.parametrize("value", [3.0, -3.0, 1e-300, np.array([1.0, -2.0])])
def test_a_closed_form_lies_between_bounds_of_the_width_asked(value):
    lower, estimate, upper = closed_form(value, 1e-6)
    assert np.all(lower < estimate) and np.all(estimate < upper)  # noqa: PT018
    assert upper - lower == pytest.approx(2e-6 * np.abs(value), rel=1e-9)
