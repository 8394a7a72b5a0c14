"""Sinh-squared noise by Corollary 18's constants and by the tight search, as docs/experiments/histograms.md has it."""

import re
from functools import partial
from itertools import pairwise
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
import yaml
from scipy import integrate

from tcdp_sim import exact
from tcdp_sim.calibration import LargestError, calibrate
from tcdp_sim.calibration.all_orders import holds_at_all_orders
from tcdp_sim.experiments.papers.orders import largest_over_order
from tcdp_sim.mechanisms.optimal_noise import OptimalNoise
from tcdp_sim.noise import SinhSquared
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, PureDP

mp.mp.dps = 50
PAGE = (Path(__file__).parents[2] / "docs" / "experiments" / "histograms.md").read_text("utf-8")
WINDOW = [
    (rho, product) for rho in (0.9, 0.3, 0.1, 1e-2, 1e-3, 1e-4, 1e-6) for product in (0.125, 0.17, 0.25, 0.5, 0.75)
]
WINDOW += [(rho, product) for rho in (0.9, 0.3, 0.1, 1e-2, 1e-3, 1e-4, 1e-6) for product in (1, 2, 4, 7, 10)]
WINDOW = [(rho, product) for rho, product in WINDOW if product / np.sqrt(rho) > 1]


def spent(rho, omega, relative=1e-4):
    """Bounds on the largest 2 D_a / (rho a) over 1 <= a < omega, with the noise of Corollary 18."""
    noise = calibrate("sinh_squared", TCDP(rho, omega), method="paper", coordinates=2).noise
    return largest_over_order(partial(exact.renyi_divergence, noise, 1.0), omega, relative) * (2 / rho)


def at_omega(rho, omega):
    """2 D_omega / (rho omega) by the closed form, in 50 digits."""
    rho, omega = mp.mpf(rho), mp.mpf(float(omega))
    z, q = omega**2 * rho, 4 * omega * (omega - 1) * mp.sinh(1 / (8 * omega)) ** 2
    ratio = mp.log(mp.besselk(0, z * mp.sqrt(1 - q)) / mp.besselk(0, z))
    return 2 * ratio / (rho * omega * (omega - 1))


def by_definition(rho, omega, order):
    """2 D_order / (rho order) by mpmath's quadrature of the definition of D."""
    rate = 2 * mp.mpf(omega) ** 2 * mp.mpf(rho)

    def exponent(t):
        here, there = (rate * mp.sinh(each / (8 * omega)) ** 2 for each in (t, t - 1))
        return (order - 1) * there - order * here

    with mp.workdps(25):
        end = 8 * omega * mp.asinh(mp.sqrt(120 / rate)) * 2
        cuts = [end * j / 32 for j in range(-32, 33)]
        top, all_ = (
            mp.quad(f, cuts)
            for f in (lambda t: mp.exp(exponent(t)), lambda t: mp.exp(-rate * mp.sinh(t / (8 * omega)) ** 2))
        )
        return 2 * mp.log(top / all_) / ((order - 1) * rho * order)


def test_the_papers_constants_are_those_of_corollary_18():
    noise = calibrate("sinh_squared", TCDP(0.01, 5.0), method="paper", coordinates=2).noise
    assert noise == SinhSquared(4 / np.sqrt(0.01), 8 * 5.0)
    t = np.linspace(-200, 200, 41)
    printed = 2 * 5.0**2 * 0.01 * np.sinh(t / (8 * 5.0)) ** 2
    np.testing.assert_allclose(noise.logpdf(0.0) - noise.logpdf(t), printed, rtol=1e-12)


@pytest.mark.parametrize("k", [1.0, 1e3, 1e12])
@pytest.mark.parametrize("beta", [0.5, 0.01])
@pytest.mark.parametrize(("rho", "omega"), [(0.01, 1.25), (0.1, 5.0), (1e-4, 1e4)])
def test_the_printed_radius_holds(k, beta, rho, omega):
    noise = calibrate("sinh_squared", TCDP(rho, omega), method="paper", coordinates=2).noise
    radius = 8 * omega * np.arcsinh(np.sqrt(np.log(k / beta) / (2 * omega**2 * rho)))
    assert noise.accuracy_radius(k, beta) == pytest.approx(radius, rel=1e-12)
    assert exact.max_abs_sf(noise, k, radius).upper <= beta
    assert 2 * noise.sf(radius) <= beta / k


