"""Plans against closed forms, mpmath, scipy's optimiser and laws that do not come from the package."""

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.stats import norm

from tcdp_sim.accounting import (
    Additive,
    CountTarget,
    DeviationTarget,
    Ledger,
    QuantileTarget,
    SelectionTarget,
    plan_budget,
)
from tcdp_sim.accounting.least_factor import BESIDE, least_factor
from tcdp_sim.accounting.planning.rough import rough_delta
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.selection.success import required_gap, selection_failure
from tcdp_sim.noise import Gaussian, Laplace
from tcdp_sim.privacy import RDP, TCDP, ZCDP, ApproxDP, PureDP

COUNTS = [(10.0, 10), (20.0, 1e3), (50.0, 1e6)]  # largest errors, numbers of counts
TARGETS = [CountTarget(largest_error=error, k=k) for error, k in COUNTS]


def quantile(k, level=0.95):
    """Return the z with P[|N(0, 1)| <= z]^k = level, in 30 digits."""
    with mp.workdps(30):
        tail = -mp.expm1(mp.log(level) / k) / 2
        return float(mp.findroot(lambda z: mp.log(mp.erfc(z / mp.sqrt(2)) / 2) - mp.log(tail), 3 + 0.2 * mp.log(k)))


def gaussian_delta(mu, epsilon):
    return norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)


def laplace_rho(u):
    return u + np.expm1(-u)


def range_rho(epsilon):
    return np.log(np.expm1(epsilon) / epsilon) - 1 + epsilon / np.expm1(epsilon)


def test_the_least_budget_for_largest_errors():
    scales = [error / quantile(k) for error, k in COUNTS]
    rho = sum(1 / (2 * scale**2) for scale in scales)
    assert scales == pytest.approx([3.57191, 4.93869, 9.17976], abs=5e-6)
    plan = plan_budget(TARGETS)
    assert [row.scale for row in plan.rows] == pytest.approx(scales, rel=1e-10)
    assert [row.error for row in plan.rows] == pytest.approx([10, 20, 50], rel=1e-10)
    assert rho == pytest.approx(0.0656227, abs=5e-8)
    assert rho * (1 - 1e-12) <= plan.rho <= rho * (1 + 1e-8)
    assert plan.certificate == "certified"
    assert 0 <= plan.gap < 1e-8
    epsilon = brentq(lambda e: gaussian_delta(np.sqrt(2 * rho), e) - 1e-6, 0.1, 5, xtol=1e-13)
    assert plan.epsilon.lower <= epsilon <= plan.epsilon.upper
    assert epsilon == pytest.approx(1.58509, abs=1e-5)
    by_delta = plan_budget(TARGETS, notion="approx_dp")
    assert by_delta.lower <= epsilon <= by_delta.value < epsilon * (1 + 2e-4)
    assert by_delta.budget.delta == 1e-6
    assert plan_budget(TARGETS, notion="tcdp", omega=5.0).budget == TCDP(plan.value, 5.0)


@pytest.mark.parametrize("objective", ["variance", "error"])
def test_the_best_split_among_gaussians_has_a_closed_form(objective):
    weights, budget = np.array([1.0, 2.0, 5.0]), 0.5
    if objective == "variance":
        targets = [DeviationTarget(weight=w) for w in weights]
        shares = np.sqrt(weights)
        value = np.sqrt(weights).sum() ** 2 / (2 * budget)
        assert value == pytest.approx(21.62512, abs=1e-5)
    else:
        targets = [CountTarget(k=k) for _, k in COUNTS]
        shares = np.array([quantile(k) for _, k in COUNTS]) ** (2 / 3)
        value = shares.sum() ** 1.5 / np.sqrt(2 * budget)
        assert value == pytest.approx(21.0459, abs=1e-4)
    plan = plan_budget(targets, ZCDP(budget), objective=objective)
    assert [row.rho for row in plan.rows] == pytest.approx(budget * shares / shares.sum(), rel=1e-6)
    assert value * (1 - 1e-12) <= plan.value <= value * (1 + 1e-6)
    assert value * (1 - 1e-6) <= plan.lower <= value * (1 + 1e-12)
    assert plan.certificate == "certified"
    assert plan.rho <= budget


