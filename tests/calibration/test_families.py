"""Every calibrated noise has the guarantee that was asked for, by quadrature of divergences written down here."""

from itertools import pairwise

import numpy as np
import pytest
from noise_examples import TABLE
from scipy import integrate, stats

from tcdp_sim.calibration import calibrate, equal_privacy
from tcdp_sim.calibration.families import METHODS
from tcdp_sim.noise import FAMILIES, Gaussian, Laplace, SinhNormal, TruncatedLaplace
from tcdp_sim.noise.missing import defines
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, PureDP

CALIBRATED = [name for name, noise in FAMILIES.items() if noise.can_meet(noise.equal_privacy(0.1, 5.0, 1e-6))]
methods = pytest.mark.parametrize("method", METHODS)
sizes = pytest.mark.parametrize(("sensitivity", "coordinates"), [(1, 1), (0.5, 1), (3, 2), (1.0, 5)])


def renyi(log_density, shift, order, reach):
    """D_order of the noise and the noise shifted, by the trapezoid rule, exact to 1e-10 for smooth densities."""
    y, step = np.linspace(-reach, reach, 4001, retstep=True)
    exponent = order * log_density(y) - (order - 1) * log_density(y - shift)
    top = exponent.max()
    inside = np.exp(exponent - top)
    assert max(inside[0], inside[-1]) < 1e-20  # the range is wide enough
    return (top + np.log(inside.sum() * step)) / (order - 1)


def sinh_normal_log_density(scale, knee):
    """Of knee * arsinh(scale / knee * Z), by the change of variables."""

    def log_density(y):
        z = knee / scale * np.sinh(y / knee)
        log_cosh = np.logaddexp(y / knee, -y / knee) - np.log(2)
        return stats.norm.logpdf(z) + log_cosh - np.log(scale)

    return log_density


def renyi_of_sinh_normal(scale, knee, shift, order):
    return renyi(sinh_normal_log_density(scale, knee), shift, order, knee * np.arcsinh(60 * scale / knee) + shift)


# Every family


def test_every_family_can_be_calibrated_but_those_apart():
    """By a theorem, a search, or both, to the guarantee at which it is compared; a shape is not calibrated."""
    assert set(CALIBRATED) == {family for family, entry in TABLE.items() if entry.by_name}
    for family, noise in FAMILIES.items():
        assert family == noise.family
        assert set(noise.depends_on) <= {"rho", "omega", "delta"}


@pytest.mark.parametrize("family", CALIBRATED)
def test_the_noise_depends_on_the_parameters_listed_and_on_no_other(family):
    target = {"rho": 0.1, "omega": 5.0, "delta": 1e-6}
    changed = {"rho": 0.2, "omega": 6.0, "delta": 1e-7}

    method = "paper" if defines(FAMILIES[family], "by_theorem") else "tight"

    def noise(values):
        return calibrate(family, equal_privacy(family, **values), method=method, coordinates=2).noise

    assert isinstance(noise(target), FAMILIES[family])
    for name in target:
        other = noise(target | {name: changed[name]})
        assert (other != noise(target)) == (name in FAMILIES[family].depends_on)


# Gaussian


@methods
@sizes
@pytest.mark.parametrize("guarantee", [ZCDP(0.01), ZCDP(2), TCDP(0.3, 4), TCDP(0.3, np.inf)], ids=str)
def test_gaussian_uses_up_its_budget_at_every_order(guarantee, method, sensitivity, coordinates):
    noise = calibrate("gaussian", guarantee, sensitivity, method, coordinates=coordinates).noise
    law = stats.norm(scale=noise.scale)
    for order in (1.1, 2, 7):
        reach = 12 * noise.scale + order * sensitivity
        divergence = coordinates * renyi(law.logpdf, sensitivity, order, reach)
        assert divergence == pytest.approx(guarantee.rho * order, rel=1e-8)


# Laplace


@methods
@sizes
@pytest.mark.parametrize("epsilon", [0.01, 1, 8])
def test_the_largest_loss_of_laplace_noise_is_epsilon(epsilon, method, sensitivity, coordinates):
    noise = calibrate("laplace", PureDP(epsilon), sensitivity, method, coordinates=coordinates).noise
    y = np.linspace(-4, 4, 801) * (sensitivity + noise.scale)
    law = stats.laplace(scale=noise.scale)
    for shift in (sensitivity, -sensitivity):
        loss = law.logpdf(y) - law.logpdf(y - shift)
        assert coordinates * loss.max() == pytest.approx(epsilon, rel=1e-12)


