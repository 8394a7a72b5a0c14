"""The baselines: exact success probabilities against brute force, requirements against the specification's table."""

import itertools
from bisect import bisect_left, bisect_right

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interior_dense import counts_below, depth_of, noise_rho
from mpmath import mp
from scipy.stats import chi2_contingency, norm

from tcdp_sim.core.errors import UserError
from tcdp_sim.data.hard_records import hard_data
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal
from tcdp_sim.ordered.interior import (
    LevelProfile,
    required_records,
    split_budget,
    stability_histogram,
    tcdp_least_n,
    zcdp_least_n,
)
from tcdp_sim.ordered.interior.binary_search import comparison_scale, sample_depths
from tcdp_sim.ordered.interior.budget import best_split, ledger, recommended_split
from tcdp_sim.ordered.interior.exact_baselines import exponential_success, search_success
from tcdp_sim.ordered.interior.ledger import exponential_epsilon, total
from tcdp_sim.ordered.interior.records_needed import (
    binary_search_required_records,
    exponential_required_records,
    surrogate_floor,
    thresholds,
)
from tcdp_sim.privacy import TCDP, ZCDP
from tcdp_sim.samplers.log_extremes import isf_log

OMEGA = {rho: 2 / np.sqrt(rho) for rho in (0.5, 0.1)}


