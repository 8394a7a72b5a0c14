"""Composed releases against closed forms, exact sums, dp_accounting, and one release at a time."""

from itertools import product

import composed_pairs as of_pairs
import mpmath as mp
import numpy as np
import pytest
from composed_pairs import (
    DominatingPair,
    composed_epsilon,
    composed_profile,
    dominating_pairs,
    hockey_stick_between,
    subsampled_hockey_stick,
)
from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent, SelfComposedDpEvent
from dp_accounting.pld import PLDAccountant
from dp_accounting.pld import privacy_loss_distribution as google
from scipy import stats
from scipy.special import gammaln, log_ndtr, ndtr

from tcdp_sim.calibration import calibrate
from tcdp_sim.exact import Mixture, hockey_stick, product_profile
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, TruncatedLaplace
from tcdp_sim.privacy import ZCDP, ApproxDP, RenyiBound, amplified_profile, tightest_epsilon
from tcdp_sim.privacy.amplification import amplify
from tcdp_sim.privacy.amplification.schemes import SCHEMES

BEST_KNOWN = 2.124515  # s = 0.01, sigma = 1, 1000 releases, delta = 1e-6


@pytest.fixture(params=["as ledgers do", "as for any pair"])
def either_method(request, monkeypatch):
    """The method that log-concave noise gets, and the one for pairs whose loss neither rises nor falls."""
    if request.param == "as for any pair":
        monkeypatch.setattr(of_pairs, "_law", lambda pair: None)


def sampled_gaussian(s, sigma, releases, epsilon, forward=True):
    """delta(epsilon) of composed sampled Gaussians, shift 1, by an inverse Laplace transform: no grid of losses.

    delta = integral over Re z = c of M(z)^T e^(-z eps) / (z (z + 1)), over 2 pi i: the transform of (1 - e^-y)_+ is
    1 / (z (z + 1)). M(z) = E[e^(z L)] and the integral by the trapezoid rule: both converge faster than any power.
    """
    x = np.linspace(-13.0, 15.0, 350) * sigma
    log_q = -0.5 * (x / sigma) ** 2
    loss = np.log1p(s * np.expm1((x - 0.5) / sigma**2))
    loss, log_p = (loss, log_q + loss) if forward else (-loss, log_q)
    log_p = log_p - np.log(np.exp(log_p).sum())

    @np.errstate(divide="ignore")  # 0, far from the real axis
    def log_moment(z):
        return np.log(np.exp(log_p + np.multiply.outer(z, loss)).sum(axis=-1))

    tilts = np.geomspace(0.1, 60, 400)
    c = tilts[np.argmin(releases * log_moment(tilts) - tilts * epsilon)]
    tilted = np.exp(log_p + c * loss - log_moment(c))
    sd = np.sqrt(releases * (tilted @ loss**2 - (tilted @ loss) ** 2))
    t = np.linspace(0, 40 / sd, 2000)
    z = c + 1j * t
    heights = np.exp(releases * log_moment(z) - z * epsilon) / (z * (z + 1))
    assert abs(heights[-1]) < 1e-12 * abs(heights[0])
    return float(np.trapezoid(heights.real, t) / np.pi)


def test_a_thousand_subsampled_gaussians_within_2e_3():
    pairs = dominating_pairs(Gaussian(1.0), 1.0, 0.01, "poisson")
    found = composed_epsilon(pairs, 1000, 1e-6, tolerance=2e-3)
    assert found.lower <= BEST_KNOWN <= found.upper + 5e-7  # its last digit
    assert found.upper - found.lower <= 2e-3


@pytest.mark.usefixtures("either_method")
@pytest.mark.parametrize("direction", [0, 1])
@pytest.mark.parametrize(
    ("noise", "event"),
    [(Gaussian(2.0), google.from_gaussian_mechanism), (Laplace(1.5), google.from_laplace_mechanism)],
)
def test_the_brackets_of_dp_accounting(noise, event, direction):
    """Its pessimistic distribution, and its optimistic one, which rounds every loss down by up to 2e-4."""
    pair = dominating_pairs(noise, 1.0, 0.05, "poisson")[direction]
    laws = []
    for pessimistic in (True, False):
        more = {"use_connect_dots": pessimistic, "pessimistic_estimate": pessimistic}
        composed = event(noise.scale, value_discretization_interval=2e-4, sampling_prob=0.05, **more).self_compose(100)
        laws.append((composed._pmf_remove, composed._pmf_add)[direction])
    for delta in (1e-3, 1e-8):
        ours = composed_epsilon([pair], 100, delta)
        most, least = (law.get_epsilon_for_delta(delta) for law in laws)
        assert ours.lower <= most + 1e-9
        assert least <= ours.upper + 1e-9
        assert most - ours.upper < 1e-3
        assert ours.lower - least < 100 * 2e-4


