"""The recursion against its literal law, its requirement and the specification's numbers."""

import numpy as np
import pytest
from interior_dense import counts_below, noise_rho, recursive_pmf
from scipy import stats
from scipy.optimize import brentq

from tcdp_sim.core.errors import UserError
from tcdp_sim.data.hard_records import hard_data
from tcdp_sim.noise import Gaussian, SinhNormal
from tcdp_sim.ordered.interior import LevelProfile, methods
from tcdp_sim.ordered.interior.exact_baselines import exponential_success
from tcdp_sim.ordered.interior.ledger import total
from tcdp_sim.ordered.interior.recursive_release import INNER_SHIFTS, plan_recursion, sample_recursive
from tcdp_sim.ordered.interior.release import ReleaseParameters, released_points
from tcdp_sim.privacy import TCDP

OMEGA = 2 / np.sqrt(0.5)
OUTER = ReleaseParameters(1.0, SinhNormal(2.0, 5.0), 1.0, 2.0, 6.5)
INNER = ReleaseParameters(1.5, SinhNormal(0.6, 2.0), 2.0, 1.2, 2.0, "surrogate")
LOW = ReleaseParameters(1.5, SinhNormal(0.6, 2.0), 2.0, 0.5, 1.3, "surrogate", 2, 0.4)
INMOST = ReleaseParameters(2.0, Gaussian(0.5), 2.0, 0.25, 0.35, "surrogate")


@pytest.mark.parametrize("trees", [(OUTER,), (OUTER, INNER), (OUTER, LOW), (OUTER, INNER, INMOST)])
@pytest.mark.parametrize("xs", [[3, 3, 7, 9, 12, 12, 12], [0, 22, 5, 5, 6, 21, 21], [4] * 7])
def test_outputs_have_the_literal_law(trees, xs):
    """p-values above 1e-6 in 12 tests: false alarm below 1e-5."""
    k, trials, rng = 23, 20000, np.random.default_rng(len(trees))
    profile = LevelProfile.of(xs, k)
    found = released_points(profile, sample_recursive(profile, trees, trials, rng=rng), rng=rng)
    expected = trials * recursive_pmf(counts_below(xs, k), k, trees)
    seen = np.bincount(found, minlength=k)
    often = expected >= 5
    seen, expected = (np.append(v[often], v[~often].sum()) for v in (seen, expected))
    keep = expected > 0
    assert stats.chisquare(seen[keep], expected[keep] * trials / expected[keep].sum()).pvalue > 1e-6


@pytest.mark.parametrize(
    ("loglog", "one", "two"), [(6, 70, 280), (16, 108, 316), (64, 291, 458), (150, 607, 645), (1000, 3640, 2169)]
)
def test_requirements_of_the_specification(loglog, one, two):
    """Worked out there with another split of the budget: within 6%."""
    found = [plan_recursion(TCDP(0.5, OMEGA), 2.0**loglog, depth).required_records() for depth in (1, 2)]
    assert found == pytest.approx([one, two], rel=0.06)


def quantile(noise, log_p):
    """The x with log P[Z > x] = log_p, by bisection of the noise's own tail."""
    return brentq(lambda x: float(noise.logsf(x)) - log_p, -50 * noise.scale, 50 * noise.scale, xtol=1e-12)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize(("log2_k", "beta"), [(64, 0.05), (1024, 0.2)])
def test_what_a_recursion_needs(depth, log2_k, beta):
    """The margins worked out literally, to the record.

    Each of the 2 depth + 1 steps fails with beta / (2 depth + 1). The outermost tree looks for an occupied node, so
    the others' luck is that of the occupied ones next to h; inner trees for one above half, with all others at zero. An
    inner tree's weight is the gap it leaves in units of twice that of the outer one; it needs twice its margins.
    """
    plan = plan_recursion(TCDP(0.5, OMEGA), log2_k, depth, failure=beta)
    b, sizes = beta / (2 * depth + 1), [float(log2_k)]
    for _ in range(depth):
        sizes.append(np.log2(np.ceil(sizes[-1]) + 1))  # an inner domain: the levels of the outer tree
    gap = 4 / plan.stages[-1].budget_split.epsilon_level * np.log(2 ** sizes[-1] / b)
    for stage, log2_size in list(zip(plan.stages, sizes))[:0:-1]:
        noise, end = stage.budget_split.noise, 4 / stage.budget_split.epsilon_end * np.log(2 / b)
        node = quantile(noise, np.log(b / 2)) + quantile(noise, np.log(b / 2) - log2_size * np.log(2))
        gap = 2 * 2 * (gap + node + end)
    first = plan.stages[0].budget_split
    h = 2 / first.epsilon_end * np.log(2 / b)

    def needed(n):
        log_full = np.log(b / 4) - min(np.log(n), log2_k * np.log(2))
        others = quantile(first.noise, np.log(b / 2) - log2_k * np.log(2))
        node = quantile(first.noise, np.log(b / 4)) + max(others, h + quantile(first.noise, log_full))
        return gap + node + 2 * h

    found = plan.required_records()
    assert needed(found) <= found
    assert needed(found - 1) > found - 1