@sizes
@pytest.mark.parametrize("guarantee", [ZCDP(0.01), ZCDP(2), TCDP(0.3, 4)], ids=str)
def test_laplace_noise_keeps_a_concentrated_guarantee(guarantee, sensitivity, coordinates):
    noise = calibrate("laplace", guarantee, sensitivity, "paper", coordinates=coordinates).noise
    assert noise == calibrate("laplace", PureDP(np.sqrt(2 * guarantee.rho)), sensitivity, coordinates=coordinates).noise
    law, far = stats.laplace(scale=noise.scale), 60 * noise.scale
    for order in (1.01, 2, 3.9):

        def f(y, order=order):
            return np.exp(order * law.logpdf(y) - (order - 1) * law.logpdf(y - sensitivity))

        pieces = [integrate.quad(f, *ends, epsrel=1e-10)[0] for ends in pairwise([-far, 0, sensitivity, far])]
        divergence = coordinates * np.log(sum(pieces)) / (order - 1)
        assert 0 < divergence <= guarantee.rho * order


# Truncated Laplace


def truncated_density(noise, y):
    mass = -np.expm1(-noise.bound / noise.scale)
    return np.where(np.abs(y) <= noise.bound, np.exp(-np.abs(y) / noise.scale) / (2 * noise.scale * mass), 0.0)


def nodes(noise, shift):
    """Gauss-Legendre nodes and weights between the kinks and jumps of the noise and of the noise shifted."""
    x, w = np.polynomial.legendre.leggauss(40)
    edges = np.unique([-noise.bound, 0, noise.bound, shift - noise.bound, shift, shift + noise.bound])
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    return (middle[:, None] + half[:, None] * x).ravel(), (half[:, None] * w).ravel()


def outside(noise, shift):
    """The mass of the noise that the noise shifted cannot reach."""
    y, weight = nodes(noise, shift)
    return (weight * truncated_density(noise, y) * (truncated_density(noise, y - shift) == 0)).sum()


@methods
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-5), (1, 1e-2), (1, 0.5), (4, 1e-9), (5, 0.3)])
@pytest.mark.parametrize("sensitivity", [1, 2.5])
def test_the_hockey_stick_divergence_of_truncated_laplace_noise_is_delta(epsilon, delta, method, sensitivity):
    noise = calibrate("truncated_laplace", ApproxDP(epsilon, delta), sensitivity, method).noise
    assert noise.bound >= sensitivity * (1 - 1e-15)
    for shift in (sensitivity, -sensitivity):
        y, weight = nodes(noise, shift)
        gap = truncated_density(noise, y) - np.exp(epsilon) * truncated_density(noise, y - shift)
        assert (weight * np.maximum(gap, 0)).sum() == pytest.approx(delta, rel=1e-9, abs=1e-14)


@methods
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-5), (1, 1e-2), (1, 0.75), (4, 1e-7), (5, 0.3)])
@pytest.mark.parametrize("signs", [(1, 1), (1, -1), (-1, 1)])
def test_two_changed_coordinates_of_truncated_laplace_noise(epsilon, delta, method, signs):
    """The same divergence of the products, over the plane."""
    noise = calibrate("truncated_laplace", ApproxDP(epsilon, delta), method=method, coordinates=2).noise
    assert noise.bound >= 1 - 1e-15
    (x, weight_x), (y, weight_y) = (nodes(noise, sign) for sign in signs)
    first = truncated_density(noise, x)[:, None] * truncated_density(noise, y)
    second = truncated_density(noise, x - signs[0])[:, None] * truncated_density(noise, y - signs[1])
    divergence = weight_x @ np.maximum(first - np.exp(epsilon) * second, 0) @ weight_y
    assert divergence == pytest.approx(delta, rel=1e-8, abs=1e-14)


@pytest.mark.parametrize("coordinates", [1, 2, 3, 10])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-9), (3, 1e-2), (1, 0.4)])
def test_any_number_of_coordinates_leaves_the_common_support_with_probability_delta(coordinates, epsilon, delta):
    noise = calibrate("truncated_laplace", ApproxDP(epsilon, delta), 2.0, coordinates=coordinates).noise
    stays = np.log1p(-outside(noise, 2.0))
    assert -np.expm1(coordinates * stays) == pytest.approx(delta, rel=1e-6)
    # On the common support every coordinate loses at most sensitivity / scale.
    assert coordinates * 2.0 / noise.scale == pytest.approx(epsilon, rel=1e-12)


@pytest.mark.parametrize("coordinates", [1, 2, 3])
def test_smaller_changes_of_truncated_laplace_noise_cost_less(coordinates):
    noise = calibrate("truncated_laplace", ApproxDP(1, 1e-3), coordinates=coordinates).noise
    leaving = [outside(noise, shift) for shift in (0.1, 0.5, 0.9, 1.0)]
    assert np.all(np.diff(leaving) > 0)


# Sinh-normal


