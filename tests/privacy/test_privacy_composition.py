"""Composition: the theorems' numbers, exact compositions that they must cover, and the laws of an addition."""

import math
from itertools import combinations_with_replacement

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privacy_references import close, response_delta, values

from tcdp_sim.privacy import (
    RDP,
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    MeanConcentratedDP,
    PureDP,
    compose,
    compose_advanced,
    compose_approx,
    delta_at,
    pure_renyi,
    to_approx_dp,
)

properties = settings(derandomize=True, max_examples=60, deadline=None)
positive = st.floats(-4, 2).map(lambda x: 10**x)
delta_values = st.floats(-12, -1).map(lambda x: 10**x)
order_values = st.floats(-2, 2).map(lambda x: 1 + 10**x)
KINDS = {
    PureDP: st.builds(PureDP, positive),
    ApproxDP: st.builds(ApproxDP, positive, delta_values),
    ZCDP: st.builds(ZCDP, positive, positive),
    ApproxZCDP: st.builds(ApproxZCDP, delta_values, positive, positive),
    RDP: st.builds(RDP, order_values, positive),
    TCDP: st.builds(TCDP, positive, order_values),
}
one_kind = st.sampled_from(list(KINDS)).flatmap(lambda kind: st.lists(KINDS[kind], min_size=3, max_size=3))


# One notion


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([PureDP(0.1), PureDP(0.2), PureDP(0.3)], PureDP(0.6)),
        ([ApproxDP(0.1, 1e-3), ApproxDP(0.2, 2e-3)], ApproxDP(0.3, 3e-3)),
        ([ApproxDP(0.1, 0.7), ApproxDP(0.2, 0.8)], ApproxDP(0.3, 1)),
        ([ZCDP(0.1, 0.01), ZCDP(0.2)], ZCDP(0.3, 0.01)),
        ([ApproxZCDP(0.1, 1, 2), ApproxZCDP(0.2, 3, 4)], ApproxZCDP(0.28, 4, 6)),
        ([ApproxZCDP(1, 1), ApproxZCDP(0.2, 3)], ApproxZCDP(1, 4)),
        ([TCDP(0.1, 5), TCDP(0.2, 3), TCDP(0.1, math.inf)], TCDP(0.4, 3)),
        ([RDP(5, 0.1), RDP(5, 0.2)], RDP(5, 0.3)),
        ([RDP(5, 0.1), RDP(3, 0.2)], RDP(3, 0.3)),
        ([RDP(math.inf, 0.1), RDP(math.inf, 0.2)], RDP(math.inf, 0.3)),
        ([MeanConcentratedDP(0.5, 0.6), MeanConcentratedDP(0.5, 0.6)], ZCDP(0.36, 0.64)),
    ],
    ids=str,
)
def test_one_notion(parts, expected):
    assert close(compose(*parts), expected)


def test_tiny_deltas_are_not_lost():
    """1 - prod(1 - delta) in logarithms."""
    assert compose(*[ApproxZCDP(1e-30, 1)] * 3).delta == pytest.approx(3e-30, rel=1e-14)


def test_one_guarantee_alone_is_kept():
    for guarantee in (PureDP(1), MeanConcentratedDP(0.1, 0.2), RDP(math.inf, 1), ApproxDP(1, 0.1, "source")):
        assert compose(guarantee) is guarantee