@pytest.mark.parametrize("releases", [1, 2, 300])
@pytest.mark.parametrize("epsilon", [0.0, 2.0])
def test_without_sampling_gaussians_add_up(releases, epsilon):
    """T releases of noise sigma are one of sigma / sqrt(T)."""
    sigma = 3.0
    truth = hockey_stick(Gaussian(sigma / np.sqrt(releases)), 1.0, epsilon)
    for pair in dominating_pairs(Gaussian(sigma), 1.0, 1.0, "poisson"):
        found = composed_profile([pair], releases, epsilon)
        assert found.lower <= truth.upper
        assert truth.lower <= found.upper
        assert found.upper - found.lower <= 0.01 * found.upper


@pytest.mark.usefixtures("either_method")
@pytest.mark.parametrize("delta", [1e-3, 1e-12, 1e-30, 1e-100])
def test_tiny_deltas(delta):
    found = composed_epsilon(dominating_pairs(Gaussian(10.0), 1.0, 1.0, "without_replacement"), 50, delta)
    noise = Gaussian(10.0 / np.sqrt(50))
    assert found.upper - found.lower <= 1e-3
    assert hockey_stick(noise, 1.0, found.upper).lower <= delta <= hockey_stick(noise, 1.0, found.lower).upper


@pytest.mark.usefixtures("either_method")
@pytest.mark.parametrize("releases", [1, 50])
@pytest.mark.parametrize("delta", [0.02, 0.2, 0.38, 0.6, 0.95])
def test_large_deltas(delta, releases):
    """Where Chernoff's bound on epsilon is far off, and where no epsilon is needed at all."""
    found = composed_epsilon(dominating_pairs(Gaussian(1.0), 1.0, 1.0, "poisson"), releases, delta)
    noise = Gaussian(1 / np.sqrt(releases))
    assert found.upper - found.lower <= 1e-3
    assert hockey_stick(noise, 1.0, found.upper).lower <= delta
    assert found.lower == 0 or delta <= hockey_stick(noise, 1.0, found.lower).upper


def response(p):
    """Randomised response as two spots that never meet."""
    blurred = TruncatedLaplace(0.7, 0.9)
    return Mixture(blurred, (0, 4), (p, 1 - p)), Mixture(blurred, (0, 4), (1 - p, p))


@pytest.mark.parametrize("releases", [1, 7, 60])
@pytest.mark.parametrize("p", [0.6, 0.52])
def test_composed_responses_are_a_binomial_sum(releases, p):
    found = composed_profile([DominatingPair(((1.0, *response(p)),))], releases, 0.3, tolerance=1e-3)
    k = np.arange(releases + 1)
    truth = np.maximum(stats.binom(releases, p).pmf(k) - np.exp(0.3) * stats.binom(releases, 1 - p).pmf(k), 0).sum()
    assert found.lower <= truth * (1 + 1e-12)
    assert truth <= found.upper * (1 + 1e-12)
    assert found.upper - found.lower <= 1e-3 * found.upper + 1e-12


@pytest.mark.usefixtures("either_method")
@pytest.mark.parametrize("noise", [Laplace(2.0), SinhNormal(2.0, 6.0), TruncatedLaplace(2.0, 9.0)], ids=repr)
def test_two_releases_by_quadrature_over_the_first(noise):
    pairs = dominating_pairs(noise, 1.0, 1.0, "without_replacement")
    for epsilon in (0.0, 0.3, 0.9):
        found, truth = composed_profile(pairs, 2, epsilon), product_profile(noise, 1.0, epsilon)
        assert found.lower <= truth.upper
        assert truth.lower <= found.upper
        assert found.upper - found.lower <= 0.01 * found.upper


NOISES = (Gaussian(1.5), Laplace(1.5), SinhNormal(1.5, 3.0), TruncatedLaplace(1.5, 15.0))


@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize("s", [0.05, 0.5])
def test_one_release_is_the_amplified_profile(noise, s):
    """Theorems 8 (both directions) and 9, and by Theorem 10 a sum over how often the record is drawn."""
    epsilons, n = (0.0, 0.2), 40
    k = np.arange(1, int(s * n) + 1)
    chances = stats.binom(int(s * n), 1 / n).pmf(k)
    for epsilon in epsilons:
        for scheme in ("poisson", "without_replacement", "with_replacement"):
            pairs = dominating_pairs(noise, 1.0, s, scheme, n)
            truth = [subsampled_hockey_stick(noise, 1.0, epsilon, s, d).estimate for d in ("forward", "reverse")]
            if scheme == "without_replacement":
                truth = truth[:1]
            if scheme == "with_replacement":
                inner = np.log1p(np.expm1(epsilon) / chances.sum())
                truth = [sum(c * hockey_stick(noise, float(j), inner).estimate for j, c in zip(k, chances))]
            for pair, delta in zip(pairs, truth):
                found = composed_profile([pair], 1, epsilon)
                assert found.lower <= delta * (1 + 1e-9)
                assert delta * (1 - 1e-9) <= found.upper
                assert found.upper - found.lower <= 0.02 * found.upper + 1e-7


