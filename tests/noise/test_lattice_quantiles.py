"""Quantiles of noise on a lattice: the least point whose tail is at most p, with nothing rounded in p's favour."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from tcdp_sim.noise.lattice import LatticeNoise

NOISES = [LatticeNoise(0.0, (-1.0, -1.5, -2.5), 0.3), LatticeNoise(0.5, (-1.0, -1.5, -2.5), 2.0)]


def tail(noise, x):
    """log P[Z > x] of a point x of the lattice, by mpmath from the table."""
    x, total = float(x), mp.mpf(0)
    for i, log_mass in enumerate(noise.log_mass):
        total += mp.exp(log_mass) * ((noise.offset + i > x) + (noise.offset + i != 0 and -noise.offset - i > x))
    last, fall = noise.offset + len(noise.log_mass) - 1, mp.mpf(noise.fall)
    beyond = mp.exp(noise.log_mass[-1]) / mp.expm1(fall)  # of one sign
    if x < -last:
        return total + beyond * (2 - mp.exp(-fall * (-x - last - 1)))
    return total + beyond * (mp.exp(-fall * (x - last)) if x > last else 1)


@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize("nudge", [-5e-10, -1e-12, 0.0, 1e-12, 5e-10])
def test_the_tail_beyond_a_quantile_is_at_most_p(noise, nudge):
    with mp.workdps(60):
        for x in np.arange(-40.0, 400.0, 7) + noise.offset:
            p = float(tail(noise, x)) * (1 + nudge)
            if not 1e-300 < p < 1 - 1e-12:
                continue
            found = noise.isf(p)
            assert tail(noise, found) <= p * (1 + mp.mpf(1e-13))  # the rounding of the tail itself
            assert tail(noise, found - 1) > p * (1 - mp.mpf(1e-13))
            deep = noise.isf_log(float(mp.log(p)))
            assert abs(deep - found) <= (abs(nudge) <= 1e-12)  # the log of p may be rounded across a point's tail


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_far_quantiles_by_exact_arithmetic(noise):
    """At depths far below the floats: the tail's log is the table's last one less a whole number of falls."""
    last = noise.offset + len(noise.log_mass) - 1
    first = Fraction(float(noise.logsf(last)))
    for depth in (-900.0, -12345.678, -1e6):
        steps = -(-(first - Fraction(depth)) // Fraction(noise.fall))
        assert abs(noise.isf_log(depth) - (last + steps)) <= 1
        assert noise.logsf(noise.isf_log(depth)) <= depth < noise.logsf(noise.isf_log(depth) - 1)


def test_largest_loss_of_a_far_shift_needs_no_table_of_its_length():
    for noise in NOISES:
        y = np.arange(-60.0, 100.0) + noise.offset
        for shift in (1, 2, 3, 10, 40):
            assert noise.largest_loss(shift) == pytest.approx(np.abs(noise.privacy_loss(y, shift)).max(), rel=1e-14)
        assert np.isfinite(noise.largest_loss(1e12))
