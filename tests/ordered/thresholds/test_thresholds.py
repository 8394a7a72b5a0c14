"""Threshold queries: windows, errors, ledgers, and privacy by exact laws and by the proof's coupling."""

import itertools
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interior_dense import neighbours, noise_rho, output_pmf, renyi
from mpmath import mp
from scipy.stats import norm

from tcdp_sim.core.errors import UserError
from tcdp_sim.noise import SinhNormal
from tcdp_sim.ordered.interior.ledger import total
from tcdp_sim.ordered.interior.release import ReleaseParameters
from tcdp_sim.ordered.thresholds.exact_rank_search import mean_rank_error, search_law
from tcdp_sim.ordered.thresholds.medians import Medians, plan_medians
from tcdp_sim.ordered.thresholds.noisy_tree import NoisyTree, search_rank
from tcdp_sim.ordered.thresholds.quantiles import plan_quantiles
from tcdp_sim.ordered.thresholds.records import Records
from tcdp_sim.ordered.thresholds.step_cdf import StepCdf, window
from tcdp_sim.ordered.thresholds.windows import Windows, plan_windows
from tcdp_sim.privacy import TCDP
from tcdp_sim.privacy.least_rho import bounded_range_rho

OMEGA = 2 / np.sqrt(0.5)
lists = st.lists(st.integers(0, 30), min_size=1, max_size=15).map(sorted)


def substitutions(a, b):
    """How many records of the sorted list a have to be substituted to get b."""
    left = list(b)
    return sum(1 for x in a if not (x in left and not left.remove(x)))


# Windows, ranks and errors


@settings(max_examples=300, deadline=None)
@given(lists, st.integers(0, 14), st.integers(0, 30), st.integers(-5, 18), st.integers(1, 8))
def test_a_window_changes_by_at_most_one_substitution(xs, which, value, start, size):
    other = sorted([*xs[: which % len(xs)], *xs[which % len(xs) + 1 :], value])
    one, two = window(xs, start, size, 0, 30), window(other, start, size, 0, 30)
    assert len(one) == len(two) == size
    assert one == sorted(one)
    assert substitutions(one, two) <= 1


