"""Mutual information against mpmath, brute force, limits and the numbers of Gaussian noise."""

from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from foreign_noises import Logistic
from scipy.integrate import dblquad
from scipy.special import rel_entr

from tcdp_sim import exact
from tcdp_sim.bounds.lower import information
from tcdp_sim.calibration import calibrate, equal_privacy
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, TruncatedLaplace
from tcdp_sim.noise.lattice import LatticeNoise

NOISES = (Gaussian(2.0), Laplace(1.5), SinhNormal(3, 10), SinhNormal(4, 1), TruncatedLaplace(2, 5))
each = pytest.mark.parametrize("noise", NOISES, ids=repr)

INTEGERS = LatticeNoise(0.0, (-1.0, -1.5, -2.5), 1.0)


def density(noise, x):
    match noise:
        case Gaussian(scale=s):
            return mp.npdf(x / s) / s
        case Laplace(scale=s):
            return mp.e ** (-abs(x) / s) / (2 * s)
        case TruncatedLaplace(scale=s, bound=b):
            return mp.e ** (-abs(x) / s) / (2 * s * (1 - mp.e ** (-b / s))) if abs(x) <= b else mp.mpf(0)
        case SinhNormal(scale=s, knee=a):
            return mp.npdf(a * mp.sinh(x / a) / s) * mp.cosh(x / a) / s


def by_mpmath(noise, answers, weights):
    """The entropy of the mixture less that of the noise, term by term, on panels between all kinks."""

    def integrand(x):
        parts = [density(noise, x - answer) for answer in answers]
        mix = sum(w * p for w, p in zip(weights, parts))
        return sum(w * p * mp.log(p / mix) for w, p in zip(weights, parts) if p > 0)

    end = float(noise.isf(0.0)) if np.isfinite(noise.isf(0.0)) else float(noise.isf(1e-18))
    arm = np.concatenate([[0], noise.isf([0.3, 0.05, 1e-3, 1e-7]), [end]])
    edges = np.unique(np.add.outer(np.asarray(answers, float), np.concatenate([-arm, arm])))
    return float(mp.quad(integrand, edges.tolist(), maxdegree=5))


@each
@pytest.mark.parametrize("answers", [(0, 1), (0, 6), (0, 2, 3)])
def test_one_count_against_mpmath(noise, answers):
    weights = [1 / len(answers)] * len(answers)
    low, middle, high = exact.mutual_information(noise, answers)
    assert middle == pytest.approx(by_mpmath(noise, answers, weights), rel=1e-9)
    assert low <= middle <= high <= low * (1 + 1e-9) + 1e-12


def test_unequal_probabilities_against_mpmath_in_any_order_and_scale():
    found = exact.mutual_information(Laplace(1.5), [3, 0, -1], [3, 6, 1])
    assert found.estimate == pytest.approx(by_mpmath(Laplace(1.5), [3, 0, -1], [0.3, 0.6, 0.1]), rel=1e-9)
    again = exact.mutual_information(Laplace(1.5), [0, 3, -1], [0.6, 0.3, 0.1])
    assert again == pytest.approx(found, rel=1e-13)


def test_gaussian_noise_and_a_fair_bit():
    """I / (rho n^2) of the Gaussian of rho-zCDP at rho n^2 = .01, .1, 1, 4, 9; n^2 / 4 of it where it is small."""
    shares = []
    for spent in (0.01, 0.1, 1, 4, 9):
        noise = Gaussian(1 / np.sqrt(2 * spent))
        shares.append(exact.mutual_information(noise, [0, 1]).estimate / spent)
    np.testing.assert_allclose(shares, [0.2494, 0.2439, 0.2013, 0.125, 0.072], atol=6e-5)
    tiny = exact.mutual_information(Gaussian(1.0), [0, 1e-7])
    assert tiny.estimate == pytest.approx(1e-14 / 8, rel=1e-9)
    assert tiny.upper <= tiny.lower * (1 + 1e-9)