def test_where_the_window_begins():
    """The page's four values, by brackets over all orders and by the closed form at the order omega alone."""
    printed = re.findall(r"([0-9.]+) \(ρ = ([0-9.]+)\)", PAGE.partition("check it at points")[2].partition("**")[0])
    assert len(printed) == 4
    for share, rho in printed:
        omega = 0.125 / np.sqrt(float(rho)) * (1 + 1e-12)
        bounds = spent(float(rho), omega, 1e-6)
        assert bounds.lower * (1 - 1e-12) <= at_omega(float(rho), omega) <= bounds.upper
        assert f"{bounds.lower:.5f}" == f"{bounds.upper:.5f}" == share


def test_just_below_the_window_it_fails():
    """For small rho at omega sqrt(rho) = 0.1219, where f is one: the printed window is nearly as wide as can be."""
    (least,) = re.findall(r"For small ρ the window fails below ω sqrt\(ρ\) = ([0-9.]+[0-9])", PAGE)
    for product, kept in ((float(least) + 1e-4, True), (float(least) - 1e-4, False)):
        assert (at_omega(1e-9, product / np.sqrt(1e-9)) < 1) == kept
        assert (by_definition(1e-9, product / np.sqrt(1e-9), product / np.sqrt(1e-9)) < 1) == kept


def test_below_0_962_all_over_the_window():
    assert len(WINDOW) == 58
    for rho, product in WINDOW:
        omega = product / np.sqrt(rho) * (1 + 1e-12)
        assert spent(rho, omega).upper < 0.962
        assert at_omega(rho, omega) < mp.mpf("0.962")


@pytest.mark.parametrize(("rho", "product"), [(1e-2, 0.125), (0.1, 0.75), (1e-4, 0.17), (0.9, 1.0)])
def test_the_divergence_by_its_definition(rho, product):
    omega = product / np.sqrt(rho)
    noise = SinhSquared(4 / np.sqrt(rho), 8 * omega)
    for order in 1 + (omega - 1) * np.array([0.01, 0.6, 1.0]):
        value = by_definition(rho, omega, order)
        low, _, high = exact.renyi_divergence(noise, 1.0, order) * (2 / (rho * order))
        assert low <= value * (1 + mp.mpf("1e-15"))
        assert value <= high * (1 + mp.mpf("1e-15"))


def test_the_two_numbers_of_the_proof():
    """f(1/64) and its product with (8 sinh(1/8))^2, in 50 digits."""
    (printed,) = re.findall(r"f\(1/64\) = ([0-9.]+)\.\.\.", PAGE)
    (product,) = re.findall(r"\(8 sinh\(1/8\)\)\^2 f\(1/64\) < ([0-9.]+[0-9])", PAGE)
    f = 128 * mp.log(mp.besselk(0, mp.sqrt(15) / 256) / mp.besselk(0, mp.mpf(1) / 64))
    assert str(mp.nstr(f, 20)).startswith(printed)
    assert (8 * mp.sinh(mp.mpf(1) / 8)) ** 2 * f < mp.mpf(product) < 1
    # K_0(x) as the integral of exp(-x cosh t), in which mpmath's besselk has no part:
    by_integrals = 128 * mp.log(bessel_integral(mp.sqrt(15) / 256) / bessel_integral(mp.mpf(1) / 64))
    assert abs(by_integrals - f) < mp.mpf("1e-30")


def bessel_integral(x):
    return mp.quad(lambda t: mp.exp(-x * mp.cosh(t)), range(13))