@pytest.mark.parametrize("objective", ["variance", "error", "ratio"])
def test_an_epsilon_delta_budget_of_gaussians_is_a_budget_of_rho(objective):
    mu = brentq(lambda m: gaussian_delta(m, 1.0) - 1e-6, 1e-3, 5, xtol=1e-15)
    exact = plan_budget(TARGETS, ZCDP(mu**2 / 2), objective=objective)
    plan = plan_budget(TARGETS, ApproxDP(1.0, 1e-6), objective=objective)
    assert plan.value == pytest.approx(exact.value, rel=5e-6)
    assert plan.lower <= exact.value * (1 + 1e-9)
    assert plan.certificate == "certified"
    assert gaussian_delta(np.sqrt(2 * plan.rho), 1.0) <= 1e-6 * (1 + 1e-6)


def test_several_counts_of_a_person_cost_several_times():
    once, twice = (CountTarget(largest_error=10.0, k=10, coordinates=n, sensitivity=3.0) for n in (1, 2))
    rho = 9 / (2 * (10 / quantile(10)) ** 2)
    assert plan_budget([once]).value == pytest.approx(rho, rel=1e-8)
    assert plan_budget([twice]).value == pytest.approx(2 * rho, rel=1e-8)
    search = QuantileTarget(rank_error=30.0, k=1000)
    assert plan_budget([search]).value == pytest.approx(10 / (2 * search.scale_for(30.0) ** 2), rel=1e-8)
    (row,) = plan_budget([twice], ZCDP(0.5), objective="error").rows
    assert row.scale == pytest.approx(3 * np.sqrt(2), rel=1e-6)
    (row,) = plan_budget([CountTarget(k=3, noise="laplace", coordinates=2)], PureDP(1.0), objective="error").rows
    assert row.scale == pytest.approx(2.0, rel=1e-6)


def test_equal_ratios():
    plan = plan_budget(TARGETS, ZCDP(0.1))
    ratios = [row.error / row.target.error for row in plan.rows]
    least = sum(quantile(k) ** 2 / (2 * error**2) for error, k in COUNTS)
    assert max(ratios) == pytest.approx(np.sqrt(least / 0.1), rel=1e-6)
    assert min(ratios) == pytest.approx(max(ratios), rel=1e-9)
    assert plan.certificate == "certified"


def test_a_split_of_unlike_releases_agrees_with_a_general_optimiser():
    """Laplace noise, the exponential mechanism and permute-and-flip: errors c / u, costs of u = 1 / scale."""
    targets = [
        CountTarget(k=10, noise="laplace"),
        SelectionTarget(k=100),
        SelectionTarget(k=100, mechanism="permute_and_flip", weight=2.0),
    ]
    constants = [-np.log(-np.expm1(np.log(0.95) / 10)), 2 * np.log(99 * 19), 2 * _permute_and_flip_gap(100, 0.05)]
    costs = [laplace_rho, range_rho, lambda e: e * np.tanh(e / 2)]

    def total(x):
        return sum(c / np.exp(each) for c, each in zip(constants, x))

    limit = {"type": "ineq", "fun": lambda x: 1.0 - sum(cost(np.exp(each)) for cost, each in zip(costs, x))}
    how = {"constraints": limit, "bounds": [(-6, 3)] * 3, "method": "SLSQP", "options": {"ftol": 1e-13}}
    found = minimize(total, np.zeros(3), **how)
    plan = plan_budget(targets, ZCDP(1.0), objective="error")
    assert plan.value == pytest.approx(found.fun, rel=1e-6)
    assert plan.certificate == "certified"
    assert plan.lower <= found.fun <= plan.value * (1 + 1e-6)
    assert plan.rho <= 1
    pure = plan_budget(targets, PureDP(3.0), objective="error")
    assert pure.value == pytest.approx(np.sqrt(constants).sum() ** 2 / 3, rel=1e-6)
    assert sum(1 / row.scale for row in pure.rows) == pytest.approx(3.0, rel=1e-6)


