"""Theorem 17 with 4.95 in place of 16, docs/experiments/histograms.md: its number in balls, its steps in mpmath."""

import mpmath
import pytest

from tcdp_sim import exact, noise
from tcdp_sim.experiments.papers.balls.arithmetic import ball

MP = mpmath.mp.clone()
MP.dps = 18
H = MP.mpf("0.1249")
# (m, h, a) with m >= 1 and 1 < a < 1/(8h): at the ends of both ranges and inside
CASES = [(1, H, "1.0005"), (1, "0.01", "12.49"), (1, "1e-3", "124.9"), (1, "0.05", "1.5"), (4, "0.02", "6.2")]
cases = pytest.mark.parametrize(("m", "h", "a"), [tuple(map(MP.mpf, case)) for case in CASES])


def test_the_number():
    quarter, eighth = ball(1) / 4, ball(1) / 8
    number = (3 * eighth + 2 * quarter.atanh()).exp() * eighth.cosh().sqrt() * (1 + 4 / ball(15).sqrt())
    assert ball("4.94") < number < ball("4.95")


def log_f(m, u):
    """Up to a constant."""
    return MP.log(MP.cosh(u)) - m * m * MP.sinh(u) ** 2


def integrand(m, a, t):
    return lambda u: MP.exp(a * log_f(m, u) + (1 - a) * log_f(m, u - t))


def integral(function):
    return MP.quad(function, MP.linspace(-4, 4, 5))


def mean(m, a, t, value):
    weight = integrand(m, a, t)
    return integral(lambda u: weight(u) * value(u)) / integral(weight)


def curvature(m, u):
    return 2 * m * m * MP.cosh(2 * u) - 1 / MP.cosh(u) ** 2


@cases
def test_curvature_is_minus_the_second_derivative(m, h, a):
    assert MP.almosteq(-MP.diff(lambda u: log_f(m, u), h, 2), curvature(m, h), 1e-12)


@cases
def test_the_double_integral_has_the_derivative_of_the_divergence(m, h, a):
    """Step 1: d/dt of log integral is a (a - 1) times the integral over tau."""

    def log_moment(t):
        return MP.log(integral(integrand(m, a, t)))

    step = MP.mpf("1e-6")
    left = (log_moment(h + step) - log_moment(h - step)) / (2 * step)
    middle, half = h / 2, h / 2 * MP.sqrt(MP.mpf(3) / 5)  # Gauss's three nodes; the integrand is smooth on [0, h]
    parts = [(5, middle - half), (8, middle), (5, middle + half)]
    over_tau = h / 18 * sum(weight * mean(m, a, h, lambda u, tau=tau: curvature(m, u - tau)) for weight, tau in parts)
    assert abs(left / (a * (a - 1) * over_tau) - 1) < 1e-6


@cases
def test_means_are_below_the_bound(m, h, a):
    """Steps 2 to 5: the mean curvature at every tau, over 2m^2; the bound is no more than 6 times as large."""
    for t in (h, h / 2):
        for share in (0, MP.mpf("0.5"), 1):
            found = mean(m, a, t, lambda u, tau=share * t: curvature(m, u - tau)) / (2 * m * m)
            assert MP.mpf("0.8") < found < MP.mpf("4.95")


@cases
def test_the_tilted_law_is_as_step_3_says(m, h, a):
    phi = MP.atanh((2 * a - 1) * MP.tanh(h))
    assert phi < MP.atanh(MP.mpf(1) / 4)
    size = MP.cosh(h) / MP.cosh(phi)
    assert size > MP.sqrt(15) / 4
    for v in (-2, MP.mpf("0.3"), 1):
        left = a * MP.sinh(v + h / 2) ** 2 + (1 - a) * MP.sinh(v - h / 2) ** 2
        assert MP.almosteq(left, (size * MP.cosh(2 * v + phi) - 1) / 2, 1e-15)
        factor = MP.cosh(v + h / 2) ** a * MP.cosh(v - h / 2) ** (1 - a) / MP.cosh(v)
        assert MP.exp(-MP.mpf(1) / 8) <= factor <= MP.exp(MP.mpf(1) / 8) * MP.sqrt(MP.cosh(MP.mpf(1) / 8))


@cases
@pytest.mark.parametrize("share", [0.1, 1.0])
def test_the_divergence_keeps_the_bound(m, h, a, share):
    """At scale and knee in counts: knee 1/h, rho = (m h)^2, so scale^2 = 1/(2 rho)."""
    rho = float(m * h) ** 2
    law = noise.SinhNormal(scale=(2 * rho) ** -0.5, knee=float(1 / h))
    spent = exact.renyi_divergence(law, share, float(a)).upper / (float(a) * rho * share**2)
    assert 0.3 < spent < 4.95
