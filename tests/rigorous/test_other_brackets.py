"""Brackets of extremes, selection, compositions, information and optimal noise against ball arithmetic."""

import composed_pairs as of_pairs
import numpy as np
import pytest
from ball_brackets import assert_agrees
from ball_noises import ArsinhNormal, Lattice, SinhSquared, StudentT, UniformLogNormal, laplace_log_normal_tail

from tcdp_sim import exact, noise
from tcdp_sim.calibration import calibrate
from tcdp_sim.calibration.optimal import LargestError, MeanAbsoluteError, Tail, optimal_noise
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.experiments.papers.balls import laws
from tcdp_sim.experiments.papers.balls.arithmetic import ball, between, flint, integral, normal_tail, precise
from tcdp_sim.experiments.papers.balls.divergences import renyi
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, PureDP

SAME = [
    (noise.Gaussian(2.0), laws.Gaussian(2.0)),
    (noise.Laplace(1.5), laws.Laplace(1.5)),
    (noise.SinhNormal(3.0, 10.0), laws.SinhNormal(3.0, 10.0)),
    (noise.GeneralizedGaussian(1.0, 0.25), laws.GeneralizedGaussian(1.0, 0.25)),
    (noise.ExponentialPolylogarithmic(1.0, 1.0, 1.0, 4.0), laws.ExponentialPolylogarithmic(1.0, 1, 1.0, 4.0)),
    (noise.ExponentialPolylogarithmic(2.0, 2.0, 3.0, 1.0), laws.ExponentialPolylogarithmic(2.0, 2, 3.0, 1.0)),
    (noise.StudentT(2.0, 3.0), StudentT(2.0, 3.0)),
    (noise.ArsinhNormal(1.0, 0.5), ArsinhNormal(1.0, 0.5)),
    (noise.UniformLogNormal(1.0, 0.5), UniformLogNormal(1.0, 0.5)),
    (noise.SinhSquared(3.0, 10.0), SinhSquared(3.0, 10.0)),
    (noise.SinhSquared(40.0, 10.0), SinhSquared(40.0, 10.0)),
]
named = pytest.mark.parametrize(("ours", "law"), SAME, ids=[repr(ours) for ours, _ in SAME])


def _all_below(law, x, count):
    """P[the largest of so many |Z| is at most x]."""
    return (ball(count) * (-2 * law.tail(ball(float(x)))).log1p()).exp()


@named
@pytest.mark.parametrize(("count", "q"), [(1.0, 1e-3), (1e6, 0.95), (1e300, 0.5), (1e12, 1 - 1e-9)])
def test_quantiles_of_the_largest_error(ours, law, count, q):
    """The distribution function, which rises, is at most q at the lower end and at least q at the upper one."""
    bracket = exact.max_abs_quantile(ours, count, q)
    assert _all_below(law, bracket.lower, count).lower() <= ball(q)
    assert ball(q) <= _all_below(law, bracket.upper, count).upper()
    assert bracket.upper <= bracket.lower * (1 + 1e-8)


@named
def test_distribution_of_the_largest_error(ours, law):
    for count, x in ((1.0, 1e-6), (1.0, 1e-3), (1e6, 5.0), (1.0, 20.0)):
        value = -(ball(count) * (-2 * law.tail(ball(x))).log1p()).expm1()
        assert_agrees(exact.max_abs_sf(ours, count, x), value, most=1)


def test_distribution_of_the_largest_error_far_out():
    for x in (70.0, 74.0):  # P[|N| > 37] is about 1e-299
        value = -(ball(1e300) * (-2 * normal_tail(ball(x) / 2)).log1p()).expm1()
        assert_agrees(exact.max_abs_sf(noise.Gaussian(2.0), 1e300, x), value, most=1)