# Mixed notions


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([PureDP(0.1), ApproxDP(0.2, 1e-3)], ApproxDP(0.3, 1e-3)),
        ([PureDP(1), ZCDP(0.1)], ZCDP(0.6)),
        ([PureDP(1), ZCDP(0.1, 0.2)], ZCDP(0.6, 0.2)),
        ([PureDP(1), RDP(math.inf, 2)], PureDP(3)),
        ([RDP(math.inf, 1), ZCDP(0.1)], ZCDP(0.6)),
        ([PureDP(1), TCDP(0.1, 5)], TCDP(0.6, 5)),
        ([PureDP(1), TCDP(0.1, math.inf)], TCDP(0.6, math.inf)),
        ([ZCDP(0.1, 0.2), TCDP(0.1, 5)], TCDP(0.4, 5)),
        ([RDP(4, 0.2), TCDP(0.1, 5)], TCDP(0.3, 4)),
        ([RDP(4, 0.2), TCDP(0.1, 5), PureDP(1), ZCDP(1)], TCDP(1.8, 4)),
        ([PureDP(1), RDP(4, 0.2)], RDP(4, 0.2 + pure_renyi(1, 4))),
        ([RDP(math.inf, 1), RDP(4, 0.2)], RDP(4, 0.2 + pure_renyi(1, 4))),
        ([ZCDP(0.1, 0.3), RDP(4, 0.2)], RDP(4, 0.9)),
        ([MeanConcentratedDP(0.5, 0.6), PureDP(1)], ZCDP(0.68, 0.32)),
        ([ApproxDP(1, 0.1), ZCDP(0.1)], ApproxZCDP(0.1, 0.6)),
        ([ApproxDP(1, 0.1), TCDP(0.1, math.inf)], ApproxZCDP(0.1, 0.6)),
        ([ApproxDP(1, 0.1), ApproxZCDP(0.2, 0.1), PureDP(2)], ApproxZCDP(0.28, 2.6)),
        ([ApproxDP(1, 0.1), ApproxZCDP(0.2, 0, 0.5)], ApproxDP(1.5, 0.3)),
        ([ApproxZCDP(0, 0.1, 0.2), TCDP(0.1, 5)], TCDP(0.4, 5)),
    ],
    ids=str,
)
def test_mixed_notions(parts, expected):
    assert close(compose(*parts), expected)
    assert close(compose(*parts[::-1]), expected)


def test_the_tight_method_has_the_smaller_rho():
    assert compose(PureDP(1), ZCDP(0.1), method="tight").rho == pytest.approx(0.1 + math.tanh(0.5))
    assert compose(ApproxDP(1, 0.1), ZCDP(0.1), method="tight").rho == pytest.approx(0.1 + math.tanh(0.5))


@pytest.mark.parametrize("approximate", [ApproxDP(1, 0.1), ApproxZCDP(0.1, 1)], ids=str)
@pytest.mark.parametrize("bounded", [TCDP(0.1, 5), RDP(5, 0.1)], ids=str)
def test_where_there_is_no_common_notion_the_reason_is_told(approximate, bounded):
    with pytest.raises(
        ValueError, match=r"no common notion for .*convert all of them with to_approx_dp first"
    ) as failure:
        compose(PureDP(1), approximate, bounded)
    assert str(approximate) in str(failure.value)
    assert f"{bounded} bounds none of high order" in str(failure.value)


EXAMPLES = [PureDP(0.5), ApproxDP(0.5, 1e-9), ZCDP(0.1), ApproxZCDP(1e-9, 0.1), MeanConcentratedDP(0.1, 0.3)]
EXAMPLES += [RDP(5, 0.3), TCDP(0.1, 5), RDP(math.inf, 0.5), TCDP(0.1, math.inf)]


@pytest.mark.parametrize("pair", list(combinations_with_replacement(EXAMPLES, 2)), ids=str)
def test_a_release_more_never_gives_more_privacy(pair):
    """The delta of a pair is at least that of either alone: what a conversion on the way may not undo."""
    try:
        together = compose(*pair)
    except ValueError:
        return
    for part in pair:
        for epsilon in (0.0, 0.2, 1.0):
            assert delta_at(together, epsilon) >= delta_at(part, epsilon) * (1 - 1e-12)


# The laws of an addition


@properties
@given(one_kind)
def test_composition_is_associative_and_commutative(parts):
    a, b, c = parts
    flat = compose(a, b, c)
    assert close(compose(compose(a, b), c), flat)
    assert close(compose(a, compose(b, c)), flat)
    assert compose(c, a, b) == flat


