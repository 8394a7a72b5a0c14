"""Noise keeps its promise exactly, as its masses are stored: by interval arithmetic, and by fractions."""

from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from mpmath import iv

from tcdp_sim.calibration.optimal import (
    LatticeMixture,
    MeanAbsoluteError,
    MeanSquaredError,
    Tail,
    best_lattice_noise,
    optimal_noise,
)
from tcdp_sim.calibration.optimal.geometric import geometric_with_step
from tcdp_sim.calibration.optimal.stored_promise import kept, slack
from tcdp_sim.privacy import ApproxDP, PureDP

PURE = [1e-15, 1e-9, 0.001, 0.3, 1.0, 2.5, 40.0]
APPROXIMATE = [
    (1.0, 1e-300),
    (1.0, 1e-12),
    (0.3, 0.1),
    (0.01, 1e-6),
    (0.0, 0.013),
    (1e-14, 0.01),
    (3.0, 0.4),
    (0.7, 1e-30),
]
DIGITS = 340


def largest_delta(noise, epsilon):
    """An upper bound on delta(epsilon) at a shift by one, from the stored logs: intervals of 340 digits."""
    factor = iv.exp(iv.mpf(epsilon))
    if isinstance(noise, LatticeMixture):
        runs = [[iv.exp(iv.mpf(each)) for each in table] for table in noise.log_mass]
        excess = sum((exceeding([*run, 0], factor) + exceeding([*run[::-1], 0], factor) for run in runs), iv.mpf(0)) / 2
        return upper(excess / sum((sum(run) for run in runs), iv.mpf(0)))
    arm = [iv.exp(iv.mpf(each)) for each in noise.log_mass]
    ratio = iv.exp(-iv.mpf(noise.fall))
    beyond = arm[-1] * ratio / (1 - ratio)
    total = 2 * (sum(arm) + beyond) - (arm[0] if noise.offset == 0 else 0)
    further = 0 if noise.fall <= epsilon else beyond
    return upper((exceeding([*arm, arm[-1] * ratio], factor) + further) / total)


def exceeding(masses, factor):
    """What each mass exceeds the next one times the factor by, together; nothing rises outwards by more than that."""
    return sum(
        (iv.mpf(upper(here - factor * there)) for here, there in pairwise(masses) if upper(here - factor * there) > 0),
        iv.mpf(0),
    )


def upper(interval):
    return mpmath.mpf(interval.b)


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(DIGITS):
        iv.dps = DIGITS
        yield
        iv.dps = 15


@pytest.mark.parametrize("epsilon", PURE)
@pytest.mark.parametrize("objective", [Tail(3.0), Tail(2.5), MeanAbsoluteError(), MeanSquaredError()])
def test_pure_dp_is_kept_exactly(epsilon, objective):
    noise = optimal_noise(PureDP(epsilon), objective).noise
    falls = [abs(Fraction(a) - Fraction(b)) for a, b in pairwise(noise.log_mass)]
    assert max(falls) <= Fraction(epsilon)
    assert Fraction(noise.fall) <= Fraction(epsilon)


@pytest.mark.parametrize(("epsilon", "delta"), APPROXIMATE)
@pytest.mark.parametrize("objective", [Tail(3.0), Tail(2.5), Tail(40.0), MeanAbsoluteError(), MeanSquaredError()])
def test_approximate_dp_is_kept_exactly(epsilon, delta, objective):
    best = optimal_noise(ApproxDP(epsilon, delta), objective)
    noise, bounds = best.noise, best.bounds
    used = largest_delta(noise, epsilon)
    assert used <= mpmath.mpf(delta)
    assert bounds.upper <= bounds.lower * (1 + 1e-9) + 1e-299  # and next to nothing is given away for it


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-300), (0.3, 1e-200), (2.0, 1e-280)])
def test_what_a_mean_square_gives_away_covers_the_worst_rounding(epsilon, delta):
    """2^-50 times the depth of the table, whatever this table's own luck was."""
    noise = optimal_noise(ApproxDP(epsilon, delta), MeanSquaredError()).noise
    for table in noise.log_mass if isinstance(noise, LatticeMixture) else (noise.log_mass,):
        falls = [abs(Fraction(a) - Fraction(b)) for a, b in pairwise(table)]
        assert max(falls[:-1]) <= Fraction(epsilon) - Fraction(-min(table)) / 2**50  # delta may be in the last step