def _permute_and_flip_gap(k, failure):
    """Return the gap at epsilon = 1 by the integral of McKenna and Sheldon's law over the order of the candidates."""

    def fails(gap):
        with mp.workdps(20):
            q = mp.exp(-mp.mpf(gap) / 2)
            return float(1 - mp.quad(lambda x: (1 - q * x) ** (k - 1), [0, 1])) - failure

    return brentq(fails, 1, 60, xtol=1e-12)


def test_discrete_noise_has_the_largest_scale_that_keeps_the_error():
    target = CountTarget(largest_error=20.0, k=1000, noise="discrete_gaussian")
    sigma = target.scale_for(20.0)

    def holds(sigma):
        x = np.arange(-400, 401)
        p = np.exp(-(x**2) / (2 * sigma**2))
        return 1000 * np.log((p / p.sum())[np.abs(x) <= 20].sum()) >= np.log(0.95)

    assert holds(sigma * (1 - 1e-9))
    assert not holds(sigma * (1 + 1e-9))
    (row,) = plan_budget([target]).rows
    assert row.error == 20
    assert plan_budget([target]).certificate == "certified"  # rho = 1 / (2 sigma^2) is exact and falls
    assert "lattice" in plan_budget([target], notion="approx_dp").certificate


def test_ratios_of_discrete_noise_are_the_least():
    targets = [CountTarget(largest_error=e, k=k, noise="discrete_gaussian") for e, k in ((10.0, 10), (20.0, 1000))]
    plan = plan_budget(targets, ZCDP(0.05))
    assert plan.rho <= 0.05
    assert plan.value * (1 - 1e-6) <= plan.lower
    errors = [row.error for row in plan.rows]
    for less in ([errors[0] - 1, errors[1]], [errors[0], errors[1] - 1]):
        smaller = [CountTarget(largest_error=e, k=t.k, noise=t.noise) for e, t in zip(less, targets)]
        if max(e / t.largest_error for e, t in zip(less, targets)) < plan.value:
            assert plan_budget(smaller).rho > 0.05


def test_the_least_ratio_on_lattices_is_that_of_all_pairs_of_errors():
    """Every pair of whole errors whose noise fits into the budget, tried one by one."""
    bounds, budget = (10.0, 17.0), 0.02
    targets = [CountTarget(largest_error=e, k=30, noise="discrete_gaussian") for e in bounds]
    rho = {(t, n): 1 / (2 * t.scale_for(float(n)) ** 2) for t in targets for n in range(1, 60)}
    pairs = [(m, n) for m in range(1, 60) for n in range(1, 60) if rho[targets[0], m] + rho[targets[1], n] <= budget]
    best = min(max(m / bounds[0], n / bounds[1]) for m, n in pairs)
    plan = plan_budget(targets, ZCDP(budget))
    assert plan.value == pytest.approx(best, rel=1e-12)
    assert best * (1 - 1e-9) <= plan.lower <= plan.value
    assert plan.certificate == "certified"
    mixed = plan_budget([*targets, CountTarget(largest_error=20.0, k=30)], ZCDP(budget))
    assert mixed.certificate == "certified"
    assert 0 <= mixed.gap < 1e-6
    assert mixed.rho == pytest.approx(budget, rel=0.1)


@pytest.mark.parametrize(
    ("noise", "budget"), [("gaussian", ZCDP(1e-3)), ("laplace", ZCDP(2e-4)), ("laplace", ApproxDP(0.08, 1e-6))]
)
def test_wide_noise_on_a_lattice_is_split_as_continuous_noise(noise, budget):
    """At scales of 10 or more the ratios of scales differ by less than 3 in 1000."""
    weights = (1.0, 9.0)
    discrete, smooth = (
        plan_budget([CountTarget(k=20, noise=name, weight=w) for w in weights], budget, objective="error")
        for name in (f"discrete_{noise}", noise)
    )
    ours, theirs = ([row.scale for row in plan.rows] for plan in (discrete, smooth))
    assert min(theirs) > 10
    assert ours == pytest.approx(theirs, rel=1e-2)
    assert ours[0] / ours[1] == pytest.approx(theirs[0] / theirs[1], rel=3e-3)
    assert discrete.certificate.startswith("stationary, not certified")


