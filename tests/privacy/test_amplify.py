"""Amplification by subsampling against exact sums, randomised membership, brute force, and the errata's numbers."""

from itertools import pairwise, product
from math import exp, expm1, inf, log, log1p

import numpy as np
import pytest
from mpmath import mp
from scipy import integrate, optimize, stats
from scipy.special import lambertw

from tcdp_sim.privacy import (
    RDP,
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    PureDP,
    RenyiBound,
    amplified_profile,
    group_delta,
    renyi_bound,
)
from tcdp_sim.privacy.amplification import amplify
from tcdp_sim.privacy.amplification.schemes import draw_count_probabilities, draw_count_tail, inclusion_probability
from tcdp_sim.samplers.subsamples import subsample_counts

SCHEMES = ("poisson", "without_replacement", "with_replacement", "hybrid")
WOR = "without_replacement"


def hockey_stick(p, q, epsilon):
    return float(np.maximum(np.array(p) - exp(epsilon) * np.array(q), 0).sum())


@pytest.mark.parametrize("scheme", SCHEMES[:3])
@pytest.mark.parametrize("keep", [0.5, 0.7, 0.99])
@pytest.mark.parametrize("s", [0.1, 0.5])
def test_randomised_membership_attains_theorems_8_to_10(scheme, keep, s):
    """Theorem 13: RR_p(is v in the subsample?), the law of which is a Bernoulli's; n = 20."""
    n = 20
    eta = {"poisson": s, "without_replacement": s, "with_replacement": 1 - (1 - 1 / n) ** (s * n)}[scheme]
    yes, no = eta * keep + (1 - eta) * (1 - keep), 1 - keep

    def psi(epsilon):
        return max(keep - exp(epsilon) * (1 - keep), 0.0)

    found = amplify(psi, s, scheme, records=n, groups=lambda k, epsilon: psi(epsilon))
    for epsilon in (0.0, 0.01, 0.3, 2.0):
        laws = (yes, 1 - yes), (no, 1 - no)
        worst = max(hockey_stick(*pair, epsilon) for pair in (laws, laws[::-1]))
        assert found(epsilon) == pytest.approx(worst, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("scheme", SCHEMES[:3])
def test_randomised_membership_simulated(scheme):
    """20,000 subsamples drawn by their law, a bit kept with chance 0.8: within 5.5 standard errors (4e-8)."""
    rng, n, s, keep, trials = np.random.default_rng(5), 20, 0.25, 0.8, 20_000
    answers = []
    for holds in (True, False):  # bin 0 is the record v, or nothing
        counts = np.array([1, n - 1]) if holds else np.array([0, n])
        member = subsample_counts(counts, scheme, s, int(s * n), trials, rng=rng)[:, 0] > 0
        answers.append((member ^ (rng.random(trials) > keep)).mean())

    def psi(epsilon):
        return max(keep - exp(epsilon) * (1 - keep), 0.0)

    found = amplify(psi, s, scheme, records=n, groups=lambda k, epsilon: psi(epsilon))
    for epsilon in (0.0, 0.1, 0.3):
        seen = answers[0] - exp(epsilon) * answers[1]
        assert abs(seen - found(epsilon)) <= 5.5 * (1 + exp(epsilon)) * 0.5 / trials**0.5


@pytest.mark.parametrize(("n", "m"), [(3, 2), (4, 3)])
def test_how_often_a_record_is_drawn_by_going_through_all_samples(n, m):
    counts = [sample.count(0) for sample in product(range(n), repeat=m)]
    found = draw_count_probabilities(m / n, n)
    np.testing.assert_allclose(found, [counts.count(k) / n**m for k in range(1, m + 1)], rtol=1e-12)
    assert inclusion_probability(m / n, "hybrid", n) == pytest.approx(sum(found), rel=1e-12)


@pytest.mark.parametrize(("n", "m"), [(1000, 50), (10**6, 10**6), (10**6, 3), (7, 7)])
@mp.workdps(60)
def test_how_often_a_record_is_drawn_from_many(n, m):
    """Each chance to 12 digits, and what is beyond, down to what is rarer than the list goes."""
    found, p = draw_count_probabilities(m / n, n), mp.mpf(1) / n
    truth = [mp.binomial(m, k) * p**k * (1 - p) ** (m - k) for k in range(1, min(m, 400) + 1)]
    np.testing.assert_allclose(found, [float(chance) for chance in truth[: len(found)]], rtol=1e-12)
    for times in (1, 2, len(found)):
        beyond, more = mp.fsum(truth[times:]), draw_count_tail(m / n, n, times)
        assert beyond * (1 - mp.mpf("1e-12")) <= more <= beyond * (2 if times == len(found) else 1 + mp.mpf("1e-12"))


def test_rare_draws_of_a_mechanism_with_a_tiny_delta_are_counted():
    """delta = 1e-30 a record, at the epsilon of three draws: being drawn four times and more tells everything."""
    n, m = 1000, 5
    found = amplify(ApproxDP(1.0, 1e-30), m / n, "hybrid", records=n)
    with mp.workdps(60):
        p = mp.mpf(1) / n
        chances = [mp.binomial(m, k) * p**k * (1 - p) ** (m - k) for k in range(1, m + 1)]
        deltas = [mp.mpf("1e-30") * (mp.expm1(k) / mp.expm1(1)) for k in range(1, m + 1)]
        eta = 1 - (1 - p) ** m
        most = round(float(mp.log1p(mp.expm1(found.epsilon) / eta)))
        told = sum(chances[most:]) + sum(c * d for c, d in zip(chances[:most], deltas))
        assert told * (1 - mp.mpf("1e-9")) <= found.delta <= told * (1 + mp.mpf("1e-9"))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_mechanism_on_small_data_sets_exceeds_its_profile(scheme):
    """Every sample gone through: noisy counts on three values, in a data set of 4 records and its neighbours."""
    n, m, s = 4, 2, 0.5
    law = np.exp(-0.4 * np.abs(np.subtract.outer(np.arange(2 * n + 1), np.arange(2 * n + 1))))
    law /= law.sum(axis=1, keepdims=True)

    def released(records):
        size = len(records)
        if scheme == "poisson":
            chances = {bits: s ** sum(bits) * (1 - s) ** (size - sum(bits)) for bits in product((0, 1), repeat=size)}
        elif scheme == "without_replacement":
            subsets = [bits for bits in product((0, 1), repeat=size) if sum(bits) == m]
            chances = dict.fromkeys(subsets, 1 / len(subsets))
        else:
            return sum(law[sum(sample)] for sample in product(records, repeat=m)) / size**m
        return sum(chance * law[np.dot(bits, records)] for bits, chance in chances.items())

    def groups(k, epsilon):
        return max(hockey_stick(law[i], law[j], epsilon) for i in range(9) for j in range(9) if abs(i - j) <= 2 * k)

    substitute = scheme in ("without_replacement", "with_replacement")
    found = amplify(lambda e: groups(1, e), s, scheme, records=n, groups=groups)
    pairs = [((0, *rest), (2, *rest)) if substitute else ((2, *rest), rest) for rest in product((0, 1, 2), repeat=3)]
    for epsilon in (0.0, 0.2, 0.6):
        worst = max(hockey_stick(released(a), released(b), epsilon) for x, y in pairs for a, b in ((x, y), (y, x)))
        assert worst <= found(epsilon) * (1 + 1e-12)
        assert found(epsilon) <= 3 * worst + (0 if epsilon == 0 else 0.03)


def test_profiles_and_guarantees_agree():
    for scheme in ("poisson", WOR):
        found = amplify(ApproxDP(1.0, 1e-6), 0.1, scheme)
        assert found == ApproxDP(log1p(0.1 * expm1(1.0)), 1e-7)
        profile = amplify(lambda e: 1e-6 if e >= 1 else 1.0, 0.1, scheme)
        assert profile(found.epsilon * (1 + 1e-12)) == pytest.approx(1e-7)
        assert amplify(PureDP(1.0), 0.1, scheme) == PureDP(log1p(0.1 * expm1(1.0)))
        assert amplify(PureDP(800.0), 0.1, scheme).epsilon == pytest.approx(800 + log(0.1))
    assert amplify(PureDP(1.0), 1.0, "poisson") == PureDP(1.0)


@pytest.mark.parametrize("scheme", ["with_replacement", "hybrid"])
def test_pure_dp_with_replacement_is_that_of_laplace_noise(scheme):
    """Attained by a count with Laplace noise, far out: log of the mean of e^(k epsilon)."""
    truth = 10 * log1p(expm1(0.3) / 100)
    assert amplify(PureDP(0.3), 0.1, scheme, records=100).epsilon == pytest.approx(truth, rel=1e-12)
    assert amplify(PureDP(3.0), 1.0, scheme, records=2).epsilon <= 6.0
    assert amplify(PureDP(0.3), 1.0, scheme, records=1).epsilon == pytest.approx(0.3)


@pytest.mark.parametrize("scheme", ["with_replacement", "hybrid"])
@pytest.mark.parametrize(("epsilon", "n"), [(7, 1000), (5, 10_000), (500, 2), (3, 1000), (600.5, 1)])
def test_large_epsilons_with_replacement_are_not_understated(scheme, epsilon, n):
    """An output with chance e^(k epsilon - n epsilon) at k copies of the record: E[e^(k epsilon)], k binomial."""
    found = amplify(PureDP(epsilon), 1, scheme, records=n).epsilon
    with mp.workdps(40):
        least = n * mp.log1p(mp.expm1(epsilon) / n)
        assert least * (1 - 1e-14) <= found <= n * epsilon


def test_a_bound_that_is_infinite_from_some_order_on_is_used_below():
    full, cut = RenyiBound(lambda a: 0.1 * a, 9), RenyiBound(lambda a: 0.1 * a if a <= 9 else inf)
    assert amplify(cut, 0.1, "poisson")(3) == pytest.approx(amplify(full, 0.1, "poisson")(3), rel=0.1)


def test_pure_dp_of_poisson_under_substitution():
    """Attained by values 1 and -1 with Laplace noise: (1 - s + s e^eps) / (1 - s + s e^-eps)."""
    found = amplify(PureDP(0.5), 0.2, "poisson_substitution").epsilon
    assert found == pytest.approx(log(0.8 + 0.2 * exp(0.5)) - log(0.8 + 0.2 * exp(-0.5)), rel=1e-12)
    assert amplify(PureDP(800.0), 1.0, "poisson_substitution") == PureDP(1600.0)
    assert amplify(PureDP(800.0), 0.5, "poisson_substitution").epsilon == pytest.approx(800, rel=1e-12)


def test_approx_dp_by_group_privacy_is_what_the_profile_says():
    base = ApproxDP(0.5, 1e-7)
    found = amplify(base, 0.1, "with_replacement", records=50)
    chances = stats.binom(5, 1 / 50).pmf(np.arange(1, 6))
    k = next(k for k in range(1, 6) if found.epsilon == pytest.approx(log1p(chances.sum() * expm1(k * 0.5))))
    deltas = np.minimum(1e-7 * np.expm1(0.5 * np.arange(1, 6)) / expm1(0.5), 1)
    assert found.delta == pytest.approx((chances * np.where(np.arange(1, 6) <= k, deltas, 1)).sum(), rel=1e-9)
    substituted = amplify(base, 0.1, "poisson_substitution")
    profile = amplified_profile(lambda e: 1e-7 if e >= 0.5 else 1.0, 0.1, "poisson_substitution")
    assert profile(substituted.epsilon * (1 + 1e-12)) == pytest.approx(substituted.delta, rel=1e-9)
    assert "unnatural" in substituted.source


def test_groups_black_box():
    def profile(epsilon):
        return max(1 - exp((epsilon - 1) / 2), 0.0)

    assert group_delta(profile, 3, 0.0) == pytest.approx(min(3 * profile(0.0), 1))
    assert group_delta(profile, 2, 1.0) == pytest.approx(min(expm1(1) / expm1(0.5) * profile(0.5), 1))
    assert group_delta(profile, 5, 1000.0) == 0.0


# Renyi bounds: errata E3 and E9


@pytest.mark.parametrize(
    ("sigma", "order", "printed", "wang", "pair"),
    [
        (5, 8, 8.48e-4, 8.36e-5, 1.636e-5),
        (5, 32, 3.52e-3, 6.47e-4, 6.61e-5),
        (2, 8, 1.06e-3, 4.88e-4, 1.158e-4),
        (1, 4, 1.14e-3, 1.14e-3, 3.63e-4),
    ],
)
def test_erratum_e9(sigma, order, printed, wang, pair):
    base = ZCDP(1 / (2 * sigma**2))
    methods = (("cheat_sheet_rdp", WOR, printed), ("wang2019", WOR, wang), ("lemma15", "poisson", pair))
    for method, scheme, truth in methods:
        found = amplify(base, 0.01, scheme, method, order=order)
        assert found == RDP(order, found.epsilon)
        assert found.epsilon == pytest.approx(truth, rel=5e-3)


def test_the_printed_row_does_not_vanish_and_is_never_offered_above_no_sampling():
    base = ZCDP(1 / (2 * 50**2))
    assert amplify(base, 0.1, WOR, "cheat_sheet_rdp", order=2).epsilon == pytest.approx(4.0e-4, rel=1e-6)
    assert amplify(base, 0.1, WOR, "wang2019", order=2).epsilon == pytest.approx(1.60e-5, rel=5e-3)
    assert amplify(base, 0.1, "poisson", "lemma15", order=2).epsilon == pytest.approx(4.00e-6, rel=5e-3)


@pytest.mark.parametrize("s", [0.01, 0.3, 0.9])
@pytest.mark.parametrize("epsilon", [0.3, 0.75, 1.5])
@pytest.mark.parametrize("order", [2, 3, 8, 40])
def test_wang_2019_is_theorem_9_term_by_term(s, epsilon, order):
    """Randomised response is the pure-DP base; (e^epsilon - 1)^j is below one, between one and two, and above two.

    Without a divergence at infinity each of these is 2. Both sums in 40 digits.
    """
    with mp.workdps(40):
        e, rate = mp.mpf(epsilon), mp.mpf(s)
        p = mp.exp(e) / (1 + mp.exp(e))

        def moment(j):  # e^((j-1) D_j)
            return p**j * (1 - p) ** (1 - j) + (1 - p) ** j * p ** (1 - j)

        def theorem_9(moment, cap):
            first = min(4 * (moment(2) - 1), moment(2) * cap(2))
            rest = sum(rate**j * mp.binomial(order, j) * moment(j) * cap(j) for j in range(3, order + 1))
            return float(mp.log(1 + rate**2 * mp.binomial(order, 2) * first + rest) / (order - 1))

        pure = theorem_9(moment, lambda j: min(2, mp.expm1(e) ** j))
        concentrated = theorem_9(lambda j: mp.exp((j - 1) * e * j), lambda j: 2)
    assert amplify(PureDP(epsilon), s, WOR, "wang2019", order=order).epsilon == pytest.approx(pure, rel=1e-12)
    assert amplify(ZCDP(epsilon), s, WOR, "wang2019", order=order).epsilon == pytest.approx(concentrated, rel=1e-12)


@pytest.mark.parametrize("order", [2, 3, 8, 40])
def test_the_cheat_sheets_row_is_what_is_printed(order):
    with mp.workdps(40):
        s, rho = mp.mpf(0.2), mp.mpf(0.4)
        total = sum(2 * s**j * mp.binomial(order, j) * mp.exp((j - 1) * j * rho) for j in range(2, order + 1))
        truth = float(mp.log(1 + total) / (order - 1))
    found = amplify(ZCDP(0.4), 0.2, WOR, "cheat_sheet_rdp", order=order).epsilon
    assert found == pytest.approx(min(truth, 0.4 * order), rel=1e-12)


@pytest.mark.parametrize("method", ["lemma15", "wang2019", "cheat_sheet_rdp"])
def test_beyond_the_last_whole_order_nothing_below_is_enough(method):
    """A bound that ends at order 2.9, of two laws that order 2 hardly tells apart: the sampled D_2.9 is 26 times D_2.

    Nothing but the unsampled bound is known there, and it is what is given.
    """
    p, q, s = np.array([1 - 1e-3, 1e-3]), np.array([1 - 1e-6, 1e-6]), 0.1

    def renyi(one, other, order):
        return log((one**order * other ** (1.0 - order)).sum()) / (order - 1)

    base = RenyiBound(lambda a: max(renyi(p, q, a), renyi(q, p, a)), 2.9)
    found = amplify(base, s, "poisson" if method == "lemma15" else WOR, method)
    truth = renyi((1 - s) * q + s * p, q, 2.9)
    assert truth == pytest.approx(0.2627, abs=1e-4)
    assert truth > 26 * renyi((1 - s) * q + s * p, q, 2)
    assert truth <= found(2.9) == base(2.9)
    assert found(2) < 0.1
    assert found(2.9001) == inf
    assert amplify(RenyiBound(base.curve, 3), s, "poisson", "lemma15")(2.9) < base(2.9)


def test_lemma_15_is_exact_for_randomised_response():
    """Two outcomes: the sum over them, at whole orders; in between no less."""
    epsilon, s = 0.7, 0.2
    p = np.array([exp(epsilon), 1]) / (1 + exp(epsilon))
    mixed, q = (1 - s) * p[::-1] + s * p, p[::-1]
    curve = amplify(PureDP(epsilon), s, "poisson", "lemma15")
    assert isinstance(curve, RenyiBound)
    for order in (2, 3, 10, 200):
        truth = log((mixed**order * q ** (1.0 - order)).sum()) / (order - 1)
        assert curve(order) == pytest.approx(truth, rel=1e-10)
    for order in (1.1, 1.9, 2.5, 30.7):
        truth = log((mixed**order * q ** (1 - order)).sum()) / (order - 1)
        assert truth <= curve(order) <= 3 * truth


def random_laws(seed, number=400):
    """Pairs of laws on two to five outcomes, from all but equal to far apart."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        q = rng.dirichlet(np.ones(rng.integers(2, 6)) * 10 ** rng.uniform(-0.5, 1)) + 1e-9
        p = q * np.exp(rng.normal(size=len(q)) * 10 ** rng.uniform(-2, 0.7))
        yield p / p.sum(), q / q.sum(), float(10 ** rng.uniform(-4, 0))


@pytest.mark.parametrize("order", [2, 2.5, 7, 30])
def test_the_inequality_that_makes_lemma_15_a_guarantee(order):
    """E_Q[w^(1-a)] <= (1-c) E_Q[w^a] + c E_P[v^a], real orders >= 2, both sides summed over the outcomes."""
    for p, q, s in random_laws(1):
        c = (2 * order - 1) * s / (3 + 2 * (order - 2) * s)
        w, v = 1 - s + s * p / q, 1 - s + s * q / p
        assert 0 <= c <= 1
        right = (1 - c) * (q * w**order).sum() + c * (p * v**order).sum()
        assert (q * w ** (1 - order)).sum() <= right * (1 + 1e-13)


def test_lemma_15_bounds_both_directions_of_any_mechanism():
    """Laws without any symmetry; the bound is the larger of D_k(P || Q) and D_k(Q || P). Between whole orders, too."""

    def renyi(p, q, order):
        return log((p**order * q ** (1.0 - order)).sum()) / (order - 1)

    for p, q, s in random_laws(2, 60):
        base = RenyiBound(lambda k, p=p, q=q: max(renyi(p, q, k), renyi(q, p, k)), 40)
        found = amplify(base, s, "poisson", "lemma15")
        for order in (1.5, 2, 3, 4.7, 20):
            for one, other in ((p, q), (q, p)):
                mixed = (1 - s) * other + s * one
                worst = max(renyi(mixed, other, order), renyi(other, mixed, order))
                assert worst <= found(order) * (1 + 1e-9) + 1e-12


def test_lemma_15_on_every_sample_of_small_data_sets():
    """A mechanism with an arbitrary law for each subset of three records, and each record left out."""
    rng, s = np.random.default_rng(4), 0.3
    law = {bits: rng.dirichlet(np.ones(4)) for bits in product((0, 1), repeat=3)}
    next_to = [(x, y) for x in law for y in law if sum(abs(a - b) for a, b in zip(x, y)) == 1]

    def renyi(p, q, order):
        return log((p**order * q ** (1.0 - order)).sum()) / (order - 1)

    def released(records):
        chance = {x: s ** sum(x) * (1 - s) ** (sum(records) - sum(x)) for x in law if all(np.less_equal(x, records))}
        return sum(chance * law[x] for x, chance in chance.items())

    base = RenyiBound(lambda k: max(renyi(law[x], law[y], k) for x, y in next_to), 12)
    found = amplify(base, s, "poisson", "lemma15")
    for order in (2, 3, 6):
        assert max(renyi(released(x), released(y), order) for x, y in next_to) <= found(order)


@pytest.mark.parametrize("method", [None, "wang2019", "cheat_sheet_rdp"])
def test_at_order_inf_a_renyi_bound_is_that_of_pure_dp(method):
    found = amplify(renyi_bound(PureDP(0.7)), 0.2, WOR, method)
    assert found(inf) == amplify(PureDP(0.7), 0.2, WOR).epsilon
    assert amplify(renyi_bound(ZCDP(0.1)), 0.2, WOR, method)(inf) == inf


@pytest.mark.parametrize("rho", [0.1, 0.01, 1e-4])
@pytest.mark.parametrize("s", [0.1, 1e-3, 1e-9])
def test_erratum_e3(rho, s):
    """Theorem 12's omega by Lambert's W; the certificate proves Theorem 11 with at most 2.78 in place of 13."""
    needed = log(1 / s) / (2 * rho)
    base = TCDP(rho, needed)
    eleven = amplify(base, s, WOR, "theorem11")
    assert (eleven.rho, eleven.omega) == pytest.approx((13 * s * s * rho, needed / 2), rel=1e-14)
    proved = amplify(base, s, WOR)
    assert proved.omega == pytest.approx(needed / 2)
    assert 1 <= proved.rho / (s * s * rho) <= 2.78
    assert amplify(base, s, "poisson") == proved


def bound_by_the_profile(rho, omega, s, a, end):
    """D_a by Balle-Barthe-Gaboardi 2018, Theorems 8 and 6: scipy's quadrature of the profile's integral up to `end`.

    delta(eps) of (rho, omega)-tCDP is Canonne-Kamath-Steinke's at the root of its derivative, and at most the total
    variation distance.
    """
    cap = log(min(rho / 2, -expm1(-rho))) / 2

    def log_delta(epsilon):
        def slope(a):
            return rho * (2 * a - 1) - epsilon + log1p(-1 / a)

        a = omega if slope(omega) < 0 else optimize.brentq(slope, 1 + 1e-15, omega, xtol=1e-15, rtol=1e-14)
        return min((a - 1) * (rho * a - epsilon) + (a - 1) * log1p(-1 / a) - log(a), cap)

    def integrand(epsilon):
        log_w = log1p(s * expm1(epsilon)) if epsilon < 700 else epsilon + log(s)
        log_rest = log_delta(epsilon) + epsilon
        return exp(log_rest + (a - 2) * log_w) + exp(log_rest - (a + 1) * log_w)

    edges = [0, *np.geomspace(1e-3, end, 24 + int(end > 100) * 16)]
    total = sum(integrate.quad(integrand, *pair, epsabs=0, epsrel=1e-8)[0] for pair in pairwise(edges))
    return log1p(a * (a - 1) * s * s * total) / (a - 1)


@pytest.mark.parametrize(
    ("rho", "s", "constant"), [(0.1, 0.1, 2.60330), (0.1, 1e-9, 2.73678), (0.01, 0.01, None), (1e-4, 0.05, None)]
)
def test_the_constant_of_the_method_certified_is_that_of_its_definition(rho, s, constant):
    """The largest bound of D_a / (s^2 rho a) over 1 < a <= omega / 2. Literals: mpmath, 25 digits.

    The chords of the profile may cost 0.2% above it and gain nothing.
    """
    omega = log(1 / s) / (2 * rho)
    orders = (1 + 1e-6, 1 + (omega / 2 - 1) / 2, omega / 2)
    truth = max(bound_by_the_profile(rho, omega, s, a, 60) / (s * s * rho * a) for a in orders)
    assert constant is None or truth == pytest.approx(constant, abs=1e-5)
    assert truth * (1 - 1e-6) <= amplify(TCDP(rho, omega), s, WOR).rho / (s * s * rho) <= truth * 1.002


@pytest.mark.parametrize(
    ("rho", "omega", "s", "left"), [(0.1, 3, 0.01, 0.002), (0.1, 10, 0.3, 0.009), (2, 3, 0.01, 0.02)]
)
def test_close_to_the_last_order_what_lies_far_out_counts(rho, omega, s, left):
    """There delta(eps) falls no faster than its weight rises: the integral up to epsilon = 30 is far from all of it."""
    order = omega - left
    near, whole = (bound_by_the_profile(rho, omega, s, order, end) for end in (30, 40 / left))
    assert near < 0.8 * whole
    found = amplify(renyi_bound(TCDP(rho, omega)), s, WOR)(order)
    assert whole * (1 - 1e-6) <= found <= 2.1 * whole


def test_theorem_12_gives_less_than_theorem_11_says():
    for rho, s, omega in ((0.1, 0.1, 3.49), (0.01, 0.01, 29.0), (0.01, 1e-5, 263)):
        found = amplify(TCDP(rho, inf), s, WOR, "theorem12")
        assert found.omega == pytest.approx(omega, rel=2e-3)
        inner = 2 * found.omega
        assert inner <= -log((inner - 2) * s) / rho  # condition (5), right half
        assert inner == pytest.approx(2 + lambertw(rho * exp(-2 * rho) / s).real / rho)


def test_the_certificate_covers_every_order_of_the_exact_gaussian():
    """Any order, whole or not, both by the profile and by Lemma 15, which is exact."""
    base, s = ZCDP(0.1), 0.01
    curve, exact = amplify(base, s, "poisson", omega=10.0), amplify(base, s, "poisson", "lemma15")
    for order in (2, 3, 5, 9):
        assert exact(order) <= curve.rho * order
    bound = amplify(renyi_bound(base), s, WOR)
    assert all(exact(order) <= bound(order) <= 4 * exact(order) for order in (2, 3, 8, 11))
    assert bound(1.0001) <= bound(1.5) <= bound(2.5)
    assert amplify(base, s, WOR, "certified", order=2.5) == RDP(2.5, bound(2.5))


@pytest.mark.parametrize("omega", [1e5, 1e7, 1e12])
def test_the_certificate_of_a_long_domain_is_that_of_an_endless_one(omega):
    long, endless = (amplify(TCDP(0.1, end), 0.01, WOR, order=5) for end in (omega, inf))
    assert long.epsilon == pytest.approx(endless.epsilon, rel=1e-9)


def test_the_certificate_of_next_to_no_privacy_is_a_number():
    assert amplify(TCDP(5000, inf), 0.01, WOR, order=5).epsilon <= 25_000


def test_rdp_stays_at_its_order():
    found = amplify(RDP(3, 0.2), 0.1, WOR)
    truth = log1p(0.01 * 3 * min(4 * expm1(0.2), 2 * exp(0.2)) + 2 * 0.001 * exp(0.4)) / 2
    assert found.order == 3
    assert found.epsilon == pytest.approx(truth, rel=1e-12)
    assert amplify(RDP(3, 0.2), 0.1, WOR, "certified")(2) <= 0.2


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: amplify(PureDP(1.0), 0.0, "poisson"), "sampling_probability = 0"),
        (lambda: amplify(PureDP(1.0), 1.5, "poisson"), "sampling_probability = 1.5"),
        (lambda: amplify(PureDP(1.0), 0.1, "bernoulli"), "scheme = 'bernoulli'"),
        (lambda: amplify(PureDP(1.0), 0.1, "poisson", relation="substitute"), "does not fit scheme = 'poisson'"),
        (lambda: amplify(PureDP(1.0), 0.1, WOR, relation="add_remove"), "does not fit"),
        (lambda: amplify(PureDP(1.0), 0.1, "hybrid"), "records = None"),
        (lambda: amplify(PureDP(1.0), 0.15, "with_replacement", records=10), "1.5 draws"),
        (lambda: amplify(TCDP(0.2, 50), 0.1, WOR, "theorem11"), "rho = 0.2 is not valid; Theorem 11 needs rho <= 0.1"),
        (lambda: amplify(TCDP(0.1, 50), 0.2, WOR, "theorem11"), "Theorem 11 needs sampling_probability <= 0.1"),
        (lambda: amplify(TCDP(0.1, 5), 0.1, WOR, "theorem11"), "Theorem 11 needs omega >= log"),
        (lambda: amplify(TCDP(0.1, 1.5), 0.1, WOR, "theorem12"), "Theorem 12 needs omega > 2"),
        (lambda: amplify(TCDP(1e-3, 2.01), 0.1, WOR, "theorem12"), "condition \\(5\\)"),
        (lambda: amplify(TCDP(0.1, 50), 0.1, "poisson", "theorem11"), "not proved for scheme = 'poisson'"),
        (lambda: amplify(ZCDP(0.1), 0.1, WOR, "lemma15", order=2), "erratum S3"),
        (lambda: amplify(ZCDP(0.1), 0.1, WOR, "wang2019", order=2.5), "order = 2.5 is not valid; wang2019 needs"),
        (lambda: amplify(RDP(2.5, 0.1), 0.1, WOR), "wang2019 needs a whole order"),
        (lambda: amplify(RDP(3, 0.1), 0.1, WOR, "wang2019", order=4), "beyond order 3"),
        (lambda: amplify(ZCDP(0.1, 0.2), 0.1, WOR), "xi = 0.2"),
        (lambda: amplify(ApproxZCDP(0.1, 0.2), 0.1, WOR), "bounds no Renyi divergence"),
        (lambda: amplify(TCDP(0.1, 5), 0.1, "hybrid", records=10), "not proved for scheme = 'hybrid'"),
        (lambda: amplify(TCDP(0.1, 5), 0.1, WOR, omega=7), "omega = 7"),
        (lambda: amplify(ZCDP(0.1), 0.1, WOR, "balle2018"), "valid: PureDP, ApproxDP, or a profile"),
        (lambda: amplify(lambda e: 0.1, 0.1, WOR, "certified"), "valid: balle2018"),
        (lambda: amplify(0.1, 0.1, WOR), "guarantee = 0.1"),
        (lambda: amplify(PureDP(1.0), 0.1, ["poisson"]), "scheme = \\['poisson'\\]"),
        (lambda: amplify(PureDP(1.0), 0.1, "poisson", 0), "method = 0 is not known; valid: balle2018"),
        (lambda: amplify(PureDP(1.0), 0.1, "poisson", records="n"), "records = 'n'"),
        (lambda: amplify(PureDP(1.0), 0.1, "poisson", order=2), "order = 2 is not valid here; valid with: a method"),
        (lambda: amplify(TCDP(0.1, 50), 0.1, WOR, "theorem11", order=2), "order = 2 is not valid here"),
        (lambda: amplify(PureDP(1.0), 0.1, "poisson", omega=2), "omega = 2 is not valid here; valid with: TCDP"),
        (lambda: amplify(TCDP(0.1, 5), 0.1, WOR, "certified", omega=2, order=1.5), "omega = 2 is not valid here"),
        (lambda: amplify(TCDP(0.1, 5), 0.1, WOR, groups=max), "groups = .* valid with: a privacy profile"),
        (lambda: amplify(TCDP(0.1, 5), 0.1, WOR, substitution=max), "substitution = .* valid with: a privacy profile"),
        (lambda: amplify(abs, 0.1, WOR, substitution=abs), "substitution is not valid for scheme"),
        (lambda: amplify(abs, 0.1, "hybrid", records=10, groups=3), "groups = 3"),
        (lambda: amplify(abs, 0.1, WOR)(-1), "epsilon = -1"),
        (lambda: amplify(abs, 0.1, WOR)(3), "profile\\(.*\\) = .* is not valid; valid: 0 <="),
        (lambda: amplify(lambda e: float("nan"), 0.1, WOR)(3), "profile\\(.*\\) = nan"),
        (lambda: amplify(RenyiBound(lambda a: float("nan")), 0.1, "poisson")(3), "the Renyi bound at order .* = nan"),
        (lambda: amplify(RenyiBound(lambda a: -1.0), 0.1, WOR, "wang2019")(3), "the Renyi bound at order 2 = -1"),
        (lambda: amplify(RenyiBound(lambda a: inf), 0.1, WOR)(3), "infinite at all orders"),
        (lambda: amplify(RenyiBound(lambda a: inf), 0.1, "poisson", "lemma15", order=3), "nothing is known"),
        (lambda: group_delta(abs, 1.5, 0.1), "size = 1.5"),
        (lambda: group_delta(abs, 2, -0.1), "epsilon = -0.1"),
        (lambda: amplified_profile(0.1, 0.1, WOR), "profile = 0.1"),
    ],
)
def test_what_is_not_proved_is_refused_in_one_line(call, said):
    with pytest.raises(ValueError, match=said) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("rho", [1e-9, 1e-6, 1e-3, 0.1])
def test_an_endless_domain_is_amplified_at_small_rho_too(rho):
    """The constant of the method `certified` is at most 2.78 for every rho (erratum E3)."""
    assert amplify(TCDP(rho, inf), 0.01, WOR).rho <= 2.78e-4 * rho
    assert amplify(TCDP(1e-3, 1e6), 0.01, WOR).rho <= 2.78e-7


@pytest.mark.parametrize("rho", [20.0, 60.0])
def test_wang_at_divergences_whose_exponential_is_a_large_number(rho):
    """Order 2 of Theorem 9 in 50 digits, without a bound at order inf: min{4 (e^x - 1), 2 e^x} is the second term."""
    s = 0.01
    bound = RenyiBound(lambda order: order * rho, 100.0)
    with mp.workdps(50):
        x = mp.mpf(2 * rho)
        truth = mp.log(1 + mp.mpf(s) ** 2 * min(4 * (mp.exp(x) - 1), 2 * mp.exp(x)))
    found = amplify(bound, s, WOR, "wang2019").curve(2.0)
    assert found == pytest.approx(float(truth), rel=1e-12)


@pytest.mark.parametrize(
    ("rho", "s", "omega"), [(0.1, 0.6, 1 - log(0.6) / 0.8), (0.01, 0.5, 25 * log(2)), (2.0, 0.9, 1.5)]
)
def test_the_default_omega_of_the_certified_guarantee(rho, s, omega):
    """log(1/s) / (4 rho), or 1 + log(1/s) / (8 rho) where that is more, and at least 1.5."""
    assert amplify(TCDP(rho, 1e4), s, WOR, "certified").omega == pytest.approx(max(omega, 1.5), rel=1e-12)
