"""Exact draws of the extremes of k iid draws, at a cost that does not depend on k.

If U is uniform, U^(1/k) is distributed as the largest of k uniforms; its distance from one is
-expm1(-E / k) with E = -log U a standard exponential, and the noise's inverse survival function takes it from
there without loss of digits for any k up to 1e300. (ppf(u**(1/k)) returns inf for a third of the draws at
k = 1e16.) Nothing of the exact laws in `tcdp_sim.exact` is used here: each is the other's test.
"""

import numpy as np

from tcdp_sim.errors import real
from tcdp_sim.noise.base import Noise

MAX_COUNT = 1e300


def sample_max(noise: Noise, rng: np.random.Generator, count, size=None):
    """Draws of the maximum of `count` iid draws of the noise.

    count: real, 1 <= count <= 1e300 (the law with distribution function cdf^count), scalar or broadcasting
    against `size`; size: shape of the result, default that of `count` and the noise. Returns counts.
    """
    count, size = _arguments(noise, count, size)
    return _upper(noise, _exponential(rng, size) / count)


def sample_abs_max(noise: Noise, rng: np.random.Generator, count, size=None):
    """Draws of the maximum of the absolute values of `count` iid draws of the noise; arguments as in sample_max."""
    count, size = _arguments(noise, count, size)
    tail = -np.expm1(-_exponential(rng, size) / count)
    return noise.isf(0.5 * tail)


def sample_extremes(noise: Noise, rng: np.random.Generator, count, size=None):
    """Joint draws (minimum, maximum) of `count` iid draws of the noise; arguments as in sample_max.

    Given that the maximum has upper tail p, the other count - 1 draws are iid below it, so the lower tail of
    their minimum is (1 - p) times the upper tail of the maximum of count - 1 uniforms.
    """
    count, size = _arguments(noise, count, size)
    log_below = _exponential(rng, size) / count  # minus the log of the maximum's cdf
    maximum = _upper(noise, log_below)
    with np.errstate(divide="ignore"):
        rest = np.divide(_exponential(rng, size), np.subtract(count, 1))
    lower_tail = np.exp(-log_below) * -np.expm1(-rest)
    minimum = np.where(count == 1, maximum, np.minimum(noise.ppf(lower_tail), maximum))[()]
    return minimum, maximum


def _arguments(noise: Noise, count, size):
    count = real("count", count, 1, MAX_COUNT, closed=True, finite=False)
    return count, np.broadcast_shapes(np.shape(count), noise.shape) if size is None else size


def _exponential(rng: np.random.Generator, size):
    """Standard exponential draws; the generator's zero, one in 2^53, would be an infinite maximum."""
    return np.maximum(rng.standard_exponential(size), 2.0**-54)


def _upper(noise: Noise, log_below):
    """The x with log cdf(x) = -log_below, from whichever tail is the smaller."""
    x = np.asarray(noise.isf(-np.expm1(-log_below)))
    low = np.greater(log_below, 1.0)
    if np.any(low):
        x = np.where(low, noise.ppf(np.exp(-log_below)), x)
    return x[()]