def test_substitution_sees_both_signs():
    """Without replacement the profile is symmetric: composed, it is worse than either direction alone."""
    noise = Gaussian(1.0)
    both = composed_epsilon(dominating_pairs(noise, 1.0, 0.01, "without_replacement"), 100, 1e-6)
    one = composed_epsilon(dominating_pairs(noise, 1.0, 0.01, "poisson"), 100, 1e-6)
    assert both.lower > one.upper


@pytest.mark.usefixtures("either_method")
def test_an_epsilon_close_to_the_largest_loss_there_is():
    """Add/remove, the record added: no loss exceeds T log(1 / (1 - s + s e^-theta)), and all T reach it often.

    Against the sums of losses that are rounded up, and down, to multiples of 1e-6, from the tails written down again.
    """
    s, scale, step, releases, delta = 0.105, 0.77, 1e-6, 21, 4.7e-9
    pair = dominating_pairs(Laplace(scale), 1.0, s, "poisson")[1]
    found = composed_epsilon([pair], releases, delta)
    assert found.upper - found.lower <= 1e-3
    top, bottom = (-np.log(1 - s + s * np.exp(side / scale)) for side in (-1, 1))
    steps = int((top - bottom) / step) + 1
    size = 2 ** int(np.ceil(np.log2(releases * steps + releases)))
    level = top - step * np.arange(1, steps)  # of the loss, falling between 0 and 1: where it is reached
    shift = scale * np.log(((np.exp(-level) - 1 + s) / s).clip(np.exp(-1 / scale), np.exp(1 / scale)))
    reached = np.concatenate([[0.5], stats.laplace.cdf((shift + 1) / 2, scale=scale), [1.0]])
    mass = np.append(reached[0], np.diff(reached))
    total = np.fft.irfft(np.fft.rfft(mass, size) ** releases, size)
    down = releases * top - step * np.arange(size)

    def gain(loss, epsilon):
        return -np.expm1(np.minimum(epsilon - loss, 0.0)) @ total

    assert gain(down + releases * step, found.lower) >= delta * (1 - 1e-6)
    assert gain(down, found.upper) <= delta * (1 + 1e-6)


@pytest.mark.usefixtures("either_method")
def test_labels_cost_but_never_less_than_a_mixture():
    """Drawing with replacement, all other records zero: a release without labels is easier to hide in."""
    noise, n, s = Gaussian(3.0), 100, 0.1
    chances = stats.binom(10, 1 / n).pmf(np.arange(11))
    p, q = Mixture(noise, tuple(range(11)), tuple(chances / chances.sum())), Mixture(noise)
    labelled = composed_epsilon(dominating_pairs(noise, 1.0, s, "hybrid", n), 50, 1e-5, 1e-2)
    plain = composed_epsilon([DominatingPair(((1.0, p, q),)), DominatingPair(((1.0, q, p),))], 50, 1e-5, 1e-2)
    assert plain.upper <= labelled.lower


@pytest.mark.parametrize("releases", [1, 10, 10**7])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-12), (1.0, 1e-17), (0.1, 1e-100), (5.0, 1e-297)])
@mp.workdps(330)
def test_the_chance_of_an_infinite_loss_keeps_its_digits(epsilon, delta, releases):
    """Truncated Laplace noise at (epsilon, delta): 1 - (1 - delta)^T from epsilon T on, and no epsilon below that."""
    noise = calibrate("truncated_laplace", ApproxDP(epsilon, delta)).noise
    bound, scale = mp.mpf(noise.bound), mp.mpf(noise.scale)
    told = (mp.exp((1 - bound) / scale) - mp.exp(-bound / scale)) / (2 * (1 - mp.exp(-bound / scale)))
    ever, most = 1 - (1 - told) ** releases, releases * epsilon
    pairs = dominating_pairs(noise, 1.0, 1.0, "poisson")
    found = composed_profile(pairs, releases, most * (1 + 1e-6))
    assert found.lower <= ever <= found.upper
    assert found.upper - found.lower <= 2e-8 * found.upper
    assert composed_epsilon(pairs, releases, float(ever * (1 - mp.mpf("1e-10")))) == (np.inf, np.inf, np.inf)
    if releases > 10:  # losses up to ten million, for which transforms are too short
        return
    just_above = composed_epsilon(pairs, releases, float(ever * (1 + mp.mpf("1e-7"))), 0.01 * most)
    assert most * 0.98 < just_above.lower <= just_above.upper <= most * (1 + 1e-9)


