"""What a selection spends is never more than it promises: exact output laws on neighbours, and an audit from outputs.

Neighbours: every score changes by up to one. Statistical tests have fixed seeds; the audits are wrong with probability
at most 1e-6 each for a fresh seed.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from mpmath import mp
from scipy.optimize import brentq
from selection_audit import audit_selection

from tcdp_sim import exact
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, TruncatedLaplace
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, PureDP
from tcdp_sim.selection.algorithms import ObviousAnswer
from tcdp_sim.selection.calibration import (
    ALGORITHMS,
    WITH_NOISE,
    depends_on,
    has_accounting,
    noise_family,
    noisy_max_gaussian_scale,
    selection_algorithm,
    selection_guarantee,
    selection_parameters,
)
from tcdp_sim.selection.scores import Scores
from tcdp_sim.study import groups

TARGETS = ({"rho": 0.1, "omega": 6.0, "delta": 1e-6}, {"rho": 0.5, "omega": 3.0, "delta": 1e-3})
SPECS = ("laplace", "truncated_laplace", "gaussian", "sinh_normal", "sinh_normal_tight", "optimal")


def calibrated(method, spec, accounting, given, k, m=1):
    """(algorithm of `exact`, its noise or epsilon, delta, what is promised, the selection)."""
    noise = groups.named("noise", spec)
    target = {name: given[name] for name in depends_on(method, noise["family"])}
    promise = selection_guarantee(method, noise["family"], accounting, target)
    parameters = selection_parameters(method, noise, accounting, target, k, m)
    selection = selection_algorithm(method, noise_family(noise), parameters)
    algorithm = "noisy_max" if method.startswith("noisy_max") else method
    law = parameters["epsilon"] if method in ("exponential_mechanism", "permute_and_flip") else selection.noise
    return algorithm, law, parameters.get("delta"), promise, selection


def variants():
    """Every method that has an exact output law, with every noise and accounting that it takes."""
    for method in ALGORITHMS:
        if method != "sparse_vector":
            specs = SPECS if method in WITH_NOISE else ("gaussian",)
            for spec, accounting in product(specs, ("paper", "tight")):
                if accounting == "paper" or has_accounting(method, groups.named("noise", spec)["family"]):
                    yield method, spec, accounting


variant = pytest.mark.parametrize(("method", "spec", "accounting"), list(variants()))
targets = pytest.mark.parametrize("target", TARGETS, ids=("small", "large"))


def check_promise(promise, renyi, hockey_stick):
    """`renyi(order)`, `hockey_stick(epsilon)` -> Bounds of what is spent; it may touch the promise, to rounding."""
    match promise:
        case PureDP(epsilon=epsilon):
            assert renyi(np.inf).estimate <= epsilon * (1 + 1e-8) + 1e-12
        case ApproxDP(epsilon=epsilon, delta=delta):
            assert hockey_stick(epsilon).estimate <= delta * (1 + 1e-6)
        case ZCDP(rho=rho):
            assert all(renyi(a).estimate <= rho * a * (1 + 1e-8) + 1e-9 for a in (1.5, 3.0, 10.0, 40.0))
        case TCDP(rho=rho, omega=omega):
            orders = 1 + (omega - 1) * np.array([0.3, 0.7, 1 - 1e-9])
            assert all(renyi(a).estimate <= rho * a * (1 + 1e-8) + 1e-9 for a in orders)


def random_neighbours(generator):
    """Scores near enough to each other that every kind of pair comes up, and changes of one, of up to one, of none."""
    k = int(generator.integers(2, 6))
    scores = np.round(generator.normal(0, 3, k) * generator.choice([0.3, 1, 3]), 1)
    change = generator.choice([-1.0, 1.0, generator.uniform(-1, 1), 0.0], k, p=[0.4, 0.4, 0.1, 0.1])
    return scores, scores + change


@variant
@targets
def test_random_neighbours_never_show_more_than_is_promised(method, spec, accounting, target):
    generator = np.random.default_rng(7)
    for _ in range(12):
        first, second = random_neighbours(generator)
        algorithm, noise, delta, promise, _ = calibrated(method, spec, accounting, target, len(first))
        p, q = (exact.selection_distribution(algorithm, noise, scores, delta=delta) for scores in (first, second))
        for a, b in ((p, q), (q, p)):
            check_promise(
                promise,
                lambda order: exact.divergence_of_outputs(a, b, order),  # noqa: B023
                lambda epsilon: exact.delta_of_outputs(a, b, epsilon),  # noqa: B023
            )


@variant
@pytest.mark.parametrize("k", [2, 3, 1000, 1e12])
def test_the_worst_neighbours_never_show_more_than_is_promised(method, spec, accounting, k):
    algorithm, noise, delta, promise, _ = calibrated(method, spec, accounting, TARGETS[0], k)
    gaps = np.linspace(0, exact.required_gap(algorithm, noise, k, 1e-9, delta=delta).estimate, 12)
    pairs = exact.worst_pairs(algorithm, noise, k, gaps=gaps, delta=delta)
    check_promise(
        promise, lambda order: exact.worst_renyi(pairs, order), lambda epsilon: exact.worst_delta(pairs, epsilon)
    )


@pytest.mark.parametrize("rho", [0.1, 0.5, 2.0])
def test_the_exponential_mechanism_spends_all_of_rho_on_two_candidates(rho):
    """Near order 1, at the worst gap: an epsilon that is 1% larger breaks the promise, and sqrt(8 rho) wastes some."""
    epsilon = selection_parameters("exponential_mechanism", None, "tight", {"rho": rho}, 2, 1)["epsilon"]

    def spent(epsilon):
        gaps = np.linspace(0, 6 / epsilon, 400)
        return exact.worst_renyi(exact.worst_pairs("exponential_mechanism", epsilon, 2, gaps=gaps), 1.001).estimate

    assert 0.995 * rho < spent(epsilon) <= 1.001 * rho
    assert spent(1.01 * epsilon) > 1.001 * rho
    assert spent(np.sqrt(8 * rho)) < spent(epsilon) * (1 - 0.05 * rho)


@pytest.mark.parametrize("rho", [0.01, 0.5, 2.0])
@pytest.mark.parametrize("method", ["permute_and_flip", "noisy_max_laplace"])
def test_pure_methods_at_the_tight_epsilon_keep_rho(method, rho):
    target = {"rho": rho, "omega": 6.0, "delta": 1e-6}
    for k in (2, 1000):
        algorithm, noise, _, promise, _ = calibrated(method, "gaussian", "tight", target, k)
        assert promise.epsilon > np.sqrt(2 * rho)
        pairs = exact.worst_pairs(algorithm, noise, k, gaps=np.linspace(0, 20 / promise.epsilon, 40))
        for order in (1.01, 1.5, 4.0, 30.0):
            assert exact.worst_renyi(pairs, order).lower <= rho * order


def test_algorithm_22_spends_the_whole_profile_of_its_noise():
    """The threshold falls where the noise's own worst event lies, once the gap is right: nothing is saved."""
    noise = Gaussian(3.0)
    for epsilon in (0.05, 0.3):
        gaps = np.linspace(2, 40, 2000)
        pairs = exact.worst_pairs("obvious_answer", noise, 1000, gaps=gaps)
        promised = exact.hockey_stick(noise, 1.0, epsilon).estimate
        assert 0.9999 * promised < exact.worst_delta(pairs, epsilon).estimate <= promised * (1 + 1e-9)