def test_truncated_laplace_errors():
    edge = (-ball(9) / 2).exp()
    for count, x in ((1.0, 1e-6), (1e6, 8.9), (1e300, 9.0)):
        tail = ((-ball(x) / 2).exp() - edge) / (1 - edge)
        value = -(ball(count) * (-tail).log1p()).expm1() if x < 9 else ball(0)
        assert_agrees(exact.max_abs_sf(noise.TruncatedLaplace(2.0, 9.0), count, x), value, most=1)


@pytest.mark.parametrize("x", [1e-6, 1.0, 50.0])
def test_laplace_log_normal_errors(x):
    value = 2 * laplace_log_normal_tail(1.0, 0.5, x)
    assert_agrees(exact.max_abs_sf(noise.LaplaceLogNormal(1.0, 0.5), 1.0, x), value)


# Selection


@precise
def _leads(scale, gap, k, fails=False):
    """∫ φ(z) Φ(z + gap/σ)^(k-1) dz, or of what that is short of φ; beyond 45 lies less than 1e-400."""
    density, g, reach = laws.Gaussian(1).log_density(), ball(gap) / ball(scale), ball(45)

    def integrand(z, analytic):
        beyond = ((z + g) / ball(2).sqrt()).erfc() / 2
        if beyond.abs_upper() < 1:
            log_below = (-beyond).log1p()
        else:  # the other tail, whose logarithm keeps its digits there
            log_below = ((-(z + g) / ball(2).sqrt()).erfc() / 2).log(analytic=analytic)
        log_all = (ball(k) - 1) * log_below
        return density(z, analytic).exp() * (-log_all.expm1() if fails else log_all.exp())

    edges = [ball(x) for x in (-45, -20, -8, 0, 8, 20, 45)]
    return integral(integrand, edges, absolute="1e-330") + between(0, 2 * normal_tail(reach).upper())


@pytest.mark.parametrize(("gap", "k"), [(1e-6, 10.0), (40.0, 1e6), (160.0, 1e300)])
def test_noisy_max(gap, k):
    ours = noise.Gaussian(4.0)
    assert_agrees(exact.selection_probability("generalized_histogram", ours, gap, k), _leads(4.0, gap, k))
    assert_agrees(exact.selection_failure("noisy_max", ours, gap, k), _leads(4.0, gap, k, fails=True))


@pytest.mark.parametrize(("gap", "k"), [(20.0, 1e3), (100.0, 1e12)])
def test_obvious_answer(gap, k):
    """P[gap/2 - 1 + Z <= t], P[Z > t] = 1/k."""
    t = 4 * ball(2).sqrt() * (1 - 2 / ball(k)).erfinv()
    value = normal_tail((ball(gap) / 2 - 1 - t) / 4)
    assert_agrees(exact.selection_failure("obvious_answer", noise.Gaussian(4.0), gap, k), value)


@pytest.mark.parametrize(("epsilon", "gap", "k"), [(1e-9, 1.0, 100.0), (1.0, 100.0, 1e6), (2.0, 500.0, 1e300)])
def test_selection_with_epsilon(epsilon, gap, k):
    """1/(1 + (k-1)q) and (1 - (1-q)^k)/kq, q = e^(-ε gap/2)."""
    q, n = (-ball(epsilon) * ball(gap) / 2).exp(), ball(k)
    odds = (n - 1) * q
    assert_agrees(exact.selection_failure("exponential_mechanism", epsilon, gap, k), odds / (1 + odds), most=1)
    with flint().ctx.workprec(4000):
        q = (-ball(epsilon) * ball(gap) / 2).exp()
        value = 1 + (ball(k) * (-q).log1p()).expm1() / (ball(k) * q)
    assert_agrees(exact.selection_failure("permute_and_flip", epsilon, gap, k), value, most=1)


