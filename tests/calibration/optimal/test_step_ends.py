"""Ends of steps of the least quantile: against the search for that quantile, and tails of an independent solver."""

from math import inf, log, sqrt

import mpmath
import pytest

from tcdp_sim.calibration.optimal import LargestError, Tail, optimal_noise
from tcdp_sim.calibration.optimal.step_ends import step_ends
from tcdp_sim.privacy import RDP, TCDP, ZCDP, ApproxDP, PureDP

# log10 of the smallest two-sided tail beyond t at rho = 0.1, omega sqrt(rho) = 0.75, two bins: sequential quadratic
# programming in the logarithms of 40 unknowns, to two digits.
TAILS = {10: -3.89, 10.5: -4.48, 11: -5.20, 11.5: -6.10, 12: -7.24, 12.5: -8.69, 13: -10.56}


def test_counts_are_those_of_an_independent_solver():
    found = {end.quantile: end.errors for end in step_ends(TCDP(0.1, 0.75 / sqrt(0.1)), 3e2, 4e8, 20, coordinates=2)}
    known = found.keys() & TAILS.keys()
    assert len(known) >= 6
    for quantile in known:
        tail = -log(0.95) / found[quantile].estimate  # 1 - 0.95^(1/k), but for its square
        assert log(tail) / log(10) == pytest.approx(TAILS[quantile], abs=0.006)


@pytest.mark.parametrize(("rho", "scaled"), [(0.5, 2.0), (0.1, 0.75), (0.1, 2.0)])
def test_the_least_quantile_steps_up_there(rho, scaled):
    promise = TCDP(rho, scaled / sqrt(rho))
    for quantile, errors in step_ends(promise, 30.0, 1e7, 3, level=0.9, coordinates=2):
        below, above = (
            optimal_noise(promise, LargestError(count, 0.9), 2).bounds
            for count in (errors.lower * (1 - 1e-9), errors.upper * (1 + 1e-9))
        )
        assert (below.upper, above.lower) == (quantile, quantile + 0.5)
        assert errors.lower <= errors.estimate <= errors.upper <= 1.01 * errors.lower


@pytest.mark.parametrize(("rho", "scaled"), [(0.5, 0.75), (0.5, 2.0), (0.1, 0.75), (0.01, 2.0)])
def test_they_reach_about_from_the_first_number_to_the_last(rho, scaled):
    found = step_ends(TCDP(rho, scaled / sqrt(rho)), 10.0, 1e12, 4, coordinates=2)
    assert found[0].errors.upper < 1e3
    assert found[-1].errors.upper > 1e8
    assert 2 <= len(found) <= 4
    assert all(2 * end.quantile % 1 == 0 for end in found)


def test_pure_dp_has_a_closed_form():
    """The two-sided geometric mechanism leaves P[|Z| > t] = 2 q^(t + 1) / (1 + q), q = e^-epsilon, for whole t."""
    q = mpmath.exp(-mpmath.mpf(0.5))
    ends = [end for end in step_ends(PureDP(0.5), 10, 1e12, 30) if end.quantile % 1 == 0]
    assert len(ends) >= 5
    for quantile, errors in ends:
        with mpmath.workdps(40):
            count = mpmath.log(0.95) / mpmath.log1p(-2 * q ** (quantile + 1) / (1 + q))
            assert errors.lower <= count <= errors.upper
        assert errors.upper < errors.lower * (1 + 1e-8)


@pytest.mark.parametrize("promise", [ZCDP(0.1), TCDP(0.1, 1e9)])
def test_zcdp_is_where_omega_does_not_matter(promise):
    """Against the search for the quantile."""
    (quantile, errors), *_ = step_ends(promise, 100, 1e6, 2)
    for count, expected in ((errors.lower * (1 - 1e-9), quantile), (errors.upper * (1 + 1e-9), quantile + 0.5)):
        least = optimal_noise(ZCDP(0.1), LargestError(count, 0.95)).bounds
        assert least.lower <= expected <= least.upper


@pytest.mark.parametrize("level", [1e-12, 0.5, 0.95, 1 - 1e-15])
@pytest.mark.parametrize("promise", [TCDP(0.1, 5.0), TCDP(0.1, 1 + 1e-9), TCDP(50.0, 1.5)])
def test_the_ends_are_those_of_the_tail_with_rounding(promise, level):
    """log(level) / log(1 - tail) to 60 digits lies in the bounds, for both ends of the tail's bracket."""
    for quantile, errors in step_ends(promise, 10, 1e9, 3, level=level):
        tail = optimal_noise(promise, Tail(quantile)).bounds
        with mpmath.workdps(60):
            from_tail = [mpmath.log(level) / mpmath.log1p(-mpmath.mpf(chance)) for chance in tail if chance > 0]
        assert all(errors.lower <= count <= errors.upper for count in from_tail)
        assert errors.lower <= errors.estimate <= errors.upper
        assert (errors.upper == inf) == (tail.lower == 0)


def test_what_is_not_valid_is_refused():
    for promise in (RDP(2.0, 0.1), ZCDP(0.1, 0.1)):
        with pytest.raises(ValueError, match=r"guarantee = .* is not valid; valid: PureDP, ZCDP with xi = 0, TCDP"):
            step_ends(promise, 10, 1e6, 3)
    with pytest.raises(ValueError, match="coordinates = 2 is not valid with"):
        step_ends(ApproxDP(0.5, 1e-6), 10, 1e6, 3, coordinates=2)
    with pytest.raises(ValueError, match=r"coordinates = 0 .* valid"):
        step_ends(TCDP(0.1, 5.0), 10, 1e6, 3, coordinates=0)
    with pytest.raises(ValueError, match="no float"):
        step_ends(TCDP(1e4, 5.0), 10, 1e6, 3)
    with pytest.raises(ValueError, match=r"fewest = 0.5 .* valid"):
        step_ends(TCDP(0.1, 5.0), 0.5, 1e6, 3)
    with pytest.raises(ValueError, match=r"most = 5.* valid"):
        step_ends(TCDP(0.1, 5.0), 10.0, 5.0, 3)
