"""What a release gives away about one record: against mpmath, closed forms, limits, and numbers computed elsewhere."""

from dataclasses import dataclass
from math import e, exp, inf, log, log1p, sinh, tanh

import composed_pairs as of_pairs
import mpmath as mp
import numpy as np
import pytest
from foreign_noises import OwnLogistic
from hypothesis import given, settings
from hypothesis import strategies as st
from per_record_references import per_record_reference
from scipy.optimize import brentq
from scipy.stats import norm

from tcdp_sim import exact
from tcdp_sim.exact import record_epsilon, record_policy, record_profile, record_renyi
from tcdp_sim.exact.losses.level_sets import loss_sets
from tcdp_sim.exact.mixtures import Mixture
from tcdp_sim.noise import (
    ExponentialPolylogarithmic,
    Gaussian,
    GeneralizedGaussian,
    Laplace,
    RoundedSinhSquared,
    SinhNormal,
    TruncatedLaplace,
)
from tcdp_sim.per_record import (
    AdditiveRelease,
    ClippedRelease,
    Identity,
    Log,
    Root,
    TransformedRelease,
    UnitSplitRelease,
)

QUARTER, HALF = GeneralizedGaussian(1.0, 0.25), GeneralizedGaussian(3.0, 0.5)
LINEAR = ExponentialPolylogarithmic(2.0, 1, 0.5, 1.2)
SQUARE = ExponentialPolylogarithmic(1.0, 2, e, 0.3)
CUBIC = ExponentialPolylogarithmic(1.0, 3, e**2, 0.1)
HEAVY = (QUARTER, HALF, LINEAR, SQUARE, CUBIC)


def contains(bounds, truth, width):
    assert bounds.lower <= truth <= bounds.upper
    assert bounds.lower <= bounds.estimate <= bounds.upper
    assert bounds.upper - bounds.lower <= width * truth


def mp_profile(reference, shift, epsilon):
    """E[(1 - e^(epsilon - L))_+] over panels that close in on the ends of {L > epsilon}, on 0 and on shift."""
    shift = mp.mpf(float(shift))

    def loss(y):
        return reference.phi(abs(y - shift)) - reference.phi(abs(y))

    def end(side, far):
        low, high = mp.mpf(-400), mp.log(far)
        if loss(side * far) > epsilon:
            return far
        for _ in range(120):
            middle = (low + high) / 2
            low, high = (middle, high) if loss(side * mp.exp(middle)) > epsilon else (low, middle)
        return mp.exp(low)

    def gain(y):
        return reference.pdf(y) * (1 - mp.exp(epsilon - loss(y)))

    total = mp.mpf(0)
    for side, far in ((-1, mp.mpf(10) ** 30 * reference.scale), (1, shift / 2)):
        cut = end(side, far)
        places = [mp.mpf(0), *(cut * mp.mpf(4) ** -k for k in range(40, -1, -1))]
        total += mp.quad(lambda u: gain(side * u), places)  # noqa: B023
    return total


def mp_moment(reference, shift, s):
    """E[e^(sL)] - 1 over the whole line, P of the noise, nothing folded."""
    shift = mp.mpf(float(shift))

    def integrand(y):
        loss = reference.phi(abs(y - shift)) - reference.phi(abs(y))
        return reference.pdf(y) * (mp.expm1(s * loss) + s * mp.expm1(-loss))  # E[e^(-L)] = 1

    steps = [shift * mp.mpf(8) ** -k for k in range(20, 0, -1)]
    far = [mp.mpf(8) ** k * max(shift, reference.scale) for k in range(-5, 16)]
    out = [mp.mpf(0), *sorted({*steps, *(x for x in far if x > steps[-1])})]
    inside = [mp.mpf(0), *steps, shift / 2]
    between = sorted({shift / 2, shift, *(shift - x / 2 for x in steps)})
    return (
        mp.quad(lambda u: integrand(-u), out)
        + mp.quad(integrand, inside)
        + mp.quad(integrand, between)
        + mp.quad(lambda u: integrand(shift + u), out)
    )


@pytest.mark.parametrize(
    ("noise", "shift"), [(QUARTER, 1e-4), (HALF, 2.0), (LINEAR, 0.01), (SQUARE, 30.0), (CUBIC, 1.0)]
)
@pytest.mark.parametrize("order", [1.5, 80.0])
def test_renyi_divergences_contain_those_of_mpmath(noise, shift, order):
    with mp.workdps(25):
        truth = float(mp.log1p(mp_moment(per_record_reference(noise), shift, mp.mpf(order) - 1)) / (order - 1))
    contains(record_renyi(AdditiveRelease(noise), shift, order), truth, 1e-9)


