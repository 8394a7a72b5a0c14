"""Ends of steps of the least quantile: against the search for that quantile, and tails of an independent solver."""

from math import log, sqrt

import pytest

from tcdp_sim.optimal import LargestErrorQuantile, optimal_noise, step_ends
from tcdp_sim.privacy import TCDP

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
            optimal_noise(promise, LargestErrorQuantile(count, 0.9), 2)[1]
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


def test_what_is_not_valid_is_refused():
    with pytest.raises(ValueError, match=r"fewest = 0.5 .* valid"):
        step_ends(TCDP(0.1, 5.0), 0.5, 1e6, 3)
    with pytest.raises(ValueError, match=r"most = 5.* valid"):
        step_ends(TCDP(0.1, 5.0), 10.0, 5.0, 3)
