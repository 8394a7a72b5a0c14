"""Exact laws of the extremes of k iid draws."""

import numpy as np

from tcdp_sim.errors import real
from tcdp_sim.noise.base import Noise
from tcdp_sim.numerics import Bounds, closed_form


def max_quantile(noise: Noise, count, q) -> Bounds:
    """The q-quantile of the maximum of `count` iid draws; count real in [1, 1e300], 0 < q < 1; counts."""
    return closed_form(noise.isf(_tail(count, q)))


def max_abs_quantile(noise: Noise, count, q) -> Bounds:
    """The q-quantile of the largest absolute value of `count` iid draws; arguments as in max_quantile."""
    return closed_form(noise.isf(0.5 * _tail(count, q)))


def max_abs_sf(noise: Noise, count, threshold) -> Bounds:
    """P[the largest absolute value of `count` iid draws exceeds threshold >= 0]."""
    count = real("count", count, 1, closed=True)
    with np.errstate(divide="ignore"):
        return closed_form(-np.expm1(count * np.log1p(-2 * noise.sf(np.asarray(threshold)))))


def _tail(count, q):
    """The upper tail probability of one draw at the q-quantile of the maximum of `count`."""
    return -np.expm1(np.log(real("q", q, 0, 1)) / real("count", count, 1, closed=True))
