"""Noise calibrated to (epsilon, delta)-DP by its exact profile, and Laplace noise to concentrated DP by quadrature."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from tcdp_sim.calibration import VARIANCE, LargestError, calibrate
from tcdp_sim.exact import hockey_stick
from tcdp_sim.exact.products import product_profile
from tcdp_sim.noise import Gaussian, Laplace, Noise, SinhNormal, TruncatedLaplace
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP

TARGETS = [(0.1, 1e-6), (1.0, 1e-6), (3.0, 1e-3), (0.0, 0.01), (1.0, 1e-12)]


def profile_of_two(noise, shift, epsilon):
    """delta(epsilon) of two coordinates, by the plain double integral of (P - e^eps Q)_+ on a fine grid."""
    x, step = np.linspace(-TABLE_REACH, TABLE_REACH, 4001, retstep=True)
    x = x + 0.5 * shift
    p, q = noise.pdf(x), noise.pdf(x - shift)
    return sum(np.maximum(a * p - np.exp(epsilon) * b * q, 0).sum() for a, b in zip(p, q)) * step**2


TABLE_REACH = 40.0


# Two coordinates at once


@pytest.mark.parametrize("epsilon", [-1.0, 0.0, 0.3, 1.2])
@pytest.mark.parametrize("noise", [Laplace(2.0), SinhNormal(3.0, 20.0), SinhNormal(3.0, 3.5), SinhNormal(2.0, 1.0)])
def test_the_profile_of_two_coordinates_by_brute_force(noise, epsilon):
    """The midpoint rule of step 0.02 errs by about (step / scale)^2 / 10 at the kinks."""
    found = product_profile(noise, 1.0, epsilon)
    assert found.lower <= found.estimate <= found.upper
    assert found.upper - found.lower <= 1e-8 * found.estimate + 1e-300
    assert found.estimate == pytest.approx(profile_of_two(noise, 1.0, epsilon), rel=2e-4, abs=1e-9)


def test_two_laplace_coordinates_by_hand():
    """delta(0) of two Laplace coordinates: mpmath-free, by integrating the closed profile of one over the other."""
    scale, epsilon = 2.0, 0.4

    def integrand(x):
        loss = (abs(x - 1) - abs(x)) / scale
        rest = epsilon - loss
        return stats.laplace.pdf(x, scale=scale) * max(1 - np.exp((rest - 1 / scale) / 2), 0.0)

    # inside |rest| <= 1/scale the profile of one coordinate is 1 - e^((rest - 1/scale)/2); here rest >= -0.1 always
    pieces = [-80, -10, 0, 0.5, 0.9, 1, 10, 80]
    truth = sum(integrate.quad(integrand, a, b, epsabs=0, epsrel=1e-12)[0] for a, b in pairwise(pieces))
    assert product_profile(Laplace(scale), 1.0, epsilon).estimate == pytest.approx(truth, rel=1e-9)


class PlainGaussian(Noise):
    """Gaussian noise that nobody knows to be Gaussian: the generic quadrature has to do it."""

    family = "plain"

    def __init__(self, scale):
        self._law = Gaussian(scale)

    def __getattribute__(self, name):
        if name in ("logpdf", "sf", "logsf", "isf", "var", "sample", "privacy_loss"):
            return getattr(object.__getattribute__(self, "_law"), name)
        return object.__getattribute__(self, name)

    logpdf = sf = logsf = isf = var = sample = privacy_loss = None


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 6.0])
def test_two_gaussian_coordinates_are_one_with_a_larger_shift(epsilon):
    truth = hockey_stick(Gaussian(2.0), np.sqrt(2), epsilon).estimate
    found = product_profile(PlainGaussian(2.0), 1.0, epsilon)
    assert found.lower <= truth <= found.upper
    assert found.estimate == pytest.approx(truth, rel=1e-10)


@pytest.mark.slow
def test_what_takes_more_than_some_ten_seconds_is_refused():
    with pytest.raises(ValueError, match=r"20\.0\) needs more work than 130,000,000 evaluations of a density; valid: "):
        product_profile(PlainGaussian(2.0), 1.0, 20.0)


def test_more_than_two_coordinates():
    assert product_profile(Gaussian(2.0), 1.0, 1.0, 9) == hockey_stick(Gaussian(2.0), 3.0, 1.0)
    with pytest.raises(ValueError, match="coordinates = 3 is not valid for laplace noise; valid: 1 or 2"):
        product_profile(Laplace(2.0), 1.0, 1.0, 3)


# Calibration


@pytest.mark.parametrize("coordinates", [1, 2])
@pytest.mark.parametrize("family", ["gaussian", "laplace", "sinh_normal"])
@pytest.mark.parametrize(("epsilon", "delta"), TARGETS)
def test_the_profile_meets_delta_and_nothing_much_smaller_does(family, epsilon, delta, coordinates):
    noise = calibrate(family, ApproxDP(epsilon, delta), coordinates=coordinates, objective=LargestError(1e6)).noise
    assert product_profile(noise, 1.0, epsilon, coordinates).upper <= delta
    if isinstance(noise, SinhNormal):
        less = SinhNormal(noise.scale * 0.99999, noise.knee)
        assert noise.knee >= noise.scale
    else:
        less = type(noise)(noise.scale * 0.99999)
    assert product_profile(less, 1.0, epsilon, coordinates).lower > delta


@pytest.mark.parametrize(("epsilon", "delta"), TARGETS)
def test_gaussian_by_the_analytic_formula_of_balle_and_wang(epsilon, delta):
    def excess(sigma):
        low, high = epsilon * sigma - 0.5 / sigma, epsilon * sigma + 0.5 / sigma
        return stats.norm.sf(low) - np.exp(epsilon + stats.norm.logsf(high)) - delta

    truth = optimize.brentq(excess, 1e-2, 1e5, xtol=1e-14)
    found = calibrate("gaussian", ApproxDP(epsilon, delta), 3.0, coordinates=4).noise
    assert found.scale == pytest.approx(3 * 2 * truth, rel=1e-6)


def test_laplace_by_its_closed_form():
    """One coordinate: delta = 1 - e^((epsilon - 1/scale) / 2)."""
    found = calibrate("laplace", ApproxDP(0.5, 0.01)).noise
    assert found.scale == pytest.approx(1 / (0.5 - 2 * np.log1p(-0.01)), rel=1e-7)


def test_sinh_normal_wins_for_large_delta_only():
    """At epsilon = 0 the profile is the total variation distance, which heavy shoulders suit."""
    objective = LargestError(1e6)
    tv = ApproxDP(0.0, 0.01)
    assert objective(calibrate("sinh_normal", tv, objective=objective).noise) < 0.5 * objective(
        calibrate("gaussian", tv).noise
    )
    small = ApproxDP(1.0, 1e-6)
    found, gaussian = (objective(calibrate(f, small, objective=objective).noise) for f in ("sinh_normal", "gaussian"))
    assert found == pytest.approx(gaussian, rel=1e-5)  # its limit of wide knees, and never worse than the certificate


@pytest.mark.parametrize("sensitivity", [0.01, 30.0])
@pytest.mark.parametrize("family", ["gaussian", "laplace", "sinh_normal"])
def test_it_scales_with_the_sensitivity(family, sensitivity):
    target = ApproxDP(0.5, 1e-3)
    one = calibrate(family, target, objective=LargestError(100)).noise
    other = calibrate(family, target, sensitivity, objective=LargestError(100)).noise
    assert other.scale == pytest.approx(sensitivity * one.scale, rel=1e-5)


@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_the_papers_noise_meets_it_and_is_larger(family):
    target = ApproxDP(0.5, 1e-6)
    paper, tight = (calibrate(family, target, method=method, coordinates=2).noise for method in ("paper", "tight"))
    assert tight.scale < paper.scale
    assert product_profile(paper, 1.0, 0.5).upper <= 1e-6


@pytest.mark.parametrize(("scale", "knee"), [(3.0, 20.0), (10.0, 1e4), (1.0, 1.0)])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("coordinates", [1, 2])
def test_the_fast_profile_is_close_enough_to_search_with(scale, knee, epsilon, coordinates):
    truth = product_profile(SinhNormal(scale, knee), 1.0, epsilon, coordinates).estimate
    assert SinhNormal(scale, knee).fast_profile(epsilon, 1e-6, coordinates) == pytest.approx(truth, rel=1e-6)


@pytest.mark.parametrize("family", ["laplace", "sinh_normal"])
def test_three_coordinates_are_refused_where_no_profile_is_known(family):
    with pytest.raises(ValueError, match=f"cannot calibrate {family} tightly to .* coordinates = 3: .* for 1 or 2"):
        calibrate(family, ApproxDP(1.0, 1e-6), coordinates=3)


def test_a_delta_of_one_is_refused():
    with pytest.raises(ValueError, match="delta = 1 is not valid; valid: 0 < delta < 1"):
        calibrate("gaussian", ApproxDP(1.0, 1.0))


def test_an_objective_that_is_not_a_number_is_refused():
    with pytest.raises(ValueError, match=r"objective of SinhNormal.* is nan; valid: a finite number"):
        calibrate("sinh_normal", ApproxDP(1.0, 1e-6), objective=not_a_number)
    with pytest.raises(ValueError, match=r"objective of SinhNormal.* is nan; valid: a finite number"):
        calibrate("sinh_normal", TCDP(0.1, 5.0), objective=not_a_number)


def not_a_number(noise):
    return float("nan")


# Laplace noise under concentrated DP


def laplace_renyi(epsilon, order):
    """By scipy's quadrature of the definition, at scale 1/epsilon and shift 1."""

    def integrand(x):
        return 0.5 * epsilon * np.exp(-epsilon * (order * abs(x) - (order - 1) * abs(x - 1)))

    edges = (-800 / epsilon, -1, 0, 1, 2, 800 / epsilon)
    mean = sum(integrate.quad(integrand, a, b, epsabs=0, epsrel=1e-12)[0] for a, b in pairwise(edges))
    return np.log(mean) / (order - 1)


