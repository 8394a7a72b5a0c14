"""Conversions to (epsilon, delta)-DP: known values, exact mechanisms as lower bounds, and the papers' formulas."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privacy_references import gaussian_delta, response_delta

from tcdp_sim.privacy import (
    RDP,
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    MeanConcentratedDP,
    PureDP,
    approx_zcdp_delta,
    delta_at,
    renyi_to_approx_dp,
    to_approx_dp,
    zcdp_budget,
)

METHODS = ["tight", "paper"]
methods = pytest.mark.parametrize("method", METHODS)
properties = settings(derandomize=True, max_examples=60, deadline=None)
log_deltas = st.floats(-300, 0)  # powers of ten
rhos = st.floats(-6, 2).map(lambda x: 10**x)
omegas = st.floats(-3, 3).map(lambda x: 1 + 10**x)

EVERY = [
    PureDP(1.0),
    ApproxDP(1.0, 1e-8),
    ZCDP(0.1),
    ZCDP(0.1, 0.2),
    ApproxZCDP(1e-8, 0.1),
    ApproxZCDP(1e-8, 0.1, 0.2),
    MeanConcentratedDP(0.05, 0.4),
    RDP(5, 0.7),
    TCDP(0.1, 5),
]
every = pytest.mark.parametrize("guarantee", EVERY, ids=str)


# Values


def test_values_at_one_millionth():
    """zCDP: 40 digits; tCDP: below the usual formula at its end, order 5; paper: Lemmas 21 and 6."""
    zcdp, tcdp = ZCDP(0.1), TCDP(0.1, 5)
    assert to_approx_dp(zcdp, 1e-6).epsilon == pytest.approx(2.141939, abs=5e-7)
    assert to_approx_dp(zcdp, 1e-6, "paper").epsilon == pytest.approx(2.450788, abs=5e-7)
    tight = 0.5 + math.log(4 / 5) + (math.log(1e6) - math.log(5)) / 4
    assert tight == pytest.approx(3.328375, abs=5e-7)
    assert to_approx_dp(tcdp, 1e-6).epsilon == pytest.approx(3.292022, abs=5e-7)  # the best binary test
    assert to_approx_dp(tcdp, 1e-6, "paper").epsilon == pytest.approx(3.953878, abs=5e-7)
    assert gaussian_delta(0.1, 1.994527) == pytest.approx(1e-6, rel=1e-5)  # nothing valid is below


def test_the_paper_formulas():
    cost = math.log(1e6)
    at = lambda guarantee: to_approx_dp(guarantee, 1e-6, "paper").epsilon  # noqa: E731
    assert at(ZCDP(0.2, 0.3)) == pytest.approx(0.5 + 2 * math.sqrt(0.2 * cost), rel=1e-15)
    assert at(TCDP(0.2, 100)) == pytest.approx(0.2 + 2 * math.sqrt(0.2 * cost), rel=1e-15)
    assert at(TCDP(0.2, math.inf)) == at(ZCDP(0.2))
    assert at(TCDP(0.2, 3)) == pytest.approx(0.6 + cost / 2, rel=1e-15)
    assert at(TCDP(1e-3, 50)) == pytest.approx(0.05 + cost / 49, rel=1e-15)
    assert at(RDP(3, 0.6)) == pytest.approx(0.6 + cost / 2, rel=1e-15)
    assert at(PureDP(0.4)) == at(RDP(math.inf, 0.4)) == at(ApproxDP(0.4, 1e-9)) == 0.4
    assert at(MeanConcentratedDP(0.5, 0.6)) == pytest.approx(0.5 + 0.6 * math.sqrt(2 * cost), rel=1e-15)
    assert renyi_to_approx_dp(0.2, 3, 1e-6).epsilon == pytest.approx(0.6 + cost / 2, rel=1e-15)


def test_lemma_6_is_continuous_where_its_two_cases_meet():
    rho, omega = 0.3, 4.0
    delta = math.exp(-((omega - 1) ** 2) * rho)
    for factor in (1 - 1e-12, 1, 1 + 1e-12):
        epsilon = to_approx_dp(TCDP(rho, omega), delta * factor, "paper").epsilon
        assert epsilon == pytest.approx(rho * (2 * omega - 1), rel=1e-11)


@every
@methods
def test_the_source_says_method_and_theorem(guarantee, method):
    answer = to_approx_dp(guarantee, 1e-6, method)
    assert isinstance(answer, ApproxDP)
    assert answer.delta == 1e-6
    assert answer.source.startswith(f"{method}: ")
    theorem = {
        (ZCDP, "paper"): "Lemma 21",
        (TCDP, "paper"): "Lemma 6",
        (RDP, "paper"): "Lemma 8",
        (ApproxZCDP, "paper"): "Lemma 38",
        (MeanConcentratedDP, "paper"): "Lemmas 24 and 21",
        (PureDP, "tight"): "randomised response",
        (ApproxDP, "tight"): "randomised response",
        (PureDP, "paper"): "larger delta",
        (ApproxDP, "paper"): "larger delta",
    }.get((type(guarantee), method), "the best binary test")
    assert theorem in answer.source


@every
@methods
def test_delta_one_needs_no_privacy(guarantee, method):
    answer = to_approx_dp(guarantee, 1, method)
    assert answer.delta == 1
    assert method == "paper" or answer.epsilon == 0


# Validity: no mechanism that has the guarantee may do worse


@methods
@pytest.mark.parametrize("rho", [1e-6, 1e-3, 0.1, 1, 20])
def test_no_conversion_undercuts_the_gaussian(rho, method):
    """Gaussian noise has D_a = rho a exactly, and its privacy loss is N(rho, 2 rho)."""
    for epsilon in rho * np.array([0.0, 0.5, 1, 2]) + math.sqrt(rho) * np.array([0.0, 0.3, 2, 12]):
        exact = gaussian_delta(rho, epsilon)
        leaky = 1e-9 + (1 - 1e-9) * exact
        for guarantee in (ZCDP(rho), TCDP(rho, 1.2), TCDP(rho, 9), MeanConcentratedDP(rho, math.sqrt(2 * rho))):
            assert delta_at(guarantee, epsilon, method) >= exact
        for order in (1.1, 4, 50):
            assert delta_at(RDP(order, rho * order), epsilon, method) >= exact
        assert delta_at(ApproxZCDP(1e-9, rho), epsilon, method) >= leaky * (1 - 2**-52)  # one rounding of the sum
        if 1e-20 < exact < 0.9:  # below, the leak hides it
            assert to_approx_dp(ZCDP(rho), float(exact), method).epsilon >= epsilon
            assert to_approx_dp(ApproxZCDP(1e-9, rho), float(leaky), method).epsilon >= epsilon * (1 - 1e-12)


@methods
@pytest.mark.parametrize(("epsilon", "leak"), [(0.1, 0), (1, 0), (5, 0), (1, 0.01), (3, 0.3)])
def test_no_conversion_undercuts_randomised_response(epsilon, leak, method):
    guarantee = ApproxDP(epsilon, leak) if leak else PureDP(epsilon)
    for at in epsilon * np.array([0, 0.2, 0.9, 0.999]):
        exact = response_delta(epsilon, 1, at, leak)
        assert delta_at(guarantee, at, method) >= exact * (1 - 1e-13)
        assert method == "paper" or delta_at(guarantee, at) == pytest.approx(exact, rel=1e-12)  # tight is exact
        assert to_approx_dp(guarantee, exact, method).epsilon >= at * (1 - 1e-12) - 1e-14
        if method == "tight":
            assert to_approx_dp(guarantee, exact).epsilon == pytest.approx(at, rel=1e-9, abs=1e-12)
    assert delta_at(guarantee, epsilon, method) == leak


def test_renyi_conversion_of_pure_dp_is_no_better_than_the_exact_one():
    """Through zCDP, randomised response loses; the exact conversion must not."""
    for delta in (1e-9, 1e-3, 0.1):
        assert to_approx_dp(PureDP(1), delta).epsilon <= to_approx_dp(ZCDP(0.5), delta).epsilon


# Properties


@properties
@given(st.sampled_from(EVERY), log_deltas)
def test_tight_is_never_above_paper(guarantee, log_delta):
    delta = min(10**log_delta + 2e-8, 1.0)
    paper = to_approx_dp(guarantee, delta, "paper").epsilon
    assert to_approx_dp(guarantee, delta).epsilon <= paper * (1 + 1e-14)
    assert delta_at(guarantee, paper) <= delta_at(guarantee, paper, "paper") * (1 + 1e-12)


@properties
@given(rhos, omegas, log_deltas, st.floats(1, 3))
def test_more_privacy_costs_less(rho, omega, log_delta, factor):
    delta = 10**log_delta
    for method in METHODS:
        epsilon = to_approx_dp(TCDP(rho, omega), delta, method).epsilon
        slack = 1e-8 * epsilon
        assert to_approx_dp(TCDP(rho * factor, omega), delta, method).epsilon >= epsilon - slack
        assert to_approx_dp(TCDP(rho, 1 + (omega - 1) * factor), delta, method).epsilon <= epsilon + slack
        assert to_approx_dp(TCDP(rho, omega), max(delta**factor, 5e-324), method).epsilon >= epsilon - slack
        assert to_approx_dp(ZCDP(rho), delta, method).epsilon <= epsilon + slack
        assert to_approx_dp(RDP(omega, rho * omega), delta, method).epsilon >= epsilon - slack


@properties
@given(st.sampled_from(EVERY), st.sampled_from(METHODS), st.floats(-200, -0.5))
def test_delta_and_epsilon_are_inverse(guarantee, method, log_delta):
    """From epsilon to delta and back, where epsilon is positive and delta above the guarantee's own."""
    delta = 10**log_delta + (1.5e-8 if isinstance(guarantee, ApproxDP | ApproxZCDP) else 0)
    epsilon = to_approx_dp(guarantee, delta, method).epsilon
    if method == "paper" and isinstance(guarantee, PureDP | ApproxDP):
        return  # a constant epsilon has no inverse
    back = delta_at(guarantee, epsilon, method)
    if epsilon > 0 and not (isinstance(guarantee, ApproxZCDP) and epsilon <= 0.3 * (1 + 1e-9)):
        # d log delta / d epsilon reaches 1e3 here, and e^epsilon is rounded at delta near 1e-16.
        assert back == pytest.approx(delta, rel=1e-6, abs=1e-15 if isinstance(guarantee, PureDP | ApproxDP) else 0)
    else:
        assert back <= delta * (1 + 1e-6)


