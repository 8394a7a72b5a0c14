"""Tightly calibrated sinh-normal noise: the guarantee holds, nearly nothing smaller would do, and it pays off."""

from decimal import ROUND_CEILING, Decimal
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate

from tcdp_sim.calibration import VARIANCE, LargestError, all_orders, calibrate, search
from tcdp_sim.calibration.all_orders import holds_at_all_orders
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact import max_order, renyi_divergence
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal
from tcdp_sim.privacy import TCDP, ZCDP, PureDP

TARGETS = [(0.01, 5.0), (0.1, 2.0), (0.1, 3.0), (0.001, 24.0), (0.5, 1.06), (1e-5, 220.0), (1.0, 3.0)]
targets = pytest.mark.parametrize(("rho", "omega"), TARGETS)


def divergence(noise, order):
    """D_order between the noise and itself shifted by one, by scipy's quadrature of the definition."""
    reach = noise.isf(1e-300) * 1.5 + 1

    def integrand(x):
        return np.exp(order * noise.logpdf(x) - (order - 1) * noise.logpdf(x - 1))

    points = np.linspace(-reach, reach, 40)
    mean = sum(integrate.quad(integrand, a, b, epsabs=0, epsrel=1e-11)[0] for a, b in pairwise(points))
    return np.log(mean) / (order - 1)


@targets
@pytest.mark.parametrize("coordinates", [1, 2])
def test_the_guarantee_holds_by_independent_quadrature(rho, omega, coordinates):
    """2e-6 is what the oracle itself loses by the logarithm of a mean close to one."""
    noise = calibrate("sinh_normal", TCDP(rho, omega), coordinates=coordinates, objective=LargestError(1e6)).noise
    for order in 1 + (omega - 1) * np.array([0.05, 0.3, 0.7, 0.9, 1 - 1e-9]):
        spent = coordinates * divergence(noise, order)
        assert spent <= rho * order * (1 + 2e-6) + 1e-12 / (order - 1)


@targets
def test_a_tenth_of_a_percent_less_noise_breaks_it(rho, omega):
    noise = calibrate("sinh_normal", TCDP(rho, omega), objective=LargestError(1e6)).noise
    smaller = SinhNormal(noise.scale * 0.999, noise.knee)
    assert holds_at_all_orders(noise, 1.0, rho, omega)
    assert not holds_at_all_orders(smaller, 1.0, rho, omega)
    if rho > 1e-6:  # below, the oracle has not the digits
        worst = max(divergence(smaller, a) / (rho * a) for a in 1 + (omega - 1) * np.array([0.01, 0.5, 1 - 1e-9]))
        assert worst > 1


@pytest.mark.parametrize(
    ("rho", "omega", "medians", "gaussian"),
    [(0.01, 5, (22.2, 28.0, 33.4), (24.0, 35.1, 50.8)), (0.1, 2, (7.06, 8.91, 10.64), (7.59, 11.10, 16.06))],
)
def test_errata_s1_medians_of_the_largest_error(rho, omega, medians, gaussian):
    for k, tight, plain in zip((1e3, 1e6, 1e12), medians, gaussian):
        objective = LargestError(k)
        assert objective(calibrate("sinh_normal", TCDP(rho, omega), objective=objective).noise) == pytest.approx(
            tight, 3e-3
        )
        assert objective(calibrate("gaussian", TCDP(rho, omega)).noise) == pytest.approx(plain, 3e-3)


@pytest.mark.parametrize("omega_sqrt_rho", [0.75, 1.0])
def test_tcdp_beats_zcdp_from_a_hundred_bins_on(omega_sqrt_rho):
    rho = 0.01
    for k in (100, 1e4, 1e12):
        objective = LargestError(k, 0.95)
        target = TCDP(rho, omega_sqrt_rho / np.sqrt(rho))
        noise = calibrate("sinh_normal", target, coordinates=2, objective=objective).noise
        assert objective(noise) < objective(Gaussian(1 / np.sqrt(rho)))
        paper = calibrate("sinh_normal", target, method="paper", coordinates=2).noise
        assert objective(noise) < objective(paper) / 2.5


def test_for_the_variance_nothing_beats_the_gaussian():
    noise = calibrate("sinh_normal", TCDP(0.1, 3.0), objective=VARIANCE).noise
    assert noise.knee > 20 * noise.scale
    assert VARIANCE(noise) == pytest.approx(1 / 0.2, rel=2e-3)


@pytest.mark.parametrize("omega_sqrt_rho", [5, 15, 37, 100, 300])
@pytest.mark.parametrize("rho", [1e-6, 0.1])
def test_for_large_omega_it_ends_at_the_gaussian(rho, omega_sqrt_rho):
    """Gaussian noise is the limit of wide knees and meets the target: never more than the certificate's slack worse."""
    objective = LargestError(1e6, 0.95)
    noise = calibrate("sinh_normal", TCDP(rho, omega_sqrt_rho / np.sqrt(rho)), coordinates=2, objective=objective).noise
    assert objective(noise) <= objective(Gaussian(1 / np.sqrt(rho))) * 1.0005


def test_for_enormous_domains_it_pays_at_large_omega_too():
    objective = LargestError(1e300, 0.95)
    noise = calibrate("sinh_normal", TCDP(0.1, 15 / np.sqrt(0.1)), coordinates=2, objective=objective).noise
    assert objective(noise) < 0.97 * objective(Gaussian(1 / np.sqrt(0.1)))


def test_the_certificate_covers_smaller_shifts_only_if_log_concave():
    assert max_order(SinhNormal(10.0, 9.0), 1.0) > 3
    assert not holds_at_all_orders(SinhNormal(10.0, 9.0), 1.0, 10.0, 3.0)
    assert holds_at_all_orders(SinhNormal(10.0, 10.0), 1.0, 10.0, 3.0)