def test_infinite_losses_that_ten_releases_have_more_often_than_delta():
    pairs = dominating_pairs(calibrate("truncated_laplace", ApproxDP(1, 1e-17)).noise, 1.0, 1.0, "poisson")
    assert composed_epsilon(pairs, 10, 5e-17, 0.05) == (np.inf, np.inf, np.inf)  # 1e-16 of them
    found = composed_epsilon(pairs, 10, 1.5e-16, 0.05)
    assert 9.9 < found.lower < found.upper < 10 + 1e-9  # the rest, 5e-17, is far below 2^-10, when all losses are 1


@pytest.mark.usefixtures("either_method")
@pytest.mark.parametrize("epsilon", [0.2, 0.6, 0.95])
@mp.workdps(30)
def test_infinite_losses_leave_less_of_delta_to_the_finite_ones(epsilon):
    """One release at scale 1, bound 4: where the loss 1 - 2 x is epsilon, F(x) - e^epsilon F(x - 1), told or not."""

    def cdf(x):
        tail = (mp.exp(-abs(x)) - mp.exp(-4)) / (2 * (1 - mp.exp(-4)))
        return tail if x < 0 else 1 - tail

    x = (1 - mp.mpf(epsilon)) / 2
    delta = cdf(x) - mp.exp(epsilon) * (cdf(x - 1) - cdf(mp.mpf(-4)))
    found = composed_epsilon(dominating_pairs(TruncatedLaplace(1.0, 4.0), 1.0, 1.0, "poisson"), 1, float(delta))
    assert found.lower <= epsilon <= found.upper
    assert found.upper - found.lower <= 1e-3


@pytest.mark.parametrize("releases", [1, 40, 10**5])
@pytest.mark.parametrize("s", [0.3, 1e-3, 1e-12])
def test_noise_so_short_that_a_drawn_record_is_always_seen(s, releases):
    """Laws that never meet: 1 - (1-s)^T forward; the reverse loss is log 1/(1-s) or -inf: 1 - e^eps (1-s)^T."""
    forward, reverse = dominating_pairs(TruncatedLaplace(1.0, 2.0), 5.0, s, "poisson")
    log_none = releases * mp.log1p(-mp.mpf(s))
    for epsilon in (0.0, 0.1 * s * releases, 2 * s * releases):
        truths = -mp.expm1(log_none), max(-mp.expm1(min(epsilon + log_none, 0)), 0)
        for pair, truth in zip((forward, reverse), truths):
            found = composed_profile([pair], releases, epsilon, tolerance=1e-3)
            assert found.lower <= truth <= found.upper
            assert found.upper - found.lower <= 2e-3 * truth + releases * 2e-12


def test_all_is_told_for_certain():
    pairs = dominating_pairs(TruncatedLaplace(1.0, 2.0), 5.0, 1.0, "poisson")
    found = composed_profile(pairs, 3, 1.0)
    assert (round(found.lower, 9), found.upper) == (1, 1)
    assert composed_epsilon(pairs, 3, 0.999).lower == np.inf


@pytest.mark.usefixtures("either_method")
@pytest.mark.parametrize(("records", "s", "epsilon"), [(1000, 0.05, 7.0), (1000, 0.05, 40.0), (10**6, 1e-6, 0.5)])
@mp.workdps(50)
def test_labels_so_rare_that_they_alone_decide(records, s, epsilon):
    """Laplace noise: sum over k of P[drawn k times] (1 - e^((e0 - k) / 2))_+, e0 = log(1 + (e^eps - 1) / eta)."""
    draws, n = round(s * records), mp.mpf(records)
    eta = 1 - (1 - 1 / n) ** draws
    inner = mp.log1p(mp.expm1(epsilon) / eta)
    truth = mp.mpf(0)
    for k in range(1, min(draws, 120) + 1):
        chance = mp.binomial(draws, k) * (1 / n) ** k * (1 - 1 / n) ** (draws - k)
        truth += chance * max(1 - mp.exp((inner - k) / 2), 0)
    found = composed_profile(dominating_pairs(Laplace(1.0), 1.0, s, "with_replacement", records), 1, epsilon)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= 0.01 * truth + 1e-305
    if epsilon == 7.0:
        assert found.estimate == pytest.approx(1.40e-23, rel=0.01)