def test_algorithm_21_really_needs_sensitivity_2():
    """Between the profiles of one query of sensitivity 1 and of 2, and nearer the latter for large k."""
    noise = Gaussian(3.0)
    pairs = exact.worst_pairs("generalized_histogram", noise, 1e6, gaps=np.linspace(0, 60, 100))
    spent = exact.worst_delta(pairs, 0.3).estimate
    one, two = (exact.hockey_stick(noise, shift, 0.3).estimate for shift in (1.0, 2.0))
    assert 2 * one < spent < two


# The accounting of Algorithm 21


@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_sparse_scores_change_by_at_most_2_each_and_2m_in_all(m):
    generator, largest = np.random.default_rng(8), 0.0
    for _ in range(4000):
        k = int(generator.integers(m + 1, m + 5))
        scores = generator.normal(0, 2, k).round(int(generator.integers(0, 3)))
        change = generator.choice([-1.0, 1.0, 0.5, 0.0], k)
        v = Scores(scores, sensitivity=1).leads(m) - Scores(scores + change, sensitivity=1).leads(m)
        assert np.count_nonzero(v) <= 2 * m
        assert np.abs(v).max() <= 2 + 1e-12
        assert np.abs(v).sum() <= 2 * m + 1e-12
        largest = max(largest, np.abs(v).sum())
    assert largest > 2 * m - 1e-12  # and the bound is reached