@pytest.mark.parametrize("noise", [QUARTER, LINEAR, SQUARE])
@pytest.mark.parametrize("shift", [1e-12, 0.3, 1e6])
@pytest.mark.parametrize("share", [0.02, 0.97])
def test_profiles_contain_those_of_mpmath(noise, shift, share):
    epsilon = share * noise.largest_loss(shift)
    with mp.workdps(40):
        truth = float(mp_profile(per_record_reference(noise), shift, mp.mpf(epsilon)))
    contains(record_profile(AdditiveRelease(noise), shift, epsilon), truth, 1e-8)


@pytest.mark.parametrize(("rate", "shift"), [(1.04, 1.0), (1.2, 300.0), (4.0, 0.5)])
def test_profile_of_polylogarithmic_noise_of_power_one_in_closed_form(rate, shift):
    noise = ExponentialPolylogarithmic(1.0, 1, 1.0, rate)
    for share in (0.0, 0.3, 0.9):
        epsilon = share * rate * log1p(shift)
        grown = exp(epsilon / rate)  # the integral of f - e^eps f(. - shift) between its two zeros, by hand
        truth = 1 - (grown + 1) ** rate * (shift + 2) ** (1 - rate) / 2 + (grown - 1) ** rate * shift ** (1 - rate) / 2
        assert record_profile(AdditiveRelease(noise), shift, epsilon).estimate == pytest.approx(truth, rel=1e-10)


@pytest.mark.parametrize("shift", [1e-12, 1e-3, 2.2, 1e5])
def test_laplace_in_closed_form(shift):
    release = AdditiveRelease(Laplace(1.0))
    with mp.workdps(50):
        policy = mp.mpf(shift) + mp.expm1(-mp.mpf(shift))  # the supremum is at order 1
    contains(record_policy(release, shift), float(policy), 1e-9)
    for delta in (1e-12, 0.2):
        truth = max(0.0, shift + 2 * log1p(-delta))  # delta = 1 - e^((epsilon - shift) / 2)
        found = record_epsilon(release, shift, delta)
        assert found.lower <= truth * (1 + 1e-15) <= found.upper * (1 + 2e-15)


# Printed over exact policy by pure loss P (rows) and noise: computed by another program, to the digits given.
NOISES = [
    Laplace(1.0),
    GeneralizedGaussian(1.0, 0.5),
    QUARTER,
    *(ExponentialPolylogarithmic(1.0, 1, 1.0, rate) for rate in (1.2, 2.0, 4.0)),
    *(ExponentialPolylogarithmic(1.0, 2, e, rate) for rate in (0.3, 1.0, 4.0)),
]
LOOSENESS = {
    0.01: (1.00, 32.1, 70.7, 8.29, 3.00, 1.67, 2.07, 1.18, 1.02),
    1.0: (1.26, 6.70, 24.7, 7.07, 2.82, 1.81, 2.25, 1.46, 1.28),
    5.0: (1.23, 1.66, 3.74, 3.06, 1.61, 1.37, 1.45, 1.29, 1.24),
}


@pytest.mark.parametrize("loss", LOOSENESS)
def test_how_loose_printed_policies_are(loss):
    for noise, looseness in zip(NOISES, LOOSENESS[loss]):
        shift = exp(brentq(lambda x: noise.largest_loss(exp(x)) - loss, -60, 60, xtol=1e-14))  # noqa: B023
        release = AdditiveRelease(noise)
        ratio = release.policy(shift) / record_policy(release, shift).estimate
        assert ratio == pytest.approx(looseness, abs=0.006 if looseness < 10 else 0.06)


def test_the_best_order_may_be_far_from_one():
    release = AdditiveRelease(GeneralizedGaussian(1.0, 0.5))
    shift, kl = 1e-4, record_renyi(AdditiveRelease(GeneralizedGaussian(1.0, 0.5)), 1e-4, 1.0).estimate
    policy = record_policy(release, shift).estimate
    assert policy > 265 * kl * 0.9  # P = .01: order 1 alone would report 265 times too little
    orders = np.geomspace(100, 1e5, 4000)
    assert policy == pytest.approx((record_renyi(release, shift, orders).estimate / orders).max(), rel=1e-6)


