"""Calibration for smooth sensitivity: known costs, independent quadrature over pairs of neighbours, and an audit.

The audits have a fixed seed; for fresh seeds the false-alarm rate of each is 1%.
"""

import numpy as np
import pytest
from scipy.special import logsumexp

from tcdp_sim.calibration import calibrate_smooth, neighbouring_scales, smooth_search, standard_deviation
from tcdp_sim.calibration.smooth_search import keeps_guarantee
from tcdp_sim.data.smooth_sensitivity import robust_statistic, smooth_sensitivity
from tcdp_sim.noise import ArsinhNormal, Gaussian, LaplaceLogNormal, StudentT, UniformLogNormal
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, PureDP
from tcdp_sim.statistics.epsilon_bounds import epsilon_from_outputs

TARGETS = ((0.5, 0.05), (0.5, 0.1), (0.1, 0.05), (0.02, 0.02))
# Standard deviation over S at rho-zCDP: published formulas to three digits, and a grid of orders at the box's corners.
PUBLISHED = {
    "arsinh_normal": (2.92, 4.21, 36.8, None),
    "uniform_log_normal": (1.91, 2.15, 4.96, 10.76),
    "laplace_log_normal": (2.06, 2.65, 6.28, 13.27),
}
EXACT = {"arsinh_normal": (1.044, 1.102, 2.436, 5.341), "uniform_log_normal": (1.079, 1.152, 2.579, 5.654)}


@pytest.mark.parametrize("family", PUBLISHED)
def test_published_costs(family):
    for (rho, t), expected in zip(TARGETS, PUBLISHED[family]):
        if expected is None:
            with pytest.raises(ValueError, match="no noise meets the guarantee"):
                calibrate_smooth(family, ZCDP(rho), t, "paper")
        else:
            found = standard_deviation(calibrate_smooth(family, ZCDP(rho), t, "paper"))
            assert found == pytest.approx(expected, rel=4e-3)


def test_students_published_costs_are_those_of_whole_degrees_or_less():
    for (rho, t), expected in zip(TARGETS, (2.21, 2.86, 6.73, 14.29)):
        assert 0.97 * expected < standard_deviation(calibrate_smooth("student_t", ZCDP(rho), t, "paper")) < expected


@pytest.mark.parametrize(("target", "expected"), list(zip(TARGETS, EXACT["arsinh_normal"])))
def test_costs_over_the_whole_box(target, expected):
    found = standard_deviation(calibrate_smooth("arsinh_normal", ZCDP(target[0]), target[1], "box"))
    assert found == pytest.approx(expected, rel=4e-3)


@pytest.mark.parametrize(("target", "expected"), list(zip(TARGETS, EXACT["uniform_log_normal"])))
def test_the_uniform_costs_no_more_than_known(target, expected):
    """The known numbers are those of a coarse choice of sigma."""
    found = standard_deviation(calibrate_smooth("uniform_log_normal", ZCDP(target[0]), target[1], "box"))
    assert 0.96 * expected < found < expected


@pytest.mark.parametrize("target", TARGETS)
def test_the_laplace_log_normal_lies_between_the_uniform_and_what_is_published(target):
    """Its best sigma is next to the least that any zCDP allows, smoothing / sqrt(2 rho)."""
    rho, t = target
    found, published = (calibrate_smooth("laplace_log_normal", ZCDP(rho), t, method) for method in ("box", "paper"))
    uniform = standard_deviation(calibrate_smooth("uniform_log_normal", ZCDP(rho), t, "box"))
    assert uniform < standard_deviation(found) < 0.6 * standard_deviation(published)
    assert t / np.sqrt(2 * rho) < found.noise.sigma < 1.3 * t / np.sqrt(2 * rho)


