"""Steps of interior points and thresholds as ledgers: exact laws, and never more than their guarantees."""

import mpmath as mp
import numpy as np
import pytest

from tcdp_sim.accounting import Additive, BoundedRange, Claimed
from tcdp_sim.noise import Gaussian
from tcdp_sim.ordered.interior import methods
from tcdp_sim.ordered.interior.accounted import as_ledger
from tcdp_sim.ordered.interior.ledger import Step, total
from tcdp_sim.ordered.interior.lower_bounds import tcdp_least_n, zcdp_least_n
from tcdp_sim.ordered.thresholds import private_quantiles
from tcdp_sim.ordered.thresholds.medians import plan_medians
from tcdp_sim.ordered.thresholds.noisy_tree import NoisyTree
from tcdp_sim.ordered.thresholds.windows import plan_windows
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, to_approx_dp

WHOLE = TCDP(0.5, 20.0)
FOUND = {
    **{
        method: methods.ledger(method, methods.Budget(WHOLE, "gaussian", "tight"), 16)
        for method in (*methods.ONE_TREE, *methods.RECURSIONS)
    },
    "noise of two parameters": methods.ledger("one_level", methods.Budget(WHOLE, "sinh_normal", "paper"), 16),
    "windows": plan_windows(200_000, 2**16, WHOLE).ledger,
    "medians": plan_medians(3, 200_000, 2**16, WHOLE).ledger,
    "tree": NoisyTree(2**16, 0.5).ledger,
}


@pytest.mark.parametrize("name", FOUND)
def test_a_ledger_never_spends_more_than_the_guarantee_of_its_steps(name):
    steps, guarantee = as_ledger(FOUND[name]), total(FOUND[name])
    assert steps.relation == "substitute"
    for order in (1.5, 4.0, 15.0):
        assert steps.renyi(order).upper <= order * guarantee.rho * (1 + 1e-9)
    found = steps.epsilon(1e-6)
    bound = to_approx_dp(guarantee, 1e-6).epsilon
    assert found.upper <= bound * (1 + 1e-4)  # the tolerance of the ledger
    if name not in ("windows",):  # of which the guarantees alone are known
        assert found.upper <= 0.95 * bound


@mp.workdps(40)
def test_the_divergence_of_one_level_is_the_sum_of_three_closed_forms():
    """Two shifts of Gaussian noise, and two exponential mechanisms with the supremum over all pairs of losses."""
    level, node, end = FOUND["one_level"]

    def psi(s):
        return mp.log(mp.sinh(s / 2) / (s / 2))

    def range_divergence(epsilon, a):
        epsilon = mp.mpf(epsilon)
        return (a * psi(a * epsilon) - (a - 1) * psi((a - 1) * epsilon) - psi(epsilon)) / (a - 1)

    for order in (1.5, 4.0, 15.0):
        exact = order / mp.mpf(node.noise.scale) ** 2 + sum(range_divergence(s.epsilon, order) for s in (level, end))
        found = as_ledger(FOUND["one_level"]).renyi(order)
        assert found.lower * (1 - 1e-12) <= exact <= found.upper * (1 + 1e-12)
        assert found.upper - found.lower <= 1e-9 * found.upper


def test_noise_of_which_several_numbers_move_together_counts_as_its_guarantee():
    """Convexity in the shift bounds Renyi divergences alone."""
    kinds = {name: [type(release) for release, _ in as_ledger(FOUND[name]).entries] for name in FOUND}
    assert kinds["one_level"] == [BoundedRange, Additive, BoundedRange]
    assert kinds["surrogate"] == kinds["algorithm_21"] == [BoundedRange, Claimed, BoundedRange]
    assert kinds["surrogate_low"] == kinds["algorithm_22"] == kinds["one_level"]
    assert kinds["recursion_2"].count(Claimed) == 1
    assert set(kinds["windows"]) == {Claimed}


def test_the_steps_of_a_tree_are_one_gaussian():
    tree = NoisyTree(2**10, 0.5)
    ((release, times),) = as_ledger(tree.ledger).entries
    assert (release, times) == (Additive(Gaussian(tree.scale)), 20)
    assert as_ledger(tree.ledger).renyi(3.0).upper == pytest.approx(3 * 0.5, rel=1e-9)


def test_every_inner_step_counts_and_an_unknown_one_is_a_black_box():
    inner = (Step("a", ZCDP(0.1), "", epsilon=0.5), Step("b", ZCDP(0.1), "", noise=Gaussian(2.0), times=3))
    steps = (Step("one", ZCDP(0.2), "", inner=inner), Step("two", ZCDP(0.2), "", inner=inner), Step("c", ZCDP(0.3), ""))
    entries = as_ledger(steps).entries
    assert entries == ((BoundedRange(0.5), 2), (Additive(Gaussian(2.0)), 6), (Claimed(ZCDP(0.3)), 1))


def test_a_stability_histogram_keeps_its_delta():
    promise = total(methods.ledger(methods.WEAKER, methods.Budget(WHOLE, "gaussian", "tight"), 16))
    assert isinstance(promise, ApproxDP)
    steps = as_ledger(methods.ledger(methods.WEAKER, methods.Budget(WHOLE, "gaussian", "tight"), 16))
    assert steps.epsilon(promise.delta * 0.999).lower == np.inf
    assert steps.epsilon(promise.delta * 1.001).upper <= promise.epsilon * (1 + 1e-12)


def test_an_answer_has_a_ledger_that_prints_as_a_table():
    rng = np.random.default_rng(1)
    answer = private_quantiles(list(range(16)) * 400, 16, WHOLE, level=(0.25, 0.75), rng=rng)
    assert answer.accounting == as_ledger(answer.ledger)
    assert answer.accounting.epsilon(1e-6).upper < 0.95 * to_approx_dp(answer.guarantee, 1e-6).epsilon
    assert repr(answer.accounting).startswith("release")


@pytest.mark.parametrize("log2_k", [0.5, 1.0])
def test_a_guess_in_a_small_domain_needs_no_records(log2_k):
    """(1 - failure) log k - log 2 is negative there, so the packing says nothing."""
    assert zcdp_least_n(0.5, log2_k) == 0
    assert tcdp_least_n(TCDP(0.5, 20.0), log2_k) == 0
