"""What the papers promise about the accuracy of a private histogram: the claims that the simulations test.

Every function returns a radius in counts: with probability at least 1 - beta no bin of the k is off by more.
bins: k >= 1 (any real, up to 1e300); 0 < beta < 1; neighbours differ in one record ("substitute").
"""

import numpy as np

from tcdp_sim.noise import Gaussian, Laplace, Noise, SinhNormal, TruncatedLaplace


def histogram_error_bound(noise: Noise, bins, beta):
    """The radius proved for this noise in each of `bins` bins.

    sinh-normal: Bun-Dwork-Rothblum-Steinke 2018, Corollary 18 (A arsinh(sqrt(2 log(k / beta)) sigma / A));
    Gaussian: Bun-Steinke 2016, Section 6.1 corrected (sigma sqrt(2 log(k / beta)));
    Laplace: union bound; truncated Laplace: the same, but never more than its support; any other noise: the union
    bound by its own quantile, P[|Z| > radius] = beta / k. Raises TypeError for what is no noise.
    """
    log_ratio = np.log(bins) - np.log(beta)
    match noise:
        case SinhNormal():
            return noise.knee * np.arcsinh(noise.scale / noise.knee * np.sqrt(2 * log_ratio))
        case Gaussian():
            return noise.scale * np.sqrt(2 * log_ratio)
        case TruncatedLaplace():
            return np.minimum(noise.bound, noise.scale * log_ratio)
        case Laplace():
            return noise.scale * log_ratio
        case Noise():
            return noise.isf(0.5 * np.exp(-log_ratio))
    raise TypeError(f"no accuracy bound is known for {noise!r}")


def zcdp_printed_radius(rho, bins, beta):
    """The radius printed in Bun-Steinke 2016, Section 6.1: sqrt(log(k / beta) / rho). It is WRONG.

    Their own derivation gives sqrt(2 log(k / beta) / rho); the printed radius is exceeded with probability 0.81
    at k = 1000, beta = 0.05. Kept to show the violation.
    """
    return np.sqrt((np.log(bins) - np.log(beta)) / rho)


def least_sample_size(rho, omega, bins):
    """Corollary 27 of Bun-Dwork-Rothblum-Steinke 2018: the n below which no (rho, omega)-tCDP release works.

    "Works" = on every data set of n records the largest error is below n / 2 with probability 1/2. In records;
    NaN where the bound is vacuous (log(k / 4) <= 2 omega^2 rho).
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        n = (omega - 1) * np.log((np.log(bins) - np.log(4)) / (2 * np.square(omega) * rho))
    return np.where(n > 0, n, np.nan)[()]