@pytest.mark.parametrize(("rho", "omega", "t", "expected"), [(0.1, 5, 0.05, 3.146), (0.5, 5, 0.05, 1.386)])
def test_gaussian_costs_at_tcdp(rho, omega, t, expected):
    box = standard_deviation(calibrate_smooth("gaussian", TCDP(rho, omega), t, "box"))
    tight = standard_deviation(calibrate_smooth("gaussian", TCDP(rho, omega), t))
    assert box == pytest.approx(expected, rel=3e-3)
    assert tight < 0.98 * box
    assert box < standard_deviation(calibrate_smooth("gaussian", TCDP(rho, omega), t, "paper"))


def largest_ratio(noise, t, orders):
    """sup of D_a / a over random pairs that neighbours can have, by a fine sum of the densities; noise: per S."""
    rng, worst = np.random.default_rng(7), 0.0
    u = np.linspace(-25, 25, 20_001)
    x, log_weight = noise.scale * np.sinh(u), np.log(noise.scale * np.cosh(u) * (u[1] - u[0]))
    log_p = noise.logpdf(x)
    taus = np.concatenate([[-t, t, 0], rng.uniform(-t, t, 12)])
    for tau in taus:
        shift = min(1.0, np.exp(tau))
        log_q = noise.logpdf((x - shift) * np.exp(-tau)) - tau
        for a in orders:
            worst = max(worst, logsumexp(log_weight + a * log_p + (1 - a) * log_q) / (a - 1) / a)
    return worst


ORDERS = (1.05, 1.5, 2.0, 3.0, 6.0, 15.0, 40.0)


@pytest.mark.parametrize("family", ["arsinh_normal", "uniform_log_normal", "student_t"])
def test_zcdp_holds_by_an_independent_sum_and_is_nearly_used_up(family):
    noise = calibrate_smooth(family, ZCDP(0.1), 0.05).noise
    worst = largest_ratio(noise, 0.05, ORDERS)
    assert 0.96 * 0.1 < worst <= 0.1


@pytest.mark.parametrize("family", ["gaussian", "laplace", "arsinh_normal"])
def test_tcdp_holds_by_an_independent_sum(family):
    noise = calibrate_smooth(family, TCDP(0.3, 6.0), 0.03).noise
    assert 0.94 * 0.3 < largest_ratio(noise, 0.03, np.linspace(1.02, 6.0, 12)) <= 0.3


@pytest.mark.parametrize("family", ["arsinh_normal", "gaussian", "laplace"])
def test_approximate_dp_holds_by_an_independent_sum(family):
    epsilon, delta, t = 1.0, 1e-3, 0.05
    noise = calibrate_smooth(family, ApproxDP(epsilon, delta), t).noise
    u = np.linspace(-25, 25, 400_001)
    x, weight = noise.scale * np.sinh(u), noise.scale * np.cosh(u) * (u[1] - u[0])
    p, worst = noise.pdf(x), 0.0
    for tau in np.linspace(-t, t, 9):
        q = noise.pdf((x - min(1.0, np.exp(tau))) * np.exp(-tau)) * np.exp(-tau)
        worst = max(worst, np.maximum(p - np.exp(epsilon) * q, 0) @ weight)
    assert 0.85 * delta < worst <= delta


@pytest.mark.parametrize(
    ("family", "guarantee", "t"),
    [
        ("arsinh_normal", ZCDP(1e-3), 1e-3),  # needs a look at orders far above 60
        ("uniform_log_normal", TCDP(5.0, 1e12), 1.0),  # quadrature reaches no such order: the zCDP that implies it
        ("arsinh_normal", TCDP(0.1, 1e3), 0.2),
        ("student_t", ZCDP(5.0), 1e-9),
        ("gaussian", TCDP(1e-3, 1.6), 1e-4),
    ],
)
def test_corners_are_calibrated_and_hold_by_an_independent_sum(family, guarantee, t):
    noise = calibrate_smooth(family, guarantee, t).noise
    orders = [order for order in ORDERS if order < getattr(guarantee, "omega", np.inf)]
    worst = largest_ratio(noise, t, orders)
    assert 0.8 * guarantee.rho < worst <= guarantee.rho


