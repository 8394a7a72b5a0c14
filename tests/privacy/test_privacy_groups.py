"""Group privacy: the theorems' numbers in 40 digits, and exact mechanisms that they must cover."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privacy_references import close, gaussian_delta, values

from tcdp_sim.privacy import (
    RDP,
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    MeanConcentratedDP,
    PureDP,
    group_privacy,
    group_to_approx_dp,
    to_approx_dp,
)

properties = settings(derandomize=True, max_examples=60, deadline=None)
EVERY = [PureDP(0.1), ApproxDP(0.1, 1e-9), ZCDP(0.01, 0.02), ApproxZCDP(1e-9, 0.01, 0.02), MeanConcentratedDP(0.1, 0.2)]
EVERY += [RDP(9, 0.1), TCDP(0.01, 9), ApproxZCDP(1e-9, 0, 0.1), RDP(math.inf, 0.1), TCDP(0.01, math.inf)]
grown = [guarantee for guarantee in EVERY if guarantee != ApproxZCDP(1e-9, 0.01, 0.02)]


def proposition_9(rho, omega, size):
    """(order, bound) with 40 digits, as printed."""
    with mp.workdps(40):
        growth = (1 + 1 / (mp.mpf(omega) - 1)) ** size - 1
        return 1 + 1 / growth, growth * (mp.mpf(omega) - 1) * omega * rho


@pytest.mark.parametrize("guarantee", EVERY, ids=str)
def test_a_group_of_one_keeps_the_guarantee(guarantee):
    assert group_privacy(guarantee, 1) is guarantee


@pytest.mark.parametrize(
    ("guarantee", "size", "expected"),
    [
        (PureDP(0.1), 7, PureDP(0.7)),
        (RDP(math.inf, 0.1), 7, RDP(math.inf, 0.7)),
        (ApproxDP(0, 1e-3), 7, ApproxDP(0, 7e-3)),
        (ApproxDP(math.log(2), 1e-3), 3, ApproxDP(3 * math.log(2), 7e-3)),
        (ApproxDP(1, 0.1), 30, ApproxDP(30, 1)),
        (ApproxZCDP(1e-3, 0, math.log(2)), 3, ApproxDP(3 * math.log(2), 7e-3)),
        (ApproxZCDP(0, 0, 0.1), 3, ApproxZCDP(0, 0, 0.3)),
        (ApproxZCDP(0, 0.1, 0.6), 3, ApproxZCDP(0, 0.9, 3.3)),
        (ZCDP(0.1), 3, ZCDP(0.9)),
        (ZCDP(0.1, 0.6), 3, ZCDP(0.9, 3 * (1 + 1 / 2 + 1 / 3) * 0.6)),
        (TCDP(0.1, math.inf), 3, TCDP(0.9, math.inf)),
        (TCDP(0.1, 9), 3, TCDP(0.9, 3)),
        (TCDP(0.1, 9), 8, TCDP(6.4, 9 / 8)),
        (MeanConcentratedDP(0.5, 0.6), 2, ZCDP(0.72)),
        (RDP(3, 0.1), 2, RDP(1 + 1 / 1.25, 0.1 * 2 * 1.25)),
    ],
    ids=str,
)
def test_values(guarantee, size, expected):
    assert close(group_privacy(guarantee, size), expected)


@pytest.mark.parametrize("epsilon", [1e-12, 1e-3, 1, 30])
@pytest.mark.parametrize("size", [2, 17, 1000])
def test_the_delta_of_a_group_is_a_geometric_sum(epsilon, size):
    with mp.workdps(40):
        expected = 1e-200 * mp.fsum(mp.exp(mp.mpf(epsilon) * i) for i in range(size))
    assert group_privacy(ApproxDP(epsilon, 1e-200), size).delta == pytest.approx(float(min(expected, 1)), rel=1e-12)


@pytest.mark.parametrize("size", [2, 5, 20])
def test_the_delta_of_a_group_covers_the_gaussian(size):
    """A group of k shifts the Gaussian k times as far: rho k^2."""
    for rho in (1e-3, 0.1):
        for epsilon in (0.1, 0.5):
            single = ApproxDP(epsilon, float(gaussian_delta(rho, epsilon)))
            whole = group_privacy(single, size)
            assert whole.delta >= gaussian_delta(rho * size**2, whole.epsilon)


@pytest.mark.parametrize("omega", [1.001, 1.5, 2, 9, 1000.5])
def test_beyond_omega_groups_have_one_order(omega):
    for size in sorted({math.ceil(omega), 2, 3, 2 * math.ceil(omega), 20 * math.ceil(omega)} - {1}):
        if size < omega or size * math.log1p(1 / (omega - 1)) > 35:  # where the order rounds to one
            continue
        answer = group_privacy(TCDP(0.1, omega), size)
        order, bound = proposition_9(0.1, omega, size)
        assert isinstance(answer, RDP)
        assert 1 < answer.order <= order  # rounded down: beyond the order nothing is known
        assert answer.order == pytest.approx(float(order), rel=5e-14)
        assert answer.epsilon == pytest.approx(float(bound), rel=1e-12)
        assert bound <= mp.exp(size / (mp.mpf(omega) - 1)) * mp.mpf(omega) ** 2 * 0.1
        assert close(group_privacy(RDP(omega, 0.1 * omega), size), answer)  # only the end of the curve is used


def sinh_normal_renyi(shift, order, ratio=1.0):
    """D_order of noise arsinh(ratio N(0, 1)) / ratio and its shift, by the trapezoid rule; both directions agree."""
    y = np.linspace(-14, 14, 200_001) + 0.5 * shift

    def log_density(x):
        return -0.5 * (np.sinh(x * ratio) / ratio) ** 2 + np.log(np.cosh(x * ratio)) - 0.5 * np.log(2 * np.pi)

    exponent = order * log_density(y) - (order - 1) * log_density(y - shift)
    top = exponent.max()
    assert max(exponent[0], exponent[-1]) < top - 40  # the range is wide enough
    return (top + math.log(np.exp(exponent - top).sum() * (y[1] - y[0]))) / (order - 1)


@pytest.mark.parametrize("size", [2, 3, 5, 8])
def test_groups_cover_sinh_normal_noise(size):
    """Whose divergence is infinite from order 1/(1 - e^(-2 shift)) on: the case for which the proposition is made."""
    shift = 0.2
    omega = 0.97 / -math.expm1(-2 * shift)
    rho = max(sinh_normal_renyi(shift, order) / order for order in np.linspace(1.001, omega, 60))
    whole = group_privacy(TCDP(rho, omega), size)
    if isinstance(whole, TCDP):
        for order in np.linspace(1.001, whole.omega * (1 - 1e-9), 12):
            assert sinh_normal_renyi(size * shift, order) <= whole.rho * order
    else:
        assert size > omega
        exact = sinh_normal_renyi(size * shift, whole.order)
        assert 0.05 * whole.epsilon <= exact <= whole.epsilon


def test_the_order_of_huge_groups_rounds_to_one():
    assert group_privacy(TCDP(0.1, 2), 51).order > 1
    with pytest.raises(
        ValueError, match=r"size = 60 is too large for \(0.1, 2\)-tCDP: the order 1 \+ 8.67e-19 .* to 1"
    ):
        group_privacy(TCDP(0.1, 2), 60)
    with pytest.raises(ValueError, match="size = 100000 is too large for"):
        group_privacy(RDP(2, 0.1), 100_000)


def test_large_groups():
    assert group_privacy(PureDP(1e-12), 10**12).epsilon == pytest.approx(1)
    assert group_privacy(ZCDP(1e-300, 1e-300), 10**150).xi == pytest.approx(
        1e-150 * (150 * math.log(10) + 0.57721566), rel=1e-9
    )
    assert group_privacy(ZCDP(1e-20, 1e-10), 10**8).xi == pytest.approx(
        1e-2 * (math.log(1e8) + 0.5772156649015329), rel=1e-8
    )


# Proposition 10


@pytest.mark.parametrize(("rho", "omega", "size", "delta"), [(0.1, 9, 1, 1e-6), (0.01, 20, 60, 1e-9), (2, 1.5, 3, 0.1)])
def test_proposition_10(rho, omega, size, delta):
    paper = group_to_approx_dp(TCDP(rho, omega), size, delta, "paper")
    cost = math.log(1 / delta)
    assert paper.epsilon == pytest.approx(math.exp(size / (omega - 1)) * (omega**2 * rho + cost), rel=1e-13)
    tight = group_to_approx_dp(TCDP(rho, omega), size, delta)
    growth = (omega / (omega - 1)) ** size - 1
    assert tight.epsilon == pytest.approx(growth * ((omega - 1) * omega * rho + cost), rel=1e-12)
    assert tight.epsilon < paper.epsilon
    assert tight.delta == paper.delta == delta
    assert tight.source.startswith("tight: ")
    assert paper.source == "paper: Bun-Dwork-Rothblum-Steinke 2018, Proposition 10"
    order, bound = proposition_9(rho, omega, size)  # the tight form is Lemma 8 at Proposition 9's order
    assert tight.epsilon == pytest.approx(float(bound + cost / (order - 1)), rel=1e-12)


@properties
@given(st.floats(-4, 1), st.floats(-1, 2), st.integers(1, 30), st.floats(-200, 0))
def test_tight_is_never_above_paper(log_rho, log_excess, size, log_delta):
    guarantee, delta = TCDP(10**log_rho, 1 + 10**log_excess), 10**log_delta
    if size * math.log1p(10**-log_excess) > 30:
        return
    paper = group_to_approx_dp(guarantee, size, delta, "paper").epsilon if size / 10**log_excess < 700 else math.inf
    tight = group_to_approx_dp(guarantee, size, delta).epsilon
    assert tight <= paper
    if size >= guarantee.omega:  # and the conversion at the best order is sharper still
        rounded = 1e-12 + 1e-15 * 10 ** (size * math.log10(1 + 10**-log_excess))  # of the order, near one
        assert to_approx_dp(group_privacy(guarantee, size), delta).epsilon <= tight * (1 + rounded)


@properties
@given(st.sampled_from(grown), st.integers(1, 8))
def test_larger_groups_have_less_privacy(guarantee, size):
    less, more = group_privacy(guarantee, size), group_privacy(guarantee, size + 1)
    if type(less) is type(more):
        name = next(iter(vars(less)))
        if name == "order":
            assert more.order <= less.order
            assert more.epsilon >= less.epsilon
        else:
            assert values(more)[0] >= values(less)[0]
    delta = 1e-4
    assert to_approx_dp(more, delta).epsilon >= to_approx_dp(less, delta).epsilon * (1 - 1e-12) or not isinstance(
        more, type(less)
    )


@properties
@given(st.sampled_from([PureDP(0.1), ZCDP(0.01), TCDP(0.01, 40)]), st.integers(1, 4), st.integers(1, 4))
def test_a_group_of_groups(guarantee, one, other):
    """Where the theorem is exact, a group of groups is the product of their sizes."""
    assert close(group_privacy(group_privacy(guarantee, one), other), group_privacy(guarantee, one * other))


# Bad input


@pytest.mark.parametrize("size", [0, -1, 1.5, math.nan, "2", None, True, 10**301])
def test_sizes_out_of_range_are_refused(size):
    for what in (lambda: group_privacy(PureDP(1), size), lambda: group_to_approx_dp(TCDP(0.1, 3), size, 0.1)):
        with pytest.raises(ValueError, match=r"size = .* is not valid; valid: a whole number from 1 to 1e300"):
            what()
    assert group_privacy(PureDP(1), np.int64(2)) == group_privacy(PureDP(1), 2.0) == PureDP(2)


def test_what_has_no_group_privacy_is_refused_with_the_reason():
    with pytest.raises(ValueError, match=r"no group privacy is known for 0.1-approximate 1-zCDP .*Section 8"):
        group_privacy(ApproxZCDP(0.1, 1), 2)
    with pytest.raises(ValueError, match=r"guarantee = 0.1"):
        group_privacy(0.1, 2)
    with pytest.raises(ValueError, match="epsilon = inf"):
        group_privacy(PureDP(1e300), 10**10)


def test_the_preconditions_of_proposition_10_are_named():
    for wrong in (ZCDP(0.1), TCDP(0.1, math.inf), 0.1):
        with pytest.raises(ValueError, match=r"Proposition 10 does not apply to .*valid: TCDP with omega < inf"):
            group_to_approx_dp(wrong, 2, 0.1)
    for delta in (0, -1, 1.1, math.nan):
        with pytest.raises(ValueError, match=r"delta = .* is not valid; valid: 0 < delta <= 1"):
            group_to_approx_dp(TCDP(0.1, 3), 2, delta)
    with pytest.raises(ValueError, match="method = 'best'"):
        group_to_approx_dp(TCDP(0.1, 3), 2, 0.1, "best")
    for method in ("tight", "paper"):
        with pytest.raises(
            ValueError, match=r"size = 5000 is too large for \(0.1, 3\)-tCDP: its epsilon .* over 1e308"
        ):
            group_to_approx_dp(TCDP(0.1, 3), 5000, 0.1, method)