@pytest.mark.parametrize(("order", "gaps"), [(2.0, (10.0, 12.0)), (8.0, (0.5, 1.5))])
def test_privacy_of_selection(order, gaps):
    """Of the leader's probability and an equal share of the rest for all others."""
    k, a = 1000, ball(order)
    p, q = (_leads(4.0, gap, float(k)) for gap in gaps)
    rest = ((1 - p) / (k - 1)) ** a * ((1 - q) / (k - 1)) ** (1 - a) * (k - 1)
    value = (p**a * q ** (1 - a) + rest).log() / (a - 1)
    pair = exact.output_pair("generalized_histogram", noise.Gaussian(4.0), float(k), *gaps)
    assert_agrees(pair.renyi(order), value)
    assert_agrees(pair.hockey_stick(0.01), _gained(p, q, 0.01))


def _gained(p, q, epsilon):
    factor, zero = ball(epsilon).exp(), ball(0)
    return (p - factor * q).max(zero) + (1 - p - factor * (1 - q)).max(zero)


# Composition


@pytest.mark.parametrize(("releases", "epsilon"), [(2, 1.0), (3, 0.1), (4, 3.0)])
def test_composed_gaussians(releases, epsilon):
    """They are one, at the root of their number times the distance."""
    pairs = of_pairs.dominating_pairs(noise.Gaussian(2.0), 1.0, 1.0, "poisson")
    distance = ball(releases).sqrt() / 2
    far = ball(epsilon) / distance
    value = normal_tail(far - distance / 2) - ball(epsilon).exp() * normal_tail(far + distance / 2)
    assert_agrees(of_pairs.composed_profile(pairs, releases, epsilon), value)


def _laplace_delta(t, rate):
    """δ(t) of Laplace noise whose largest loss is `rate`, |t| < rate: 1 - e^((t - rate)/2)."""
    return 1 - ((t - rate) / 2).exp()


@precise
def _two_laplaces(scale, epsilon):
    """E δ(ε - L) over the loss of the first, 0 < ε < r: L = r with chance 1/2, above ε - r with density e^((l-r)/2)/4.

    P[L > l] = 1 - e^((l-r)/2)/2 on (-r, r), L = -r with chance e^-r/2; δ(t) is 0 from r on.
    """
    r, e = 1 / ball(scale), ball(epsilon)
    inner = integral(lambda x, _: (1 - ((e - x - r) / 2).exp()) * ((x - r) / 2).exp() / 4, [e - r, r])
    return _laplace_delta(e - r, r) / 2 + inner


@pytest.mark.parametrize("epsilon", [0.125, 0.5])
def test_two_laplaces(epsilon):
    value = _two_laplaces(1.5, epsilon)
    pairs = of_pairs.dominating_pairs(noise.Laplace(1.5), 1.0, 1.0, "poisson")
    assert_agrees(of_pairs.composed_profile(pairs, 2, epsilon), value)
    assert_agrees(exact.product_profile(noise.Laplace(1.5), 1.0, epsilon, 2), value)


# Information


@pytest.mark.parametrize("n", [1e-3, 1.0, 30.0])
def test_information_of_a_fair_bit(n):
    """Σ ½ E log(p/m); beyond the reach p|log(p/m)| is at most p log 2 + m."""
    density, shift, reach = laws.Gaussian(2.0).log_density(), ball(n), ball(200)

    def integrand(x, analytic):
        p, q = density(x, analytic), density(x - shift, analytic)
        return -p.exp() * ((1 + (q - p).exp()) / 2).log(analytic=analytic)

    rest = 4 * normal_tail((reach - shift) / 2).upper()
    value = integral(integrand, [-reach, ball(0), shift, reach], absolute="1e-80") + between(-rest, rest)
    assert_agrees(exact.mutual_information(noise.Gaussian(2.0), [0.0, n]), value)


# Optimal noise keeps its guarantee, rounding included


def _ball_of(found):
    return Lattice(found.offset, found.log_mass, found.fall)


OPTIMA = [
    (TCDP(0.1, 5.0), LargestError(1e6, 0.95), 2),
    (TCDP(0.1, 2.0), Tail(10.0), 1),
    (ZCDP(0.1), MeanAbsoluteError(), 1),
]