def test_rounded_gaussian_noise_costs_no_more_than_gaussian_noise():
    """Rounding is post-processing. Its divergence at order 1, a sum over its points, is a lower bound."""
    target = DeviationTarget(deviation=5.0, noise="rounded_gaussian")
    plan = plan_budget([target])
    (row,) = plan.rows
    edges = (np.arange(-80, 81) - 0.5) / row.scale
    p = np.where(edges[:-1] > 0, norm.sf(edges[:-1]) - norm.sf(edges[1:]), np.diff(norm.cdf(edges)))
    least = (p[1:] * np.log(p[1:] / p[:-1])).sum()
    assert least * (1 - 1e-6) <= plan.rho <= 1 / (2 * row.scale**2) * (1 + 1e-9)
    assert row.error == pytest.approx(5.0, rel=1e-6)
    by_delta = plan_budget([target], ApproxDP(1.0, 1e-6))
    assert by_delta.ledger.delta(1.0).upper <= 1e-6 * (1 + 1e-3)
    assert "not certified" in by_delta.certificate


@pytest.mark.parametrize("k", [2, 12, 100_000])
def test_gaps_of_selections_are_exact(k):
    target = SelectionTarget(gap=30.0, k=k)
    scale = target.scale_for(30.0)
    assert selection_failure("exponential_mechanism", 1 / scale, 30.0, k).estimate == pytest.approx(0.05, rel=1e-9)
    assert 1 / scale == pytest.approx(2 * np.log((k - 1) * 19) / 30, rel=1e-9)
    monotone = SelectionTarget(gap=30.0, k=k, monotone=True)
    assert monotone.scale_for(30.0) == pytest.approx(2 * scale, rel=1e-12)
    flip = SelectionTarget(gap=30.0, k=k, mechanism="permute_and_flip", sensitivity=2.0)
    gap = 2 * required_gap("permute_and_flip", 1 / flip.scale_for(30.0), k, 0.05).estimate
    assert gap == pytest.approx(30.0, rel=1e-6)


def test_the_rank_error_of_a_search_is_that_of_its_counts():
    """Simulated, on data where each count on the way is just within the error."""
    target = QuantileTarget(rank_error=30.0, k=1000, failure=0.1)
    scale = target.scale_for(30.0)
    assert norm.cdf(30 / scale) ** 10 == pytest.approx(0.9, rel=1e-9)
    release, times = target.release_at(scale)
    assert (times, release.noise.scale) == (10, scale)
    rng = np.random.default_rng(7)
    good = (rng.normal(scale=scale, size=(100_000, 10)) <= 30).all(axis=1).mean()
    assert abs(good - 0.9) < 5 * np.sqrt(0.09 / 100_000)
    by_scores = QuantileTarget(rank_error=30.0, k=1000, failure=0.1, mechanism="exponential_mechanism")
    assert 1 / by_scores.scale_for(30.0) == pytest.approx(2 * np.log(999 * 9) / 30, rel=1e-9)


def test_a_mixed_budget_of_epsilon_and_delta_is_met_and_not_certified():
    targets = [DeviationTarget(noise="laplace"), DeviationTarget(weight=3.0)]
    plan = plan_budget(targets, ApproxDP(1.0, 1e-6), objective="variance")
    assert plan.ledger.delta(1.0).upper <= 1e-6 * (1 + 1e-3)
    assert plan.ledger.delta(1.0).lower >= 1e-6 * (1 - 5e-3)
    assert plan.certificate.startswith("stationary, not certified")
    assert (plan.lower, plan.gap) == (None, None)
    for factor in (0.9, 1.1):  # other splits, brought to the budget, are no better
        scale = plan.rows[0].scale * factor
        other = brentq(lambda s, scale=scale: _delta(scale, s) - 1e-6, 1, 100, xtol=1e-4)
        assert 2 * scale**2 + 3 * other**2 >= plan.value * (1 - 1e-4)