@pytest.mark.parametrize(("rate", "limit"), [(2.0, 1 / 6), (4.0, 0.3), (10.0, 9 / 22)])
def test_small_influence_of_polylogarithmic_noise(rate, limit):
    noise = ExponentialPolylogarithmic(1.0, 1, 1.0, rate)  # R / P^2 -> (rate - 1) / (2 (rate + 1)), rate >= 1.449
    for shift in (1e-6, 1e-12):
        found = record_policy(AdditiveRelease(noise), shift)
        assert found.estimate / noise.largest_loss(shift) ** 2 == pytest.approx(limit, rel=5 * shift + 1e-9)


@pytest.mark.parametrize(("noise", "missing"), [(QUARTER, 4.0), (HALF, 2.0), (LINEAR, 6.0)])
def test_large_influence(noise, missing):
    shift = 1e150 if noise is LINEAR else 1e13  # R -> P(t) - E P(|Z|): 1 / power, rate / (rate - 1)
    found = record_policy(AdditiveRelease(noise), shift)
    assert noise.largest_loss(shift) - found.estimate == pytest.approx(missing, rel=2e-2)


def test_below_an_order():
    release = AdditiveRelease(QUARTER)
    values = {omega: record_policy(release, 0.0625, omega) for omega in (2.0, 10.0, 50.0, inf)}
    for omega, truth in ((2.0, 4.72e-5), (10.0, 6.39e-5), (50.0, 3.613e-3), (inf, 3.708e-3)):
        assert values[omega].estimate == pytest.approx(truth, rel=2e-3)
    at_the_end = record_renyi(release, 0.0625, 10.0)
    contains(values[10.0], at_the_end.estimate / 10, 1e-9)  # D / order rises up to there


def test_what_the_specified_anchors_really_give():
    printed = AdditiveRelease(GeneralizedGaussian(55925.0, 0.3626))
    truths = {500: 5.9e-4, 2365: 0.00212, 24600: 0.0155, 839711: 0.494, 4.9e6: 2.327}
    for influence, truth in truths.items():
        assert record_policy(printed, influence).estimate == pytest.approx(truth, rel=5e-3)
    exactly = AdditiveRelease(GeneralizedGaussian(346.24, 0.23334))
    assert record_policy(exactly, 2365).estimate == pytest.approx(0.05, rel=1e-3)
    assert record_policy(exactly, 4.9e6).estimate == pytest.approx(5, rel=1e-3)
    assert record_epsilon(exactly, 2365, 1e-6).estimate == pytest.approx(1.360, abs=6e-4)
    assert record_epsilon(exactly, 4.9e6, 1e-6).estimate == pytest.approx(9.10, abs=6e-3)


GAUSSIAN_RELEASES = [
    (AdditiveRelease(Gaussian(4.0)), lambda t: t / 4),
    (TransformedRelease(Identity(), 4.0), lambda t: t / 4),
    (TransformedRelease(Root(4, 16.0), 0.5), lambda t: t / (((t + 16) ** 0.5 + 4) * ((t + 16) ** 0.25 + 2)) / 0.5),
    (TransformedRelease(Log(3.0), 2.0, "median_unbiased"), lambda t: log1p(t / 3) / 2),
    (ClippedRelease(5.0, 4.0), lambda t: min(t, 5) / 4),
    (UnitSplitRelease(2.0, 4.0, "capped", pieces=3), lambda t: min(t, 6) / 4),
]


@pytest.mark.parametrize(("release", "theta_of"), GAUSSIAN_RELEASES)
@pytest.mark.parametrize("influence", [0.25, 40.0])
def test_releases_that_a_normal_hides(release, theta_of, influence):
    theta = theta_of(influence)
    contains(record_policy(release, influence), theta**2 / 2, 1e-12)
    contains(record_policy(release, influence, 1.5), theta**2 / 2, 1e-12)
    contains(record_renyi(release, influence, 3.0), 1.5 * theta**2, 1e-12)
    for epsilon in (0.0, 0.7):
        truth = norm.cdf(theta / 2 - epsilon / theta) - exp(epsilon) * norm.cdf(-theta / 2 - epsilon / theta)
        assert record_profile(release, influence, epsilon).estimate == pytest.approx(truth, rel=1e-10)
    found = record_epsilon(release, influence, 1e-5)
    delta = norm.cdf(theta / 2 - found.estimate / theta)
    delta -= exp(found.estimate + norm.logcdf(-theta / 2 - found.estimate / theta))
    assert delta == pytest.approx(1e-5, rel=1e-6)
    assert found.lower <= found.estimate <= found.upper <= found.lower * (1 + 1e-9)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(HEAVY),
    st.floats(-12, 12).map(lambda x: 10.0**x),
    st.floats(0.001, 6).map(lambda x: 1 + 10.0**x),
)
def test_identities(noise, shift, order):
    release, loss = AdditiveRelease(noise), noise.largest_loss(shift)
    renyi, kl = (record_renyi(release, shift, a) for a in (order, 1.0))
    policy = record_policy(release, shift)
    response = (
        loss if order * loss > 600 else log((sinh(order * loss) - sinh((order - 1) * loss)) / sinh(loss)) / (order - 1)
    )
    assert 0 < kl.lower <= renyi.upper  # rises with the order
    assert renyi.lower <= min(loss, response * (1 + 1e-6) + 1e-12)  # randomised response is the worst of this loss
    assert renyi.lower / order <= policy.upper
    assert kl.lower <= policy.upper
    assert policy.lower <= loss * tanh(loss / 2) * (1 + 1e-12)
    assert record_renyi(release, 1.01 * shift, order).upper > renyi.lower  # and with the influence
    assert record_renyi(release, shift, inf).estimate == loss
    assert record_profile(release, shift, loss).estimate == 0
    assert record_epsilon(release, shift, 1e-9).lower <= loss