@each
def test_ends_of_one_count(noise):
    assert exact.mutual_information(noise, [5.0]) == (0, 0, 0)
    far = exact.mutual_information(noise, [0, 1e4, 3e4], [1, 2, 5])
    entropy = -(np.array([1, 2, 5]) / 8 @ np.log(np.array([1, 2, 5]) / 8))
    assert far.estimate == pytest.approx(entropy, rel=1e-9)
    assert far.upper == pytest.approx(entropy, rel=3e-14)  # cut there, but for the rounding of the entropy itself
    assert exact.mutual_information(TruncatedLaplace(2, 1), [0, 5]).estimate == pytest.approx(np.log(2), rel=1e-9)


def test_many_answers_are_integrated_in_time():
    """A uniform answer on 200 points close to each other is nearly continuous: against entropy of the mixture."""
    found = exact.mutual_information(Gaussian(2.0), np.arange(200) * 0.1)
    x = np.linspace(-25, 45, 70001)
    mix = np.exp(-0.5 * ((x[:, None] - np.arange(200) * 0.1) / 2) ** 2).mean(axis=1) / (2 * np.sqrt(2 * np.pi))
    entropy = -(mix * np.log(np.maximum(mix, 1e-300))).sum() * (x[1] - x[0])
    assert found.estimate == pytest.approx(entropy - 0.5 * np.log(2 * np.pi * np.e * 4), abs=1e-8)


# Histograms


@pytest.mark.parametrize("noise", [Gaussian(2.0), Laplace(1.5)], ids=repr)
@pytest.mark.parametrize("n", [1, 5])
def test_two_bins_against_a_double_integral(noise, n):
    """I = log 2 - E log(1 + e_2 / e_1) by brute force over both outputs; 1e-6."""

    def lost(y, z):
        odds = float(noise.privacy_loss(n + y, n) - noise.privacy_loss(z, n))
        return float(noise.pdf(y) * noise.pdf(z)) * np.logaddexp(0.0, odds)

    end = float(noise.isf(1e-8))
    total = 0.0
    for low, high in ((-end, 0), (0, end)):
        for bottom, top in ((-end, 0), (0, n), (n, n + end)):
            total += dblquad(lost, bottom, top, low, high, epsabs=1e-7)[0]
    assert exact.histogram_information(noise, n, 2).estimate == pytest.approx(np.log(2) - total, abs=3e-6)


def test_two_bins_of_gaussian_noise_are_one_count():
    """Only the difference of the two bins says anything: a shift of n in one direction of length sqrt(2)."""
    for n in (0.01, 1, 4, 30):
        one = exact.mutual_information(Gaussian(3.0), [0, n * np.sqrt(2)]).estimate
        assert exact.histogram_information(Gaussian(3.0), n, 2).estimate == pytest.approx(one, abs=1e-10)


def test_gaussian_histograms_at_four_nats():
    """I / (rho n^2) at rho n^2 = 4: .335 (k = 10), .493 +- .008 (1e3), .499 +- .026 (1e5), as once simulated."""
    shares = [exact.histogram_information(Gaussian(np.sqrt(10)), np.sqrt(40), k).estimate / 4 for k in (10, 1e3, 1e5)]
    assert shares[0] == pytest.approx(0.335, abs=5e-4)
    assert shares[1] == pytest.approx(0.493, abs=0.008)
    assert shares[2] == pytest.approx(0.499, abs=0.026)


@pytest.mark.parametrize("noise", [Gaussian(3.0), Laplace(4.0), SinhNormal(4, 20)], ids=repr)
def test_of_many_bins_it_is_the_divergence_of_one(noise):
    """For k to infinity the others average out: I becomes D_1 of the noise moved by n; and it never exceeds it."""
    limit = exact.renyi_divergence(noise, 5, 1.0)
    found = [exact.histogram_information(noise, 5, k) for k in (2, 10, 1e3, 1e8, 1e100)]
    assert found[-1].estimate == pytest.approx(limit.estimate, abs=1e-8)
    assert all(low.estimate < high.estimate + 1e-9 for low, high in pairwise(found))
    assert all(each.lower <= limit.upper for each in found)
    assert all(each.upper - each.lower < 1e-8 for each in found)


