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


def max_quantile(noise: Noise, count: ArrayLike, q: ArrayLike) -> Bounds[Any]:
    """Return the q-quantile of the maximum of `count` independent draws.

    Parameters
    ----------
    noise : Noise
        The law of one draw.
    count : float or array
        The number of draws, a real number in [1, 1e300].
    q : float or array
        The level of the quantile, in (0, 1). It broadcasts with `count`.

    Returns
    -------
    Bounds
        The quantile in counts, of the broadcast shape.

    Raises
    ------
    ValueError
        If a value is out of range.

    References
    ----------
    Closed form: the quantile of one draw at q^(1 / count).

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> round(float(max_quantile(Gaussian(1.0), 1, 0.975).estimate), 4)
    1.96
    """
    log_below = _log_below(count, q)
    low = np.greater(log_below, 0.5)  # then take the lower tail, because 1 minus it loses all digits
    tail = np.where(low, np.exp(-log_below), -np.expm1(-log_below))[()]

    def at_tail(p: Real) -> Reals:
        below: Floats = noise.ppf(p)
        return np.where(low, below, noise.isf(p))[()]

    return _quantile(at_tail, tail)


def max_abs_quantile(noise: Noise, count: ArrayLike, q: ArrayLike) -> Bounds[Any]:
    """Return the q-quantile of the largest absolute value of `count` independent draws.

    Parameters
    ----------
    noise : Noise
        The law of one draw.
    count : float or array
        The number of draws, a real number in [1, 1e300].
    q : float or array
        The level of the quantile, in (0, 1). It broadcasts with `count`.

    Returns
    -------
    Bounds
        The quantile in counts, of the broadcast shape.

    Raises
    ------
    ValueError
        If a value is out of range.

    References
    ----------
    Closed form: the quantile of one draw's absolute value at q^(1 / count).

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> round(float(max_abs_quantile(Gaussian(1.0), 1, 0.95).estimate), 4)
    1.96
    """
    return _quantile(lambda tail: noise.isf(0.5 * tail), -np.expm1(-_log_below(count, q)))


def max_abs_sf(noise: Noise, count: ArrayLike, threshold: ArrayLike) -> Bounds[Any]:
    """Return P[the largest absolute value of `count` independent draws exceeds the threshold].

    Parameters
    ----------
    noise : Noise
        The law of one draw.
    count : float or array
        The number of draws, a real number in [1, 1e300].
    threshold : float or array
        The threshold in counts, >= 0. It broadcasts with `count`.

    Returns
    -------
    Bounds
        The probability, of the broadcast shape.

    Raises
    ------
    ValueError
        If a value is out of range.

    References
    ----------
    Closed form: 1 - (1 - P[|Z| > threshold])^count.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> round(float(max_abs_sf(Gaussian(1.0), 2, 1.959964).estimate), 4)
    0.0975
    """
    draws = _count(count)
    level = real("threshold", threshold, 0, closed=True, finite=False)
    tail = 2 * noise.sf(level)
    with np.errstate(divide="ignore", over="ignore"):
        expected = np.where(tail > RARE, -draws * np.log1p(-tail), _times(draws, noise.logsf(level) + np.log(2)))
        bounds = closed_form(-np.expm1(-expected)[()])
    return Bounds(bounds.lower - TINY, bounds.estimate, bounds.upper + TINY).clipped(0.0, 1.0)


def log_all_below(noise: Noise, x: Floats, count: Real) -> Floats:
    """Return log P[`count` independent draws are all <= x].

    It holds where P[Z > x] is too small for floats and `count` is large. The noise has plain numbers as parameters. The
    count is a number, or an array that broadcasts to the shape of x.
    """
    tail = noise.sf(x)
    high, rare = tail > 0.5, tail <= RARE  # the lower tail has more digits if high, and only the log form if rare
    count = np.broadcast_to(count, tail.shape)
    result: Floats = count * np.log1p(-np.minimum(tail, 0.5))
    with np.errstate(over="ignore"):
        result[high] = count[high] * noise.logcdf(x[high])
        result[rare] = -_times(count[rare], noise.logsf(x[rare]))
    return result


def _times(count: Real, log_tail: Real) -> Reals:
    """Return count e^log_tail for factors that need not be floats."""
    with np.errstate(divide="ignore"):
        return np.exp(np.minimum(np.log(count) + log_tail, 700.0))


def _count(count: ArrayLike) -> Real:
    return real("count", count, 1, MAX_COUNT, closed=True, finite=False)


def _log_below(count: ArrayLike, q: ArrayLike) -> Reals:
    """Return minus the log of the distribution function of one draw at the q-quantile of the maximum of `count`."""
    return -np.log(real("q", q, 0, 1)) / _count(count)


def _quantile(quantile: Callable[[Any], Any], tail: Real) -> Bounds[Any]:
    """Return bounds around quantile(tail), which is monotone. Near zero the rounding of `tail` dominates."""
    value = quantile(tail)
    ends = [quantile(np.minimum(tail * factor, 1.0)) for factor in (1 - _ROUNDING, 1 + _ROUNDING)]
    slack = 1e-11 * np.abs(value)
    return Bounds(np.minimum(*ends) - slack, value, np.maximum(*ends) + slack)