@pytest.mark.parametrize(("rho", "omega"), [(0.01, 7.5), (0.1, 2.5), (1e-4, 100), (0.4, 1.2)])
def test_the_histogram_has_the_noise_of_corollary_18(rho, omega):
    noise = calibrate("sinh_normal", TCDP(rho, omega), method="paper", coordinates=2).noise
    assert noise.scale == pytest.approx(4 / np.sqrt(rho), rel=1e-14)
    assert noise.knee == pytest.approx(8 * omega, rel=1e-14)


@pytest.mark.parametrize("rho", [1e-6, 1e-4, 1e-2, 0.1, 0.4])
@pytest.mark.parametrize("excess", [1, 1.1, 2, 20])
@pytest.mark.parametrize(("sensitivity", "coordinates"), [(1, 2), (2.5, 2), (1, 1)])
def test_sinh_normal_noise_keeps_its_guarantee_at_and_above_the_precondition(rho, excess, sensitivity, coordinates):
    omega = max(excess * np.sqrt(coordinates / (4 * rho)), 1.01)
    noise = calibrate("sinh_normal", TCDP(rho, omega), sensitivity, "paper", coordinates=coordinates).noise
    for order in 1 + (omega - 1) * np.array([1e-3, 0.1, 0.5, 0.9, 1]):
        divergence = coordinates * renyi_of_sinh_normal(noise.scale, noise.knee, sensitivity, order)
        assert 0 < divergence <= rho * order


# The printed precondition, omega >= 1 / (8 sqrt(rho)), admits a range in which the guarantee does not hold.
@pytest.mark.parametrize(
    ("rho", "omega_sqrt_rho", "ratio"),
    [
        (1e-2, 0.125, 1.823),
        (1e-2, 0.15, 1.262),
        (1e-4, 0.125, 1.867),
        (1e-4, 0.15, 1.289),
        (1e-6, 0.125, 1.872),
        (1e-4, 0.17, 1.001),
        (1e-2, 0.17, 0.982),
        (1e-2, 0.25, 0.464),
        (1e-4, 0.5, 0.152),
        (1e-4, 0.7071, 0.105),
    ],
)
def test_the_divergence_over_what_corollary_18_claims(rho, omega_sqrt_rho, ratio):
    omega = omega_sqrt_rho / np.sqrt(rho)
    orders = 1 + (omega - 1) * np.linspace(0.02, 1, 25)
    claims = [2 * renyi_of_sinh_normal(4 / np.sqrt(rho), 8 * omega, 1, order) / (rho * order) for order in orders]
    assert max(claims) == pytest.approx(ratio, abs=6e-4)


@pytest.mark.parametrize("omega_sqrt_rho", [0.125, 0.15, 0.17, 0.25, 0.7071])
def test_sinh_normal_noise_is_refused_below_the_precondition(omega_sqrt_rho):
    guarantee = TCDP(1e-4, omega_sqrt_rho * 100)
    with pytest.raises(ValueError, match=r"needs omega >= sqrt\(2/\(4 rho\)\) = 70\.7107; got omega = .*is false"):
        calibrate("sinh_normal", guarantee, method="paper", coordinates=2)


@pytest.mark.parametrize("rho", np.geomspace(1e-8, 0.49, 50))
@pytest.mark.parametrize("coordinates", [1, 2, 3])
def test_the_boundary_of_the_precondition_is_accepted_and_nothing_below(rho, coordinates):
    least = np.sqrt(coordinates / (4 * rho))
    omega = max(least, 1.001)
    noise = calibrate("sinh_normal", TCDP(rho, omega), method="paper", coordinates=coordinates).noise
    assert noise.knee == 8 * omega
    if least > 1.001:
        with pytest.raises(ValueError, match="needs omega"):
            calibrate("sinh_normal", TCDP(rho, least * (1 - 1e-9)), method="paper", coordinates=coordinates)


# Refusals


@pytest.mark.parametrize(
    ("family", "guarantee", "method", "valid"),
    [
        ("laplace", ZCDP(1, xi=0.5), "paper", "ZCDP with xi = 0"),
        ("laplace", ZCDP(1, xi=0.5), "tight", "ZCDP with xi = 0"),
        ("truncated_laplace", PureDP(1), "tight", "ApproxDP"),
        ("truncated_laplace", ZCDP(1), "paper", "ApproxDP"),
        ("gaussian", PureDP(1), "tight", "ZCDP with xi = 0, TCDP"),
        ("gaussian", ZCDP(1, xi=0.5), "tight", "ZCDP with xi = 0, TCDP"),
        ("sinh_normal", TCDP(0.01, np.inf), "paper", "TCDP with finite omega"),
        ("sinh_normal", ZCDP(0.01), "tight", "TCDP with finite omega"),
        ("sinh_normal", PureDP(1), "paper", "TCDP with finite omega"),
        ("sinh_normal", ApproxDP(1, 1e-6), "paper", "TCDP with finite omega"),
    ],
)
def test_a_guarantee_that_a_family_cannot_meet_is_refused(family, guarantee, method, valid):
    with pytest.raises(ValueError, match=f"{family} cannot be calibrated to .*; valid: .*{valid}") as refusal:
        calibrate(family, guarantee, method=method)
    assert str(guarantee) in str(refusal.value)