@pytest.mark.slow
def test_what_no_label_is_known_of_may_tell_everything():
    """Randomised response, seen with probability 0.9; the rest is told (upper) or hidden (lower), rare as it may be."""
    p, q = response(0.6)
    for rest in (0.1, 1e-250):
        parts = ((1 - rest, p, q),)
        for pair in (DominatingPair(parts, rest=rest), *([DominatingPair(parts)] if rest == 0.1 else [])):
            found = composed_profile([pair], 7, 3.0)  # all seven losses of log 1.5 are 2.84
            assert found.upper == pytest.approx(-np.expm1(7 * np.log1p(-rest)), rel=1e-9)
            assert found.lower == 0
    kept = DominatingPair(((1e-9, p, q), (0.9, p, q), (1e-12, p, q)), rest=0.1 - 1e-9 - 1e-12).without_rare(1e-10)
    assert [chance for chance, _, _ in kept.parts] == [1e-9, 0.9]
    assert kept.rest == pytest.approx(0.1 - 1e-9, rel=1e-15)
    with pytest.raises(ValueError, match=r"parts and rest have probability 1\.1; valid: 1"):
        DominatingPair(((0.6, p, q), (0.5, p, q)))


@pytest.mark.usefixtures("either_method")
def test_infinite_losses_add_up_to_what_no_epsilon_hides():
    noise = TruncatedLaplace(1.0, 4.0)
    lost = noise.cdf(-3.0)
    pair = dominating_pairs(noise, 1.0, 0.1, "poisson")[0]
    never = -np.expm1(100 * np.log1p(-0.1 * lost))
    found = composed_profile([pair], 100, 50.0)
    assert found.lower <= never <= found.upper
    assert found.upper == pytest.approx(never, rel=1e-6)
    assert composed_epsilon([pair], 100, 0.9 * never).upper == np.inf


@pytest.mark.usefixtures("either_method")
@pytest.mark.parametrize(
    ("s", "sigma", "releases", "delta"),
    [(0.01, 1.0, 1000, 1e-6), (0.01, 1.0, 10_000, 1e-3), (0.2, 3.0, 60, 1e-30), (0.5, 2.0, 20, 1e-100)],
)
def test_sampled_gaussians_by_an_inverse_transform(s, sigma, releases, delta):
    for pair, forward in zip(dominating_pairs(Gaussian(sigma), 1.0, s, "poisson"), (True, False)):
        width = 1e-3 * max(1, releases / 2000)
        found = composed_epsilon([pair], releases, delta, width)
        assert found.upper - found.lower <= width
        at_ends = [sampled_gaussian(s, sigma, releases, end, forward) for end in (found.upper, found.lower)]
        assert at_ends[0] <= delta * (1 + 1e-8)
        assert delta * (1 - 1e-8) <= at_ends[1]
        truth = sampled_gaussian(s, sigma, releases, 1.0, forward)
        profile = composed_profile([pair], releases, 1.0, 1e-3)
        assert profile.lower <= truth * (1 + 1e-8)
        assert truth <= profile.upper * (1 + 1e-8)
        assert profile.upper - profile.lower <= 1e-3 * profile.upper


def test_the_inverse_transform_gives_plain_gaussians():
    for releases, epsilon in ((3, 0.5), (40, 4.0)):
        truth = hockey_stick(Gaussian(2.0 / np.sqrt(releases)), 1.0, epsilon).estimate
        assert sampled_gaussian(1.0, 2.0, releases, epsilon) == pytest.approx(truth, rel=1e-9)


def counted(laws, releases):
    """All compositions of one release's outcomes as {(log P, log Q): number of orders}, by going through the counts."""
    p, q = np.array(laws)
    p, q = p[p + q > 0], q[p + q > 0]
    total = {}
    for drawn in product(range(releases + 1), repeat=len(p) - 1):
        last = releases - sum(drawn)
        if last >= 0:
            counts = np.array([*drawn, last])
            total[drawn] = np.exp(gammaln(releases + 1) - gammaln(counts + 1).sum()) * np.array(
                [np.prod(p**counts), np.prod(q**counts)]
            )
    return np.array(list(total.values())).T


def spots(law):
    """A law on whole numbers, as spots that never meet."""
    return Mixture(TruncatedLaplace(0.7, 0.9), tuple(4.0 * np.arange(len(law))), tuple(law))