def test_tiny_deltas():
    """Against 40 digits at the best order, down to 1e-300 and beyond, where rounding up keeps the claim true."""
    for rho in (0.01, 0.1, 2):
        epsilon = to_approx_dp(ZCDP(rho), 1e-300).epsilon
        with mp.workdps(40):

            def log_delta(u, rho=rho, epsilon=epsilon):
                return u * (rho * (1 + u) - mp.mpf(epsilon)) + u * mp.log(u / (1 + u)) - mp.log1p(u)

            u = mp.findroot(lambda u: mp.diff(log_delta, u), (epsilon - rho) / (2 * rho))
            expected = mp.exp(log_delta(u))
        assert delta_at(ZCDP(rho), epsilon) == pytest.approx(float(expected), rel=1e-11)
        assert delta_at(ZCDP(rho), 10 * epsilon) == delta_at(ZCDP(rho), 10 * epsilon, "paper") == 5e-324
    assert delta_at(TCDP(0.1, 1.5), 1e300) == 5e-324


def test_the_paper_tails():
    """Section 1.3 of the tCDP paper: Gaussian up to 2 rho (omega - 1), exponential beyond, continuous between."""
    rho, omega = 0.2, 3.0
    for t, expected in [
        (0.5, -(0.5**2) / 0.8),
        (0.8, -(0.8**2) / 0.8),
        (1.2, 4 * rho - 2 * 1.2),
        (2.0, 4 * rho - 2 * 2.0),
    ]:
        assert math.log(delta_at(TCDP(rho, omega), rho + t, "paper")) == pytest.approx(expected, rel=1e-12)
    assert delta_at(TCDP(rho, omega), rho / 2, "paper") == 1
    assert math.log(delta_at(RDP(3, 0.6), 1.6, "paper")) == pytest.approx(-2, rel=1e-12)
    assert math.log(delta_at(ZCDP(0.2, 0.3), 1.0, "paper")) == pytest.approx(-(0.5**2) / 0.8, rel=1e-12)
    assert delta_at(PureDP(1), 0.5, "paper") == 1
    assert delta_at(PureDP(1), 1, "paper") == 0


