"""Lower bounds: against mpmath, brute force over orders, the papers' forms, and all exact mechanisms."""

import re
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq, minimize_scalar

from tcdp_sim import exact
from tcdp_sim.bounds import lower
from tcdp_sim.bounds.lower import (
    fano,
    histogram_error,
    histogram_records,
    information,
    interior_records,
    least_records,
    least_sample_size,
    marginals_records,
    packing_divergence,
    selection_gap,
)
from tcdp_sim.calibration import calibrate, equal_privacy
from tcdp_sim.noise import SinhNormal
from tcdp_sim.ordered.interior import tcdp_least_n, zcdp_least_n
from tcdp_sim.ordered.interior.records_needed import binary_search_required_records, exponential_required_records
from tcdp_sim.privacy import RDP, TCDP, ZCDP, ApproxDP, ApproxZCDP, PureDP

RHOS = (1e-3, 0.1, 5.0)
SIZES = (2.0, 10.0, 1e3, 1e12, 1e100)
G = {"pure": PureDP(0.4), "zcdp": ZCDP(0.1), "with xi": ZCDP(0.1, 0.05), "tcdp": TCDP(0.1, 5)}
of_each = pytest.mark.parametrize("guarantee", G.values(), ids=G)


# Information


def test_information_under_zcdp_is_propositions_27_and_28():
    n = np.array([1, 2, 7, 300])
    harmonic = np.array([float(mp.harmonic(int(each))) for each in n])
    np.testing.assert_allclose(information(ZCDP(0.3, 0.7), n), 0.7 * n * harmonic + 0.3 * n**2, rtol=1e-13)
    printed = 0.7 * n * (1 + np.log(n)) + 0.3 * n**2
    np.testing.assert_allclose(information(ZCDP(0.3, 0.7), n, method="paper"), printed, rtol=1e-13)
    assert information(ZCDP(0.3, 0.7), 1) == pytest.approx(1.0)  # D_1 of one record is at most xi + rho


@pytest.mark.parametrize("epsilon", [1e-3, 0.4, 3.0])
@pytest.mark.parametrize("n", [1, 5, 40])
def test_information_under_pure_dp_is_the_kl_divergence_of_randomised_response(epsilon, n):
    with mp.workdps(150):
        p = mp.e ** (epsilon * n) / (1 + mp.e ** (epsilon * n))
        kl = p * mp.log(p / (1 - p)) + (1 - p) * mp.log((1 - p) / p)
    assert information(PureDP(epsilon), n) == pytest.approx(float(kl), rel=1e-11)


@pytest.mark.parametrize("omega", [1.05, 1.9, 3.0, 4.96, 12.5])
def test_information_under_tcdp_is_the_best_chain_of_orders(omega):
    """c_n = min over 1 < k <= omega of k/(k-1) c_(n-1) + k, by numerical minimisation; within 1e-6 and never above."""
    best = 1.0
    for n in range(1, 30):
        ours = information(TCDP(1.0, omega), n)
        assert ours == pytest.approx(best, rel=1e-6)
        assert ours <= best * (1 + 1e-9)
        chain = [minimize_scalar(lambda k: k / (k - 1) * best + k, bounds=(1, omega), method="bounded").fun]  # noqa: B023
        best = min(*chain, omega / (omega - 1) * best + omega)


def test_the_chain_is_an_inequality_between_laws():
    """D_1(P || R) <= k/(k-1) D_1(P || Q) + D_k(Q || R), for random laws on 4 points; tight to 1% for some."""
    rng = np.random.default_rng(1)
    p, q, r = rng.dirichlet(np.full(4, 0.7), (3, 4000))
    k = 1 + rng.exponential(1.5, 4000)
    kl = (p * np.log(p / r)).sum(axis=1), (p * np.log(p / q)).sum(axis=1)
    renyi = np.log((q * (q / r) ** (k - 1)[:, None]).sum(axis=1)) / (k - 1)
    ratio = kl[0] / (k / (k - 1) * kl[1] + renyi)
    assert ratio.max() <= 1
    tilted = q * (q / r) ** (k - 1)[:, None]  # the P of equality
    tilted /= tilted.sum(axis=1, keepdims=True)
    left = (tilted * np.log(tilted / r)).sum(axis=1)
    np.testing.assert_allclose(left, k / (k - 1) * (tilted * np.log(tilted / q)).sum(axis=1) + renyi, rtol=1e-9)