@pytest.mark.parametrize("epsilon", [0.0, 0.4])
@pytest.mark.parametrize("releases", [1, 2, 9])
@pytest.mark.parametrize("scheme", ["poisson", "without_replacement", "with_replacement"])
def test_sampled_responses_are_a_sum_over_counts(scheme, releases, epsilon):
    """Randomised response that keeps a bit with chance 0.8, or, of a record drawn twice, 0.9: exact multinomial sums.

    Without replacement: losses above 0 and their mirror images, the rest of both laws alike. With: also a label.
    """
    s, keep, twice = 0.3, 0.8, 0.9

    def sampled(rate, chance):
        yes, no = rate * chance + (1 - rate) * (1 - chance), 1 - chance
        return (yes, 1 - yes), (no, 1 - no)

    def mirrored(law, other):
        return (law[0], other[0], 1 - law[0] - other[0]), (other[0], law[0], 1 - law[0] - other[0])

    law, other = sampled(s, keep)
    if scheme == "poisson":
        pairs = [DominatingPair(((1.0, spots(law), spots(other)),)), DominatingPair(((1.0, spots(other), spots(law)),))]
        laws = [(law, other), (other, law)]
    elif scheme == "without_replacement":
        pairs, laws = [DominatingPair(((1.0, spots(law), spots(other)),), True)], [mirrored(law, other)]
    else:
        more = sampled(s, twice)
        pairs = [DominatingPair(((0.7, spots(law), spots(other)), (0.3, *map(spots, more))), True)]
        parts = mirrored(law, other), mirrored(*more)
        laws = [tuple(np.concatenate([0.7 * np.array(one), 0.3 * np.array(two)]) for one, two in zip(*parts))]
    for pair, (p, q) in zip(pairs, laws):
        joint_p, joint_q = counted((p, q), releases)
        truth = np.maximum(joint_p - np.exp(epsilon) * joint_q, 0).sum()
        found = composed_profile([pair], releases, epsilon, tolerance=1e-3)
        assert found.lower <= truth * (1 + 1e-12)
        assert truth <= found.upper * (1 + 1e-12)
        assert found.upper - found.lower <= 1e-3 * found.upper + 1e-12


def cell_laws(noise, scheme, s, width):
    """P- and Q-masses of cells of one release's outputs: what merges outputs tells less, by the square of the width.

    The densities are written down again. Without and with replacement: cells of positive loss, their mirror images,
    and the rest; with replacement of 2 draws of 4 records: drawn once or twice, told.
    """
    cdf, far = {
        Laplace: (lambda x: stats.laplace.cdf(x, scale=1.5), 12.0),
        Gaussian: (lambda x: stats.norm.cdf(x, scale=1.5), 7.0),
        SinhNormal: (lambda x: stats.norm.cdf(2 * np.sinh(x / 3)), 6.0),
    }[type(noise)]
    edges = np.concatenate([[-np.inf], np.arange(-far, far + 3, width), [np.inf]])

    def mass(shift):
        return np.diff(cdf(edges - shift))

    if scheme == "poisson":
        return (1 - s) * mass(0) + s * mass(1), mass(0)
    if scheme == "poisson_substitution":
        return tuple((1 - s) * mass(0) + s * mass(shift) for shift in (1, -1))
    shares = {1: 1.0} if scheme == "without_replacement" else {1: 0.375 / 0.4375, 2: 0.0625 / 0.4375}
    rate, p, q = s if scheme == "without_replacement" else 0.4375, [], []
    for times, share in shares.items():
        with_it, without = share * ((1 - rate) * mass(0) + rate * mass(times)), share * mass(0)
        up = with_it > without
        p += [with_it[up], without[up]]
        q += [without[up], with_it[up]]
    rest = [1 - np.concatenate(p).sum()]
    return np.concatenate([*p, rest]), np.concatenate([*q, rest])


@pytest.mark.parametrize("noise", [Laplace(1.5), SinhNormal(1.5, 3.0), Gaussian(1.5)], ids=repr)
@pytest.mark.parametrize("scheme", sorted(set(SCHEMES) - {"hybrid"}))  # whose pairs have no mirror images
def test_brute_force_convolutions(noise, scheme):
    """All pairs of cells, and triples, by what two more than a third: a lower bound, off by less than 1e-3 of it."""
    s = 0.5 if scheme == "with_replacement" else 0.2
    pairs = dominating_pairs(noise, 1.0, s, scheme, 4)[:1]
    p, q = cell_laws(noise, scheme, s, 0.02)
    kept = (p > 1e-11) & (q > 1e-14)
    p, q = p[kept], q[kept]
    two_p, two_q = (np.multiply.outer(law, law).ravel() for law in (p, q))
    ratio = two_p / two_q
    order = np.argsort(-ratio)
    over_p, over_q = (np.concatenate([[0.0], np.cumsum(law[order])]) for law in (two_p, two_q))
    for epsilon in (0.0, 0.3):
        exceed = np.searchsorted(-ratio[order], -np.exp(epsilon) * q / p)  # how many pairs do, with each third
        three = (p * over_p[exceed] - np.exp(epsilon) * q * over_q[exceed]).sum()
        for releases, truth in ((2, np.maximum(two_p - np.exp(epsilon) * two_q, 0).sum()), (3, three)):
            found = composed_profile(pairs, releases, epsilon, tolerance=1e-3)
            assert truth <= found.upper + 1e-9
            assert found.lower <= truth * (1 + 1e-3) + 1e-7
            assert found.upper - found.lower <= 1e-3 * found.upper