def test_each_step_of_the_proof_on_a_grid():
    """q < 1/16; D_a / a rises with a; f falls with x. The proof says so; here are numbers."""
    for omega in 1 + np.geomspace(1e-6, 1e6, 60):
        s = 1 / (8 * mp.mpf(float(omega)))
        assert 4 * mp.mpf(float(omega)) * (mp.mpf(float(omega)) - 1) * mp.sinh(s) ** 2 < mp.mpf(1) / 16
        assert mp.sinh(s) / s <= 8 * mp.sinh(mp.mpf(1) / 8)
    root = mp.sqrt(15) / 4
    f = [2 * mp.log(mp.besselk(0, root * x) / mp.besselk(0, x)) / x for x in (mp.mpf(2) ** j for j in range(-6, 7))]
    assert all(high > low for high, low in pairwise(f))
    for noise in (SinhSquared(4.0, 5.0), SinhSquared(40.0, 10.0)):
        orders = np.linspace(1, 0.99 * noise.max_order(1.0), 300)
        assert (np.diff(exact.renyi_divergence(noise, 1.0, orders).estimate / orders) > 0).all()


@pytest.mark.parametrize("coordinates", [1, 2, 7])
@pytest.mark.parametrize("rho", [1e-3, 1e-6])
def test_the_window_for_any_number_of_coordinates(rho, coordinates):
    least = np.sqrt(coordinates / (128 * rho))
    noise = calibrate("sinh_squared", TCDP(rho, least), 3.0, "paper", coordinates=coordinates).noise
    assert noise == SinhSquared(3 * np.sqrt(8 * coordinates / rho), 24 * least)
    assert coordinates * exact.renyi_divergence(noise, 3.0, least).upper < 0.9621 * rho * least
    with pytest.raises(ValueError, match=r"needs omega >= sqrt\(\d/\(128 rho\)\)") as refusal:
        calibrate("sinh_squared", TCDP(rho, least * (1 - 1e-9)), 3.0, "paper", coordinates=coordinates)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("guarantee", [ZCDP(0.1), PureDP(1), TCDP(0.1, np.inf), ApproxDP(1, 1e-6)])
def test_what_it_cannot_meet_is_refused(guarantee):
    with pytest.raises(ValueError, match=r"sinh_squared cannot be calibrated to .*TCDP with finite omega"):
        calibrate("sinh_squared", guarantee, method="paper")


def divergence(noise, order):
    """D_order at shift one, by scipy's quadrature of the definition, without the class's own densities."""

    def potential(x):
        return 0.5 * (noise.knee / noise.scale * np.sinh(x / noise.knee)) ** 2

    reach = 1.5 * noise.knee * np.arcsinh(38 * noise.scale / noise.knee) + 1
    points = np.linspace(-reach, reach, 60)
    with np.errstate(over="ignore"):
        mean, mass = (
            sum(integrate.quad(f, a, b, epsabs=0, epsrel=1e-12)[0] for a, b in pairwise(points))
            for f in (
                lambda x: np.exp((order - 1) * potential(x - 1) - order * potential(x)),
                lambda x: np.exp(-potential(x)),
            )
        )
    return np.log(mean / mass) / (order - 1)


@pytest.mark.parametrize(
    ("rho", "omega"), [(0.01, 5.0), (0.1, 2.0), (0.1, 2.372), (0.5, 1.06), (1e-3, 24.0), (1.0, 3.0)]
)
@pytest.mark.parametrize("coordinates", [1, 2])
def test_tight_noise_keeps_the_guarantee_and_a_thousandth_less_does_not(rho, omega, coordinates):
    objective = LargestError(1e6, 0.95)
    noise = calibrate("sinh_squared", TCDP(rho, omega), coordinates=coordinates, objective=objective).noise
    for order in 1 + (omega - 1) * np.array([0.05, 0.5, 1.0]):
        assert coordinates * divergence(noise, order) <= rho * order * (1 + 1e-6)
    smaller = SinhSquared(noise.scale * 0.999, noise.knee)
    assert coordinates * divergence(smaller, omega) > rho * omega
    assert holds_at_all_orders(noise, 1.0, rho / coordinates, omega)
    assert not holds_at_all_orders(smaller, 1.0, rho / coordinates, omega)