@settings(max_examples=300, deadline=None)
@given(lists, st.integers(0, 14), st.integers(1, 8))
def test_a_local_window_changes_by_at_most_one_substitution_when_a_record_goes(xs, which, size):
    def local(records):
        return window(records, len(records) // 2 - size // 2, size, 0, 30)

    assert substitutions(local(xs), local([*xs[: which % len(xs)], *xs[which % len(xs) + 1 :]])) <= 1


@settings(max_examples=100, deadline=None)
@given(lists, st.lists(st.integers(0, 30), min_size=1, max_size=4).map(sorted), st.integers(1, 15))
def test_errors_by_brute_force(xs, cuts, rank):
    data, k = Records.of(xs, 31), 31
    found = StepCdf(tuple(cuts), tuple(3.0 * i for i in range(len(cuts) + 1)), len(xs))
    f = [sum(x <= j for x in xs) for j in range(k)]
    assert data.sup_error(found) == max(abs(3.0 * sum(c <= j for c in cuts) - f[j]) for j in range(k))
    rank = min(rank, len(xs))
    assert data.rank_error(range(k), rank)[sorted(xs)[rank - 1]] == 0
    misses = [max(rank - f[j], (f[j - 1] if j else 0) - rank + 1, 0) for j in range(k)]
    assert data.rank_error(range(k), rank).tolist() == misses


def test_quantiles_of_a_step_function():
    found = StepCdf((3, 8, 9), (1.0, 4.0, 6.0, 9.0), 10)
    assert [found(j) for j in (0, 3, 7, 8, 100)] == [1.0, 4.0, 4.0, 6.0, 9.0]
    assert [found.quantile(p) for p in (0.3, 0.5, 0.95)] == [3, 8, 9]


# Ledgers and errors of whole releases


def even(n, k):
    return Records.of([i * k // n + k // (2 * n) for i in range(n)], k)


@pytest.mark.parametrize("log2_k", [16, 64, 300])
def test_every_release_keeps_budget_and_bound(log2_k):
    """The bounds hold with probability 95% at least; three releases are all required to keep them."""
    k = 2**log2_k
    data, rng = even(4000, k), np.random.default_rng(3)
    plans = [
        plan_windows(4000, k, TCDP(0.5, OMEGA)),
        plan_medians(3, 4000, k, TCDP(0.5, OMEGA)),
        plan_quantiles((0.25, 0.5, 0.75), 4000, k, TCDP(0.5, OMEGA)),
    ]
    for plan in plans:
        spent = total(plan.ledger)
        assert 0.49 < spent.rho <= 0.5 * (1 + 1e-12)
        assert spent.omega == pytest.approx(OMEGA)
        found = [plan.run(data, rng=rng) for _ in range(3)]
        assert all(run.breakpoints == tuple(sorted(run.breakpoints)) for run in found)
        if hasattr(plan, "error_bound"):
            assert max(data.sup_error(run) for run in found) <= plan.error_bound
        else:
            for p in (0.25, 0.5, 0.75):
                missed = data.rank_error([run.quantile(p) for run in found], plan.rank(p))
                assert missed.max() <= plan.finder.m / 2 + 1


@pytest.mark.parametrize("scaled", [1.5, 7, 20, 80])
def test_noisy_windows_keep_their_budget_at_every_omega(scaled):
    """Failed moves weigh e^(omega^2 rho): at large omega the gaps have to grow, and q underflows a float."""
    plan = plan_windows(10**5, 2**11, TCDP(0.5, scaled / np.sqrt(0.5)))
    spent = total(plan.ledger)
    assert spent.rho <= 0.5 * (1 + 1e-12)
    each, omega = plan.finder.target.rho + 1 / (2 * plan.scale**2), plan.finder.target.omega
    with mp.workdps(60):
        q = mp.ncdf(-(plan.gap - mp.mpf("0.5") - (omega - 1)) / plan.scale)
        a = mp.mpf(omega) * (omega - 1)
        failed = 2 * mp.log((1 - q) / (1 - q * mp.exp(a * each))) / a
        assert plan.ledger[-1].guarantee.rho >= failed * (1 - mp.mpf(10) ** -9)


def test_errors_of_the_specification():
    """n = 4000 uniform records at 2^64: mean largest errors 131 (T1), 167 (T2, four rounds); within 15%."""
    k, rng = 2**64, np.random.default_rng(1)
    data = Records.of([int.from_bytes(rng.bytes(8), "little") for _ in range(4000)], k)
    for plan, expected in (
        (plan_windows(4000, k, TCDP(0.5, OMEGA)), 131),
        (plan_medians(4, 4000, k, TCDP(0.5, OMEGA)), 167),
    ):
        found = np.mean([data.sup_error(plan.run(data, rng=rng)) for _ in range(15)])
        assert found == pytest.approx(expected, rel=0.15)


def test_ties_do_not_trouble_medians_of_medians():
    data = Records([5, 900], [2000, 2000], 2**10)
    found = plan_medians(3, 4000, 2**10, TCDP(0.5, OMEGA)).run(data, rng=np.random.default_rng(0))
    assert set(found.breakpoints) <= {5, 900} | set(range(6, 900))
    assert data.sup_error(found) < 600


def test_what_is_proved_of_the_errors_by_hand():
    """T1: half of two windows and a gap, and how far 5 gaps of scale 2 drift with probability 95%, rounding included:
    2 sqrt(10 log 200) + 2.5. T2, three rounds: 7/3 of half a window and one, half of the last part, and one."""
    finder = SimpleNamespace(m=31)
    assert Windows(4000, 5, 40, 2.0, finder).error_bound == pytest.approx(51 + 2 * 7.2789541 + 2.5, abs=1e-6)
    assert Medians(4000, 3, 20, finder).error_bound == pytest.approx(7 / 3 * 16 + 4000 / 16 + 1, rel=1e-12)


def test_what_each_point_is_given_by_hand():
    """Three rounds of medians: 7 windows share beta, a substitution changes 5 of them. Quantiles: 4 share both. T1: as
    many windows as there are share beta; two changed windows and two moved gaps, of a tenth of rho, spend rho."""
    medians = plan_medians(3, 900, 2**20, TCDP(0.5, OMEGA))
    quantiles = plan_quantiles((0.2, 0.4, 0.6, 0.8), 900, 2**20, TCDP(0.5, OMEGA))
    assert (medians.finder.target.rho, medians.finder.failure) == pytest.approx((0.5 / 5, 0.05 / 7), rel=1e-12)
    assert (quantiles.finder.target.rho, quantiles.finder.failure) == pytest.approx((0.5 / 4, 0.05 / 4), rel=1e-12)
    windows = plan_windows(4000, 2**20, TCDP(0.5, OMEGA))
    assert windows.finder.failure == pytest.approx(0.05 / windows.count, rel=1e-12)
    assert 2 * windows.finder.target.rho + 2 / (2 * windows.scale**2) == pytest.approx(0.5 * (1 - 1e-4), rel=1e-12)
    assert 2 / (2 * windows.scale**2) == pytest.approx(0.05, rel=1e-12)


def test_estimates_by_hand():
    """Windows of 6 records after gaps of 10: ranks 10 to 16, 26 to 32; what lies between counts as its middle."""
    point = SimpleNamespace(m=6, k=64, find=lambda values, rng: values[len(values) // 2])
    still = SimpleNamespace(standard_normal=lambda size: np.zeros(size))
    run = Windows(40, 2, 10, 3.0, point).run(Records.of(range(40), 64), rng=still)
    assert run.breakpoints == (13, 29)
    assert run.estimates == (8.0, 21.0, 33.0)
    deciles = plan_quantiles((0.1, 0.5, 0.9), 40, 64, TCDP(5.0, OMEGA), size=5)
    found = replace(deciles, finder=SimpleNamespace(m=5, k=64, find=point.find)).run(
        Records.of(range(40), 64), rng=None
    )
    assert found.estimates == (2.0, 12.0, 28.0, 38.0)
    assert found.breakpoints == (3, 19, 35)


# Privacy


def test_two_rounds_of_medians_on_all_neighbours():
    """Exact joint laws of three cuts: k = 3, n = 4, windows of two records; the ledger of 3 changed windows."""
    k, n = 3, 4
    parameters = ReleaseParameters(1.0, SinhNormal(1.0, 5.0), 1.0, 0.5, 1.5)
    omega, orders = 2.5, (1.1, 1.7, 2.5)

    @cache
    def cut(local, low, high):
        """The law of the cut of a node, over {0, ..., k - 1}."""
        out = np.zeros(k)
        if low >= high:
            out[high] = 1
            return out
        law = output_pmf(window(list(local), len(local) // 2 - 1, 2, low + 1, high), k, parameters)
        for j, p in enumerate(law):
            out[min(max(j, low + 1), high)] += p
        return out

    @cache
    def joint(xs):
        root, out = cut(xs, -1, k - 1), []
        for v in range(k):
            left = cut(tuple(x for x in xs if x <= v), -1, v)
            right = cut(tuple(x for x in xs if x > v), v, k - 1)
            out += [root[v] * a * b for a, b in itertools.product(left, right)]
        return np.array(out)

    each = 2 * bounded_range_rho(1.0) + 2 * noise_rho(parameters.noise, 1.0, omega)
    worst = 0.0
    for one, two in neighbours(k, n):
        p, q = joint(one), joint(two)
        assert ((p > 0) == (q > 0)).all()
        p, q = p[p > 0], q[q > 0]
        worst = max(worst, *(renyi(p, q, order) / (3 * each * order) for order in orders))
    assert 0.15 < worst < 1


def test_two_noisy_windows_on_all_neighbours():
    """Exact joint laws of two windows' points, k = 3, n = 9, against the ledger of `Windows` itself."""
    k, n, m, gap, scale, omega = 3, 9, 2, 4, 1.0, 2.0
    parameters = ReleaseParameters(1.0, SinhNormal(1.5, 5.0), 1.0, 0.5, 1.5)
    point = TCDP(2 * bounded_range_rho(1.0) + 2 * noise_rho(parameters.noise, 1.0, omega), omega)
    claimed = total(Windows(n, 2, gap, scale, SimpleNamespace(guarantee=point, target=TCDP(1.0, omega), m=m)).ledger)
    steps = np.arange(-9, 10)
    weights = norm.cdf((steps + 0.5) / scale) - norm.cdf((steps - 0.5) / scale)

    @cache
    def law(shown):
        return output_pmf(list(shown), k, parameters)

    @cache
    def joint(xs):
        out = np.zeros((k, k))
        for (p, a), (q, b) in itertools.product(zip(weights, steps), repeat=2):
            first = max(0, gap + int(a))
            second = first + m + max(0, gap + int(b))
            windows = (tuple(window(list(xs), start, m, 0, k - 1)) for start in (first, second))
            out += p * q * np.outer(*map(law, windows))
        return out.ravel()

    pairs = list(neighbours(k, n))
    p, q = (np.array([joint(pair[i]) for pair in pairs]) for i in (0, 1))
    worst = max((renyi(p, q, order) / (claimed.rho * order)).max() for order in (1.1, 1.5, omega))
    assert 0.01 < worst < 1


def test_the_coupling_of_noisy_windows():
    """On random neighbours at most 2 + failures windows change, each by one substitution, and as many gaps move.

    The rule looks at the past alone, as the proof needs: the move of a gap is decided before it is drawn.
    """
    rng = np.random.default_rng(4)
    failures = 0
    for _ in range(4000):
        n, m, gap = int(rng.integers(5, 30)), int(rng.integers(1, 5)), int(rng.integers(0, 4))
        xs = sorted(rng.integers(0, 40, n).tolist())
        other = sorted([*xs[:-1], int(rng.integers(0, 40))]) if rng.random() < 0.3 else _moved(xs, rng)
        steps = np.rint(2 * rng.standard_normal(8)).astype(int).tolist()
        changed, moved, failed = _coupled(xs, other, m, gap, steps)
        assert max(changed, default=0) <= 1
        assert sum(changed) <= 2 + failed
        assert moved <= 2 + failed
        failures += failed
    assert failures > 50


def _moved(xs, rng):
    i = int(rng.integers(0, len(xs)))
    return sorted([*xs[:i], *xs[i + 1 :], int(rng.integers(0, 40))])


def _coupled(xs, other, m, gap, steps):
    """(substitutions in each window, gaps moved, moves that failed) under the coupling."""
    differ = [i + 1 for i, (a, b) in enumerate(zip(xs, other)) if a != b]
    if not differ:
        return [], 0, 0
    lo, hi = differ[0], differ[-1]  # ranks between which the sorted lists differ
    shift = 1 if other[lo - 1] < xs[lo - 1] else -1  # a record moved down: the ranks in between move up
    reached = reached_other = moved = failed = 0
    state, changed = "before", []
    for step in steps:
        want = {"leaving": shift, "returning": -shift}.get(state, 0)
        length, length_other = max(0, gap + step), max(0, gap + step + want)
        moved, failed = moved + (want != 0), failed + (length_other - length != want)
        start, start_other = reached + length, reached_other + length_other
        changed.append(substitutions(window(xs, start, m, -1, 99), window(other, start_other, m, -1, 99)))
        reached, reached_other = start + m, start_other + m
        state = _state(state, reached, reached_other, lo, hi)
    return changed, moved, failed


def _state(state, reached, reached_other, lo, hi):
    """What the next gap should do, from what is behind: leave after the first changed window, return after the last."""
    if reached == reached_other:
        if state in ("returning", "done") or reached >= hi:
            return "done"
        return "leaving" if reached >= lo else "before"
    return "returning" if max(reached, reached_other) > hi else "away"


# Baselines


def test_tree_errors_have_the_variance_of_their_nodes():
    """Var of F at j is scale^2 times the digits' sum of j + 1; four standard errors in 12 numbers."""
    tree, rng, trials = NoisyTree(1000, 0.5, 4), np.random.default_rng(2), 10000
    assert (tree.levels, tree.scale) == (5, pytest.approx(np.sqrt(5 / 0.5), rel=1e-12))  # 4^5 = 1024
    places = np.array([0, 2, 3, 62, 63, 998, 999])
    found = np.array([tree.errors(places, rng=rng) for _ in range(trials)]).var(axis=0)

    def digits(x):
        return x % 4 + digits(x // 4) if x else 0

    expected = np.array([tree.scale**2 * digits(j + 1) for j in (0, 2, 3, 62, 63, 998)])
    assert found[:-1] == pytest.approx(expected, rel=5 * np.sqrt(2 / trials))
    assert found[-1] == 0  # n is public
    assert total(tree.ledger).rho == pytest.approx(0.5)


def test_neighbouring_tree_errors_share_their_nodes():
    tree, rng = NoisyTree(2**10, 1.0, 2), np.random.default_rng(2)
    found = np.array([tree.errors(np.array([510, 511, 512]), rng=rng) for _ in range(10000)])
    step = (found[:, 2] - found[:, 1]).var()  # one leaf more
    assert step == pytest.approx(tree.scale**2, rel=5 * np.sqrt(2 / 10000))


def literal_law(xs, rank, levels, scale):
    """P[0], ..., P[2^levels - 1] of the search, node by node."""
    out = np.zeros(2**levels)

    def below(left, size, p):
        if size == 1:
            out[left] = p
            return
        goes_left = norm.cdf((sum(x < left + size // 2 for x in xs) - rank + 0.5) / scale)
        below(left, size // 2, p * goes_left)
        below(left + size // 2, size // 2, p * (1 - goes_left))

    below(0, 2**levels, 1.0)
    return out


@pytest.mark.parametrize("xs", [[3, 3, 7, 9, 12], [0, 15], [5] * 9, [0, 1, 2, 3, 14, 14, 14]])
@pytest.mark.parametrize("rho", [0.02, 2.0])
def test_the_search_has_its_exact_law(xs, rho):
    """By brute force; and its draws: 5 standard errors in 16 numbers of 8 cases, false alarm below 8e-5."""
    data, rank, trials = Records.of(xs, 16), (len(xs) + 1) // 2, 20000
    law = literal_law(xs, rank, 4, np.sqrt(4 / (2 * rho)))
    at, between = search_law(data, rank, rho)
    assert at == pytest.approx(law[np.unique(xs)], abs=1e-14)
    gaps = [[j for j in range(16) if j not in xs and sum(x < j for x in set(xs)) == i] for i in range(len(set(xs)) + 1)]
    assert between == pytest.approx([law[gap].sum() for gap in gaps], abs=1e-14)
    assert mean_rank_error(data, rank, rho) == pytest.approx(law @ data.rank_error(range(16), rank), rel=1e-12)
    found = search_rank(data.sorted, rank, 16, rho, trials, rng=np.random.default_rng(8))
    share = np.bincount(found, minlength=16) / trials
    assert (np.abs(share - law) <= 5 * np.sqrt(law * (1 - law) / trials) + 1e-9).all()


def test_search_by_brute_force():
    xs, rng = np.array([3, 3, 7, 9, 12]), np.random.default_rng(6)
    found = search_rank(xs, 3, 16, 1e9, 50, rng=rng)
    assert (found == 7).all()
    assert search_rank(xs, 3, 16, 0.05, 500, rng=rng).std() > 2


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: plan_windows(50, 2**20, TCDP(0.5, 3.0)), "hold no window; valid: n >="),
        (lambda: plan_windows(500, 2**20, TCDP(0.5, np.inf)), "omega = inf"),
        (lambda: plan_medians(0, 50, 2**20, TCDP(0.5, 3.0)), "rounds = 0"),
        (lambda: plan_quantiles((0.5, 0.2), 50, 2**20, TCDP(0.5, 3.0)), "quantiles"),
        (lambda: plan_quantiles((0.5,), 0, 2**20, TCDP(0.5, 3.0)), "n = 0"),
        (lambda: Records.of([], 5), "empty"),
        (lambda: Records.of([7], 5), "valid: 0 to 4"),
        (lambda: NoisyTree(1, 0.5), "k = 1"),
        (lambda: search_rank(np.array([1]), 1, 2**63, 0.5, 1, rng=None), "valid: 2 to 2\\^62"),
    ],
)
def test_mistakes_are_one_line(call, said):
    with pytest.raises(UserError, match=said):
        call()