@properties
@given(one_kind, st.floats(1, 3))
def test_composition_is_monotone(parts, factor):
    a, b, c = parts
    bigger = {
        PureDP: lambda: PureDP(a.epsilon * factor),
        ApproxDP: lambda: ApproxDP(a.epsilon * factor, min(a.delta * factor, 1)),
        ZCDP: lambda: ZCDP(a.rho * factor, a.xi * factor),
        ApproxZCDP: lambda: ApproxZCDP(min(a.delta * factor, 1), a.rho * factor, a.xi * factor),
        RDP: lambda: RDP(a.order, a.epsilon * factor),
        TCDP: lambda: TCDP(a.rho * factor, a.omega),
    }[type(a)]()
    less, more = compose(a, b, c), compose(bigger, b, c)
    assert all(x <= y for x, y in zip(values(less), values(more), strict=True))


def budget(guarantee):
    """What adds up."""
    match guarantee:
        case ZCDP() | TCDP():
            return guarantee.rho + getattr(guarantee, "xi", 0)
    return guarantee.epsilon


def rest(guarantee):
    """The orders to which it is confined."""
    return getattr(guarantee, "omega", getattr(guarantee, "order", math.inf))


@properties
@given(st.lists(st.one_of(KINDS[PureDP], KINDS[ZCDP], KINDS[RDP], KINDS[TCDP]), min_size=3, max_size=3))
def test_composing_pair_by_pair_is_never_sharper(parts):
    flat = compose(*parts, method="tight")
    pairwise = compose(compose(*parts[:2], method="tight"), parts[2], method="tight")
    if type(flat) is type(pairwise):
        assert rest(flat) == rest(pairwise)
        assert budget(flat) <= budget(pairwise) * (1 + 1e-14)
    assert compose(*parts[::-1], method="tight") == flat


# Advanced composition against exact randomised response

MANY = [
    (0.01, 0, 1000),
    (0.1, 0, 100),
    (0.5, 0, 1000),
    (0.3, 0, 5000),
    (1.5, 0, 4),
    (0.1, 1e-5, 50),
    (0.05, 1e-8, 2000),
]
many = pytest.mark.parametrize(("epsilon", "delta", "k"), MANY)


@many
@pytest.mark.parametrize("slack", [1e-9, 1e-5, 0.01])
def test_advanced_compositions_cover_randomised_response(epsilon, delta, k, slack):
    advanced = compose_advanced(epsilon, delta, k, slack)
    assert advanced.delta == pytest.approx(k * delta + slack)
    growth = k * epsilon * (math.exp(epsilon) - 1)
    assert advanced.epsilon == pytest.approx(epsilon * math.sqrt(2 * k * math.log(1 / slack)) + growth, rel=1e-13)
    assert response_delta(epsilon, k, advanced.epsilon, delta) <= advanced.delta
    each = ApproxDP(epsilon, delta) if delta else PureDP(epsilon)
    corollary = compose_approx(*[each] * k, slack=slack)
    assert corollary.delta == pytest.approx(k * delta + slack)
    norm = epsilon * math.sqrt(k)
    root = math.sqrt(2 * math.log(math.sqrt(math.pi / 2) * norm / slack))
    assert corollary.epsilon == pytest.approx(norm**2 / 2 + norm * root, rel=1e-13)
    assert response_delta(epsilon, k, corollary.epsilon, delta) <= corollary.delta
    through = to_approx_dp(compose(ZCDP(5e-324), *[each] * k, method="tight"), min(k * delta + slack, 1))
    assert response_delta(epsilon, k, through.epsilon, delta) <= through.delta
    assert through.epsilon <= corollary.epsilon <= advanced.epsilon + 0.5 * norm**2