# Lemma 38


@pytest.mark.parametrize(("rho", "xi"), [(1e-12, 0), (0.1, 0), (0.1, 0.5), (3, 0), (1e4, 1)])
def test_the_sharp_form_of_lemma_38_is_the_integral(rho, xi):
    """delta' = int_epsilon^inf e^(epsilon - t) P[Z > t] dt with P[Z > t] = e^(-(t - xi - rho)^2 / 4 rho)."""
    for u in math.sqrt(rho) * np.array([0, 0.1, 1, 5, 20]):
        epsilon = xi + rho + u
        with mp.workdps(30):
            u_exact = mp.mpf(float(epsilon)) - (mp.mpf(xi) + mp.mpf(rho))
            width = mp.sqrt(rho) / (1 + u_exact / mp.sqrt(rho))
            edges = [0, *(width * mp.mpf(2) ** j for j in range(-3, 8))]
            inner = mp.quad(lambda s, u=u_exact: mp.exp(-s - s * (2 * u + s) / (4 * rho)), edges)
            expected = mp.exp(-(u_exact**2) / (4 * rho)) * inner
        slack = 1e-10 + 1e-15 * epsilon * u / (2 * rho)  # rounding of epsilon - xi - rho
        assert approx_zcdp_delta(ZCDP(rho, xi), epsilon) == pytest.approx(float(expected), rel=slack)
        printed = approx_zcdp_delta(ZCDP(rho, xi), epsilon, "paper")
        assert expected * (1 - 1e-10) <= printed <= 1.06 * expected
        assert delta_at(ZCDP(rho, xi), epsilon) <= approx_zcdp_delta(ZCDP(rho, xi), epsilon) * (1 + 1e-12)