@pytest.mark.parametrize(("guarantee", "objective", "coordinates"), OPTIMA)
def test_optimal_noise_keeps_concentrated_privacy(guarantee, objective, coordinates):
    law = _ball_of(optimal_noise(guarantee, objective, coordinates).noise)
    omega = getattr(guarantee, "omega", 50.0)
    for share in (0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1 - 1e-9):
        order = 1 + share * (omega - 1)
        spent, promised = coordinates * law.renyi(1, order), ball(guarantee.rho) * ball(order)
        assert spent.upper() <= promised.lower(), f"{spent} > {promised} at order {order}"


@pytest.mark.parametrize("objective", [Tail(8.0), MeanAbsoluteError()], ids=repr)
@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-20])
def test_optimal_noise_keeps_approximate_privacy(objective, epsilon, delta):
    law = _ball_of(optimal_noise(ApproxDP(epsilon, delta), objective).noise)
    assert law.hockey_stick(1, epsilon).upper() <= ball(delta)


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.5, 1.0, 2.0])
def test_optimal_noise_keeps_pure_privacy(epsilon):
    law = _ball_of(optimal_noise(PureDP(epsilon), Tail(8.0)).noise)
    losses = [abs((law.mass(i) / law.mass(i - 1)).log()) for i in range(-40, 41)]
    assert all(loss <= ball(epsilon) * (1 + ball(1e-60)) for loss in losses)


@pytest.mark.parametrize("objective", [Tail(10.0), LargestError(1e6, 0.95)], ids=repr)
def test_cost_of_optimal_noise(objective):
    """The upper bound is what the noise costs: its tail, or the first error with a tail that small."""
    best = optimal_noise(TCDP(0.1, 5.0), objective)
    found, cost = best.noise, best.bounds
    law = _ball_of(found)
    if isinstance(objective, Tail):
        first = int(np.floor(objective.beyond - law.offset)) + 1
        masses = sum((2 * law.mass(i) for i in range(first, first + 400)), ball(0))
        rest = 2 * law.mass(first + 400) / (1 - (-ball(law.fall)).exp())
        value = masses + rest
        assert_agrees(Bounds(cost.upper * (1 - 1e-9), cost.upper, cost.upper * (1 + 1e-9)), value)


# Calibration keeps its guarantee


@pytest.mark.parametrize("omega", [2.0, 10.0])
def test_calibrated_sinh_normal_noise(omega):
    ours = calibrate("sinh_normal", TCDP(0.1, omega), coordinates=2, objective=LargestError(1e6)).noise
    law = laws.SinhNormal(float(ours.scale), float(ours.knee))
    used = []
    for share in (0.001, 0.25, 0.5, 0.75, 0.9, 0.99):
        order = 1 + share * (omega - 1)
        used.append(2 * renyi(law, 1, order) / (ball(0.1) * ball(order)))
    assert all(value.upper() <= 1 for value in used)
    assert max(float(value.lower()) for value in used) > 0.97  # and not by far


@pytest.mark.parametrize("family", ["gaussian", "truncated_laplace"])
def test_noise_calibrated_to_approximate_privacy(family):
    epsilon, delta = 0.5, 1e-6
    ours = calibrate(family, ApproxDP(epsilon, delta)).noise
    if family == "gaussian":
        half, far = 1 / (2 * ball(float(ours.scale))), ball(epsilon) * ball(float(ours.scale))
        spent = normal_tail(far - half) - ball(epsilon).exp() * normal_tail(far + half)
    else:
        scale, bound = ball(float(ours.scale)), ball(float(ours.bound))
        below = (((1 - bound) / scale).exp() - (-bound / scale).exp()) / (2 * (1 - (-bound / scale).exp()))
        assert scale * ball(epsilon) >= 1 - ball(1e-12)
        spent = below
    assert spent.lower() <= ball(delta) * (1 + ball(1e-9))
    assert spent.upper() > ball(delta) * (1 - ball(1e-6))
