"""Bounds of the papers on the accuracy of a private histogram: the claims that the simulations test.

Every function returns a radius in counts. With probability at least 1 - failure, no bin is off by more. Neighbouring
data sets differ in one record ("substitute").
"""

from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Reals
from tcdp_sim.noise import Gaussian, Noise


def histogram_error_bound(noise: Noise, k: ArrayLike, failure: ArrayLike) -> Reals:
    """Return the radius that is proved for a noise in each of `k` bins.

    The radius depends on the family:

    - Sinh-normal: knee arsinh(sqrt(2 log(k / failure)) scale / knee), by Corollary 18 of the tCDP paper.
    - Gaussian: scale sqrt(2 log(k / failure)), by Section 6.1 of the zCDP paper, corrected.
    - Laplace: the union bound.
    - Truncated Laplace: the union bound, but at most the end of the support.
    - Other noises: the union bound by their own quantile, P[|Z| > radius] = failure / k.

    Source: Bun et al. (2018), Corollary 18 [BDRS18]; Bun and Steinke (2016), Section 6.1 [BS16].

    Parameters
    ----------
    noise : Noise
        The noise that is added to every bin.
    k : array_like
        Number of bins, at least 1 and at most 1e300; it need not be whole.
    failure : array_like
        Probability of a larger error, in (0, 1).

    Returns
    -------
    float or array
        The radius, in counts.

    Examples
    --------
    >>> from tcdp_sim.noise import Laplace
    >>> round(float(histogram_error_bound(Laplace(1.0), 1000, 0.05)), 4)
    9.9035
    """
    if not isinstance(noise, Noise):
        raise TypeError(f"no accuracy bound is known for {noise!r}; valid: a Noise")
    return noise.accuracy_radius(k, failure)


def zcdp_printed_radius(rho: float, k: ArrayLike, failure: ArrayLike) -> Reals:
    """Return the WRONG radius that Section 6.1 of Bun-Steinke 2016 [BS16] prints: sqrt(log(k / failure) / rho).

    The derivation in the paper gives sqrt(2 log(k / failure) / rho). The printed radius is exceeded with probability
    0.81 at k = 1000 and failure = 0.05. The function exists to show the violation.

    >>> round(float(zcdp_printed_radius(0.1, 1000, 0.05)), 3)
    9.952
    """
    return Gaussian(1.0).printed_radius(rho, k, failure)  # the printed radius does not depend on the scale