def test_values_of_lemma_38():
    assert approx_zcdp_delta(ZCDP(0.1), 1, "paper") == pytest.approx(0.0219, abs=5e-5)
    assert delta_at(ZCDP(0.1), 1) == pytest.approx(0.00868, abs=5e-6)
    assert gaussian_delta(0.1, 1) == pytest.approx(0.00319, abs=5e-6)
    u, rho = 0.9, 0.1
    a = 1 + u / (2 * rho)
    entries = [1, math.sqrt(math.pi * rho), 1 / a, 2 / (a + math.sqrt(a * a + 4 / (math.pi * rho)))]
    expected = 0.01 + 0.99 * math.exp(-u * u / (4 * rho)) * min(entries)
    assert approx_zcdp_delta(ApproxZCDP(0.01, rho), rho + u, "paper") == pytest.approx(expected, rel=1e-13)
    assert delta_at(ApproxZCDP(0.01, rho), rho + u, "paper") == pytest.approx(expected, rel=1e-13)
    assert approx_zcdp_delta(ApproxZCDP(0.01, 0, 0.5), 0.5) == 0.01
    assert delta_at(ApproxZCDP(0.01, rho), rho / 2, "paper") == 1


def test_lemma_38_is_inverted_on_the_valid_side():
    for delta in (1e-250, 1e-9, 1e-4, 0.1, 0.5, 0.999):
        for guarantee in (ApproxZCDP(1e-10, 0.1), ApproxZCDP(1e-300, 3, 0.2)):
            if delta > guarantee.delta:
                epsilon = to_approx_dp(guarantee, delta, "paper").epsilon
                assert epsilon >= guarantee.xi + guarantee.rho
                assert approx_zcdp_delta(guarantee, epsilon, "paper") <= delta * (1 + 1e-12)
                if epsilon > guarantee.xi + guarantee.rho:
                    less = max(epsilon * (1 - 1e-9), guarantee.xi + guarantee.rho)
                    assert approx_zcdp_delta(guarantee, less, "paper") > delta * (1 - 1e-10)


@methods
def test_at_its_own_delta_a_guarantee_is_what_it_was(method):
    assert to_approx_dp(ApproxDP(1, 0.1), 0.1, method) == ApproxDP(1, 0.1)
    assert to_approx_dp(ApproxZCDP(0.1, 0, 1), 0.1, method) == ApproxDP(1, 0.1)
    assert to_approx_dp(ApproxDP(1, 1), 1, method) == ApproxDP(1, 1)


# The budget