@pytest.mark.usefixtures("either_method")
@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_poisson_under_substitution(noise):
    """No two moves of the record within the sensitivity are worse than the opposite ones; the profile is a bound."""
    s = 0.2
    pair = dominating_pairs(noise, 1.0, s, "poisson_substitution")
    bound = amplified_profile(
        lambda e: float(hockey_stick(noise, 1.0, e).upper),
        s,
        "poisson_substitution",
        substitution=lambda e: float(hockey_stick(noise, 2.0, e).upper),
    )
    for epsilon in (0.0, 0.1, 0.25):
        found = composed_profile(pair, 1, epsilon)
        for up, down in product((-1.0, -0.4, 0.0, 0.7, 1.0), repeat=2):
            laws = [Mixture(noise, (0.0, move), (1 - s, s)) for move in (up, down)]
            other = hockey_stick_between(*laws, epsilon)
            assert other.lower <= found.upper
            if (up, down) == (1.0, -1.0):
                assert found.lower <= other.upper
        assert found.lower <= bound(epsilon) * (1 + 1e-9)


def test_ten_million_releases_that_are_one():
    found = composed_epsilon(dominating_pairs(Gaussian(1e4), 1.0, 1.0, "poisson"), 10**7, 1e-6, tolerance=1e-2)
    one = Gaussian(1e4 / np.sqrt(1e7))
    assert hockey_stick(one, 1.0, found.upper).lower <= 1e-6 <= hockey_stick(one, 1.0, found.lower).upper
    assert found.upper - found.lower <= 1e-2


def test_a_million_responses_are_a_binomial_sum():
    p, releases = 0.5005, 10**6
    found = composed_profile([DominatingPair(((1.0, *response(p)),))], releases, 0.5)
    k = np.arange(releases + 1)
    log_p, log_q = stats.binom(releases, p).logpmf(k), stats.binom(releases, 1 - p).logpmf(k)
    truth = np.maximum(np.exp(log_p) - np.exp(0.5 + log_q), 0).sum()
    assert found.lower <= truth * (1 + 1e-8)
    assert truth <= found.upper * (1 + 1e-8)
    assert found.upper - found.lower <= 0.01 * found.upper


@pytest.mark.parametrize(("s", "releases"), [(1e-3, 10**5), (1e-4, 10**7)])
def test_very_many_sampled_releases(s, releases):
    """Around an inverse transform, and below Lemma 15's Renyi bound; a few CPU seconds each."""
    delta = 1e-6
    found = composed_epsilon(dominating_pairs(Gaussian(1.0), 1.0, s, "poisson"), releases, delta, tolerance=5e-3)
    assert found.upper - found.lower <= 5e-3
    assert sampled_gaussian(s, 1.0, releases, found.upper) <= delta * (1 + 1e-6)
    assert delta * (1 - 1e-6) <= sampled_gaussian(s, 1.0, releases, found.lower)
    lemma = amplify(ZCDP(0.5), s, "poisson", "lemma15")
    assert tightest_epsilon(RenyiBound(lambda a: releases * lemma.curve(a), 20), delta)[0] >= found.lower