@pytest.mark.parametrize("noise", [*HEAVY, Laplace(2.0), Gaussian(2.0)])
@pytest.mark.parametrize("delta", [1e-9, 1e-2])
def test_epsilon_is_certain_at_its_ends(noise, delta):
    release = AdditiveRelease(noise)
    found = record_epsilon(release, 3.0, delta)
    assert record_profile(release, 3.0, found.upper).upper <= delta
    assert record_profile(release, 3.0, found.lower).lower >= delta
    assert found.upper <= found.lower * (1 + 1e-8)


@pytest.mark.parametrize("noise", HEAVY)
@pytest.mark.parametrize("shift", [1e-12, 1e-3, 1.0, 1e9])
def test_total_variation(noise, shift):
    reference = per_record_reference(noise)
    with mp.workdps(40):
        truth = float(
            2 * mp.quad(reference.pdf, [0, mp.mpf(shift) / 2]) if shift < 10 else 1 - 2 * reference.sf(shift / 2)
        )
    contains(record_profile(AdditiveRelease(noise), shift, 0.0), truth, 1e-7)


def test_scales():
    for noise in HEAVY:
        larger = AdditiveRelease(noise.scaled(1e5))
        first, second = (record_policy(r, t) for r, t in ((AdditiveRelease(noise), 0.3), (larger, 0.3e5)))
        assert first.estimate == pytest.approx(second.estimate, rel=1e-9)


@pytest.mark.parametrize("noise", HEAVY)
def test_three_ways_to_the_same_divergences(noise):
    folded = exact.renyi_divergence(noise, 1.0, [1.0, 2.0, 30.0])
    mixed = of_pairs.renyi_divergence_between(Mixture(noise), Mixture(noise, (1.0,)), [1.0, 2.0, 30.0])
    assert (folded.lower <= mixed.upper).all()
    assert (mixed.lower <= folded.upper).all()
    epsilon = 0.4 * noise.largest_loss(1.0)
    left, right = loss_sets(noise, 1.0).above(np.array([epsilon]))
    exceeded = exact.PrivacyLossDistribution(noise, 1.0).sf(np.array([epsilon]))[0]
    assert exceeded == pytest.approx((noise.cdf(right) - noise.cdf(left)).sum(), rel=1e-8)
    between = of_pairs.hockey_stick_between(Mixture(noise), Mixture(noise, (1.0,)), [epsilon])
    found = exact.hockey_stick(noise, 1.0, epsilon)
    assert found.estimate == pytest.approx(between.estimate[0], rel=1e-8)