@properties
@given(st.floats(-9, 3), log_deltas, st.floats(0, 2))
def test_the_budget_spends_epsilon(log_room, log_delta, xi):
    epsilon, delta = xi + 10**log_room, 10**log_delta
    if epsilon > xi:
        assert to_approx_dp(zcdp_budget(epsilon, delta, xi), delta, "paper").epsilon == pytest.approx(epsilon, rel=1e-9)


# Bad input, and speed


@every
@pytest.mark.parametrize("delta", [0, -1e-9, 1.5, math.nan, math.inf, "1e-6", None, True, [1e-6, 1e-7]], ids=repr)
def test_deltas_out_of_range_are_refused(guarantee, delta):
    with pytest.raises(ValueError, match=r"delta = .*valid: (0 < delta <= 1|one number)"):
        to_approx_dp(guarantee, delta)


@methods
@pytest.mark.parametrize("guarantee", [ApproxDP(1, 0.1), ApproxZCDP(0.1, 0.2), ApproxZCDP(0.1, 0, 0.2)], ids=str)
def test_a_delta_below_the_own_is_refused(guarantee, method):
    with pytest.raises(ValueError, match=r"delta = 0.05 is not valid for .*; valid: 0.1 <=? delta <= 1"):
        to_approx_dp(guarantee, 0.05, method)


@pytest.mark.parametrize("epsilon", [-1e-9, math.nan, math.inf, "1", None])
def test_epsilons_out_of_range_are_refused(epsilon):
    for method in METHODS:
        with pytest.raises(ValueError, match=r"epsilon = .*valid: 0 <= epsilon < inf"):
            delta_at(ZCDP(0.1), epsilon, method)


@pytest.mark.parametrize("what", [to_approx_dp, delta_at])
def test_unknown_methods_and_notions_are_refused(what):
    with pytest.raises(ValueError, match="method = 'best'"):
        what(ZCDP(0.1), 0.5, "best")
    for other in (0.1, None, "ZCDP", ZCDP):
        with pytest.raises(ValueError, match=r"guarantee = .*"):
            what(other, 0.5)


def test_preconditions_are_named():
    with pytest.raises(ValueError, match=r"epsilon = 0.2 is not valid; Lemma 38 needs epsilon >= xi \+ rho = 0.3"):
        approx_zcdp_delta(ZCDP(0.1, 0.2), 0.2)
    with pytest.raises(ValueError, match="Lemma 38 does not apply to guarantee = TCDP"):
        approx_zcdp_delta(TCDP(0.1, 3), 1)
    with pytest.raises(ValueError, match="form = 'cks'"):
        approx_zcdp_delta(ZCDP(0.1), 1, "cks")
    with pytest.raises(ValueError, match=r"epsilon = 0.5 is not valid; Lemma 21 needs epsilon > xi = 0.5"):
        zcdp_budget(0.5, 1e-6, 0.5)
    with pytest.raises(ValueError, match="order = 1 is not valid; valid: 1 < order < inf"):
        renyi_to_approx_dp(0.1, 1, 1e-6)


def test_parameters_at_the_ends_of_the_floats():
    """No overflow, no NaN, no warning; a positive delta never becomes zero."""
    assert approx_zcdp_delta(ZCDP(5e-324, 1e16), 1.7e308) == approx_zcdp_delta(ZCDP(5e-324), 1.7e308, "paper") == 5e-324
    assert approx_zcdp_delta(ApproxZCDP(1, 1e-16), 1e307) == delta_at(ApproxZCDP(1, 1e-16), 1e307, "paper") == 1
    for rho in (5e-324, 1e-310, 1e-160, 1e160, 1e300):
        for delta in (5e-324, 0.5, 1 - 2.0**-53):
            tight, paper = (to_approx_dp(ZCDP(rho), delta, method).epsilon for method in METHODS)
            assert 0 <= tight <= paper * (1 + 2.0**-48) < math.inf  # only the tight one is rounded up
            assert 0 < delta_at(ZCDP(rho), 1.0) <= delta_at(ZCDP(rho), 1.0, "paper") <= 1
    with pytest.raises(ValueError, match=r"tau\^2 / 2 = inf is not valid; valid: 0 < tau\^2 / 2 < inf"):
        delta_at(MeanConcentratedDP(0, 1e200), 1.0)
