"""Budgets of work: what is beyond one is refused in one line, or leaves wider bounds that still hold."""

import composed_pairs as of_pairs
import numpy as np
import pytest

from tcdp_sim import exact
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.renyi.best_order import best_ratio
from tcdp_sim.exact.renyi.kernels import Curve
from tcdp_sim.exact.work import CALL, Exceeded, spend, within
from tcdp_sim.noise import ExponentialPolylogarithmic, Gaussian, GeneralizedGaussian, Laplace, SinhNormal
from tcdp_sim.noise.student_t import StudentT
from tcdp_sim.per_record import AdditiveRelease

HEAVY = AdditiveRelease(StudentT(1.0, 1.0))
OF_ORDER = 10**6  # points that an order costs below


@within(10 * CALL, "try less")
def spends(calls, each=1):
    """Calls that each cost as much as `each` calls without points."""
    for _ in range(calls):
        spend((each - 1) * CALL)
    return calls


@within(1000 * CALL, "it is the outer budget that counts")
def spends_inside(calls):
    return spends(calls)


def test_what_is_within_the_budget_is_returned():
    assert spends(2, each=5) == 2


def test_what_is_beyond_is_refused_in_one_line_that_names_the_call():
    words = r"^spends\(3, each=5\) needs more work than 30,000 evaluations of a density; try less$"
    with pytest.raises(ValueError, match=words):
        spends(3, each=5)


def test_every_call_has_the_whole_budget_also_after_a_refusal():
    for _ in range(3):
        assert spends(10) == 10
        with pytest.raises(ValueError, match="needs more work"):
            spends(11)


def test_inner_calls_share_the_budget_of_the_outer_one():
    assert spends_inside(1000) == 1000
    with pytest.raises(ValueError, match=r"spends_inside\(1001\) needs more work than 3,000,000 "):
        spends_inside(1001)


def test_without_a_budget_nothing_is_counted():
    spend(10**18)


def test_a_loop_may_return_what_it_has():
    @within(10 * CALL, "")
    def rounds(points):
        for done in range(100):
            try:
                spend(points)
            except Exceeded:
                return done
        return 100

    assert (rounds(0), rounds(1), rounds(CALL), rounds(9 * CALL), rounds(9 * CALL + 1)) == (10, 9, 5, 1, 0)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (exact.product_profile, (GeneralizedGaussian(1.0, 0.5), 1.0, 0.0)),
        (exact.product_profile, (SinhNormal(4.0, 1.0), 1.0, 0.0)),
        (exact.record_epsilon, (HEAVY, 1.0, 0.1)),
        (exact.record_policy, (HEAVY, 1.0, 2.0)),
        (exact.required_gap, ("noisy_max", Laplace(1.0), 10.0, 0.1)),
    ],
)
def test_what_a_public_function_evaluates_is_counted(function, arguments):
    small = within(10_000, "valid: less")(function)
    with pytest.raises(ValueError, match=rf"^{function.__name__}\(.*\) needs more work than 10,000 .*; valid: less$"):
        small(*arguments)


def test_tails_that_are_integrals_count_as_such():
    """Logarithmic noise of power 2 gives a tail by two integrals, Laplace noise by a formula."""
    most, law = 10**7, ("noisy_max", 10.0, 0.1)
    small = within(most, "")(lambda noise: exact.required_gap(law[0], noise, *law[1:]))
    assert small(Laplace(1.0)) == exact.required_gap(law[0], Laplace(1.0), *law[1:])
    with pytest.raises(ValueError, match="needs more work"):
        small(ExponentialPolylogarithmic(1.0, 2.0, 5.0, 3.0))


@pytest.mark.slow
def test_a_policy_that_ends_with_the_budget_holds():
    """sup D_order / order of Cauchy noise is D_1 = log(1 + t^2 / 4) at t = 1 (Chyzak-Nielsen 2019)."""
    found = within(6_000_000, "")(exact.record_policy)(HEAVY, 1.0, 2.0)
    assert found.lower <= np.log(1.25) <= found.upper < 1.5 * np.log(1.25)


@pytest.mark.parametrize("most", [20_000, 100_000, 1_000_000])
def test_a_composition_that_ends_with_the_budget_holds(most):
    """Of Gaussian noise in closed form: 64 releases are one whose shift is 8 times as long."""
    pairs = of_pairs.dominating_pairs(Gaussian(10.0), 1.0, 1.0, "poisson")
    found = within(most, "")(of_pairs.composed_epsilon)(pairs, 64, 1e-6, 1e-8)
    truth = exact.record_epsilon(AdditiveRelease(Gaussian(10.0)), 8.0, 1e-6)
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper
    assert found.upper - found.lower > 1e-8


@pytest.mark.parametrize("most", [30_000_000, 50_000_000, 100_000_000])
def test_a_search_over_orders_ends_with_the_budget_and_its_bounds_hold(most):
    """The loss is 2 with chance .05, else -.01; nothing but its divergences is known."""
    asked = []

    def curve(s):
        asked.append(len(s))
        spend(OF_ORDER * len(s))
        value = np.logaddexp(np.log(0.05) + 2 * s, np.log(0.95) - 0.01 * s)
        return Curve(value, value, value, np.full(s.shape, np.nan))

    at_one = Bounds(*[0.05 * 2 - 0.95 * 0.01] * 3)
    found = within(most, "")(best_ratio)(curve, at_one, np.inf, 60.0)
    s = np.linspace(1e-6, 59.0, 1_000_001)
    value = np.logaddexp(np.log(0.05) + 2 * s, np.log(0.95) - 0.01 * s)
    assert found.lower <= (value / (s * (1 + s))).max() * (1 + 1e-9)
    assert (value / (s * (1 + s))).max() <= found.upper
    assert most < OF_ORDER * sum(asked) < 4 * most  # the last round is not finished
