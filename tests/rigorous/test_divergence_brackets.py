"""Brackets of divergences against ball arithmetic, which shares no code with them, in corners."""

from math import expm1

import composed_pairs as of_pairs
import pytest
from ball_brackets import assert_agrees
from ball_noises import ArsinhNormal, Lattice, StudentT, UniformLogNormal, mixture_hockey_stick, mixture_renyi

from tcdp_sim import exact, noise
from tcdp_sim.experiments.papers.balls import laws
from tcdp_sim.experiments.papers.balls.arithmetic import (
    ball,
    between,
    far_enough,
    flint,
    integral,
    normal_tail,
    precise,
)
from tcdp_sim.experiments.papers.balls.divergences import hockey_stick, kullback_leibler, renyi
from tcdp_sim.per_record import AdditiveRelease, Log, Root, TransformedRelease

SAME = [  # the package's noise, and the same in balls
    (noise.SinhNormal(3.0, 10.0), laws.SinhNormal(3.0, 10.0)),
    (noise.SinhNormal(400.0, 100.0), laws.SinhNormal(400.0, 100.0)),
    (noise.Laplace(1.5), laws.Laplace(1.5)),
    (noise.Gaussian(2.0), laws.Gaussian(2.0)),
    (noise.GeneralizedGaussian(1.0, 0.5), laws.GeneralizedGaussian(1.0, 0.5)),
    (noise.ExponentialPolylogarithmic(1.0, 1.0, 1.0, 4.0), laws.ExponentialPolylogarithmic(1.0, 1, 1.0, 4.0)),
    (noise.ExponentialPolylogarithmic(2.0, 2.0, 3.0, 1.0), laws.ExponentialPolylogarithmic(2.0, 2, 3.0, 1.0)),
    (noise.StudentT(2.0, 3.0), StudentT(2.0, 3.0)),
    (noise.ArsinhNormal(1.0, 0.5), ArsinhNormal(1.0, 0.5)),
    (noise.UniformLogNormal(1.0, 0.5), UniformLogNormal(1.0, 0.5)),
    (noise.SinhSquared(3.0, 10.0), laws.SinhSquared(3.0, 10.0)),
    (noise.SinhSquared(40.0, 10.0), laws.SinhSquared(40.0, 10.0)),
]
SINH, SINH_BALL = SAME[0]
LARGEST = -1 / expm1(-0.2)  # order of SINH at shift 1


def _named(pairs):
    return pytest.mark.parametrize(("ours", "law"), pairs, ids=[repr(ours) for ours, _ in pairs])


@_named(SAME)
def test_renyi_at_an_order_near_one(ours, law):
    assert_agrees(exact.renyi_divergence(ours, 1.0, 1.0001), renyi(law, 1.0, 1.0001))


@_named(SAME)
def test_renyi_of_a_common_order(ours, law):
    assert_agrees(exact.renyi_divergence(ours, 1.0, 3.0), renyi(law, 1.0, 3.0))


@_named([SAME[0], SAME[2], SAME[7], SAME[8], *SAME[10:]])
def test_kullback_leibler(ours, law):
    assert_agrees(exact.renyi_divergence(ours, 0.5, 1.0), kullback_leibler(law, 0.5))


@pytest.mark.parametrize("short", [1e-2, 1e-5, 1e-8])
def test_renyi_just_below_the_largest_order(short):
    order = LARGEST * (1 - short)
    assert_agrees(exact.renyi_divergence(SINH, 1.0, order), _sinh_renyi(SINH_BALL, 1.0, order))


@precise
def _sinh_renyi(law, shift, order):
    """In one analytic expression without cancellation: with v = -x/knee and h = shift/knee the exponent is

    -(κ/4)(A e^2v + B e^-2v - 1), A, B = (a - (a-1)e^±2h)/2, and the rest cosh(v)^a cosh(v+h)^(1-a).
    """
    a, h, kappa = ball(order), ball(shift) / ball(law.knee), (ball(law.knee) / ball(law.scale)) ** 2
    rise, fall = (2 * h).exp(), (-2 * h).exp()
    rates = (a - (a - 1) * rise) / 2, (a - (a - 1) * fall) / 2
    size = (2 * flint().arb.pi()).sqrt() * ball(law.scale) / ball(law.knee)

    def integrand(v, analytic):
        shape = -kappa / 4 * (rates[0] * (2 * v).exp() + rates[1] * (-2 * v).exp() - 1)
        return (
            shape + a * v.cosh().log(analytic=analytic) + (1 - a) * (v + h).cosh().log(analytic=analytic)
        ).exp() / size

    def beyond(reach):
        return law.tilted_tails(reach, ball(shift), a)

    reach = far_enough(beyond, "1e-60")
    ends = reach / ball(law.knee)
    edges = [-ends - h, ball(0), ends]  # to reach on the left of 0, and beyond the shift on its right
    return (integral(integrand, edges, absolute="1e-60") + between(0, beyond(reach).upper())).log() / (a - 1)


