"""record_epsilon of Student's t noise, whose law of one degree of freedom has a profile in elementary functions."""

import mpmath
import numpy as np
import pytest

from tcdp_sim import exact
from tcdp_sim.exact import record_epsilon
from tcdp_sim.noise.student_t import StudentT
from tcdp_sim.per_record import AdditiveRelease


def cauchy_profile(shift, epsilon):
    """delta(epsilon) > 0 for scale 1, one degree: 1 + (x - t)^2 > e^epsilon (1 + x^2) between two roots; 120 digits."""
    with mpmath.workdps(120):
        t, ratio = mpmath.mpf(shift), mpmath.exp(mpmath.mpf(epsilon))
        inside = ratio * t**2 - (ratio - 1) ** 2
        if inside <= 0:
            return mpmath.mpf(0)
        ends = [(-t + sign * mpmath.sqrt(inside)) / (ratio - 1) for sign in (-1, 1)]
        p, q = (mpmath.atan(ends[1] - m) - mpmath.atan(ends[0] - m) for m in (0, t))
        return (p - ratio * q) / mpmath.pi


@pytest.mark.parametrize(
    ("shift", "delta"),
    [
        (1.0, 1e-9),
        pytest.param(1e-9, 1e-300, marks=pytest.mark.slow),
        pytest.param(1e9, 1e-12, marks=pytest.mark.slow),
        pytest.param(1e9, 0.5, marks=pytest.mark.slow),
    ],
)
def test_the_ends_are_certain(shift, delta):
    found = record_epsilon(AdditiveRelease(StudentT(1.0, 1.0)), shift, delta)
    assert cauchy_profile(shift, found.lower) >= delta
    assert cauchy_profile(shift, found.upper * (1 + 1e-15)) <= delta
    assert found.upper <= found.lower * (1 + 2e-4)


@pytest.mark.parametrize("noise", [StudentT(1.0, 1.0), StudentT(2.0, 3.0), StudentT(0.5, 30.0)])
@pytest.mark.parametrize("shift", [0.01, 1.0, 100.0])
def test_the_largest_loss_is_the_largest_fall_of_the_log_density(noise, shift):
    """On a grid, which misses the peak by less than 1e-6 of it."""
    arm = np.geomspace(1e-3, 1e3, 200_001)
    x = shift / 2 + np.concatenate([-arm[::-1], arm])
    falls = np.abs(noise.logpdf(x) - noise.logpdf(x - shift))
    assert falls.max() <= noise.largest_loss(shift) * (1 + 1e-12)
    assert falls.max() == pytest.approx(noise.largest_loss(shift), rel=1e-6)


@pytest.mark.parametrize("shift", [1e2, 1e6, 1e10, 1e12, 1e14, 1e20, 1e100])
def test_two_peaks_that_are_far_apart_are_resolved_or_refused(shift):
    """D_2 of t noise with 3 degrees of freedom is the log of a mean of a polynomial, which is finite."""
    noise = StudentT(1.0, 3.0)
    with mpmath.workdps(50):
        moments = [mpmath.mpf(0)] * 5  # of x under p^2: E x^2 and so on by the beta function
        for k in (0, 2, 4):
            moments[k] = mpmath.mpf(3) ** (mpmath.mpf(k + 1) / 2) * mpmath.beta(
                mpmath.mpf(k + 1) / 2, 4 - mpmath.mpf(k + 1) / 2
            )
        s = mpmath.mpf(shift)
        scale = mpmath.gamma(2) / (mpmath.sqrt(3 * mpmath.pi) * mpmath.gamma(mpmath.mpf(3) / 2))
        # (1 + (x - s)^2 / 3)^2 = sum of its terms that are even in x
        whole = (1 + s**2 / 3) ** 2
        square = (2 * (1 + s**2 / 3) / 3 + 4 * s**2 / 9) * moments[2]
        truth = mpmath.log(scale * (whole * moments[0] + square + moments[4] / 9))
    if shift > 1e12 * noise.isf(0.25):
        with pytest.raises(ValueError, match=r"resolve both peaks; valid: at most"):
            exact.renyi_divergence(noise, shift, 2.0)
        return
    found = exact.renyi_divergence(noise, shift, 2.0)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < 1e-3
