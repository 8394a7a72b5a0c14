"""The means of extremes, for every family, beside brute force on the family's own support."""

import mpmath
import numpy as np
import pytest
from noise_examples import TABLE

from tcdp_sim import exact
from tcdp_sim.exact.extreme_means import MOST_POINTS, mean_of_max, mean_of_max_abs
from tcdp_sim.noise import DiscreteGaussian, Gaussian, Laplace, StudentT, TruncatedLaplace

NOISES = {family: entry.noises[0] for family, entry in TABLE.items()}
K = (1.0, 2.0, 7.0, 1e6)


def by_levels(quantile, tiles):
    """The mean as the integral of the quantile function over levels, by the midpoint rule in a stretched level.

    The level is u^3 (6 u^2 - 15 u + 10), which is flat at both ends, so that the tails are well resolved.
    """
    u = (np.arange(tiles) + 0.5) / tiles
    level, upper = (x**3 * (6 * x * x - 15 * x + 10) for x in (u, 1 - u))
    weight = 30 * u**2 * (1 - u) ** 2 / tiles
    return float(quantile(level, upper) @ weight)


CONTINUOUS = [name for name, noise in NOISES.items() if not noise.is_discrete]
LATTICES = [name for name, noise in NOISES.items() if noise.is_discrete]


@pytest.mark.parametrize("k", K)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_means_are_integrals_of_quantiles(name, k):
    """The levels near 1 are not exact in floats, so their complements go to the tail; 1e-4 is the rule's error."""
    noise = NOISES[name]

    def largest(level, upper):
        log_below = np.where(level > 0.5, np.log1p(-upper), np.log(level)) / k
        tail = -np.expm1(log_below)
        return np.where(tail < 0.5, noise.isf(tail), -noise.isf(np.exp(log_below)))

    def largest_size(level, upper):
        log_below = np.where(level > 0.5, np.log1p(-upper), np.log(level)) / k
        return noise.isf(-np.expm1(log_below) / 2)

    scale = float(noise.isf(0.25))
    for function, quantile in ((mean_of_max, largest), (mean_of_max_abs, largest_size)):
        found, brute = function(noise, k), by_levels(quantile, 5_000)
        assert found.lower <= found.estimate <= found.upper
        assert found.upper - found.lower <= 1e-6 * max(abs(found.estimate), scale)
        assert found.estimate == pytest.approx(brute, rel=1e-4, abs=1e-4 * scale)


@pytest.mark.parametrize("k", K)
@pytest.mark.parametrize("name", LATTICES)
def test_means_on_lattices_are_sums_over_points(name, k):
    """The sum of x P[max = x] in 60 digits, from the probabilities of the points alone, out to tails of 1e-40."""
    noise = NOISES[name]
    most = int(noise.isf(1e-40) / noise.step_length) + 2
    points = noise.step_length * (noise.offset + np.arange(-most, most + 1))
    with mpmath.workdps(60):
        masses = [mpmath.mpf(float(mass)) for mass in noise.pmf(points)]
        signed, sizes = dict(zip(map(float, points), masses)), {}
        for x, mass in signed.items():
            sizes[abs(x)] = sizes.get(abs(x), 0) + mass
        spread = mpmath.sqrt(sum(mass * x * x for x, mass in signed.items()))
        for function, law in ((mean_of_max, signed), (mean_of_max_abs, sizes)):
            below, brute = mpmath.mpf(0), mpmath.mpf(0)
            for x, mass in sorted(law.items()):
                brute += x * ((below + mass) ** k - below**k)
                below += mass
            found = function(noise, k)
            assert found.lower <= found.estimate <= found.upper
            assert found.upper - found.lower <= 1e-6 * max(abs(found.estimate), spread)
            assert found.estimate == pytest.approx(float(brute), rel=1e-8, abs=1e-9 * float(spread))


def test_closed_forms_lie_in_the_brackets():
    """One Gaussian, two Gaussians (1 / sqrt pi), the harmonic numbers of exponential variables, a bounded noise."""
    cases = (
        (mean_of_max_abs(Gaussian(3.0), 1), 3 * np.sqrt(2 / np.pi)),
        (mean_of_max(Gaussian(3.0), 2), 3 / np.sqrt(np.pi)),
        (mean_of_max(Gaussian(3.0), 1), 0.0),
        (mean_of_max_abs(Laplace(2.0), 40), 2 * sum(1 / j for j in range(1, 41))),
        (mean_of_max_abs(Laplace(2.0), 1e300), 2 * (np.log(1e300) + np.euler_gamma)),
        (mean_of_max_abs(StudentT(2.0, 3.0), 1), 2 * 2 * np.sqrt(3) / np.pi),
        (mean_of_max_abs(TruncatedLaplace(2.0, 9.0), 1e300), 9.0),
    )
    for found, true in cases:
        assert found.lower - 1e-9 <= true <= found.upper + 1e-9, (found, true)
        assert found.estimate == pytest.approx(true, rel=1e-9, abs=1e-9)


def test_of_very_many_draws_the_mean_lies_between_quantiles():
    for noise in (Gaussian(3.0), Laplace(2.0)):
        for mean, quantile in ((mean_of_max, exact.max_quantile), (mean_of_max_abs, exact.max_abs_quantile)):
            assert quantile(noise, 1e300, 0.5).upper < mean(noise, 1e300).estimate < quantile(noise, 1e300, 0.6).lower


def test_too_fine_a_lattice_is_refused():
    with pytest.raises(ValueError, match="too fine"):
        mean_of_max(DiscreteGaussian(float(MOST_POINTS)), 1)
