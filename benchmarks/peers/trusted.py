"""Trusted values for the comparison, each by a method that no contestant uses.

Profiles and epsilons of compositions come from an inverse Laplace transform, without a grid of losses. Let M(z) =
E[e^(zL)] and c > 0. The transform of (1 - e^-y)+ is 1 / (z (z + 1)). Therefore delta(eps) is the integral of the
product of M(z)^n e^(-z eps) / (z (z + 1)) over Re z = c, divided by 2 pi i. The trapezoid rule converges faster than
any power. The epsilons are good to 1e-9.
"""

import math

import mpmath as mp
import numpy as np
from scipy.optimize import brentq

POINTS, REACH, FLAT = 1500, 80.0, 1e-12  # points of the rule; its end, in spreads; bound on the integrand there
TILTS = np.geomspace(0.05, 50, 150)


def gaussian_profile(sigma, epsilons):
    """Return delta(epsilon) of the Gaussian mechanism in closed form, in 50 digits."""
    with mp.workdps(50):
        s = mp.mpf(sigma)
        return [
            float(mp.ncdf(1 / (2 * s) - mp.mpf(e) * s) - mp.exp(e) * mp.ncdf(-1 / (2 * s) - mp.mpf(e) * s))
            for e in epsilons
        ]


def subsampled_gaussian(rate, releases, delta):
    """Return the epsilon of that many releases of Gaussian noise with sigma = 1."""
    return composed([(gaussian_losses(1.0, rate), releases)], delta)


def subsampled_laplace(rate, releases, delta):
    """Return the epsilon of that many releases of Laplace noise of scale 1."""
    return composed([(laplace_losses(1.0, rate), releases)], delta)


def twenty_kinds(kinds, delta):
    """Return the epsilon of many kinds of releases, each (sigma, rate, releases)."""
    return composed([(gaussian_losses(sigma, rate), count) for sigma, rate, count in kinds], delta)


def equal_gaussians(scale, releases, delta):
    """Return the epsilon of many Gaussian releases, which are one, by its closed form."""
    sigma = scale / math.sqrt(releases)
    return brentq(lambda e: gaussian_profile(sigma, [e])[0] - delta, 0.0, 200.0, xtol=1e-13)


def equal_laplaces(scale, releases, delta):
    """Return the epsilon of many releases with Laplace noise."""
    return composed([(laplace_losses(scale, 1.0), releases)], delta)


def zcdp_conversion(rho, delta, omega=None):
    """Return the epsilon of the Gaussian mechanism with that rho. No conversion of zCDP or tCDP can be below it."""
    sigma = 1 / math.sqrt(2 * rho)
    return brentq(lambda e: gaussian_profile(sigma, [e])[0] - delta, 0.0, 200.0, xtol=1e-13)


def selection_rho(epsilon):
    """Return the least rho of a mechanism of range epsilon, in closed form and 50 digits."""
    with mp.workdps(50):
        e = mp.mpf(epsilon)
        return float(mp.log(mp.expm1(e) / e) - 1 + e / mp.expm1(e))


def selections(epsilon, candidates, count):
    """Return (mean, standard deviation) of the square of the score that is selected among 0, 1, ..., candidates - 1."""
    scores = np.arange(candidates)
    chance = np.exp(0.5 * epsilon * (scores - candidates))
    chance /= chance.sum()
    mean = float(chance @ scores**2)
    return mean, math.sqrt(float(chance @ scores**4) - mean**2)


def gaussian_draws(sigma, count):
    """Return (mean, standard deviation) of the square of one Gaussian draw."""
    return sigma**2, math.sqrt(2) * sigma**2


def per_record_draws(count):
    """Return (mean, standard deviation) of the square of one draw with density proportional to exp(-sqrt|x|).

    The moments are E|x|^k = Gamma(2 (k + 1)) / Gamma(2).
    """
    second, fourth = math.gamma(6), math.gamma(10)
    return second, math.sqrt(fourth - second**2)


def gaussian_losses(sigma, rate):
    """Return (mass under Q, loss) at the nodes of a trapezoid rule, which is exact to rounding for such densities."""
    x = np.linspace(-13.0, 13.0 + 2 / sigma, 300) * sigma
    mass = np.exp(-0.5 * (x / sigma) ** 2)
    return mass / mass.sum(), np.log1p(rate * np.expm1((x - 0.5) / sigma**2))


def laplace_losses(scale, rate):
    """Return (mass under Q, loss) at nodes.

    The loss is constant left of 0 and right of 1, and smooth in between, where Gauss's rule is used.
    """
    nodes, weights = np.polynomial.legendre.leggauss(80)
    x = 0.5 * (nodes + 1)
    mass = np.concatenate([[0.5], 0.25 * weights / scale * np.exp(-x / scale), [0.5 * math.exp(-1 / scale)]])
    ratio = np.concatenate([[-1.0], 2 * x - 1, [1.0]]) / scale
    return mass, np.log1p(rate * np.expm1(ratio))


def composed(kinds, delta):
    """Return the epsilon at which the worse of the two directions has that delta."""
    return max(_root(kinds, delta, forward) for forward in (True, False))


def _root(kinds, delta, forward):
    def excess(epsilon):
        return math.log(profile(kinds, epsilon, forward) / delta)

    high = ((_log_moment(_laws(kinds, forward), TILTS) - math.log(delta)) / TILTS).min()  # Chernoff's bound
    low = high
    while excess(low) <= 0:
        low *= 0.9
    return brentq(excess, low, high, xtol=1e-11)


def profile(kinds, epsilon, forward):
    """Return delta(epsilon) of kinds ((masses, losses), releases). If `forward`, P has the record present."""
    laws = _laws(kinds, forward)
    c = TILTS[np.argmin(_log_moment(laws, TILTS) - TILTS * epsilon - np.log(TILTS * (TILTS + 1)))]
    t = np.linspace(0, REACH / _spread(laws, c), POINTS)
    z = c + 1j * t
    with np.errstate(divide="ignore"):
        terms = np.exp(_log_moment(laws, z) - z * epsilon) / (z * (z + 1))
    assert abs(terms[-1]) < FLAT * abs(terms[0])
    return float(np.trapezoid(terms.real, t) / np.pi)


def _laws(kinds, forward):
    """Return (log of P's masses, losses, releases) of every kind."""
    sides = [(np.log(mass), loss, count) for (mass, loss), count in kinds]
    return [(log_q + loss, loss, n) if forward else (log_q, -loss, n) for log_q, loss, n in sides]


def _log_moment(laws, z):
    return sum(n * np.log(np.exp(log_p + np.multiply.outer(z, loss)).sum(axis=-1)) for log_p, loss, n in laws)


def _spread(laws, tilt):
    """Return the standard deviation of the tilted sum."""
    total = 0.0
    for log_p, loss, count in laws:
        share = np.exp(log_p + tilt * loss)
        share /= share.sum()
        mean = (share * loss).sum()
        total += count * (share * (loss - mean) ** 2).sum()
    return math.sqrt(total)