@pytest.mark.parametrize("family", ["arsinh_normal", "student_t", "laplace"])
@pytest.mark.parametrize("guarantee", [TCDP(1e-4, 1e3), ApproxDP(1e-3, 1e-12), ApproxDP(1.0, 1e-200)])
def test_beyond_reach_it_is_one_line(family, guarantee):
    with pytest.raises(ValueError, match=r"Choose less smoothing, or a weaker|infinite from order") as error:
        calibrate_smooth(family, guarantee, 1.9)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("guarantee", [ZCDP(0.1), TCDP(0.1, 5.0), ApproxDP(1.0, 1e-5)])
def test_a_little_more_shift_is_refused(guarantee):
    noise = calibrate_smooth("arsinh_normal", guarantee, 0.05).noise
    shift = 1 / noise.scale
    unit = noise.scaled(shift)
    assert keeps_guarantee(unit, shift, guarantee, 0.05)
    assert not keeps_guarantee(unit, 1.02 * shift, guarantee, 0.05)
    assert not keeps_guarantee(unit, shift, guarantee, 0.08)


def test_the_last_orders_of_tcdp_count():
    """Gaussian noise, by its closed form: D_a / a is small, until it soars before order 10.5, where it is infinite."""
    t, shift = 0.05, 0.1

    def ratio(a):
        v = a * np.exp(-2 * t) + 1 - a
        mean = a * (shift * np.exp(-t)) ** 2 / (2 * v) - (np.log(v) + 2 * a * t) / (2 * (a - 1))
        return mean / a

    rho = 1.001 * ratio(np.linspace(1.01, 8.5, 200)).max()
    assert ratio(9.3) > 1.2 * rho
    assert keeps_guarantee(Gaussian(1), shift, TCDP(rho, 8.4), t)
    assert not keeps_guarantee(Gaussian(1), shift, TCDP(rho, 9.4), t)


def test_what_exceeds_delta_by_an_independent_sum_is_refused():
    """The neighbour with the least scale, at a shift one percent above the largest one that keeps the guarantee."""
    unit, epsilon, t, shift = StudentT(1, 2.62), 1.0, 0.3, 0.5561
    u = np.linspace(-40, 40, 100_001)
    x, weight = np.sinh(u), np.cosh(u) * (u[1] - u[0])
    q = unit.pdf(x * np.exp(t) - shift) * np.exp(t)  # of e^-t X + e^-t shift
    assert np.maximum(unit.pdf(x) - np.exp(epsilon) * q, 0) @ weight > 1.01e-5
    assert not keeps_guarantee(unit, shift, ApproxDP(epsilon, 1e-5), t)


def test_pairs_and_cells_cover_all_that_neighbours_can_have():
    """A cell holds the pair; of pairs, by the two rules, one on each side of its log-scale has at least its shift."""
    t, s, rng = 0.7, 1.3, np.random.default_rng(3)
    pairs = np.array(neighbouring_scales.covering_pairs(t, s))
    cells = neighbouring_scales.covering_cells(t, s)
    for tau in [-t, 0.0, t, *rng.uniform(-t, t, 500)]:
        shift = s * min(1.0, np.exp(tau)) * (1 - 1e-14)
        reach = pairs[pairs[:, 1] >= shift, 0]
        assert reach.min() <= tau <= reach.max()
        assert any(min(ends) <= tau <= max(ends) and largest >= shift for ends, largest in cells)


UNITS = [ArsinhNormal(1, 0.5), StudentT(1, 4.0), UniformLogNormal(1, 0.4), LaplaceLogNormal(1, 0.3)]


@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_beyond_the_last_order_a_noise_s_own_bound_is_enough(unit):
    """D_a <= slope a + constant is at most rho a there; and it is no order that some other noise would need."""
    for t, shift, rho in ((0.05, 0.1, 0.1), (0.05, 0.4, 0.3), (0.01, 0.02, 0.002)):
        last = smooth_search._last_order(unit, shift, ZCDP(rho), t)
        slope, constant = unit.affine_tail(t, shift)
        assert last >= 3
        assert slope * last + constant <= rho * last * (1 + 1e-12)
        assert last == 3 or slope * 0.99 * last + constant > rho * 0.99 * last