def _delta(laplace, gaussian):
    """Return delta(1) of Laplace and Gaussian noise together, by quadrature over the loss of Laplace noise."""
    u, mu = 1 / laplace, 1 / gaussian
    x, w = np.polynomial.legendre.leggauss(60)
    x, w = 0.5 * (x + 1), 0.5 * w
    losses, masses = u - 2 * u * x, 0.5 * u * np.exp(-u * x) * w  # between 0 and the shift, in units of the shift
    losses, masses = np.append(losses, [u, -u]), np.append(masses, [0.5, 0.5 * np.exp(-u)])
    return float(masses @ np.array([gaussian_delta(mu, 1 - loss) for loss in losses]))


def test_a_plan_prints_a_table():
    targets = [CountTarget(largest_error=10.0, k=10, name="<counties>"), SelectionTarget(gap=30.0, k=9)]
    plan = plan_budget(targets)
    lines = repr(plan).splitlines()
    assert lines[0].split() == ["release", "error", "bound", "deviation", "noise", "times", "rho", "share"]
    assert lines[1].startswith("<counties>")
    assert "certified" in lines[-1]
    assert "gaussian scale 3.57191" in lines[1]
    assert plan.attack.upper == pytest.approx(plan.ledger.attack(0.5).upper, rel=2e-3)
    assert f"at most {100 * plan.attack.upper:.1f}"[:-1] in lines[-2]
    assert "&lt;counties&gt;" in plan._repr_html_()
    assert plan.ledger.releases == 2
    assert sum(row.share for row in plan.rows) == pytest.approx(1)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("largest_error = 0", lambda: CountTarget(largest_error=0.0)),
        ("level = 1", lambda: CountTarget(largest_error=1.0, level=1.0)),
        ("k = 0.5", lambda: CountTarget(largest_error=1.0, k=0.5)),
        ("weight = -1", lambda: DeviationTarget(deviation=1.0, weight=-1.0)),
        ("noise = 'sinh_normal'", lambda: DeviationTarget(deviation=1.0, noise="sinh_normal")),
        ("lattice|step", lambda: DeviationTarget(deviation=1.0, noise="discrete_gaussian", sensitivity=1.5)),
        ("failure = 0.5", lambda: SelectionTarget(gap=1.0, k=2, failure=0.5)),
        ("monotone", lambda: SelectionTarget(gap=1.0, mechanism="permute_and_flip", monotone=True)),
        ("mechanism = 'x'", lambda: QuantileTarget(rank_error=1.0, k=4, mechanism="x")),
        ("has no bound", lambda: plan_budget([CountTarget(k=3)])),
        ("has no bound", lambda: plan_budget([CountTarget(k=3)], ZCDP(1.0))),
        ("0 targets", lambda: plan_budget([])),
        ("no target", lambda: plan_budget([3])),
        ("notion", lambda: plan_budget(TARGETS, notion="dp")),
        ("one of the two", lambda: plan_budget(TARGETS, ZCDP(1.0), "zcdp")),
        ("objective = 'mean'", lambda: plan_budget(TARGETS, objective="mean")),
        ("budget = RDP", lambda: plan_budget(TARGETS, RDP(2.0, 1.0))),
        ("no finite budget", lambda: plan_budget(TARGETS, notion="pure_dp")),
        ("unbounded privacy loss", lambda: plan_budget(TARGETS, PureDP(1.0))),
        ("has no variance", lambda: plan_budget([SelectionTarget(k=3)], ZCDP(1.0), objective="variance")),
    ],
)
def test_refusals_name_the_value(message, call):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("wrong", [0.3, 1.0, 40.0])
def test_a_wrong_guess_leads_to_the_same_factor(wrong):
    """The measure c / factor^3 is at most 1e-6 from (1e6 c)^(1/3) on. Its lower end proves it of smaller factors."""

    def at(factor, tolerance):
        value = 5.0 / factor**3
        return Bounds(value * (1 - tolerance), value, value * (1 + tolerance))

    found = least_factor(at, 1e-6, guess=lambda factor: wrong * 5.0 / factor**2.5)
    assert found.spent.upper <= 1e-6 < found.below.lower
    assert found.factor == pytest.approx(5e6 ** (1 / 3), rel=5e-7)


