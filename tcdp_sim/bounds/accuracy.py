"""What the papers promise about the accuracy of a private histogram: the claims that the simulations test.

Every function returns a radius in counts: with probability at least 1 - beta no bin of the k is off by more.
bins: k >= 1 (any real, up to 1e300); 0 < beta < 1; neighbours differ in one record ("substitute").
"""

from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Reals
from tcdp_sim.noise import Gaussian, Noise


def histogram_error_bound(noise: Noise, bins: ArrayLike, beta: ArrayLike) -> Reals:
    """The radius proved for this noise in each of `bins` bins: what it says itself, or the union bound.

    sinh-normal: Bun-Dwork-Rothblum-Steinke 2018, Corollary 18 (A arsinh(sqrt(2 log(k / beta)) sigma / A));
    Gaussian: Bun-Steinke 2016, Section 6.1 corrected (sigma sqrt(2 log(k / beta)));
    Laplace: union bound; truncated Laplace: the same, but never more than its support; any other noise: the union
    bound by its own quantile, P[|Z| > radius] = beta / k. Raises TypeError for what is no noise.
    """
    if not isinstance(noise, Noise):
        raise TypeError(f"no accuracy bound is known for {noise!r}")
    return noise.accuracy_radius(bins, beta)


def zcdp_printed_radius(rho: float, bins: ArrayLike, beta: ArrayLike) -> Reals:
    """The radius printed in Bun-Steinke 2016, Section 6.1: sqrt(log(k / beta) / rho). It is WRONG.

    Their own derivation gives sqrt(2 log(k / beta) / rho); the printed radius is exceeded with probability 0.81
    at k = 1000, beta = 0.05. Kept to show the violation.
    """
    return Gaussian(1.0).printed_radius(rho, bins, beta)  # whatever the scale