@pytest.mark.parametrize(
    "noise", [Gaussian(3.0), Laplace(2.0), SinhNormal(12.0, 12.0), SinhNormal(5.0, 12.0)], ids=repr
)
@pytest.mark.parametrize("order", [1.0, 1.3, 2.5])
def test_divergences_of_log_concave_noise_are_convex_in_the_shift(noise, order):
    """So D(a) + D(b) <= D(a + b): one query of sensitivity 2 costs at least what two that share it do."""
    shifts = np.linspace(0, 2, 9)
    d = np.array([exact.renyi_divergence(noise, s, order).estimate for s in shifts])
    assert (np.diff(d, 2) >= -1e-9 * d[-1]).all()
    assert all(d[i] + d[j] <= d[i + j] * (1 + 1e-9) for i in range(9) for j in range(9 - i))


@pytest.mark.parametrize("target", [*TARGETS, {"rho": 0.1, "omega": np.inf}], ids=("small", "large", "zcdp"))
@pytest.mark.parametrize("m", [1, 3])
def test_dithered_noise_pays_for_the_worst_moves_of_the_sparse_scores(m, target):
    """Its divergence is not convex in the shift: 2m moves by one cost most, and all that is promised is used."""
    noise, rho = calibrated("generalized_histogram", "optimal", "tight", target, 1e3, m)[1], target["rho"]
    moves = [np.full(2 * m, 1.0), np.full(m, 2.0), np.array([*np.full(m - 1, 2.0), 1.0, 1.0]), np.full(2 * m, 0.6)]
    most = min(target["omega"], 60.0)
    for order in (1.0, 1.1, (1 + most) / 2, most):
        costs = [sum(exact.renyi_divergence(noise, v, order).estimate for v in move) for move in moves]
        assert max(costs) <= order * rho * (1 + 1e-9)
        assert np.argmax(costs) == 0 or costs[0] == pytest.approx(max(costs), rel=1e-9)
    if target["omega"] < np.inf:
        assert 2 * m * exact.renyi_divergence(noise, 1.0, most).estimate >= 0.99 * most * rho


def test_truncated_laplace_needs_one_query_of_sensitivity_2_too():
    noise = TruncatedLaplace(2.0, 9.0)
    outside = [exact.hockey_stick(noise, s, 2.0).estimate for s in np.linspace(0, 2, 9)]  # epsilon past every ratio
    assert all(outside[i] + outside[j] <= outside[i + j] * (1 + 1e-9) for i in range(9) for j in range(9 - i))


# Calibration


@pytest.mark.parametrize("k", [2, 1e6, 1e100])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 1e-6), (0.5, 1e-3), (8.0, 1e-12)])
def test_gaussian_noisy_max_shares_delta_among_the_candidates(epsilon, delta, k):
    scale = noisy_max_gaussian_scale(epsilon, delta, k)
    spent = k * exact.hockey_stick(Gaussian(scale), 2.0, epsilon).upper
    assert 0.999 * delta < spent <= delta


@pytest.mark.parametrize(("epsilon", "delta", "k"), [(1e-12, 1e-6, 1e12), (1e-9, 0.5, 1e100), (1e-6, 1e-6, 1e290)])
def test_gaussian_noisy_max_where_the_two_tails_agree_in_all_digits(epsilon, delta, k):
    scale = noisy_max_gaussian_scale(epsilon, delta, k)
    with mp.workdps(350):
        s, e = mp.mpf(scale), mp.mpf(epsilon)
        profile = mp.ncdf(1 / s - e * s / 2) - mp.exp(e) * mp.ncdf(-1 / s - e * s / 2)
        assert 0.999 * delta < k * profile <= delta


def test_noise_at_equal_privacy():
    rho = 0.02
    epsilon = np.sqrt(2 * rho)

    def noise(method, spec, accounting, m=1):
        return calibrated(method, spec, accounting, {"rho": rho, "omega": 30.0, "delta": 1e-6}, 100, m)[4].noise

    assert noise("obvious_answer", "gaussian", "tight") == Gaussian(5.0)
    assert noise("generalized_histogram", "gaussian", "tight").scale == pytest.approx(10)
    assert noise("generalized_histogram", "gaussian", "paper").scale == pytest.approx(10 * np.sqrt(2))
    assert noise("generalized_histogram", "gaussian", "tight", 3).scale == pytest.approx(10 * np.sqrt(3))
    pure = brentq(lambda e: e * np.tanh(e / 2) - rho, 0.1, 0.3, xtol=1e-15)
    assert noise("generalized_histogram", "laplace", "tight").scale == pytest.approx(2 / pure)
    assert noise("generalized_histogram", "laplace", "paper", 3).scale == pytest.approx(12 / epsilon)
    assert noise("exponential_mechanism", "gaussian", "paper").scale == pytest.approx(2 / epsilon)
    for m in (1, 4):
        ranged = brentq(lambda e, m=m: np.log(np.expm1(e) / e) - 1 + e / np.expm1(e) - rho / m, 0.1, 0.5, xtol=1e-15)
        assert noise("exponential_mechanism", "gaussian", "tight", m).scale == pytest.approx(2 / ranged, rel=1e-9)
    assert noise("permute_and_flip", "gaussian", "tight").scale == pytest.approx(2 / pure)
    assert noise("stability", "gaussian", "tight").scale == pytest.approx(1 / pure)
    assert noise("permute_and_flip", "gaussian", "paper").scale == pytest.approx(2 / epsilon)
    assert noise("stability", "gaussian", "paper").scale == pytest.approx(1 / epsilon)