def test_the_forms_of_tcdp_and_the_measured_divergences():
    """Sinh-normal noise with knee 10 and scale 3: D_1 of two data sets that differ by n, against the bounds of n."""
    promise, n = TCDP(0.0946, 4.96), np.array([2, 10, 20])
    np.testing.assert_allclose(information(promise, n, method="proposition_9"), [0.379, 15.8, 165.9], rtol=3e-3)
    np.testing.assert_allclose(information(promise, n, method="paper"), [3.86, 29.1, 363.3], rtol=2e-3)
    growth, w = 4.96 / 3.96, 4.96 * 3.96
    by_hand = 0.0946 * np.array([4, growth**6 * (16 + w) - w, growth**16 * (16 + w) - w])
    np.testing.assert_allclose(information(promise, n), by_hand, rtol=1e-12)
    true = [exact.renyi_divergence(SinhNormal(3.0, 10.0), shift, 1.0).upper for shift in n]
    np.testing.assert_allclose(true, [0.247, 8.64, 84.9], rtol=2e-3)
    assert (np.array(true) < information(promise, n)).all()


@pytest.mark.parametrize("omega", [1.01, 1.5, 2.0, 7.3, 100.0, 1e6])
@pytest.mark.parametrize("rho", [1e-4, 0.3, 20.0])
def test_every_form_is_at_least_the_sharper_one(omega, rho):
    n = np.unique(np.geomspace(1, 1000, 60).round())
    tight, proposition, paper = (information(TCDP(rho, omega), n, method=m) for m in lower_methods())
    assert (tight <= proposition * (1 + 1e-12)).all()
    assert (proposition <= paper * (1 + 1e-12)).all()
    nats = np.geomspace(1e-6, 1e6, 50)
    most, middle, least = (np.ceil(least_records(TCDP(rho, omega), nats, m) - 1e-9) for m in lower_methods())
    assert (most >= middle).all()
    assert (middle >= least).all()


def lower_methods():
    return ("tight", "proposition_9", "paper")


@of_each
@pytest.mark.parametrize("method", lower_methods())
def test_least_records_inverts_information(guarantee, method):
    nats = np.array([0.06, 0.7, 3.0, 2e3, 1e8])
    n = least_records(guarantee, nats, method)
    jumps = isinstance(guarantee, TCDP) and method != "tight"
    below, above = (information(guarantee, n * factor, method=method) for factor in (1 - 1e-6, 1 + 1e-6))
    assert (below <= nats * (1 + 1e-9)).all() or (jumps and (n[below > nats] == 0).all())
    assert (above >= nats).all()
    assert least_records(guarantee, 0.0, method) == 0


def test_blocks_add_up():
    """Bun-Steinke 2016: Lemma 29 for independent records, Theorem 30 for m blocks."""
    assert information(ZCDP(0.3, 0.1), 12, blocks=12) == pytest.approx(12 * 0.4)
    assert information(ZCDP(0.3), 12, blocks=3) == pytest.approx(3 * 0.3 * 16)
    assert information(TCDP(0.3, 2.5), 12, blocks=3) == 3 * information(TCDP(0.3, 2.5), 4)


def test_wide_tcdp_is_zcdp():
    n = np.array([1, 10, 1000])
    for function, argument in (
        (information, n),
        (least_records, n),
        (selection_gap, SIZES),
        (histogram_records, SIZES),
    ):
        np.testing.assert_allclose(
            function(TCDP(0.3, 1e9), argument), function(ZCDP(0.3), argument), rtol=1e-7, err_msg=function.__name__
        )
        assert np.array_equal(function(TCDP(0.3, np.inf), argument), function(ZCDP(0.3), argument))


# What must be told