def test_who_is_refused_and_why():
    refusals = [
        ("sinh_normal", TCDP(0.1, 5.0), 0.05, "infinite divergences at all orders above 1"),
        ("gaussian", ZCDP(0.1), 0.05, "infinite from order 10.5"),
        ("laplace", TCDP(0.1, 30.0), 0.05, "infinite from order 20.5"),
        ("truncated_laplace", ApproxDP(1.0, 1e-5), 0.05, "nothing is known"),
        ("arsinh_normal", PureDP(1.0), 0.05, "valid: TCDP"),
        ("arsinh_normal", ZCDP(0.1), 0.0, "valid: 0 < smoothing"),
        ("arsinh_normal", ZCDP(1e-5), 1.9, "quadrature confirms no scale, however large. Choose less smoothing"),
        (
            "laplace_log_normal",
            ApproxDP(1.0, 1e-5),
            0.1,
            "by a published formula: none is known. Choose method 'tight'",
        ),
    ]
    for family, guarantee, smoothing, reason in refusals:
        method = "paper" if "formula" in reason else "tight"
        with pytest.raises(ValueError, match=reason):
            calibrate_smooth(family, guarantee, smoothing, method)


def test_students_pure_guarantee_bounds_the_loss():
    """The largest loss at d = 3, t = 0.1, s = 0.5, a grid over the corners, is .7364."""
    epsilon = 3 * 0.1 + 4 * 0.5 / (2 * np.sqrt(3))
    unit = StudentT(1, 3)
    assert unit.smooth_shift(PureDP(epsilon), 0.1) == pytest.approx(0.5, rel=1e-12)
    x = np.linspace(-50, 50, 200_001)
    losses = [np.abs(unit.affine_loss(x, tau, 0.5)).max() for tau in (-0.1, 0.1)]
    assert max(losses) == pytest.approx(0.7364, rel=1e-3)
    assert max(losses) < epsilon


# An audit: outputs of the mechanism on two neighbours


def outputs(sensitivity, noise, records, trials, seed):
    draws = noise.sample(trials, rng=np.random.default_rng(seed))
    return robust_statistic(records) + sensitivity(records) * draws


def test_a_sensitivity_whose_smoothing_is_forgotten_is_caught():
    """Half of 40 records at 0: one more moves the median from 0 to where gaps are wide; LS grows a thousandfold."""
    bounds, t = (0.0, 1000.0), 0.1
    here = np.concatenate([np.zeros(21), np.linspace(1, 1000, 18)])
    there = np.concatenate([np.zeros(20), np.linspace(1, 1000, 18), [1000.0]])
    claimed = ApproxDP(1.0, 1e-3)
    noise = calibrate_smooth("arsinh_normal", claimed, t).noise

    def local(records):
        return smooth_sensitivity(records, bounds, 50.0)  # far data sets count for nothing

    def smooth(records):
        return smooth_sensitivity(records, bounds, t)

    assert local(there) > 50 * local(here)
    for sensitivity, caught in ((local, True), (smooth, False)):
        first, second = (outputs(sensitivity, noise, x, 40_000, seed) for x, seed in ((here, 1), (there, 2)))
        assert (epsilon_from_outputs(first, second, claimed.delta, 0.99) > claimed.epsilon) == caught


def test_noise_without_stretching_in_mind_is_caught_by_its_divergence():
    """Noise that is calibrated with a tenth of the smoothing does not keep the guarantee at all of it."""
    noise = calibrate_smooth("arsinh_normal", ZCDP(0.02), 0.01).noise
    shift = 1 / noise.scale
    assert not keeps_guarantee(noise.scaled(shift), shift, ZCDP(0.02), 0.1)
    assert isinstance(noise, ArsinhNormal)