def test_the_worst_max_divergence_of_the_pure_methods_is_epsilon():
    """Attained in the limit of large gaps and many candidates: the noise is no larger than it must be."""
    for method in ("exponential_mechanism", "permute_and_flip", "noisy_max_laplace"):
        algorithm, noise, _, promise, _ = calibrated(method, "gaussian", "paper", TARGETS[0], 1000)
        pairs = exact.worst_pairs(algorithm, noise, 1000, gaps=np.linspace(0, 200, 20))
        assert exact.worst_renyi(pairs, np.inf).estimate > 0.99 * promise.epsilon


# Divergences of outputs


def test_divergences_of_outputs_by_hand():
    p, q = (exact.Bounds(v, v, v) for v in (np.array([0.5, 0.1]), np.array([0.2, 0.16])))
    times = np.array([1, 5])
    assert exact.divergence_of_outputs(p, q, 2.0, times).estimate == pytest.approx(np.log(0.25 / 0.2 + 5 * 0.01 / 0.16))
    assert exact.divergence_of_outputs(p, q, np.inf, times).estimate == pytest.approx(np.log(2.5))
    assert exact.delta_of_outputs(p, q, 0.0, times).estimate == pytest.approx(0.3)
    assert exact.delta_of_outputs(q, p, 0.0, times).estimate == pytest.approx(0.3)
    assert exact.delta_of_outputs(p, q, 0.5, times).estimate == pytest.approx(0.5 - np.exp(0.5) * 0.2)
    gone = exact.Bounds(*(np.array([0.0, 0.2]),) * 3)
    assert exact.divergence_of_outputs(p, gone, 2.0, times).estimate == np.inf
    assert exact.divergence_of_outputs(gone, p, np.inf, times).estimate == pytest.approx(np.log(2))


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("algorithm", ["generalized_histogram", "obvious_answer", "stability"])
def test_pairs_of_gaps_are_those_of_score_vectors(algorithm, same):
    noise, delta = Laplace(1.0), (0.01 if algorithm == "stability" else None)
    first, second = ([3.5, 0, 0, 0], [2.5, 1, 1, 1]) if same else ([1.5, 0, 0, 0], [0.5, 1, 0.5, 0.5])
    p, q = (exact.selection_distribution(algorithm, noise, s, delta=delta) for s in (first, second))
    pair = exact.output_pair(
        algorithm, noise, 4, 3.5 if same else 1.5, 1.5 if same else 0.5, same_leader=same, delta=delta
    )
    for order in (1.5, 4.0):
        expected = exact.divergence_of_outputs(p, q, order).estimate
        assert pair.renyi(order).estimate == pytest.approx(expected, rel=1e-7)
        back = exact.divergence_of_outputs(q, p, order).estimate
        assert pair.reversed.renyi(order).estimate == pytest.approx(back, rel=1e-7)
    assert pair.hockey_stick(0.2).estimate == pytest.approx(exact.delta_of_outputs(p, q, 0.2).estimate, rel=1e-7)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: exact.output_pair("obvious_answer", Laplace(1.0), 5, 3, 0.5),
            "gaps 3 and 0.5 are not those of neighb",
        ),
        (
            lambda: exact.output_pair("obvious_answer", Laplace(1.0), 5, 1.5, 1, same_leader=False),
            "before . after <= 2",
        ),
        (lambda: exact.output_pair("obvious_answer", Laplace(1.0), 5, -1, 1), "gap = -1"),
        (lambda: exact.output_pair("sparse_vector", 1.0, 5, 1, 1), "sparse_vector"),
        (
            lambda: exact.selection_distribution("sparse_vector", 1.0, [1, 2]),
            "algorithm = 'sparse_vector'",
        ),
        (lambda: exact.selection_distribution("noisy_max", Laplace(1.0), [1]), "shape"),
        (lambda: exact.selection_distribution("noisy_max", Laplace(1.0), [1, np.nan]), "score = nan"),
        (lambda: exact.divergence_of_outputs(None, None, 1.0), "order = 1"),
    ],
)
def test_what_is_not_valid_is_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()


