"""A noise of the six required methods alone gets an answer that contains the truth, or a refusal in one line."""

from itertools import pairwise

import composed_pairs as of_pairs
import mpmath as mp
import numpy as np
import pytest
from foreign_noises import SIX, WITHOUT_LOSS, Logistic, OwnLogistic, Student, SureLogistic, TwoPeaks, Uniform, landmarks

from tcdp_sim import exact
from tcdp_sim.exact import hockey_stick, renyi_divergence
from tcdp_sim.mechanisms.privacy_loss import PrivacyLoss
from tcdp_sim.noise import Noise
from tcdp_sim.samplers.losses import hockey_stick_draws, loss_tail_draws, renyi_excess_draws

every = pytest.mark.parametrize("noise", WITHOUT_LOSS, ids=repr)
smooth = pytest.mark.parametrize("noise", SIX, ids=repr)


def contains(bounds, truth, width):
    assert bounds.lower <= truth <= bounds.upper
    assert bounds.lower <= bounds.estimate <= bounds.upper
    assert bounds.upper - bounds.lower <= width * abs(truth) + 1e-200


def quadrature(f, cuts):
    return sum(mp.quad(f, [a, b]) for a, b in pairwise(cuts))


def above(noise, shift, level):
    """The pieces, in 30 digits, of the outputs at which the loss exceeds a level; pieces that are cut small enough."""
    shift, factor, pieces = mp.mpf(shift), mp.exp(mp.mpf(level)), []

    def exceeds(x):
        return noise.mp_pdf(x) > factor * noise.mp_pdf(x - shift)

    cuts = landmarks(noise, shift)
    for left, right in pairwise(cuts):
        low, high = exceeds(left), exceeds(right)
        if low != high:
            start, end = left, right
            for _ in range(90):
                middle = (start + end) / 2
                start, end = (middle, end) if exceeds(middle) == low else (start, middle)
            left, right = (left, start) if low else (end, right)
        if low or high:
            pieces.append((left, right))
    return pieces


def mp_profile(noise, shift, epsilon):
    """The integral of (p - e^eps q)_+."""
    factor = mp.exp(mp.mpf(epsilon))
    return sum(
        mp.quad(lambda x: noise.mp_pdf(x) - factor * noise.mp_pdf(x - mp.mpf(shift)), piece)
        for piece in above(noise, shift, epsilon)
    )


@smooth
@pytest.mark.parametrize(("shift", "epsilon"), [(1.0, 0.2), (1.0, 0.0), (0.03, 0.001), (2.5, 0.4)])
@mp.workdps(30)
def test_profiles_contain_the_truth(noise, shift, epsilon):
    truth = mp_profile(noise, shift, epsilon)
    contains(hockey_stick(noise, shift, epsilon), truth, 1e-7)


def test_the_logistic_profile_in_closed_form():
    """L > eps to the left of where (1 + e^-x)/(1 + e^(t - x)) = r, r = e^((t - eps)/2 - t), t = shift / scale."""
    for noise in (Logistic(2.236), SureLogistic(2.236), OwnLogistic(2.236)):
        for epsilon in (0.0, 0.2, 0.4, 0.447):
            with mp.workdps(50):
                t, e = 1 / mp.mpf(2.236), mp.mpf(epsilon)
                # sqrt(p / q) = e^(t/2) (1 + e^(z - t)) / (1 + e^z) = e^(eps/2) at the crossing z
                z = mp.log((mp.exp(t / 2) - mp.exp(e / 2)) / (mp.exp(e / 2) - mp.exp(-t / 2)))
                truth = 1 / (1 + mp.exp(-z)) - mp.exp(e) / (1 + mp.exp(t - z))
            contains(hockey_stick(noise, 1.0, epsilon), truth, 1e-8)
        assert hockey_stick(noise, 1.0, 0.4473).upper < 1e-12  # beyond shift / scale = .44723 there is nothing
    assert hockey_stick(Logistic(2.236), 1.0, 0.2).estimate == pytest.approx(0.0375, rel=1e-3)


@pytest.mark.parametrize("noise", [Logistic(2.236), Student(1.0), TwoPeaks(3.0)], ids=repr)
@pytest.mark.parametrize(("shift", "order"), [(1.0, 1), (1.0, 1 + 1e-9), (0.03, 1.5), (2.5, 8.0)])
@mp.workdps(30)
def test_renyi_divergences_contain_the_truth(noise, shift, order):
    a, t = mp.mpf(order), mp.mpf(shift)

    def term(x):
        p, q = noise.mp_pdf(x), noise.mp_pdf(x - t)
        loss = mp.log(p / q)
        return p * loss - p + q if order == 1 else q * ((mp.expm1(a * loss) - a * mp.expm1(loss)) / (a - 1))

    if isinstance(noise, Student):
        mean = quadrature(term, landmarks(noise, t))
    else:  # the trapezoid rule: analytic, and nothing is left at either end
        step, reach = (mp.mpf(1) / 32, 1400) if isinstance(noise, TwoPeaks) else (mp.mpf(noise.scale) / 4, 280)
        mean = step * sum(term(step * n) for n in range(-reach, reach))
    truth = mean if order == 1 else mp.log1p((a - 1) * mean) / (a - 1)
    contains(renyi_divergence(noise, shift, order), truth, 1e-7)


