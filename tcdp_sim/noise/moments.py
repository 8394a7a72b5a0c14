"""Moments of symmetric noise from its tail alone, for families without a closed form."""

from collections.abc import Callable

import numpy as np

from tcdp_sim.core.arrays import Floats, Reals
from tcdp_sim.core.numerics import integrate

_LOW, _LARGEST = -30.0, 700.0  # the least log(z / quartile) that matters, and the largest log z of a float
_PANELS = 2000
_DROP = 50.0  # nats below the peak of the integrand; what lies beyond is e^-50 of it


def kurtosis_by_quadrature(logsf: Callable[[Floats], Reals], quartile: float) -> float:
    """Return E Z^4 / (E Z^2)^2 of a symmetric law from log P[Z > z].

    The `quartile` is the z > 0 where the log is log(1/4). The answer is inf where z^4 P[Z > z] has not died out within
    the floats.
    """

    def log_tail(x: Floats) -> Floats:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            tail = np.asarray(logsf(quartile * np.exp(x)), dtype=np.float64)
        return np.where(np.isnan(tail), -np.inf, tail)

    edges = np.linspace(_LOW, _LARGEST - np.log(quartile), _PANELS)
    fourth, second = (_log_moment(k, edges, log_tail) for k in (4, 2))
    with np.errstate(over="ignore"):
        return float(np.exp(fourth - 2 * second)) if fourth < np.inf else np.inf


def _log_moment(k: int, edges: Floats, log_tail: Callable[[Floats], Floats]) -> float:
    """Return log E |Z / quartile|^k, or inf where the integrand does not die out.

    The moment is the integral of 2 k z^k P[Z > z] d log z.
    """
    heights = k * edges + log_tail(edges)
    peak = float(heights.max())
    if heights[-1] > peak - _DROP:
        return np.inf
    near = edges[np.flatnonzero(heights > peak - _DROP)]
    panels = np.unique(
        np.clip(np.concatenate([near - np.diff(edges)[0], near, near + np.diff(edges)[0]]), *edges[[0, -1]])
    )
    area = integrate(lambda x: np.exp(k * x + log_tail(x) - peak), panels)
    return peak + float(np.log(2 * k * area.estimate))