@pytest.mark.parametrize("beta", [1e-9, 0.05, 0.5, 0.9])
@pytest.mark.parametrize("k", SIZES)
def test_fano_against_mpmath(k, beta):
    size, b = mp.mpf(k), mp.mpf(beta)
    entropy = -b * mp.log(b) - (1 - b) * mp.log(1 - b)
    nats = mp.log(size) - entropy - b * mp.log(size - 1)
    p, q = 1 - b, b / (size - 1)
    kl = p * mp.log(p / q) + b * mp.log(b / (1 - q))
    if p <= 1 / size:
        nats = kl = mp.mpf(0)
    assert fano(k, beta) == pytest.approx(float(nats), rel=1e-10, abs=1e-12)
    assert packing_divergence(k, beta) == pytest.approx(float(kl), rel=1e-10, abs=1e-12)
    printed = max((1 - b) * mp.log(size) - mp.log(2), 0)
    assert fano(k, beta, printed=True) == pytest.approx(float(printed), rel=1e-10, abs=1e-12)
    assert (
        fano(k, beta, printed=True)
        <= fano(k, beta) * (1 + 1e-12) + 1e-12
        <= packing_divergence(k, beta) * (1 + 1e-11) + 1e-9
    )


def test_fano_holds_for_a_channel():
    """Symmetric channels attain it: right with probability 1 - beta, else uniform among the others."""
    k, beta = 7, 0.3
    joint = np.full((k, k), beta / (k - 1) / k)
    np.fill_diagonal(joint, (1 - beta) / k)
    truth = (joint * np.log(joint * k * k)).sum()
    assert fano(k, beta) == pytest.approx(truth, rel=1e-12)
    rows = joint * k
    assert packing_divergence(k, beta) <= (rows[0] * np.log(rows[0] / rows[1])).sum() * (1 + 1e-12)


def coins(p, q, order):
    """The Renyi divergence of coins with chances p and q, exactly."""
    if order == 1:
        return p * mp.log(p / q) + (1 - p) * mp.log((1 - p) / (1 - q))
    return mp.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)) / (order - 1)


@pytest.mark.parametrize("beta", [0.01, 0.05, 0.5])
@pytest.mark.parametrize("k", [3.0, 1e3, 1e12, 1e100])
def test_packing_under_zcdp_is_the_best_order_of_two_coins(k, beta):
    """Brute force over orders, of the exact divergence of coins: never above it, and within 8% (2% from k = 1e12).

    The grid of orders misses the best one by less than 1e-5.
    """
    p, q = 1 - mp.mpf(beta), mp.mpf(beta) / (mp.mpf(k) - 1)
    orders = [1, *(1 + np.geomspace(1e-3, 30, 300))]
    best = float(mp.sqrt(max(coins(p, q, order) / order for order in orders) / mp.mpf("0.3")))
    ours = selection_gap(ZCDP(0.3), k, beta)
    assert ours <= best * (1 + 1e-5)
    assert ours >= best * (0.98 if k >= 1e12 else 0.92)


@pytest.mark.parametrize("beta", [0.05, 0.5])
@pytest.mark.parametrize("k", [10.0, 1e6, 1e100])
@pytest.mark.parametrize(("rho", "omega"), [(0.1, 5.0), (0.1, 1.5), (1e-3, 30.0), (1.0, 3.0), (5.0, 8.0)])
def test_packing_under_tcdp_is_the_best_admissible_order(rho, omega, k, beta):
    """The n at which coins fit below n^2 rho a for all a < omega / n, D_1 below the chain and Proposition 9's order."""
    p, q = 1 - mp.mpf(beta), mp.mpf(beta) / (mp.mpf(k) - 1)

    def excess(n):
        growth = (mp.mpf(omega) / (omega - 1)) ** n
        tests = [coins(p, q, 1) - information(TCDP(rho, omega), n)]
        tests.append(coins(p, q, growth / (growth - 1)) - (growth - 1) * omega * (omega - 1) * rho)
        end = omega / n
        orders = np.linspace(1, end, 400)[1:] if end > 1 else []
        tests += [coins(p, q, order) - rho * n * n * order for order in orders]
        return float(max(tests))

    ours = selection_gap(TCDP(rho, omega), k, beta)
    truth = brentq(excess, 0.01, 2 * selection_gap(ZCDP(rho), k, beta) + 1, xtol=1e-6)
    assert ours <= truth * (1 + 1e-5)
    assert ours >= 0.9 * truth


def test_packing_under_pure_dp_is_attained_by_randomised_response():
    """Told the right one of k with probability e^(n epsilon) / (e^(n epsilon) + k - 1), n substitutions apart."""
    for k in (2, 5, 1000):
        for n in (1, 4, 9):
            beta = (k - 1) / (np.exp(0.4 * n) + k - 1)
            assert selection_gap(PureDP(0.4), k, beta) == pytest.approx(n if beta < 1 - 1 / k else 0, rel=1e-10)