def test_ends_of_a_histogram():
    assert exact.histogram_information(Laplace(2.0), 0, 1e6) == (0, 0, 0)
    assert exact.histogram_information(Laplace(2.0), 5, 1) == (0, 0, 0)
    for noise in NOISES:
        assert exact.histogram_information(noise, 2000, 1e4).estimate == pytest.approx(np.log(1e4), rel=1e-9)
    sure = exact.histogram_information(TruncatedLaplace(2, 1), 5, 50)
    assert sure.estimate == pytest.approx(np.log(50), rel=1e-9)


# No mechanism tells more than its guarantee allows


@pytest.mark.parametrize("rho", [1e-3, 0.1, 5.0])
@pytest.mark.parametrize("family", ["laplace", "gaussian", "sinh_normal"])
def test_no_release_says_more_than_its_guarantee_allows(rho, family):
    closest = []
    for scaled in (1.0, 4.0):
        promise = equal_privacy(family, rho, max(scaled / np.sqrt(rho), 1.5), None)
        one, two = (calibrate(family, promise, 1.0, "tight", coordinates=c).noise for c in (1, 2))
        for n in (1, 3, 12):
            bound = information(promise, n)
            assert exact.mutual_information(one, [0, n]).upper <= bound
            found = [exact.histogram_information(two, n, k).upper for k in (10, 1e6)]
            assert max(found) <= bound * (1 + 1e-9) + 1e-8  # the absolute width of the bounds
            closest.append(max(found) / bound)
    assert max(closest) > 0.2


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: exact.mutual_information(Gaussian(1), [0, 0]), "valid: 1 to 200 different numbers"),
        (lambda: exact.mutual_information(Gaussian(1), np.arange(201)), "valid: 1 to 200 different numbers"),
        (lambda: exact.mutual_information(Gaussian(1), [0, np.nan]), "answers = nan"),
        (lambda: exact.mutual_information(Gaussian(1), [0, 1], [1, 0]), "probabilities = 0"),
        (lambda: exact.mutual_information(Gaussian(1), [0, 1], [1]), "one for each of the 2 answers"),
        (lambda: exact.mutual_information(Gaussian(np.array([1.0, 2.0])), [0, 1]), "array-valued parameters"),
        (lambda: exact.mutual_information(Logistic(1.0), [0, 1]), "Define `privacy_loss` in the noise class"),
        (lambda: exact.histogram_information(Logistic(1.0), 1, 5), "Define `privacy_loss` in the noise class"),
        (lambda: exact.histogram_information(Gaussian(1), -1, 5), "n = -1"),
        (lambda: exact.histogram_information(Gaussian(1), 1, 1e290), "k = 1e.290"),
        (lambda: exact.histogram_information(Gaussian(np.array([1.0, 2.0])), 1, 5), "array-valued parameters"),
        (lambda: exact.mutual_information(INTEGERS, [0, 1]), "has no density; valid: .* its `with_density"),
        (lambda: exact.histogram_information(INTEGERS, 1, 5), "has no density; valid: .* its `with_density"),
    ],
)
def test_what_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_discrete_noise_tells_what_the_one_with_a_density_does():
    """Against the sums over all integers, of one count and of two bins."""
    x = np.arange(-300, 301)
    p, q = np.exp(INTEGERS.logpdf(x)), np.exp(INTEGERS.logpdf(x - 1))
    dense = INTEGERS.with_density()
    assert_contains(exact.mutual_information(dense, [0, 1]), _told(p, q), 1e-10)
    assert_contains(exact.histogram_information(dense, 1, 2), _told(np.outer(p, q), np.outer(q, p)), 1e-9)


def _told(p, q):
    """The information about a fair bit in a draw from p or q."""
    middle = (p + q) / 2
    return 0.5 * (rel_entr(p, middle) + rel_entr(q, middle)).sum()


def assert_contains(bounds, truth, width):
    assert bounds.lower <= truth <= bounds.upper < bounds.lower + width


@pytest.mark.parametrize("k", [3, 5, 7, 20, 1000])
def test_histograms_that_hide_nothing_tell_log_k_whatever_way_it_is_rounded(k):
    """The bins differ by 100 standard deviations: log k less some e^-1000."""
    low, _, high = exact.histogram_information(Gaussian(0.01), 1.0, k)
    with mp.workdps(30):
        assert low <= mp.log(k) <= high <= mp.log(k) * (1 + mp.mpf("2e-14"))