# From outputs alone


@dataclass(frozen=True)
class TwiceTheChance(ObviousAnswer):
    """Broken: a threshold that noise passes with probability 2/k."""

    def threshold(self, k):
        return float(self.noise.isf(2 / k))


@dataclass(frozen=True)
class RawGap(ObviousAnswer):
    """Broken: the gap itself, which changes by two, where the algorithm halves it."""

    def lead(self, gap):
        return max(gap - 2, 0.0)


def vector(*scores):
    return Scores(np.array(scores, dtype=float), sensitivity=1)


EQUAL = (vector(1, 0, 0, 0, 0, 0), vector(0, 1, 0, 0, 0, 0))  # the leader changes
LEADS = (vector(6, 0, 0, 0, 0, 0), vector(5, 1, 1, 1, 1, 1))  # it leads by less
PAIRS = (EQUAL, LEADS, (vector(3, 0, 0, 0, 0, 0), vector(2, 1, 1, 1, 1, 1)))


def audited(method, pair, trials=50_000):
    return audit_selection(method, *pair, np.random.default_rng(9), trials, level=1 - 1e-6)


@pytest.mark.parametrize("pair", PAIRS)
def test_the_audit_acquits_what_is_right(pair):
    for method in ("obvious_answer", "generalized_histogram"):
        selection = calibrated(method, "laplace", "tight", {"rho": 0.5}, 6)[4]
        assert audited(selection, pair).epsilon <= 1
    for method in ("exponential_mechanism", "permute_and_flip", "noisy_max_laplace"):
        assert audited(calibrated(method, "gaussian", "paper", {"rho": 0.5}, 6)[4], pair).epsilon <= 1


def test_the_audit_shows_most_of_what_is_spent():
    assert audited(ObviousAnswer(Laplace(1.0)), LEADS, 400_000).epsilon > 0.9


def test_a_threshold_at_twice_the_chance_is_caught():
    """Where the leader changes, one output has probability 2/k on one side and (1 - 2/k) / (k - 1) on the other."""
    found = audited(TwiceTheChance(Laplace(10.0)), EQUAL)  # claims epsilon = 0.1
    assert found.epsilon > 0.5
    assert found.event.startswith("candidate")
    assert audited(ObviousAnswer(Laplace(10.0)), EQUAL).epsilon <= 0.1


def test_a_gap_that_is_not_halved_is_caught():
    """A gap that falls from 6 to 4: P[another is selected] grows by e^2, with the gap halved by e."""
    found = audited(RawGap(Laplace(1.0)), LEADS)  # claims epsilon = 1
    assert found.epsilon > 1.7
    assert found.event == "not candidate 0 on the second"
    assert audited(ObviousAnswer(Laplace(1.0)), LEADS).epsilon <= 1


def test_delta_is_allowed_for():
    method = calibrated("stability", "gaussian", "paper", {"rho": 0.5, "delta": 0.01}, 6)[4]
    allowed = audit_selection(method, *EQUAL, np.random.default_rng(1), 50_000, delta=0.01, level=1 - 1e-6)
    assert allowed.epsilon <= 1
    assert audited(method, EQUAL).epsilon > 3  # without delta: one of them never answers "candidate 1"


def test_the_audit_is_for_neighbours_only():
    with pytest.raises(ValueError, match="a score changes by 6; valid: at most the sensitivity, 1"):
        audited(ObviousAnswer(Laplace(1.0)), (vector(6, 0), vector(0, 0)))
    with pytest.raises(ValueError, match="not neighbours; valid: the same candidates"):
        audited(ObviousAnswer(Laplace(1.0)), (vector(6, 0), vector(6, 0, 0)))


@pytest.mark.parametrize("algorithm", ["generalized_histogram", "stability"])
def test_the_pairs_on_the_grid_are_there_in_both_directions(algorithm):
    found = exact.worst_pairs(algorithm, Laplace(2.0), 50, gaps=[0.0, 3.0], delta=1e-3)
    rows = [(tuple(p), tuple(q)) for p, q in zip(found.p.estimate.tolist(), found.q.estimate.tolist())]
    assert {(q, p) for p, q in rows} == set(rows)
    assert len(set(rows)) > 4