def test_packing_under_approximate_dp_is_group_privacy_of_events():
    epsilon, delta, beta = mp.mpf("0.3"), mp.mpf("1e-5"), mp.mpf("0.05")
    for k in (10, 1e6, 1e100):
        n = selection_gap(ApproxDP(0.3, 1e-5), k, 0.05)
        q = beta / (mp.mpf(k) - 1)
        rest = 1 - beta - mp.e ** (n * epsilon) * q - delta * (mp.e ** (n * epsilon) - 1) / (mp.e**epsilon - 1)
        assert abs(rest) < 1e-10
        least = mp.log(1 + (mp.e**epsilon - 1) / delta) / epsilon  # beyond, nothing is promised to a group
        assert n < least
    assert selection_gap(ApproxDP(0.0, 1e-3), 1e9, 0.05) == pytest.approx(950, rel=1e-6)
    assert selection_gap(ApproxDP(0.3, 1e-300), 1e6) == pytest.approx(selection_gap(PureDP(0.3), 1e6), rel=1e-12)


# The papers' forms


def test_corollary_27_and_its_sharper_form():
    """Bun-Dwork-Rothblum-Steinke 2018: as printed, by Proposition 9, and ours, never less, never vacuous."""
    for omega, rho, k, paper, sharper in (
        (5, 0.1, 1e3, 0.397, 5.0),
        (2, 0.1, 1e6, 2.74, 5.0),
        (50, 0.01, 1e12, 0, 36.2),
    ):
        nats, promise = fano(k, 0.5, printed=True), TCDP(rho, omega)
        assert nats == pytest.approx(np.log(k / 4) / 2)
        assert least_records(promise, nats, "paper") == pytest.approx(paper, abs=5e-3)
        printed = np.nan_to_num(least_sample_size(TCDP(rho, omega), k))
        assert least_records(promise, nats, "paper") == pytest.approx(printed, rel=1e-12)
        assert least_records(promise, nats, "proposition_9") == pytest.approx(sharper, abs=0.03)
        half, growth = nats, omega / (omega - 1)
        closed = np.log(1 + half / (omega * (omega - 1) * rho)) / np.log(growth), min(omega, np.sqrt(half / rho))
        assert least_records(promise, nats, "proposition_9") == pytest.approx(max(closed), rel=1e-12)
        assert histogram_records(promise, k) >= max(closed)


def test_gaps_of_the_printed_forms():
    """beta = 0.05, rho = 0.1, epsilon = sqrt(0.2), omega = 5, by hand: pure DP, printed Fano under zCDP, tCDP."""
    for k, pure, zcdp, tcdp in ((1e3, 22.0, 7.7, 6.1), (1e6, 37.5, 11.1, 8.9), (1e12, 68.4, 16.0, 11.8)):
        nats = fano(k, 0.05, printed=True)
        assert selection_gap(PureDP(np.sqrt(0.2)), k) == pytest.approx(pure, abs=0.05)
        assert least_records(ZCDP(0.1), nats) == pytest.approx(zcdp, abs=0.05)
        assert least_records(TCDP(0.1, 5), nats, "proposition_9") == pytest.approx(tcdp, abs=0.05)
        for promise, printed in ((ZCDP(0.1), zcdp), (TCDP(0.1, 5), tcdp)):
            assert selection_gap(promise, k) > printed


def test_the_page_on_limits_shows_what_the_functions_give():
    page = (Path(__file__).parents[2] / "docs" / "explained" / "limits.md").read_text("utf-8")
    sizes = (1e3, 1e6, 1e12)
    for promise, row in ((ZCDP(0.1), "zCDP: printed"), (TCDP(0.1, 5), "tCDP: printed")):
        (line,) = [line for line in page.splitlines() if line.startswith(f"| {row}")]
        assert re.findall(r"\*\*([\d.]+)\*\*", line) == [f"{selection_gap(promise, k):.1f}" for k in sizes]
    for omega, rho, k, text in ((5, 0.1, 1e3, "(5, 0.1"), (2, 0.1, 1e6, "(2, 0.1"), (50, 0.01, 1e12, "(50, 0.01")):
        (line,) = [line for line in page.splitlines() if line.startswith(f"| {text}")]
        assert f"**{histogram_records(TCDP(rho, omega), k):.1f}**" in line