@pytest.mark.parametrize(("coordinates", "most"), [(1, 0.5), (2, 0.75), (3, 0.875)])
def test_a_delta_that_needs_less_noise_than_the_sensitivity_is_refused(coordinates, most):
    noise = calibrate("truncated_laplace", ApproxDP(1, most - 1e-9), coordinates=coordinates).noise
    assert noise.bound == pytest.approx(1, rel=1e-8)  # the common support is a point
    with pytest.raises(ValueError, match=f"over {coordinates} coordinates .* valid: delta <= {most}"):
        calibrate("truncated_laplace", ApproxDP(1, most + 1e-9), coordinates=coordinates)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"family": "cauchy"}, "family = 'cauchy'"),
        ({"method": "loose"}, "method = 'loose'"),
        ({"sensitivity": 0}, "sensitivity = 0 is not valid; valid: 0 < sensitivity"),
        ({"sensitivity": np.nan}, "sensitivity = nan"),
        ({"sensitivity": np.inf}, "sensitivity = inf"),
        ({"sensitivity": [1, 2]}, r"sensitivity = \[1, 2\] is not one number; valid: 0 < sensitivity"),
        ({"objective": 3}, "objective = 3"),
        ({"coordinates": 0}, "coordinates = 0 is not valid; valid: a whole number from 1"),
        ({"coordinates": True}, "coordinates = True"),
        ({"coordinates": 10**400}, "coordinates = 1000"),
        ({"coordinates": 1.5}, "coordinates = 1.5"),
    ],
)
def test_arguments_outside_their_range_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        calibrate(**{"family": "gaussian", "guarantee": ZCDP(1)} | arguments)


def test_no_noise_gives_perfect_privacy():
    with pytest.raises(ValueError, match="epsilon = 0"):
        calibrate("laplace", PureDP(0))
    with pytest.raises(ValueError, match="epsilon = 0"):
        calibrate("truncated_laplace", ApproxDP(0, 1e-6))


# Equal privacy


@pytest.mark.parametrize("rho", [1e-6, 0.1, 8])
def test_families_are_compared_at_guarantees_that_imply_the_same_rho(rho):
    pure = equal_privacy("laplace", rho, 3, 1e-6)
    approximate = equal_privacy("truncated_laplace", rho, 3, 1e-6)
    assert pure.epsilon**2 / 2 == pytest.approx(rho, rel=1e-14)
    assert approximate == ApproxDP(pure.epsilon, 1e-6)
    assert equal_privacy("gaussian", rho, 3, 1e-6) == ZCDP(rho)
    assert equal_privacy("sinh_normal", rho, 3, 1e-6) == TCDP(rho, 3)


@pytest.mark.parametrize(
    ("family", "target", "message"),
    [
        ("cauchy", {"rho": 1}, "family = 'cauchy'"),
        ("laplace", {"rho": 0}, "rho = 0"),
        ("gaussian", {"rho": -1}, "rho = -1"),
        ("truncated_laplace", {"rho": 1}, "delta = None"),
        ("truncated_laplace", {"rho": 1, "delta": 1}, "delta = 1"),
        ("sinh_normal", {"rho": 1}, "omega = None"),
        ("sinh_normal", {"rho": 1, "omega": 1}, "omega = 1"),
    ],
)
def test_targets_that_are_not_valid_are_refused(family, target, message):
    with pytest.raises(ValueError, match=message):
        equal_privacy(family, **target)


def test_noises_of_the_histogram():
    """By hand: rho = 1/2 is epsilon = 1."""
    assert calibrate("laplace", PureDP(1), coordinates=2).noise == Laplace(2)
    assert calibrate("gaussian", ZCDP(0.5), coordinates=2).noise == Gaussian(np.sqrt(2))
    assert calibrate("sinh_normal", TCDP(0.5, 2), method="paper", coordinates=2).noise == SinhNormal(np.sqrt(32), 16)
    noise = calibrate("truncated_laplace", ApproxDP(1, 0.19), coordinates=2).noise
    assert isinstance(noise, TruncatedLaplace)
    assert (noise.scale, noise.bound) == pytest.approx((2, 2 * np.log1p(np.expm1(0.5) / 0.2)), rel=1e-12)