@_named([SAME[0], SAME[2], SAME[4], SAME[7], *SAME[10:]])
def test_renyi_at_a_tiny_shift(ours, law):
    assert_agrees(exact.renyi_divergence(ours, 1e-6, 2.0), renyi(law, 1e-6, 2.0))


@_named([SAME[2], SAME[3], SAME[4], SAME[5]])
def test_renyi_at_a_large_shift(ours, law):
    assert_agrees(exact.renyi_divergence(ours, 300.0, 2.0), renyi(law, 300.0, 2.0))


def test_renyi_at_a_large_shift_of_a_wide_knee():
    ours, law = noise.SinhNormal(50.0, 1000.0), laws.SinhNormal(50.0, 1000.0)
    assert_agrees(exact.renyi_divergence(ours, 300.0, 1.5), renyi(law, 300.0, 1.5))


@_named(SAME)
def test_hockey_stick(ours, law):
    assert_agrees(exact.hockey_stick(ours, 1.0, 0.1), hockey_stick(law, 1.0, 0.1, "1e-14"))


@pytest.mark.parametrize(("sigma", "epsilon"), [(1.0, 36.0), (2.0, 18.0), (0.1, 1e-9), (1.0, -2.0)])
def test_gaussian_hockey_stick_to_its_tails(sigma, epsilon):
    """Φ(1/2σ - εσ) - e^ε Φ(-1/2σ - εσ); at ε = 36 it is below 1e-270."""
    half, far = 1 / (2 * ball(sigma)), ball(epsilon) * ball(sigma)
    delta = normal_tail(far - half) - ball(epsilon).exp() * normal_tail(far + half)
    assert_agrees(exact.hockey_stick(noise.Gaussian(sigma), 1.0, epsilon), delta)
    if epsilon > 0:
        assert_agrees(exact.profile_from_losses(noise.Gaussian(sigma), 1.0, epsilon), delta)


@pytest.mark.parametrize("epsilon", [1e-9, 6.0, 40.0])
def test_sinh_normal_hockey_stick_to_its_tails(epsilon):
    assert_agrees(exact.hockey_stick(SINH, 1.0, epsilon), hockey_stick(SINH_BALL, 1.0, epsilon, "1e-330"))


@pytest.mark.parametrize(("shift", "epsilon"), [(1.0, 0.1), (0.5, 0.2), (1e-6, 1e-7)])
def test_truncated_laplace(shift, epsilon):
    """P[Z <= c] - e^ε P[Z <= c - s], c = (s - εb)/2 > 0 where the loss (|x - s| - |x|)/b is ε."""
    scale, bound = ball(2), ball(9)
    edge, mass = (-bound / scale).exp(), 1 - (-bound / scale).exp()
    c = (ball(shift) - ball(epsilon) * scale) / 2
    assert c > 0

    def below(x):  # x <= 0
        return ((x / scale).exp() - edge) / (2 * mass)

    delta = 1 - below(-c) - ball(epsilon).exp() * below(c - ball(shift))
    assert_agrees(exact.hockey_stick(noise.TruncatedLaplace(2.0, 9.0), shift, epsilon), delta)


P, Q = {0.0: 0.75, 1.0: 0.25}, {0.0: 0.5, 1.0: 0.125, -2.0: 0.375}


def _mixtures(sigma):
    return (exact.Mixture(noise.Gaussian(sigma), tuple(part), tuple(part.values())) for part in (P, Q))


