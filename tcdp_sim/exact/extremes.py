"""Exact laws of the extremes of k independent draws."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats, Real, Reals
from tcdp_sim.core.errors import real
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.noise.base import Noise

MAX_COUNT = 1e300
RARE = 1e-290  # a smaller tail loses digits
TINY = 1e-310
_ROUNDING = 2.0**-48  # relative error of a tail probability computed here


def max_quantile(noise: Noise, k: ArrayLike, level: ArrayLike) -> Bounds[Any]:
    """Return the `level`-quantile of the maximum of `k` independent draws.

    Closed form: the quantile of one draw at level^(1 / k).

    Parameters
    ----------
    noise : Noise
        The law of one draw.
    k : float or array
        The number of draws, a real number in [1, 1e300].
    level : float or array
        The level of the quantile, in (0, 1). It broadcasts with `k`.

    Returns
    -------
    Bounds
        The quantile in counts, of the broadcast shape.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> round(float(max_quantile(Gaussian(1.0), 1, 0.975).estimate), 4)
    1.96
    """
    log_below = _log_below(k, level)
    low = np.greater(log_below, 0.5)  # then take the lower tail, because 1 minus it loses all digits
    tail = np.where(low, np.exp(-log_below), -np.expm1(-log_below))[()]

    def at_tail(p: Real) -> Reals:
        below: Floats = noise.ppf(p)
        return np.where(low, below, noise.isf(p))[()]

    return _quantile(at_tail, tail)


def max_abs_quantile(noise: Noise, k: ArrayLike, level: ArrayLike) -> Bounds[Any]:
    """Return the `level`-quantile of the largest absolute value of `k` independent draws.

    Closed form: the quantile of one draw's absolute value at level^(1 / k).

    Parameters
    ----------
    noise : Noise
        The law of one draw.
    k : float or array
        The number of draws, a real number in [1, 1e300].
    level : float or array
        The level of the quantile, in (0, 1). It broadcasts with `k`.

    Returns
    -------
    Bounds
        The quantile in counts, of the broadcast shape.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> round(float(max_abs_quantile(Gaussian(1.0), 1, 0.95).estimate), 4)
    1.96
    """
    return _quantile(lambda tail: noise.isf(0.5 * tail), -np.expm1(-_log_below(k, level)))


def max_abs_sf(noise: Noise, k: ArrayLike, threshold: ArrayLike) -> Bounds[Any]:
    """Return P[the largest absolute value of `k` independent draws exceeds the threshold].

    Closed form: 1 - (1 - P[|Z| > threshold])^k.

    Parameters
    ----------
    noise : Noise
        The law of one draw.
    k : float or array
        The number of draws, a real number in [1, 1e300].
    threshold : float or array
        The threshold in counts, >= 0. It broadcasts with `k`.

    Returns
    -------
    Bounds
        The probability, of the broadcast shape.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> round(float(max_abs_sf(Gaussian(1.0), 2, 1.959964).estimate), 4)
    0.0975
    """
    draws = _count(k)
    level = real("threshold", threshold, 0, closed=True, finite=False)
    tail = 2 * noise.sf(level)
    with np.errstate(divide="ignore", over="ignore"):
        expected = np.where(tail > RARE, -draws * np.log1p(-tail), _times(draws, noise.logsf(level) + np.log(2)))
        bounds = closed_form(-np.expm1(-expected)[()])
    return Bounds(bounds.lower - TINY, bounds.estimate, bounds.upper + TINY).clipped(0.0, 1.0)


def log_all_below(noise: Noise, x: Floats, k: Real) -> Floats:
    """Return log P[`k` independent draws are all <= x].

    It holds where P[Z > x] is too small for floats and `k` is large. The noise has plain numbers as parameters. The
    k is a number, or an array that broadcasts to the shape of x.
    """
    tail = noise.sf(x)
    high, rare = tail > 0.5, tail <= RARE  # the lower tail has more digits if high, and only the log form if rare
    k = np.broadcast_to(k, tail.shape)
    result: Floats = k * np.log1p(-np.minimum(tail, 0.5))
    with np.errstate(over="ignore"):
        result[high] = k[high] * noise.logcdf(x[high])
        result[rare] = -_times(k[rare], noise.logsf(x[rare]))
    return result


def _times(k: Real, log_tail: Real) -> Reals:
    """Return k e^log_tail for factors that need not be floats."""
    with np.errstate(divide="ignore"):
        return np.exp(np.minimum(np.log(k) + log_tail, 700.0))


def _count(k: ArrayLike) -> Real:
    return real("k", k, 1, MAX_COUNT, closed=True, finite=False)


def _log_below(k: ArrayLike, level: ArrayLike) -> Reals:
    """Return minus the log of the distribution function of one draw at the `level`-quantile of the maximum of `k`."""
    return -np.log(real("level", level, 0, 1)) / _count(k)


def _quantile(quantile: Callable[[Any], Any], tail: Real) -> Bounds[Any]:
    """Return bounds around quantile(tail), which is monotone. Near zero the rounding of `tail` dominates."""
    value = quantile(tail)
    ends = [quantile(np.minimum(tail * factor, 1.0)) for factor in (1 - _ROUNDING, 1 + _ROUNDING)]
    slack = 1e-11 * np.abs(value)
    return Bounds(np.minimum(*ends) - slack, value, np.maximum(*ends) + slack)