@pytest.mark.slow
def test_noise_that_hides_nothing():
    """sigma = 1e-3: a release tells the record as soon as it is drawn, at a loss of about shift^2 / (2 sigma^2)."""
    pairs = dominating_pairs(Gaussian(1e-3), 1.0, 0.1, "poisson")
    found = composed_profile(pairs, 3, 1.0, 1e-6)
    assert found.lower <= 1 - 0.9**3 <= found.upper < 0.271 * (1 + 2e-6)
    # Beyond two draws' losses, of 1e6: drawn three times, the loss is N(mean, 3e6), and delta as of plain Gaussians.
    found, sd = composed_epsilon(pairs, 3, 1e-5, tolerance=10.0), np.sqrt(3e6)
    mean = 1.5e6 + 3 * np.log(0.1)

    def delta(epsilon):
        a = (mean - epsilon) / sd
        return 1e-3 * (ndtr(a) - np.exp(log_ndtr(a - sd) + epsilon - mean + sd**2 / 2))

    assert found.upper - found.lower <= 10
    assert delta(found.upper) <= 1e-5 * (1 + 1e-9)
    assert delta(found.lower) >= 1e-5 * (1 - 1e-9)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda pairs: composed_epsilon(pairs, 0, 1e-6), "releases = 0"),
        (lambda pairs: composed_epsilon(pairs, 1.5, 1e-6), "releases = 1.5"),
        (lambda pairs: composed_epsilon(pairs, 10, 0.0), "delta = 0"),
        (lambda pairs: composed_profile(pairs, 10, -1.0), "epsilon = -1"),
        (lambda pairs: composed_profile(pairs, 10, 1.0, 0.0), "tolerance = 0"),
        (lambda pairs: composed_epsilon(pairs, [3], 1e-6), "releases = \\[3\\] is not one number"),
        (lambda pairs: composed_epsilon(pairs, 10, [0.1]), "delta = \\[0.1\\] is not one number"),
        (lambda pairs: composed_epsilon((), 10, 1e-6), "pairs are not valid; valid: one or more DominatingPair"),
        (lambda pairs: composed_epsilon(None, 10, 1e-6), "pairs are not valid"),
        (lambda pairs: composed_profile([3], 10, 1.0), "pairs are not valid"),
        (lambda pairs: dominating_pairs(3, 1.0, 0.1, "poisson"), "noise = 3"),
        (lambda pairs: dominating_pairs(Gaussian(1.0), [1.0], 0.1, "poisson"), "shift = \\[1.0\\] is not one number"),
        (lambda pairs: dominating_pairs(Gaussian(1.0), 1.0, 0.1, ["poisson"]), "scheme = \\['poisson'\\]"),
        (lambda pairs: dominating_pairs(Gaussian(1.0), 1.0, 0.1, "hybrid"), "records = None"),
        (lambda pairs: dominating_pairs(SinhNormal(2.0, 1.0), 1.0, 0.1, "poisson"), "is not log-concave"),
        (lambda pairs: dominating_pairs(Gaussian(1.0), 1.0, 0.15, "hybrid", 10), "1.5 draws"),
    ],
)
def test_mistakes_are_one_line(call, said):
    with pytest.raises(ValueError, match=said):
        call(dominating_pairs(Gaussian(1.0), 1.0, 0.1, "poisson"))


def test_dp_accounting_agrees_on_the_event():
    event = SelfComposedDpEvent(PoissonSampledDpEvent(0.01, GaussianDpEvent(1.0)), 1000)
    theirs = PLDAccountant(value_discretization_interval=2e-3).compose(event).get_epsilon(1e-6)
    ours = composed_epsilon(dominating_pairs(Gaussian(1.0), 1.0, 0.01, "poisson"), 1000, 1e-6)
    assert ours.lower <= theirs
    assert theirs - ours.upper < 0.01


@pytest.mark.parametrize("scheme", ["with_replacement", "hybrid"])
def test_the_pairs_carry_the_chance_of_labels_that_are_not_among_them(scheme):
    """A thousand draws of a million records; the record is drawn more often than any label says."""
    draws, each = 1000, mp.mpf(1) / 10**6
    for pair in dominating_pairs(Laplace(1.0), 1.0, 1e-3, scheme, 10**6):
        labels = range(len(pair.parts) + 1, len(pair.parts) + 50)
        beyond = mp.fsum(mp.binomial(draws, k) * each**k * (1 - each) ** (draws - k) for k in labels)
        expected = float(beyond / (1 - (1 - each) ** draws))
        assert 0 < expected < 1e-290
        assert expected * (1 - 1e-9) <= pair.rest <= 2 * expected * (1 + 1e-9)  # what is below floats is rounded up


@pytest.mark.parametrize(("sigma", "releases", "delta"), [(3000.0, 64, 1e-9), (3000.0, 64, 1e-3), (1e6, 10, 1e-9)])
def test_small_epsilons_are_bracketed_to_a_thousandth(sigma, releases, delta):
    """The composition of Gaussian noise is Gaussian noise, whose epsilon mpmath finds."""
    found = composed_epsilon(dominating_pairs(Gaussian(sigma), 1.0, 1.0, "poisson"), releases, delta)
    with mp.workdps(40):
        mu = mp.sqrt(releases) / sigma

        def excess(epsilon):
            return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu) - mp.mpf(delta)

        truth = mp.findroot(excess, (0, mu * mu / 2 + 9 * mu), solver="bisect", tol=1e-40, verify=False, maxsteps=300)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= 1e-3 * truth * 1.01