@pytest.mark.parametrize(("rho", "scaled", "count"), [(0.1, 0.75, 1e6), (0.01, 0.3, 1e12), (0.1, 2.0, 1e3)])
def test_no_other_knee_is_better(rho, scaled, count):
    """For each knee the scale at which 2 D_omega = rho omega by the closed form, in steps of 2% of the knee."""
    omega, objective = scaled / np.sqrt(rho), LargestError(count, 0.95)
    noise = calibrate("sinh_squared", TCDP(rho, omega), coordinates=2, objective=objective).noise
    best = np.inf
    for knee in noise.knee * 1.02 ** np.arange(-12, 13):
        low, high = 1 / np.sqrt(rho), 64 * knee
        for _ in range(60):
            middle = np.sqrt(low * high)
            kept = 2 * exact.renyi_divergence(SinhSquared(middle, knee), 1.0, omega).estimate <= rho * omega
            low, high = (low, middle) if kept else (middle, high)
        best = min(best, objective(SinhSquared(high, knee)))
    assert best * (1 - 1e-3) <= objective(noise) <= best * (1 + 2e-4)


def test_the_scale_may_exceed_the_knee():
    """Sinh-normal noise is not log-concave there, and that is where this one gains most."""
    target, objective = TCDP(0.01, 3.0), LargestError(1e12, 0.95)
    squared, normal = (
        calibrate(family, target, coordinates=2, objective=objective).noise
        for family in ("sinh_squared", "sinh_normal")
    )
    assert squared.scale > 2 * squared.knee
    assert normal.scale <= normal.knee
    assert objective(squared) < 0.96 * objective(normal)


@pytest.mark.parametrize("coordinates", [1, 2])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 0.01)])
def test_approximate_dp(epsilon, delta, coordinates):
    objective = LargestError(1e6, 0.95)
    noise = calibrate("sinh_squared", ApproxDP(epsilon, delta), coordinates=coordinates, objective=objective).noise
    bounds = exact.product_profile(noise, 1.0, epsilon, coordinates)
    assert delta * (1 - 1e-5) < bounds.lower <= bounds.upper <= delta


ROW = r"^\| (0\.\d+) \| (\S+) \| 10\^(\d+) \| (\S+) \| (\S+) \| (\S+) \| (\S+) \|$"
ROWS = re.findall(ROW, PAGE, re.MULTILINE)


@pytest.mark.parametrize(("rho", "scaled", "exponent", "optimum", "printed"), [(*row[:4], row[4:]) for row in ROWS])
def test_the_pages_table_says_what_is_computed(rho, scaled, exponent, optimum, printed):
    """The same numbers as those of experiment=optimal_noise; the least of the three noises is bold."""
    assert len(ROWS) == 12
    k, omega = 10.0 ** int(exponent), float(scaled) / np.sqrt(float(rho))
    best = OptimalNoise.build(OptimalNoise.law({"rho": float(rho), "omega": omega, "k": k}, {}, None), np.zeros(0))
    assert best.least == best.quantile == float(optimum)
    objective = LargestError(k, 0.95)
    found = [
        objective(calibrate(family, best.promise, coordinates=2, objective=objective).noise)
        for family in ("sinh_squared", "sinh_normal", "gaussian")
    ]
    least = f"{min(found):.2f}"
    texts = [f"{value:.2f}" for value in found]
    assert list(printed) == [f"**{text}**" if text == least else text for text in texts]


@pytest.mark.parametrize("rho", [1e-3, 1e-2, 0.1, 0.5])
def test_the_default_study_draws_it_where_it_is_the_best_additive_noise(rho):
    """Its block in conf/experiment/histogram.yaml begins where sinh-normal noise no longer wins."""
    study = yaml.safe_load((Path(__file__).parents[2] / "conf" / "experiment" / "histogram.yaml").read_text("utf-8"))
    block = study["also"]["squared"]
    (least,) = (float(text.removeprefix("k >= ")) for text in block["where"])
    target, tuned = TCDP(rho, block["omega_sqrt_rho"] / np.sqrt(rho)), LargestError(1e6, 0.95)
    noises = [
        calibrate(family, target, coordinates=2, objective=tuned).noise
        for family in ("sinh_squared", "sinh_normal", "gaussian")
    ]
    for k in (least, 1e9, 1e12):
        own, *others = (LargestError(k, 0.95)(noise) for noise in noises)
        assert own < min(others)
    own, *others = (LargestError(100, 0.95)(noise) for noise in noises)
    assert own > min(others)
