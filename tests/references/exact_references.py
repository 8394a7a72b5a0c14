"""The noises written independently in 50 digits, as symmetric densities and upper tails, with examples."""

import mpmath as mp

from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, TruncatedLaplace

mp.mp.dps = 50

NOISES = (
    Gaussian(1.0),
    Gaussian(7.3),
    Laplace(2.0),
    TruncatedLaplace(2.0, 11.0),
    TruncatedLaplace(1.0, 0.5),
    SinhNormal(3.0, 20.0),
    SinhNormal(4.0, 1.0),  # two modes
)


def sf(noise, x):
    """Return P[Z > x]."""
    x = mp.mpf(x)
    if x < 0:
        return 1 - sf(noise, -x)
    match noise:
        case Gaussian():
            return mp.erfc(x / noise.scale / mp.sqrt(2)) / 2
        case Laplace():
            return mp.exp(-x / noise.scale) / 2
        case TruncatedLaplace():
            edge = mp.exp(-mp.mpf(noise.bound) / noise.scale)
            return max(mp.exp(-x / noise.scale) - edge, mp.mpf(0)) / (2 * (1 - edge))
        case SinhNormal():
            z = mp.mpf(noise.knee) / noise.scale * mp.sinh(x / noise.knee)
            return mp.erfc(z / mp.sqrt(2)) / 2 if z < 1e4 else mp.mpf(0)


def pdf(noise, x):
    """Return the density at x."""
    x = abs(mp.mpf(x))
    match noise:
        case Gaussian():
            return mp.npdf(x, 0, noise.scale)
        case Laplace():
            return mp.exp(-x / noise.scale) / (2 * mp.mpf(noise.scale))
        case TruncatedLaplace():
            mass = 1 - mp.exp(-mp.mpf(noise.bound) / noise.scale)
            return mp.exp(-x / noise.scale) / (2 * noise.scale * mass) if x <= noise.bound else mp.mpf(0)
        case SinhNormal():
            z = mp.mpf(noise.knee) / noise.scale * mp.sinh(x / noise.knee)
            return mp.npdf(z) * mp.cosh(x / noise.knee) / noise.scale


def power_of_cdf(noise, x, power):
    """Return P[Z <= x]^power, for powers up to 1e300."""
    tail = sf(noise, x)
    return mp.mpf(power == 0) if tail == 1 else mp.exp(mp.mpf(power) * mp.log1p(-tail))