@pytest.mark.parametrize("order", [1.0001, 2.5, 20.0])
def test_renyi_of_mixtures(order):
    assert_agrees(of_pairs.renyi_divergence_between(*_mixtures(1.5), order), mixture_renyi(1.5, P, Q, order))


@pytest.mark.parametrize("epsilon", [-1.0, 1e-3, 0.3])
def test_hockey_stick_of_mixtures(epsilon):
    value = mixture_hockey_stick(1.5, P, Q, epsilon, "1e-30")
    assert_agrees(of_pairs.hockey_stick_between(*_mixtures(1.5), epsilon), value)


@pytest.mark.parametrize(("share", "order"), [(0.25, 1.5), (0.0009765625, 8.0)])
def test_subsampled_renyi(share, order):
    sampled, plain = {1.0: share, 0.0: 1 - share}, {0.0: 1.0}
    ours = noise.Gaussian(2.0)
    assert_agrees(of_pairs.subsampled_renyi(ours, 1.0, order, share), mixture_renyi(2.0, sampled, plain, order))
    backward = of_pairs.subsampled_renyi(ours, 1.0, order, share, "reverse")
    assert_agrees(backward, mixture_renyi(2.0, plain, sampled, order))


def test_subsampled_hockey_stick():
    sampled, plain = {1.0: 0.25, 0.0: 0.75}, {0.0: 1.0}
    value = mixture_hockey_stick(2.0, sampled, plain, 0.1, "1e-30")
    assert_agrees(of_pairs.subsampled_hockey_stick(noise.Gaussian(2.0), 1.0, 0.1, 0.25), value)


@pytest.mark.parametrize(("share", "epsilon"), [(0.0009765625, 1e-4), (1e-9, 1e-9), (0.5, 30.0)])
def test_subsampled_hockey_stick_by_amplification(share, epsilon):
    """s δ(log(1 + (e^ε - 1)/s)): with a = e^ε the excess of Q + s(P - Q) over aQ is s(P - (1 + (a - 1)/s)Q)."""
    factor = 1 + ball(epsilon).expm1() / ball(share)
    half, far = ball("0.25"), 2 * factor.log()
    delta = ball(share) * (normal_tail(far - half) - factor * normal_tail(far + half))
    assert_agrees(of_pairs.subsampled_hockey_stick(noise.Gaussian(2.0), 1.0, epsilon, share), delta)


@pytest.mark.parametrize(("tau", "shift", "order"), [(0.1, 1.0, 2.0), (1e-3, 1e-3, 1.5), (-0.5, 0.25, 1.2)])
def test_affine_divergence_of_student_t(tau, shift, order):
    value = _affine(StudentT(2.0, 3.0), tau, shift, order).max(
        _affine(StudentT(2.0, 3.0), -tau, ball(shift) * (-ball(tau)).exp(), order)
    )
    assert_agrees(exact.affine_divergence(noise.StudentT(2.0, 3.0), tau, shift, order), value)


@precise
def _affine(law, tau, shift, order):
    """D_order(Z || e^τ Z + shift). f(x)/q(x) <= e^((d+2)|τ| + largest loss): log f is (d+1)-Lipschitz in log x."""
    a, t, s = ball(order), ball(tau), ball(shift)
    density = law.log_density()
    ratio = (ball(law.degrees) + 2) * abs(t) + law.largest_loss(s)

    def beyond(reach):
        return 2 * law.tail(reach) * ((a - 1) * ratio).exp()

    def integrand(x, analytic):  # the density is analytic and even
        return (a * density(x, analytic) + (1 - a) * (density((x - s) * (-t).exp(), analytic) - t)).exp()

    reach = far_enough(beyond, "1e-40")
    total = integral(integrand, [-reach, ball(0), reach], absolute="1e-40") + between(0, beyond(reach).upper())
    return total.log() / (a - 1)


@pytest.mark.parametrize(("shift", "order"), [(1e-3, 2.0), (1.0, 1.0001), (100.0, 8.0)])
def test_record_renyi_of_folded_noise(shift, order):
    release, law = AdditiveRelease(noise.GeneralizedGaussian(3.0, 0.25)), laws.GeneralizedGaussian(3.0, 0.25)
    assert_agrees(exact.record_renyi(release, shift, order), renyi(law, shift, order))