@pytest.mark.parametrize("coordinates", [1, 2])
@pytest.mark.parametrize("guarantee", [ZCDP(0.1), ZCDP(2.0), TCDP(0.5, 1.5), TCDP(0.1, 5.0)], ids=str)
def test_laplace_to_concentrated_dp(guarantee, coordinates):
    noise = calibrate("laplace", guarantee, coordinates=coordinates).noise
    paper = calibrate("laplace", guarantee, method="paper", coordinates=coordinates).noise
    omega = getattr(guarantee, "omega", np.inf)
    orders = 1 + (min(omega, 60.0) - 1) * np.array([1e-3, 0.01, 0.05, 0.1, 0.2, 0.4, 0.7, 1 - 1e-9])
    epsilon = 1 / noise.scale
    spent = [coordinates * laplace_renyi(epsilon, order) / (guarantee.rho * order) for order in orders]
    spent.append(coordinates * (epsilon + np.expm1(-epsilon)) / guarantee.rho)  # order one, where epsilon is large
    assert 0.998 < max(spent) <= 1 + 1e-7
    if coordinates == 1:
        assert noise.scale < paper.scale


def test_variance_is_the_default_objective():
    assert (
        calibrate("sinh_normal", ApproxDP(1.0, 1e-3)).noise
        == calibrate("sinh_normal", ApproxDP(1.0, 1e-3), objective=VARIANCE).noise
    )


def test_truncated_laplace_is_exact_for_its_scale():
    """Its bound is the smallest at which both coordinates stay on the common support but for delta."""
    noise = calibrate("truncated_laplace", ApproxDP(1.0, 1e-4), coordinates=2).noise
    assert product_profile(noise, 1.0, 1.0).upper <= 1e-4 * (1 + 1e-8)
    shorter = TruncatedLaplace(noise.scale, noise.bound * 0.9999)
    assert product_profile(shorter, 1.0, 1.0).lower > 1e-4


@pytest.mark.parametrize("coordinates", [1, 2])
def test_sinh_normal_noise_below_rounding_is_refused_and_never_absurdly_wide(coordinates):
    with pytest.raises(ValueError, match="epsilon = 0, delta = 1e-18 is lost in rounding; valid: epsilon >= 1e-12 or"):
        calibrate("sinh_normal", ApproxDP(0.0, 1e-18), coordinates=coordinates)
    for epsilon, delta in ((0.0, 1e-13), (1e-12, 1e-18))[coordinates - 1 :]:
        noise = calibrate("sinh_normal", ApproxDP(epsilon, delta), coordinates=coordinates).noise
        assert 0.95 * delta < product_profile(noise, 1.0, epsilon, coordinates).lower <= delta