def test_far_orders_between_two_peaks():
    """P^a Q^(1-a) of peaks at +-1e6 is largest 49 to the left of each, deep between them: D_50 = 25, as of one."""
    found = renyi_divergence(TwoPeaks(1e6), 1.0, 50.0)
    assert found.lower <= 25 <= found.upper
    assert found.upper - found.lower < 1e-6


def test_bounded_support_has_no_renyi_divergence_and_the_profile_of_its_overhang():
    noise = Uniform(4.0)
    assert renyi_divergence(noise, 1.0, np.array([1, 2.0, np.inf])).lower == pytest.approx([np.inf] * 3)
    for epsilon in (0.0, 0.3, 5.0):
        contains(hockey_stick(noise, 1.0, epsilon), 1 / mp.mpf(8), 1e-9)


def test_max_divergences():
    """Logistic: shift / scale; Student: log of the largest ratio, by calculus; two peaks: it grows for ever."""
    found = renyi_divergence(Logistic(2.0), 1.0, np.inf)
    assert found.lower <= 0.5 <= found.upper
    assert found.estimate == pytest.approx(0.5, rel=1e-9)
    contains(renyi_divergence(OwnLogistic(2.0), 1.0, np.inf), 0.5, 1e-9)
    with mp.workdps(30):
        # log((3 + (x-1)^2) / (3 + x^2)) * 2 has its stationary points where x^2 - x - 3 = 0
        x = (1 - mp.sqrt(13)) / 2
        truth = 2 * mp.log((3 + (x - 1) ** 2) / (3 + x**2))
    found = renyi_divergence(Student(1.0), 1.0, np.inf)
    assert found.lower <= truth <= found.upper
    assert found.estimate == pytest.approx(float(truth), rel=1e-9)
    for apart in (3.0, 200.0):
        found = renyi_divergence(TwoPeaks(apart), 1.0, np.inf)
        assert found.lower > 10
        assert found.upper == np.inf


@every
def test_what_has_no_bounds_is_refused(noise):
    """Draws, and everything that is told as one number."""
    calls = [
        lambda: loss_tail_draws(noise, 1.0, 0.1),
        lambda: hockey_stick_draws(noise, 1.0, 0.1),
        lambda: renyi_excess_draws(noise, 1.0, 2.0),
        lambda: exact.product_profile(noise, 1.0, 0.1),
        lambda: PrivacyLoss(noise, None).simulate(np.random.default_rng(1), 10),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="Define `privacy_loss` in the noise class") as told:
            call()
        assert "\n" not in str(told.value)
        assert repr(noise) in str(told.value)


@smooth
def test_composition_is_refused_unless_the_noise_says_that_it_is_log_concave(noise):
    with pytest.raises(ValueError, match="Define `log_concave` in the noise class"):
        of_pairs.dominating_pairs(noise, 1.0, 0.5, "poisson")


@pytest.mark.parametrize("noise", [SureLogistic(2.236), OwnLogistic(2.236)], ids=repr)
@mp.workdps(30)
def test_one_release_composed_is_the_profile(noise):
    pairs = of_pairs.dominating_pairs(noise, 1.0, 1.0, "poisson")
    for epsilon in (0.05, 0.2, 0.4):
        found = of_pairs.composed_profile(pairs, 1, epsilon)
        assert found.lower <= mp_profile(noise, 1.0, epsilon) <= found.upper
        assert found.upper > 0
    epsilon = of_pairs.composed_epsilon(pairs, 30, 1e-6)
    assert 0 < epsilon.lower <= epsilon.upper < 30 / 2.236 + 1e-6


@pytest.mark.parametrize("noise", [Logistic(2.236), Student(1.0), TwoPeaks(3.0)], ids=repr)
@mp.workdps(30)
def test_loss_distributions_are_right_or_refused(noise):
    losses = exact.PrivacyLossDistribution(noise, 1.0)
    for level in (-0.3, -0.01, 0.0, 0.1, 0.3):
        truth = sum(mp.quad(noise.mp_pdf, piece) for piece in above(noise, 1.0, level))
        assert losses.sf(level) == pytest.approx(float(truth), rel=1e-7)