@pytest.mark.parametrize(("shift", "epsilon"), [(1.0, 0.1), (100.0, 1.5)])
def test_record_profile(shift, epsilon):
    release, law = AdditiveRelease(noise.GeneralizedGaussian(3.0, 0.25)), laws.GeneralizedGaussian(3.0, 0.25)
    assert_agrees(exact.record_profile(release, shift, epsilon), hockey_stick(law, shift, epsilon, "1e-14"))


@pytest.mark.parametrize("family", [0, 1])
def test_record_policy_is_above_every_order(family):
    """From below D_α/α at many orders; from above it is at most a thousandth more than the largest of them."""
    ours, law = [SAME[4], SAME[6]][family]
    policy = exact.record_policy(AdditiveRelease(ours), 1.0)
    orders = (1.0001, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 20.0)
    found = [renyi(law, 1.0, order) / ball(order) for order in orders]
    assert all(value.upper() <= ball(policy.upper) for value in found)
    assert max(float(value.lower()) for value in found) > 0.98 * policy.lower


def test_record_of_a_logarithm():
    """D_a is a(rise)²/2σ² at the answer 0."""
    value = 2 * (ball(1) + 10000).log() ** 2 / 8
    assert_agrees(exact.record_renyi(TransformedRelease(Log(1.0), 2.0), 10000.0, 2.0, 0.0), value)


@pytest.mark.parametrize(("answer", "order"), [(0.0, 2.0), (1.0, 1.5)])
def test_record_of_a_square(answer, order):
    """Squares of N(√q, σ²) hide the sign: densities φ(y - m) + φ(y + m) on y > 0, both directions."""
    low, high = ball(answer).sqrt(), (ball(answer) + 1).sqrt()
    value = _folded(high, low, order).max(_folded(low, high, order))
    assert_agrees(exact.record_renyi(TransformedRelease(Root(2.0), 1.0), 1.0, order, answer), value)


@precise
def _folded(first, second, order):
    """Tail: p <= 2φ(y - m), q >= φ(y - c); p^a q^(1-a) <= 2^a e^(a(a-1)(m-c)²/2) N(am + (1-a)c, 1)."""
    a, library = ball(order), flint()

    def log_density(m):  # less log √2π
        return lambda y, analytic: -(y * y + m * m) / 2 + (2 * (y * m).cosh()).log(analytic=analytic)

    p, q = log_density(first), log_density(second)
    middle = a * first + (1 - a) * second

    def beyond(reach):
        return 2**a * (a * (a - 1) * (first - second) ** 2 / 2).exp() * normal_tail(reach - middle)

    reach = far_enough(beyond, "1e-60")
    size = (2 * library.arb.pi()).sqrt()
    total = integral(lambda y, z: (a * p(y, z) + (1 - a) * q(y, z)).exp(), [ball(0), reach], absolute="1e-60") / size
    return (total + between(0, beyond(reach).upper())).log() / (a - 1)


TABLES = [(0.0, (-1.0, -1.25, -2.5, -2.75), 1.5), (0.5, (-1.0, -1.0, -3.0), 0.25)]


@pytest.mark.parametrize("table", TABLES, ids=["integers", "half-integers"])
@pytest.mark.parametrize("shift", [1, 3])
def test_lattice_divergences(table, shift):
    ours = noise.LatticeNoise(*table)
    law = Lattice(ours.offset, ours.log_mass, ours.fall)
    for order in (1.0001, 2.0, 16.0):
        assert_agrees(exact.renyi_divergence(ours, float(shift), order), law.renyi(shift, order))
    for epsilon in (1e-6, 0.3, 1.0):
        assert_agrees(exact.hockey_stick(ours, float(shift), epsilon), law.hockey_stick(shift, epsilon))


def test_dithered_lattice_mixes_two_shifts():
    """At 1.25 steps the mean of e^((a-1)L) is three quarters of that at one step and a quarter of that at two."""
    ours = noise.DitheredLattice(*TABLES[0])
    law = Lattice(ours.offset, ours.log_mass, ours.fall)
    a = 3.0
    moments = [((a - 1) * law.renyi(shift, a)).exp() for shift in (1, 2)]
    value = (ball("0.75") * moments[0] + ball("0.25") * moments[1]).log() / (a - 1)
    assert_agrees(exact.renyi_divergence(ours, 1.25, a), value)