def test_the_printed_advanced_composition_is_false():
    """What the package does not offer: 2 epsilon sqrt(2 k log(1 / slack)) without a bound on the total."""
    for epsilon, k, slack, exact in [(0.5, 1000, 1e-5, 2.4e-2), (0.3, 5000, 1e-6, 0.487)]:
        printed = 2 * epsilon * math.sqrt(2 * k * math.log(1 / slack))
        assert response_delta(epsilon, k, printed) == pytest.approx(exact, rel=5e-3)
        assert compose_advanced(epsilon, 0, k, slack).epsilon > printed


def test_compositions_are_capped_at_delta_one():
    assert compose_advanced(0.1, 0.5, 10, 0.1).delta == 1
    assert compose_approx(ApproxDP(1, 0.7), ApproxDP(1, 0.7), slack=0.1).delta == 1


def test_sources():
    assert "Theorem 3.20" in compose_advanced(0.1, 0, 10, 0.1).source
    assert "Corollary 39" in compose_approx(PureDP(1), slack=0.1).source
    assert compose(PureDP(1), ApproxDP(1, 0.1)).source == "basic composition"


# Bad input


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"epsilon": -0.1}, "epsilon = -0.1 is not valid; valid: 0 <= epsilon < inf"),
        ({"epsilon": 701}, "epsilon = 701 is not valid; advanced composition overflows; valid: epsilon < 700"),
        ({"delta": -0.1}, "delta = -0.1 is not valid; valid: 0 <= delta <= 1"),
        ({"delta": 1.1}, "delta = 1.1 is not valid; valid: 0 <= delta <= 1"),
        ({"slack": 0}, "slack = 0 is not valid; valid: 0 < slack <= 1"),
        ({"slack": 1.5}, "slack = 1.5 is not valid; valid: 0 < slack <= 1"),
        ({"k": 0}, "k = 0 is not valid; valid: a whole number from 1 to 1e300"),
        ({"k": 2.5}, "k = 2.5 is not valid; valid: a whole number from 1 to 1e300"),
        ({"k": True}, "k = True is not valid; valid: a whole number from 1 to 1e300"),
        ({"k": 10**301}, "k = 100000000... is not valid; valid: a whole number from 1 to 1e300"),
    ],
)
def test_parameters_out_of_range_are_refused(changed, message):
    with pytest.raises(ValueError, match="not valid") as failure:
        compose_advanced(**({"epsilon": 0.1, "delta": 1e-6, "k": 10, "slack": 1e-6} | changed))
    assert str(failure.value) == message


def test_corollary_39_needs_a_small_slack():
    most = math.sqrt(math.pi / 2) * 0.05
    assert compose_approx(PureDP(0.03), PureDP(0.04), slack=most * (1 - 1e-12)).epsilon >= 0.5 * 0.05**2
    with pytest.raises(ValueError, match=r"slack = 0.07 is not valid; Corollary 39 needs 0 < slack <= .* = 0.0626657"):
        compose_approx(PureDP(0.03), PureDP(0.04), slack=0.07)
    with pytest.raises(ValueError, match="slack = 0 is not valid; valid: 0 < slack <= 1"):
        compose_approx(PureDP(0.03), slack=0)
    for wrong, shown in [((ZCDP(1),), "1-zCDP"), ((), "nothing"), ((PureDP(1), TCDP(1, 2)), r"1-DP, \(1, 2\)-tCDP")]:
        with pytest.raises(ValueError, match=f"Corollary 39 composes PureDP and ApproxDP.*got {shown}"):
            compose_approx(*wrong, slack=0.1)


def test_what_is_no_guarantee_is_refused():
    with pytest.raises(ValueError, match=r"compose\(\) of 0 guarantees is not valid; valid: at least 1"):
        compose()
    for wrong in (0.1, None, "1-DP", [PureDP(1)]):
        with pytest.raises(ValueError, match=r"guarantee = .*"):
            compose(PureDP(1), wrong)
    with pytest.raises(ValueError, match="method = 'best'"):
        compose(PureDP(1), PureDP(1), method="best")
    with pytest.raises(ValueError, match="epsilon = inf"):
        compose(PureDP(1.5e308), PureDP(1.5e308))