def test_infinite_and_zero():
    assert record_policy(AdditiveRelease(TruncatedLaplace(1.0, 5.0)), 1.0) == (inf, inf, inf)
    sinh_normal = AdditiveRelease(SinhNormal(2.0, 3.0))
    largest = 1 / (1 - exp(-2 / 3))  # of the orders at which the divergence of a unit shift is finite
    assert record_policy(sinh_normal, 1.0) == (inf, inf, inf)
    assert record_policy(sinh_normal, 1.0, largest * 1.01).upper == inf
    below = record_policy(sinh_normal, 1.0, largest * 0.9)
    orders = np.linspace(1, largest * 0.9, 2000)
    best = (exact.renyi_divergence(SinhNormal(2.0, 3.0), 1.0, orders).estimate / orders).max()
    assert below.lower <= best * (1 + 1e-12)
    assert best <= below.upper <= best * (1 + 1e-5)
    for release in (AdditiveRelease(QUARTER), TransformedRelease(Log(1.0), 1.0)):
        assert record_policy(release, 0.0) == record_epsilon(release, 0.0, 0.1) == (0, 0, 0)
        assert record_renyi(release, 0.0, 5.0) == (0, 0, 0)
    assert record_epsilon(AdditiveRelease(QUARTER), 1e-8, 1e-6) == (0, 0, 0)  # its total variation is 2e-10


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: record_policy(r, -1.0), "influence = -1"),
        (lambda r: record_policy(r, True), "influence = True is not"),
        (lambda r: record_policy(r, float("nan")), "influence = nan"),
        (lambda r: record_policy(r, "1"), "influence = '1'"),
        (lambda r: record_policy(r, inf), "influence = inf"),
        (lambda r: record_policy(r, 1.0, 1.0), "omega = 1"),
        (lambda r: record_epsilon(r, 1.0, 0.0), "delta = 0"),
        (lambda r: record_epsilon(r, 1.0, 1.0), "delta = 1"),
        (lambda r: record_renyi(r, 1.0, 0.5), "order = 0.5"),
        (lambda r: record_profile(r, 1.0, inf), "epsilon = inf"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(AdditiveRelease(QUARTER))


@dataclass(frozen=True, eq=False)
class BoundedLogistic(OwnLogistic):
    """Logistic noise that states its largest loss; the loss grows with |y|, so that no folded curve is known."""

    def largest_loss(self, shift):
        return shift / self.scale


@pytest.mark.parametrize("scale", [2.236, 0.2, 0.05])
def test_all_orders_of_a_plug_in_are_searched_up_to_where_its_largest_loss_decides(scale):
    """By the trapezoid rule on the density written down here, on a dense grid of orders."""
    y, step = np.linspace(-80 * scale, 80 * scale + 1, 400_001, retstep=True)

    def log_density(x):
        return -np.abs(x) / scale - 2 * np.log1p(np.exp(-np.abs(x) / scale)) - np.log(scale)

    log_p = log_density(y)
    loss = log_p - log_density(y - 1)
    orders = np.geomspace(1.001, 1 + 40 / scale, 400)
    ratios = [np.log((np.exp(log_p + (a - 1) * (loss - loss.max()))).sum() * step) / (a - 1) for a in orders]
    worst = max((ratio + loss.max()) / a for ratio, a in zip(ratios, orders))
    worst = max(worst, (np.exp(log_p) * loss).sum() * step)  # of order one
    found = record_policy(AdditiveRelease(BoundedLogistic(scale)), 1.0)
    assert found.lower <= worst * (1 + 1e-9)
    assert worst * (1 - 1e-9) <= found.upper
    assert found.upper - found.lower < 0.03 * worst  # what a dozen rounds of halving leave
    assert found.estimate == pytest.approx(worst, rel=1e-3)


def test_without_a_largest_loss_all_orders_are_refused_by_the_name_of_what_is_missing():
    with pytest.raises(ValueError, match=r"the zCDP of OwnLogistic.* Define `largest_loss` in the noise class, or"):
        record_policy(AdditiveRelease(OwnLogistic(2.236)), 1.0)


@pytest.mark.parametrize("scale", [2.236, 0.2])
def test_orders_are_searched_until_the_largest_loss_alone_keeps_the_ratio_below_order_one(scale, monkeypatch):
    """For logistic noise the best order is near 1, so that a search that stops too early would not show above."""
    asked = []

    def searched(curve, at_one, largest, omega):
        asked.append((at_one, omega))
        return at_one

    monkeypatch.setattr("tcdp_sim.exact.renyi.policy.best_ratio", searched)
    record_policy(AdditiveRelease(BoundedLogistic(scale)), 1.0)
    ((at_one, omega),) = asked
    assert 1 / scale / omega <= at_one.lower
    assert omega < 2 + 1 / scale / at_one.lower


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("delta", [1e-300, 1e-6, 1 - 1e-9])
def test_epsilon_beyond_all_floats_is_infinite(delta):
    """The loss at 0 is sinh^2(t / knee) / 2 for scale = knee, beyond all floats, and that of most outputs is close."""
    assert mp.sinh(mp.mpf(9_900) / 6) ** 2 / 2 > mp.mpf(10) ** 400
    found = record_epsilon(AdditiveRelease(RoundedSinhSquared(6.0, 6.0, 0.5)), 1e4, delta)
    assert (found.lower, found.estimate, found.upper) == (0.0, inf, inf)