def test_it_scales_with_the_sensitivity_and_is_cached():
    one = calibrate("sinh_normal", TCDP(0.1, 3.0), objective=LargestError(1e6)).noise
    ten = calibrate("sinh_normal", TCDP(0.1, 3.0), sensitivity=10.0, objective=LargestError(1e6)).noise
    assert (ten.scale, ten.knee) == pytest.approx((10 * one.scale, 10 * one.knee), rel=1e-6)
    assert calibrate("sinh_normal", TCDP(0.1, 3.0), objective=LargestError(1e6)).noise is one


def test_log_concave_so_that_the_largest_shift_is_the_worst():
    for rho, omega in TARGETS:
        noise = calibrate("sinh_normal", TCDP(rho, omega), objective=LargestError(1e12)).noise
        assert noise.knee >= noise.scale * (1 - 1e-7)


def test_the_certificate_on_divergences_known_in_closed_form():
    """Gaussian: D_a = a / (2 sigma^2) exactly. Laplace at epsilon: D_a <= min(epsilon, a epsilon^2 / 2)."""
    assert holds_at_all_orders(Gaussian(np.sqrt(1 / 0.2) * 1.001), 1.0, 0.1, 50.0)
    assert not holds_at_all_orders(Gaussian(np.sqrt(1 / 0.2) * 0.99999), 1.0, 0.1, 50.0)
    assert holds_at_all_orders(Laplace(1.0), 1.0, 0.5, 100.0)
    assert not holds_at_all_orders(Laplace(1.0), 1.0, 0.5 * 0.7, 2.0)
    assert not holds_at_all_orders(SinhNormal(4.0, 20.0), 1.0, 1e9, 10.6)  # infinite beyond 10.51


def test_the_certificate_looks_at_small_orders_too():
    """D_a <= epsilon levels off, so D_a / a is largest at a = 1 and the last order alone would be far too kind."""
    noise, omega = Laplace(0.25), 60.0
    orders = np.concatenate([[1.0], np.geomspace(1.01, omega, 4000)])
    ratio = renyi_divergence(noise, 1.0, orders).estimate / orders
    assert ratio[-1] < 0.5 * ratio.max()
    assert holds_at_all_orders(noise, 1.0, ratio.max() * 1.001, omega)
    assert not holds_at_all_orders(noise, 1.0, ratio.max() * 0.999, omega)


@pytest.mark.parametrize(("ends", "holds"), [((0.5, 0.5, 0.999), True), ((0.5, 0.5, 1.001), False)])
def test_the_upper_end_of_a_divergence_decides(monkeypatch, ends, holds):
    """A bracket from half of what is allowed to a thousandth above or below it: only what is below all of it holds."""
    told = lambda noise, shift, orders: Bounds(*(share * 0.1 * orders for share in ends))  # noqa: E731
    monkeypatch.setattr(all_orders, "renyi_divergence", told)
    assert holds_at_all_orders(Laplace(1.0), 1.0, 0.1, 50.0) == holds


@pytest.mark.parametrize("slack", [1e-7, 1e-3])
def test_the_upper_end_of_a_profile_decides(monkeypatch, slack):
    """A bracket that is wide by a known factor costs noise: the profile of what is given, times it, meets delta."""
    exact = search.product_profile

    def wide(*arguments):
        low, middle, high = exact(*arguments)
        return Bounds(low / (1 + slack), middle, high * (1 + slack))

    monkeypatch.setattr(search, "product_profile", wide)
    found = search.by_profile.__wrapped__(Gaussian, 0.5, 1e-6, 1, VARIANCE)
    assert exact(found, 1.0, 0.5, 1).estimate * (1 + slack) <= 1e-6


@pytest.mark.parametrize("guarantee", [ZCDP(0.1), PureDP(1.0), TCDP(0.1, np.inf)])
def test_what_it_cannot_meet_is_refused_with_the_reason(guarantee):
    with pytest.raises(ValueError, match="divergence of large orders is infinite"):
        calibrate("sinh_normal", guarantee)


@pytest.mark.parametrize(("k", "level", "name"), [(0, 0.5, "k"), (10, 1.5, "level"), (np.nan, 0.5, "k")])
def test_bad_objectives_are_refused(k, level, name):
    with pytest.raises(ValueError, match=f"{name} = "):
        LargestError(k, level)


@pytest.mark.parametrize("x", [1.00000004999, 2.5, 123456789.5, 3.0000001e-12, 9.99999999, 1e300 / 3])
@pytest.mark.parametrize("digits", [5, 8])
def test_a_parameter_is_rounded_up_never_down(x, digits):
    """As decimal numbers are, by the standard library."""
    exact = Decimal(x)
    expected = exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), rounding=ROUND_CEILING)
    assert search.rounded_up(x, digits) == float(expected)


@pytest.mark.parametrize("promise", [TCDP(0.1, 30.0), TCDP(0.01, 1e3), ZCDP(0.5)])
def test_no_order_is_left_out_of_the_certificate(monkeypatch, promise):
    """Of Laplace noise D_a <= 1 / scale: orders from 1 / (scale rho) on need no look, all before do."""
    looked, real = [], search.holds_at_all_orders

    def remember(noise, shift, rho, omega):
        looked.append(omega)
        return real(noise, shift, rho, omega)

    monkeypatch.setattr(search, "holds_at_all_orders", remember)
    omega = getattr(promise, "omega", np.inf)
    noise = search.least_scale_by_divergences.__wrapped__(Laplace, promise.rho, omega)
    assert looked[-1] >= min(omega, 1 / (noise.scale * promise.rho)) * (1 - 1e-9)