@pytest.mark.parametrize("epsilon", [1e-8, 1e-5, 0.01, 1.0])
def test_costs_under_pure_dp_hold_the_closed_forms(epsilon):
    """E |Z| = 2q / (1 - q^2) and E Z^2 = 2q / (1 - q)^2 at masses proportional to q^|i|, q = e^-epsilon."""
    q = mpmath.exp(-mpmath.mpf(epsilon))
    for objective, least in ((MeanAbsoluteError(), 2 * q / (1 - q**2)), (MeanSquaredError(), 2 * q / (1 - q) ** 2)):
        bounds = optimal_noise(PureDP(epsilon), objective).bounds
        assert bounds.lower <= least <= bounds.upper


@pytest.mark.parametrize(("epsilon", "delta"), [(6.394507578480349e-16, 3.676045532202317e-21), (7.4e-8, 1.01e-6)])
def test_a_tail_keeps_it_where_epsilon_is_below_rounding(epsilon, delta):
    assert largest_delta(optimal_noise(ApproxDP(epsilon, delta), Tail(2.0)).noise, epsilon) <= mpmath.mpf(delta)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-300), (0.3, 0.1), (0.7, 1e-30)])
def test_on_one_lattice_the_mean_square_keeps_it_too(epsilon, delta):
    assert largest_delta(best_lattice_noise(ApproxDP(epsilon, delta), MeanSquaredError()).noise, epsilon) <= mpmath.mpf(
        delta
    )


def test_probabilities_as_floats_keep_it_as_well():
    """(1, 1e-300)-DP and P[|Z| > 3]: rounded to nearest, probabilities have had delta = 2.8e-17."""
    noise = optimal_noise(ApproxDP(1.0, 1e-300), Tail(3.0)).noise
    factor = Fraction(mpmath.nstr(mpmath.e, 60)) - Fraction(1, 10**58)
    masses = [Fraction(float(each)) for each in noise.pdf(np.arange(len(noise.log_mass)) + noise.offset)]
    assert len(masses) == 5
    assert sum(max(here - factor * there, 0) for here, there in pairwise(masses)) <= Fraction(1e-300)


def test_the_oracle_sees_what_is_rounded_to_nearest():
    """The same noise without slack exceeds its promise."""
    assert largest_delta(geometric_with_step(1.0, 1e-300, 0.0, 3), 1.0) > 1e-18


def test_what_is_kept():
    assert kept(0.3, 0.1, 0.0) == (0.3, 0.1)
    fall, delta = kept(0.3, 0.1, slack(10.0))
    assert 0.3 - 1e-12 < fall < 0.3 - 50 * 2.0**-51
    assert 0.1 * (1 - 1e-12) < delta < 0.1
    assert kept(1e-14, 0.1, slack(10.0))[0] == 0.0


@pytest.mark.parametrize("epsilon", [1e-14, 1e-6, 0.5, 3.0])
@pytest.mark.parametrize("share", [0.1, 0.9, 1 - 1e-9, 1 - 1e-14, 1.0, 1.5])
def test_bounds_of_a_tail_contain_the_closed_form(epsilon, share):
    """Where delta takes nearly all of the last point's probability, a difference of floats has few digits left."""
    with mpmath.workdps(60):
        q = mpmath.exp(-mpmath.mpf(epsilon))
        mass = 1 + 2 * (q + q**2 + q**3)
        delta = float(share * q**3 / mass)
        beyond = 2 * q / (1 - q)
        truth = max(beyond * (q**3 - mpmath.mpf(delta) * mass) / (mass + beyond * q**3), 0)
        bounds = optimal_noise(ApproxDP(epsilon, delta), Tail(3.0)).bounds
        assert mpmath.mpf(bounds.lower) <= truth <= mpmath.mpf(bounds.upper)
        assert bounds.upper - bounds.lower <= 1e-9