@pytest.mark.parametrize("wrong", [None, 0.3, 1.0, 40.0])
@pytest.mark.parametrize("rest", [0.0, 1e-9])
def test_a_measure_that_jumps_is_followed_to_its_jump(wrong, rest):
    """That of pure DP: (1 - e^(epsilon - c / factor)) / 4 for c / factor > epsilon = 1, and nearly nothing beyond."""

    def at(factor, tolerance):
        value = max(-np.expm1(1 - 5 / factor) / 4, rest / factor)
        return Bounds(value * (1 - tolerance), value, value * (1 + tolerance))

    guess = None if wrong is None else lambda factor: wrong * 1e-4 / factor**2
    found = least_factor(at, 1e-6, guess=guess)
    exact = 5 / (1 - np.log1p(-4e-6))
    assert found.spent.upper <= 1e-6 < found.below.lower
    assert 0 <= found.factor / exact - 1 < 5e-7


@pytest.mark.parametrize("start", [1.02, 1.5, 4.0])
def test_the_slope_beside_a_jump_may_be_far_too_large(start):
    """As with ten Laplace thresholds: slope 1475, and nothing beyond 0.3%. The rough slope is 25 times as large."""

    def at(factor, tolerance):
        value = start * 1e-6 * factor**-1475 if factor < np.exp(0.003) else 0.0
        return Bounds(value * (1 - tolerance), value, value * (1 + tolerance))

    found = least_factor(at, 1e-6)
    assert found.spent.upper <= 1e-6 < found.below.lower
    assert 0 <= found.factor / start ** (1 / 1475) - 1 < BESIDE


def test_a_budget_near_pure_dp_is_used_up():
    """With a largest loss of 1 there is no delta at all, so 1e-6 allows a little more."""
    targets = [CountTarget(largest_error=error, k=10, noise="laplace") for error in (10.0, 12.0)]
    plan = plan_budget(targets, ApproxDP(1.0, 1e-6))
    assert 1 < sum(1 / row.scale for row in plan.rows) < 1 + 2e-5
    assert plan.certificate == "certified"
    summed = plan_budget(targets, ApproxDP(1.0, 1e-6), objective="error")
    assert summed.value <= plan_budget(targets, PureDP(1.0), objective="error").value


def test_estimates_are_near_the_truth():
    """They show where to search, so a factor of 2 in delta is near."""
    targets = [
        *(CountTarget(noise=noise) for noise in ("gaussian", "laplace", "discrete_gaussian", "discrete_laplace")),
        *(SelectionTarget(k=10), DeviationTarget(noise="laplace", coordinates=2)),
    ]
    scales = [5.0 + i for i in range(len(targets))]
    exact = Ledger(target.release_at(scale) for target, scale in zip(targets, scales)).delta(0.5).estimate
    assert 0.5 < rough_delta(targets, scales, 0.5) / exact < 2


@pytest.mark.parametrize(("noise", "k"), [("gaussian", 3), ("gaussian", 40), ("laplace", 40)])
def test_a_plan_for_several_equal_releases_keeps_the_delta_of_all_of_them(noise, k):
    """The list is written out release by release, and its delta is asked of a ledger."""
    targets = [DeviationTarget(coordinates=k, noise=noise), DeviationTarget(coordinates=2, noise="laplace")]
    plan = plan_budget(targets, ApproxDP(1.0, 1e-6), objective="variance")
    releases = [Additive({"gaussian": Gaussian, "laplace": Laplace}[noise](plan.rows[0].scale)) for _ in range(k)]
    releases += [Additive(Laplace(plan.rows[1].scale)) for _ in range(2)]
    assert Ledger(releases).delta(1.0).lower <= 1e-6 * (1 + 1e-6)