@pytest.mark.parametrize("log2_k", [4, 64, 1024, 65536, 1e300])
def test_interior_points_need_at_least_what_the_printed_forms_say(log2_k):
    assert interior_records(ZCDP(0.5), log2_k) >= zcdp_least_n(0.5, log2_k)
    assert interior_records(TCDP(0.5, 3.0), log2_k) >= tcdp_least_n(TCDP(0.5, 3.0), log2_k)
    assert interior_records(ZCDP(0.5), log2_k) >= interior_records(TCDP(0.5, 3.0), log2_k)


def test_interior_points_are_packed_like_bins():
    assert interior_records(TCDP(0.5, 3.0), 20, 0.1) == pytest.approx(selection_gap(TCDP(0.5, 3.0), 2**20, 0.1))


# No mechanism of the package lies below


FAMILIES = ("laplace", "truncated_laplace", "gaussian", "sinh_normal")


def noises(rho, coordinates):
    """(guarantee, noise) of every family, sinh-normal noise at two omegas."""
    for family in FAMILIES:
        for scaled in (1.0, 3.0) if family == "sinh_normal" else (1.0,):
            omega = max(scaled / np.sqrt(rho), 1.5)
            promise = equal_privacy(family, rho, omega, 1e-6)
            yield promise, calibrate(family, promise, 1.0, "tight", coordinates=coordinates).noise


@pytest.mark.parametrize("rho", RHOS)
def test_no_noisy_maximum_needs_less_than_the_gap(rho):
    """A histogram's largest bin is a selection; so bounds on gaps are bounds on histograms as well."""
    closest = []
    for promise, noise in noises(rho, 2):
        for k in SIZES:
            for beta in (0.05, 0.5):
                needed = exact.required_gap("noisy_max", noise, k, beta).upper if beta < 1 - 1 / k else 0.0
                least = selection_gap(promise, k, beta)
                assert least <= needed * (1 + 1e-9), (promise, k, beta)
                closest.append(least / needed if needed else 0.0)
    assert max(closest) > 0.5  # the comparison is not with nothing


@pytest.mark.parametrize("rho", RHOS)
def test_no_histogram_has_less_error(rho):
    for promise, noise in noises(rho, 2):
        for k in SIZES[1:]:
            for beta in (0.05, 0.5):
                radius = exact.max_abs_quantile(noise, k, 1 - beta).upper
                assert histogram_error(promise, k, beta) <= radius, (promise, k)
                assert histogram_records(promise, k, beta) <= np.floor(2 * radius) + 1


@pytest.mark.parametrize("rho", RHOS)
def test_no_selection_needs_less_than_the_gap(rho):
    epsilon, promises = np.sqrt(8 * rho), dict(zip(FAMILIES, (promise for promise, _ in noises(rho, 2))))
    for k in (10.0, 1e6, 1e12):
        assert selection_gap(PureDP(epsilon), k) <= exact.required_gap("exponential_mechanism", epsilon, k, 0.05).upper
        assert selection_gap(ZCDP(rho), k) <= exact.required_gap("exponential_mechanism", epsilon, k, 0.05).upper
        assert selection_gap(PureDP(epsilon), k) <= exact.required_gap("permute_and_flip", epsilon, k, 0.05).upper
        for promise, noise in noises(rho, 1):  # Algorithm 22: one query
            if not isinstance(promise, ApproxDP):
                needed = exact.required_gap("obvious_answer", noise, k, 0.05).upper
                assert selection_gap(promise, k) <= needed
    assert set(promises) == set(FAMILIES)


@pytest.mark.parametrize("log2_k", [4, 64, 1024])
def test_no_interior_point_needs_fewer_records(log2_k):
    assert interior_records(ZCDP(0.5), log2_k) <= exponential_required_records(2.0, log2_k)
    assert interior_records(PureDP(2.0), log2_k) <= exponential_required_records(2.0, log2_k)
    assert interior_records(ZCDP(0.5), log2_k) <= binary_search_required_records(0.5, log2_k)