@pytest.mark.parametrize(("variant", "shifts"), [("default", 1), ("paper", 9)])
def test_what_the_trees_of_a_recursion_are_charged(variant, shifts):
    """Gaussian noise to the last digit: two shifts in the outermost tree, one or nine in inner ones."""
    plan = plan_recursion(TCDP(0.4, np.inf), 1024, 3, family="gaussian", variant=variant)
    for i, stage in enumerate(plan.stages):
        many = shifts if i else 2
        assert many / (2 * stage.budget_split.noise.scale**2) == pytest.approx(stage.node_rho, rel=1e-12)
    ends = [stage.budget_split.epsilon_end / (2 if i else 1) for i, stage in enumerate(plan.stages)]
    exponential = np.array([plan.stages[-1].budget_split.epsilon_level, *ends])
    spent = (np.log(np.expm1(exponential) / exponential) - 1 + exponential / np.expm1(exponential)).sum()
    assert spent + sum(stage.node_rho for stage in plan.stages) == pytest.approx(0.4, rel=1e-12)


def test_two_levels_pay_from_the_domain_that_the_documentation_names():
    """2^(2^150) as the methods split their budgets; 2^(2^160) with the recursion's own split for one level, too."""
    asked = methods.Budget(TCDP(0.5, OMEGA), "sinh_normal", "tight")

    def lead(x):
        one, two = (methods.required_records(name, asked, 2.0**x) for name in ("one_level", "recursion_2"))
        return one - two

    assert lead(148) < 0 <= lead(150) < lead(153)
    same_split = {
        x: [plan_recursion(TCDP(0.5, OMEGA), 2.0**x, depth).required_records() for depth in (1, 2)] for x in (156, 164)
    }
    assert same_split[156][0] < same_split[156][1]
    assert same_split[164][0] > same_split[164][1]


@pytest.mark.parametrize("variant", ["default", "paper"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_ledger_adds_up_to_the_target(depth, variant):
    plan = plan_recursion(TCDP(0.3, 4.0), 1024, depth, variant=variant)
    assert total(plan.ledger()).rho == pytest.approx(0.3, rel=1e-9)
    assert total(plan.ledger()) == TCDP(total(plan.ledger()).rho, 4.0)
    assert len(plan.ledger()) == 2 * depth + 1


@pytest.mark.parametrize("variant", ["default", "paper"])
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("shape", ["solo", "pair", "half", "cluster"])
def test_the_required_n_suffices(depth, shape, variant):
    plan, k = plan_recursion(TCDP(0.5, OMEGA), 1024, depth, variant=variant), 2**1024
    n = plan.required_records()
    draws = sample_recursive(
        LevelProfile.of(hard_data(shape, n, k), k), plan.parameters(n), 4000, rng=np.random.default_rng(1)
    )
    assert draws.success.mean() > 0.95 - 5 * np.sqrt(0.05 * 0.95 / 4000)


def test_thresholds_are_public():
    """The parameters know n and the domain only: nothing of the data enters it."""
    assert plan_recursion(TCDP(0.5, OMEGA), 64, 2).parameters(90) == plan_recursion(TCDP(0.5, OMEGA), 64, 2).parameters(
        90
    )


def test_floors_of_the_paper_s_variant_leave_nine_nodes():
    """What is charged is what the trees do: above H / 10 + 1, in the unit of the inner nodes' sensitivity."""
    plan = plan_recursion(TCDP(0.5, OMEGA), 1024, 2, variant="paper")
    outer, inner = plan.parameters(n := plan.required_records())
    assert (outer.lower, outer.upper, outer.candidates) == (n / 5, 2 * n / 5, 2)
    weight = (outer.upper - outer.lower) / 2
    assert (inner.lower, inner.upper) == pytest.approx((weight / 5, 2 * weight / 5))
    assert weight / (inner.floor - 1) == pytest.approx(INNER_SHIFTS["paper"] + 1)
    bought = plan.stages[1]
    assert 9 * noise_rho(bought.budget_split.noise, 1.0, OMEGA) <= bought.node_rho * (1 + 1e-4)


@pytest.mark.parametrize("depth", [0, 7, 1.0, True])
def test_depth_is_checked(depth):
    with pytest.raises(UserError, match="depth"):
        plan_recursion(TCDP(0.5, OMEGA), 64, depth)


@pytest.mark.parametrize("xs", [[3, 3, 7, 9, 12], [0], [15, 15], list(range(16))])
def test_the_exponential_mechanism_by_brute_force(xs):
    f = counts_below(xs, 16)
    weight = np.exp([0.5 * 1.3 * min(f[j + 1], f[-1] - f[j]) for j in range(16)])
    good = [f[j + 1] > 0 and f[j] < f[-1] for j in range(16)]
    expected = weight[good].sum() / weight.sum()
    assert exponential_success(LevelProfile.of(xs, 16), 1.3) == pytest.approx(expected, rel=1e-12)