def search_pmf(xs, k, scale):
    """P[0], ..., P[k - 1] of the binary search, node by node."""
    f, depth, out = counts_below(xs, k), max((k - 1).bit_length(), 1), np.zeros(k)

    def below(left, size, p):
        if size == 1:
            out[min(left, k - 1)] += p
            return
        middle = min(left + size // 2 - 1, k - 1)
        goes_left = norm.cdf((f[middle + 1] - f[-1] / 2) / scale)
        below(left, size // 2, p * goes_left)
        below(left + size // 2, size // 2, p * (1 - goes_left))

    below(0, 2**depth, 1.0)
    return out


def searched(xs, k, scale):
    """P[interior] of the binary search."""
    return sum(p for j, p in enumerate(search_pmf(xs, k, scale)) if min(xs) <= j <= max(xs))


@pytest.mark.parametrize("k", [1, 2, 16, 23, 64])
@pytest.mark.parametrize("seed", range(6))
def test_binary_search_by_brute_force(k, seed):
    xs = [int(x) for x in np.random.default_rng(seed).integers(0, k, 1 + seed)] + [k - 1] * (seed == 2)
    assert search_success(LevelProfile.of(xs, k), 2.0) == pytest.approx(searched(xs, k, 2.0), abs=1e-12)


SEARCHED = [
    (23, [22, 22, 3]),
    (23, [0, 7, 7, 8, 21]),
    (16, [5, 5, 5, 6]),
    (64, [1, 20, 21, 40, 40, 63]),
    (64, [33] * 4),
    (2, [0, 1, 1]),
    (1, [0, 0]),
]


@pytest.mark.parametrize("scale", [0.7, 3.0])
@pytest.mark.parametrize(("k", "xs"), SEARCHED)
def test_the_search_is_simulated(k, xs, scale):
    """The law of the output's depth against the literal one; 5 standard errors in 56 numbers: false alarm below 4e-5.

    The literal law is that of a search that takes every comparison, with elements beyond k - 1 counted as k - 1.
    """
    f, trials = counts_below(xs, k), 40000
    depth = [depth_of(f, j) for j in range(k)]
    law = np.bincount(depth, search_pmf(xs, k, scale), minlength=len(xs) + 1)
    found = sample_depths(LevelProfile.of(xs, k), scale, trials, rng=np.random.default_rng(k + len(xs)))
    share = np.bincount(found, minlength=len(xs) + 1) / trials
    assert (np.abs(share - law) <= 5 * np.sqrt(law * (1 - law) / trials) + 1e-9).all()


def literal_search(xs, log2_k, scale, rng):
    """The depth of one output: every comparison drawn."""
    left, n = 0, len(xs)
    for level in range(log2_k - 1, -1, -1):
        middle = left + (1 << level) - 1
        left += 0 if bisect_right(xs, middle) + scale * rng.standard_normal() >= n / 2 else 1 << level
    return min(bisect_right(xs, left), n - bisect_left(xs, left))


def test_the_search_is_simulated_on_a_domain_too_large_for_its_law():
    """2^200 elements, groups of unequal weight that share long prefixes: the depths of literal searches."""
    base = 2**200 // 3
    xs = [base - 2**150] * 4 + [base] * 9 + [base + 2**60] * 4 + [base + 2**120] * 7
    rng, scale, trials = np.random.default_rng(3), 4.0, 40000
    slow = np.array([literal_search(xs, 200, scale, rng) for _ in range(1500)])
    fast = sample_depths(LevelProfile.of(xs, 2**200), scale, trials, rng=rng)
    depths = np.unique(np.concatenate([slow, fast]))
    table = np.array([[(found == depth).sum() for depth in depths] for found in (slow, fast)])
    table = table[:, table.sum(axis=0) > 200]  # 5 or more expected of the slow ones
    assert table.shape[1] >= 4
    assert chi2_contingency(table).pvalue > 1e-6


def test_the_search_is_simulated_on_2_to_the_65536_elements():
    """Equal records: Phi(n / (2 scale))^65536; a false alarm has probability below 6e-7."""
    k, n, trials, rng = 2**65536, 2459, 20000, np.random.default_rng(5)
    scale = np.sqrt(65536 / (2 * 0.5))
    stays = np.exp(65536 * norm.logcdf(n / (2 * scale)))
    found = sample_depths(LevelProfile.of([k // 3] * n, k), scale, trials, rng=rng)
    assert set(found.tolist()) == {0, n}
    assert abs((found > 0).mean() - stays) < 5 * np.sqrt(stays * (1 - stays) / trials)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 63), min_size=1, max_size=9), st.floats(0.3, 5))
def test_no_data_are_worse_for_the_binary_search_than_equal_records(xs, scale):
    least = norm.cdf(len(xs) / (2 * scale)) ** 6
    assert search_success(LevelProfile.of(xs, 64), scale) >= least - 1e-12
    inside = search_success(LevelProfile.of([21] * len(xs), 64), scale)
    assert inside == pytest.approx(least, abs=1e-12)


@pytest.mark.parametrize(
    ("rho", "log2_k", "n"),
    [(0.5, 4, 9), (0.5, 16, 22), (0.5, 64, 50), (0.5, 65536, 2459), (0.1, 8, 31), (0.1, 1024, 557)],
)
def test_what_the_binary_search_needs(rho, log2_k, n):
    """On n equal records success is Phi(n / (2 scale))^depth, scale^2 = depth / (2 rho): solved by mpmath for 95%.

    n: of the specification, rounded there.
    """
    with mp.workdps(40):
        scale = mp.sqrt(mp.mpf(log2_k) / (2 * mp.mpf(rho)))
        exact = 2 * scale * mp.sqrt(2) * mp.erfinv(2 * mp.mpf("0.95") ** (mp.mpf(1) / log2_k) - 1)
    assert binary_search_required_records(rho, log2_k) == pytest.approx(float(exact), rel=1e-9)
    assert float(exact) == pytest.approx(n, abs=0.5)
    point = LevelProfile.of([2**log2_k // 3] * n, 2**log2_k)
    success = np.exp(log2_k * norm.logcdf(n / (2 * float(scale))))
    assert search_success(point, comparison_scale(rho, log2_k)) == pytest.approx(success, rel=1e-9)


@pytest.mark.parametrize(("rho", "log2_k"), [(0.5, 4), (0.5, 8), (0.5, 64), (0.5, 65536), (0.1, 16), (0.1, 1024)])
def test_what_the_exponential_mechanism_needs(rho, log2_k):
    """Odds of 19 : 1, by mpmath: one element of weight e^(epsilon n / 2) or two of e^(epsilon n / 4) against the rest.

    The specification's table gives at 2^65536 the n of equal records, half of it.
    """
    with mp.workdps(40):
        epsilon = mp.findroot(lambda e: mp.log(mp.expm1(e) / e) - 1 + e / mp.expm1(e) - rho, mp.sqrt(8 * mp.mpf(rho)))
        k = mp.mpf(2) ** log2_k
        equal, halves = 2 / epsilon * mp.log(19 * (k - 1)), 4 / epsilon * mp.log(19 * (k - 2) / 2)
    found = exponential_required_records(exponential_epsilon(rho, "tight"), log2_k)
    assert found == pytest.approx(float(max(equal, halves)), rel=1e-9)


@pytest.mark.parametrize("shape", ["point", "pair", "quad", "skew", "half", "solo", "cluster"])
def test_no_shape_is_worse_for_the_exponential_mechanism_than_its_required_n_allows(shape):
    epsilon, log2_k = 2.0, 64
    n = int(np.ceil(exponential_required_records(epsilon, log2_k))) + 1
    assert exponential_success(LevelProfile.of(hard_data(shape, n, 2**log2_k), 2**log2_k), epsilon) > 0.95


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize(("epsilon", "beta"), [(1.0, 0.3), (2.0, 0.05), (3.0, 0.05)])
def test_the_exponential_mechanism_needs_what_its_worst_data_need(k, epsilon, beta):
    """All data sets of up to 6 records; the requirement is sharp but for an odd record."""
    needed = exponential_required_records(epsilon, np.log2(k), beta)
    for n in range(1, 7):
        data = itertools.combinations_with_replacement(range(k), n)
        worst = min(exponential_success(LevelProfile.of(xs, k), epsilon) for xs in data)
        assert worst >= 1 - beta if n >= needed else n > needed - 1 or worst < 1 - beta


@pytest.mark.parametrize(
    ("rho", "log2_k", "zcdp", "tcdp"),
    [(0.5, 4, 2.0, 1.3), (0.5, 64, 9.1, 6.5), (0.5, 65536, 293.8, 22.3), (0.1, 65536, 656.9, 55.0)],
)
def test_what_nothing_can_do_without(rho, log2_k, zcdp, tcdp):
    """By mpmath: .95 log k - log 2 is at most rho n^2, or ((omega / (omega - 1))^n - 1) (omega - 1) omega rho."""
    with mp.workdps(40):
        information, omega = mp.mpf("0.95") * log2_k * mp.log(2) - mp.log(2), mp.mpf(OMEGA[rho])
        least = mp.sqrt(information / mp.mpf(rho))
        tcdp_least = mp.log(1 + information / ((omega - 1) * omega * mp.mpf(rho))) / mp.log(omega / (omega - 1))
    assert zcdp_least_n(rho, log2_k) == pytest.approx(float(least), rel=1e-9)
    assert tcdp_least_n(TCDP(rho, OMEGA[rho]), log2_k) == pytest.approx(float(tcdp_least), rel=1e-9)
    assert tcdp_least_n(TCDP(rho, np.inf), log2_k) == zcdp_least_n(rho, log2_k)
    assert (float(least), float(tcdp_least)) == pytest.approx((zcdp, tcdp), abs=0.06)


SPLIT = (0.4, 0.35, 0.25)


def deviations(p):
    """The z with P[N(0, 1) > z] = p, however small, by mpmath."""
    start = mp.sqrt(-2 * mp.log(p)) if p < mp.mpf("1e-3") else mp.mpf(1)
    return mp.findroot(lambda z: mp.log(mp.erfc(z / mp.sqrt(2)) / 2) - mp.log(p), start)


@pytest.mark.parametrize(("rho", "log2_k", "beta"), [(0.5, 4, 0.05), (0.5, 64, 0.2), (0.1, 65536, 0.05)])
@pytest.mark.parametrize("family", ["gaussian", "sinh_normal"])
@pytest.mark.parametrize("variant", ["default", "heavy", "low", "paper"])
def test_what_one_level_needs(family, rho, log2_k, variant, beta):
    """The utility proof worked out literally, to the record; quantiles of the noise by mpmath.

    Sinh-normal noise is knee arcsinh(scale / knee Z), so its quantiles are those of Z in other units.
    """
    bought = split_budget(TCDP(rho, OMEGA[rho]), log2_k, split=SPLIT, family=family)
    spent = [np.log(np.expm1(e) / e) - 1 + e / np.expm1(e) for e in (bought.epsilon_level, bought.epsilon_end)]
    assert spent == pytest.approx((0.4 * rho, 0.25 * rho), rel=1e-12)
    scale, knee, b = bought.noise.scale, getattr(bought.noise, "knee", None), beta / 3
    h = 2 / bought.epsilon_end * np.log(2 / b)

    def quantile(p):
        with mp.workdps(30):
            z = scale * float(deviations(p))
        return knee * np.arcsinh(z / knee) if knee else z

    k = mp.mpf(2) ** log2_k
    gap, heaviest = 4 / bought.epsilon_level * np.log(log2_k / b), quantile(mp.mpf(b) / 4)
    others = quantile(mp.mpf(b) / 2 / k)

    def node(n):
        return heaviest + (h + others if variant == "low" else max(others, h + quantile(mp.mpf(b) / 4 / min(n, k))))

    def needed(n):
        margins = (gap, node(n), 2 * h)
        return {"paper": 5 * max(margins), "heavy": 2 * sum(margins)}.get(variant, sum(margins))

    found = required_records(bought, log2_k, beta, variant)
    assert needed(found) <= found
    assert needed(found - 1) > found - 1
    n = found + 17  # the thresholds are stretched with n, or a fifth and two fifths of it
    stretch, above = n / needed(n), n / 2 if variant == "heavy" else 0
    told = (n / 5, 2 * n / 5) if variant == "paper" else (above + node(n) * stretch, n - 2 * h * stretch)
    assert thresholds(bought, log2_k, n, beta, variant) == pytest.approx(told, rel=1e-9)
    if variant == "low":
        assert surrogate_floor(bought, log2_k, n, beta) == pytest.approx(h * stretch, rel=1e-9)


def test_bounds_of_the_specification():
    """Worked out there with another split of the budget and with epsilon^2 / 8 for bounded range: within 4%."""
    for rho, log2_k, bound in ((0.5, 4, 58), (0.5, 16, 65), (0.5, 1024, 83), (0.5, 65536, 108), (0.1, 65536, 247)):
        assert required_records(split_budget(TCDP(rho, OMEGA[rho]), log2_k), log2_k) == pytest.approx(bound, rel=0.04)


@pytest.mark.parametrize(("rho", "log2_k"), [(0.5, 64), (0.1, 65536)])
def test_what_the_stability_histogram_needs(rho, log2_k):
    """To the record: a third of epsilon a step, Laplace noise of scale 2 / e, whose tail is e^(-x / scale) / 2."""
    b, delta = 0.05 / 3, 1e-6
    promise = stability_histogram.implied(TCDP(rho, OMEGA[rho]), delta)
    # Lemma 6: epsilon = rho + 2 sqrt(rho log(1 / delta)) where that order is below omega, else at omega.
    omega, log_odds = OMEGA[rho], np.log(1 / delta)
    order = min(omega, 1 + np.sqrt(log_odds / rho))
    assert promise.epsilon == pytest.approx(rho * order + log_odds / (order - 1), rel=1e-12)
    e = promise.epsilon / 3
    h, floor = 2 / e * np.log(2 / b), 1 + 2 / e * np.log(1 / delta)

    def needed(n):
        occupied = 2 / e * np.log(4 * n / b / 2)
        return 4 / e * np.log(log2_k / b) + 2 / e * np.log(4 / b / 2) + max(floor, h + occupied) + 2 * h

    found = stability_histogram.required_records(promise, log2_k)
    assert needed(found) <= found
    assert needed(found - 1) > found - 1


def test_golden_cost_and_quantile():
    assert noise_rho(SinhNormal(3.0, 6.0), 1.0, 2 * np.sqrt(2)) == pytest.approx(0.101396, abs=1e-6)
    assert isf_log(SinhNormal(4.86, 5.96), np.log(0.01) - 65536 * np.log(2)) == pytest.approx(36.937646, abs=1e-6)
    assert noise_rho(Gaussian(2.0), 1.0, 5.0) == pytest.approx(1 / 8)


@pytest.mark.parametrize("accounting", ["tight", "paper"])
@pytest.mark.parametrize("family", ["sinh_normal", "gaussian", "laplace"])
def test_the_ledger_adds_up_to_the_target(family, accounting):
    rho, omega, split = 0.4, 5.0, (0.5, 0.3, 0.2)
    bought = split_budget(TCDP(rho, omega), 64, split=split, family=family, accounting=accounting)
    found = total(ledger(bought, TCDP(rho, omega), split, accounting, accounting))
    assert found.rho == pytest.approx(rho, rel=1e-9)
    assert isinstance(found, ZCDP if family == "gaussian" else TCDP)


@pytest.mark.parametrize("accounting", ["tight", "paper"])
def test_the_noise_keeps_its_line_of_the_ledger(accounting):
    rho, omega = 0.5, 3.0
    bought = split_budget(TCDP(rho, omega), 64, split=(0.4, 0.3, 0.3), accounting=accounting)
    assert 2 * noise_rho(bought.noise, 1.0, omega) <= 0.3 * rho * (1 + 1e-4)
    assert 2 * noise_rho(bought.noise, 1.0, omega) > (0.3 * rho * 0.98 if accounting == "tight" else 0)


def test_the_best_split_needs_no_more_than_the_recommended_one():
    best = best_split(TCDP(0.5, 3.0), 64.0, "gaussian")
    found = [
        required_records(split_budget(TCDP(0.5, 3.0), 64, split=s, family="gaussian"), 64)
        for s in (best, recommended_split(64))
    ]
    assert found[0] <= found[1]


@pytest.mark.parametrize("split", [(0.5, 0.5), (1, 0, 0), (0.5, 0.5, 0.5), "abc", (0.6, 0.6, -0.2), 3])
def test_a_budget_that_cannot_be_split_is_one_line(split):
    with pytest.raises(UserError, match="split"):
        split_budget(TCDP(0.5, 3.0), 64, split=split)


@pytest.mark.parametrize("noise", [Gaussian(2.0), SinhNormal(2.0, 3.0), Laplace(2.0)])
def test_deep_quantiles_continue_the_shallow_ones(noise):
    log_p = np.array([-1e-3, -0.5, -2.0, -50.0, -600.0])
    assert isf_log(noise, log_p) == pytest.approx(noise.isf(np.exp(log_p)), rel=1e-10)
    assert noise.logsf(isf_log(noise, -45000.0)) == pytest.approx(-45000.0, rel=1e-9)