@pytest.mark.parametrize("d", [1, 20, 1e6])
@pytest.mark.parametrize("n", [1, 5, 60])
def test_gaussian_marginals_lie_above_their_bound(d, n):
    """Means of bits plus N(0, d / (2 n^2 rho)), rounded: a bit is wrong with probability Phi(-1 / (2 sd))."""
    rho = 0.1
    wrong = stats.norm.cdf(-0.5 / np.sqrt(d / (2 * n * n * rho)))
    bound = marginals_records(ZCDP(rho), d, float(wrong))
    assert bound <= n
    assert bound > 0.39 * n or wrong < 0.2  # information of a bit that is nearly lost: 2/pi of the Gaussian's rho / d


def test_marginals_against_mpmath():
    p, d = mp.mpf("0.05"), 40
    nats = d * (mp.log(2) + p * mp.log(p) + (1 - p) * mp.log(1 - p))
    assert marginals_records(ZCDP(0.3), 40, 0.05) == pytest.approx(float(mp.sqrt(nats / mp.mpf("0.3"))), rel=1e-12)
    least = least_records(TCDP(0.3, 2.0), float(nats))
    assert marginals_records(TCDP(0.3, 2.0), 40, 0.05) == pytest.approx(least, rel=1e-12)


# Ends, and what is refused


@of_each
def test_what_a_guess_does_needs_no_record(guarantee):
    assert selection_gap(guarantee, 1.0) == 0
    assert histogram_records(guarantee, 2.0, 0.5) == 0
    assert selection_gap(guarantee, 20.0, 0.96) == 0
    assert histogram_records(guarantee, np.nextafter(2.0, 3), 0.5) < 1e-3
    assert histogram_error(guarantee, 1.0) == 0


@of_each
def test_bounds_rise_with_k_and_are_finite_to_1e300(guarantee):
    k = 10.0 ** np.linspace(0, 300, 400)
    for beta in (1e-9, 0.05, 0.5):
        n = histogram_records(guarantee, k, beta)
        assert n.shape == k.shape
        assert (np.diff(n) >= 0).all()
        assert np.isfinite(n).all()
        assert n[7] == histogram_records(guarantee, float(k[7]), beta)
    assert isinstance(histogram_records(guarantee, 1e300), float)


def test_the_error_is_half_of_the_records_that_do_not_suffice():
    records = histogram_records(ZCDP(0.1), 1e6, 0.05)
    assert (records, histogram_error(ZCDP(0.1), 1e6)) == (pytest.approx(12.5587, abs=1e-3), 6.0)
    beta = 5 / (np.exp(3 * np.log(2)) + 5)  # 3 records are just enough
    assert histogram_error(PureDP(np.log(2)), 6, beta) == 1.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: information(ApproxDP(1, 1e-6), 5), "with probability delta all records may leak; valid: PureDP"),
        (lambda: marginals_records(ApproxDP(1, 1e-6), 5, 0.1), "no bound on mutual information"),
        (lambda: selection_gap(RDP(3, 0.1), 5), "no lower bound is known for .*; valid: PureDP, ApproxDP, ZCDP, TCDP"),
        (lambda: selection_gap(ApproxZCDP(1e-6, 0.1), 5), "no lower bound is known"),
        (lambda: information("zcdp", 5), "guarantee = 'zcdp'"),
        (lambda: information(ZCDP(1), -1), "n = -1"),
        (lambda: information(ZCDP(1), 5, method="best"), "method = 'best'"),
        (lambda: least_records(ZCDP(1), -1.0), "nats = -1"),
        (lambda: selection_gap(ZCDP(1), 0.5), "k = 0.5"),
        (lambda: selection_gap(ZCDP(1), 5, 1.0), "failure = 1"),
        (lambda: marginals_records(ZCDP(1), 5, 0.5), "share = 0.5"),
        (lambda: interior_records(ZCDP(1), 0), "log2_k = 0"),
    ],
)
def test_what_has_no_bound_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_equal_statements_have_equal_bounds():
    assert selection_gap(RDP(np.inf, 0.3), 1e3) == selection_gap(PureDP(0.3), 1e3)
    assert selection_gap(ApproxZCDP(0.0, 0.3), 1e3) == selection_gap(ZCDP(0.3), 1e3)
    assert set(lower.__all__) <= set(dir(lower))
