"""Exact laws of the extremes of k iid draws."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats, Real, Reals
from tcdp_sim.core.errors import real
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.noise.base import Noise

MAX_COUNT = 1e300
RARE = 1e-290  # a tail below it loses digits, in the end all
TINY = 1e-310
_ROUNDING = 2.0**-48  # relative error of a tail probability computed here


def max_quantile(noise: Noise, count: ArrayLike, q: ArrayLike) -> Bounds[Any]:
    """The q-quantile of the maximum of `count` iid draws; count real in [1, 1e300], 0 < q < 1; counts.

    Scalars or arrays, which broadcast. Raises ValueError for values out of range.
    """
    log_below = _log_below(count, q)
    low = np.greater(log_below, 0.5)  # then the lower tail: 1 minus it has no digits of it left
    tail = np.where(low, np.exp(-log_below), -np.expm1(-log_below))[()]

    def at_tail(p: Real) -> Reals:
        below: Floats = noise.ppf(p)
        return np.where(low, below, noise.isf(p))[()]

    return _quantile(at_tail, tail)


def max_abs_quantile(noise: Noise, count: ArrayLike, q: ArrayLike) -> Bounds[Any]:
    """The q-quantile of the largest absolute value of `count` iid draws; arguments as in max_quantile."""
    return _quantile(lambda tail: noise.isf(0.5 * tail), -np.expm1(-_log_below(count, q)))


def max_abs_sf(noise: Noise, count: ArrayLike, threshold: ArrayLike) -> Bounds[Any]:
    """P[the largest absolute value of `count` iid draws exceeds threshold >= 0 (counts)]; scalars or arrays.

    count: real in [1, 1e300]. Raises ValueError for values out of range.
    """
    draws = _count(count)
    level = real("threshold", threshold, 0, closed=True, finite=False)
    tail = 2 * noise.sf(level)
    with np.errstate(divide="ignore", over="ignore"):
        expected = np.where(tail > RARE, -draws * np.log1p(-tail), _times(draws, noise.logsf(level) + np.log(2)))
        bounds = closed_form(-np.expm1(-expected)[()])
    return Bounds(bounds.lower - TINY, bounds.estimate, bounds.upper + TINY).clipped(0.0, 1.0)


def log_all_below(noise: Noise, x: Floats, count: Real) -> Floats:
    """log P[`count` independent draws are all <= x]; also where P[Z > x] is too small for floats, and `count` large.

    noise: of plain numbers; count: a number, or an array that broadcasts to the shape of x.
    """
    tail = noise.sf(x)
    high, rare = tail > 0.5, tail <= RARE  # where the lower tail has more digits than 1 minus the upper; where neither
    count = np.broadcast_to(count, tail.shape)
    result: Floats = count * np.log1p(-np.minimum(tail, 0.5))
    with np.errstate(over="ignore"):
        result[high] = count[high] * noise.logcdf(x[high])
        result[rare] = -_times(count[rare], noise.logsf(x[rare]))
    return result


def _times(count: Real, log_tail: Real) -> Reals:
    """count e^log_tail, of factors that need not be floats."""
    with np.errstate(divide="ignore"):
        return np.exp(np.minimum(np.log(count) + log_tail, 700.0))


def _count(count: ArrayLike) -> Real:
    return real("count", count, 1, MAX_COUNT, closed=True, finite=False)


def _log_below(count: ArrayLike, q: ArrayLike) -> Reals:
    """Minus the log of the distribution function of one draw at the q-quantile of the maximum of `count`."""
    return -np.log(real("q", q, 0, 1)) / _count(count)


def _quantile(quantile: Callable[[Any], Any], tail: Real) -> Bounds[Any]:
    """Bounds around quantile(tail), monotone; near zero the rounding of `tail` is what counts."""
    value = quantile(tail)
    ends = [quantile(np.minimum(tail * factor, 1.0)) for factor in (1 - _ROUNDING, 1 + _ROUNDING)]
    slack = 1e-11 * np.abs(value)
    return Bounds(np.minimum(*ends) - slack, value, np.maximum(*ends) + slack)