def test_a_level_that_rounding_decides_is_refused():
    """The loss of logistic noise levels off at shift / scale: how much lies above .4472 - 1e-15 nobody can tell."""
    losses = exact.PrivacyLossDistribution(Logistic(2.236), 1.0)
    assert losses.cdf(1 / 2.236 - 2e-15) == pytest.approx(1, abs=1e-13)
    for ask in (losses.sf, losses.logsf):
        with pytest.raises(ValueError, match="Define `privacy_loss` in the noise class"):
            ask(1 / 2.236 - 2e-15)
    for ask in (lambda: losses.isf(0.1), lambda: losses.ppf(0.1), losses.mean, losses.var, losses.infinite_mass):
        with pytest.raises(ValueError, match="Define `privacy_loss` in the noise class"):
            ask()


@pytest.mark.parametrize("noise", [Student(1.0), TwoPeaks(1e6), Logistic(1.0)], ids=repr)
@mp.workdps(20)
def test_selection_of_two_and_the_top_bin(noise):
    """P[Z' - Z > gap] with two candidates, by the density in mpmath and the tails of the noise."""
    for gap in (3.0,):
        cuts = landmarks(noise, -gap)
        truth = quadrature(lambda z: noise.mp_pdf(z) * mp.mpf(float(noise.sf(float(z + gap)))), cuts)  # noqa: B023
        truth += (1 - quadrature(noise.mp_pdf, cuts)) / 2
        found = exact.selection_failure("noisy_max", noise, gap, 2)
        assert found.lower <= found.estimate <= found.upper
        assert found.estimate == pytest.approx(float(truth), rel=1e-7)
        chance = exact.selection_distribution("noisy_max", noise, [gap, 0.0])
        assert chance.estimate[1] == pytest.approx(float(truth), rel=1e-7)
        stays = exact.top_stays_probability(noise, [gap], 2)
        assert 1 - stays.estimate == pytest.approx(float(truth), rel=1e-6)


def test_a_density_that_does_not_fit_its_tails_is_refused():
    class Wrong(TwoPeaks):
        def logpdf(self, x):
            return super().logpdf(x) + np.log(1.001)

    for ask in (
        lambda: hockey_stick(Wrong(3.0), 1.0, 0.1),
        lambda: exact.selection_failure("noisy_max", Wrong(3.0), 1.0, 5),
        lambda: exact.top_stays_probability(Wrong(3.0), [3], 5),
    ):
        with pytest.raises(ValueError, match=r"Wrong\.pdf\(integral from .*, the difference of sf there"):
            ask()


@smooth
@pytest.mark.parametrize("count", [1, 1000, 1e12])
def test_extremes_need_the_tails_alone(noise, count):
    found = exact.max_quantile(noise, count, 0.3)
    with mp.workdps(60):
        tail = -mp.expm1(mp.log(mp.mpf(0.3)) / mp.mpf(count))
    assert float(noise.sf(found.estimate)) == pytest.approx(float(tail), rel=1e-9)


def test_mixtures_of_a_foreign_noise():
    """Poisson subsampling: H_eps(sP + (1-s)Q, Q) = s H_e0(P, Q) (Balle-Barthe-Gaboardi 2018)."""
    with mp.workdps(30):
        for noise in (Logistic(2.236), Student(1.0), TwoPeaks(3.0)):
            truth = 0.1 * mp_profile(noise, 1.0, mp.log1p(mp.expm1(mp.mpf(0.01)) / mp.mpf(0.1)))
            contains(of_pairs.subsampled_hockey_stick(noise, 1.0, 0.01, 0.1), truth, 1e-7)


def test_nothing_is_said_that_was_not_stated():
    assert not Noise.log_concave.fget(Logistic(1.0))
    assert not Logistic(1.0).log_concave
    assert SureLogistic(1.0).log_concave
    assert not Logistic(1.0).gives_loss
    assert OwnLogistic(1.0).gives_loss


@pytest.mark.parametrize("shift", [1e-3, 1e-6, 1e-8, 1e-10])
def test_shifts_at_which_the_log_densities_cancel(shift):
    """At epsilon = 0 the total variation of logistic noise is tanh(shift / 4); D_1 is shift^2 / 6, to second order."""
    found = hockey_stick(Logistic(1.0), shift, 0.0)
    with mp.workdps(50):
        truth = mp.tanh(mp.mpf(shift) / 4)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= 1e-12 + 1e-9 * truth
    own = hockey_stick(OwnLogistic(1.0), shift, 0.0)
    contains(own, truth, 1e-9)
    near = renyi_divergence(Logistic(1.0), shift, 1.0)
    assert near.lower <= shift**2 / 6 * (1 + shift**2)
    assert near.upper >= shift**2 / 6 * (1 - shift**2)
    exactly = renyi_divergence(OwnLogistic(1.0), shift, 1.0)
    assert exactly.estimate == pytest.approx(shift**2 / 6, rel=max(shift**2, 1e-9))


def test_the_largest_order_of_bounded_noise():
    assert exact.max_order(Uniform(4.0), 1.0) == 1
    assert exact.max_order(Uniform(4.0), 0.0) == np.inf
    assert exact.max_order(Student(1.0), 1.0) == np.inf
