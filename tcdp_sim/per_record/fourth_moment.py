"""The fourth moment of the error of a transformed release, which determines the standard error of its MSE."""

from itertools import pairwise
from math import comb

import numpy as np
from scipy.special import ndtr

from tcdp_sim.core.arrays import Floats
from tcdp_sim.per_record.estimators import REACH, Estimator, Exponential, normal_mean

WIDE = 1.0  # from this scale on, moments of a logarithm do not cancel, and its tails are too wide for quadrature


def fourth_moment(law: Estimator, v: float, q: float, nonnegative: bool) -> float:
    """Return E[(release - q)^4]; inf if it overflows.

    The argument q is the true answer, and v is its transform before noise is added.
    """
    kinks = np.concatenate([each.ravel() for each in law.at_most(np.array(0.0))]) if nonnegative else np.empty(0)
    with np.errstate(over="ignore", invalid="ignore"):
        if isinstance(law, Exponential) and law.scale >= WIDE:
            lowest = (kinks[-1] - v) / law.scale if nonnegative else -np.inf
            total = _of_exponential(law, float(lowest), q)
        else:
            total = _by_quadrature(law, v, q, nonnegative, kinks)
    return float(total) if np.isfinite(total) else np.inf


def _by_quadrature(law: Estimator, v: float, q: float, nonnegative: bool, kinks: Floats) -> float:
    def fourth(noisy: Floats) -> Floats:
        released = law.value(noisy)
        return ((np.maximum(released, 0.0) if nonnegative else released) - q) ** 4

    ends = v - REACH * law.scale, v + REACH * law.scale
    edges = np.unique(np.concatenate([ends, np.clip(kinks, *ends)]))
    return sum(normal_mean(fourth, v, law.scale, low, high) for low, high in pairwise(edges))


def _of_exponential(law: Exponential, lowest: float, q: float) -> float:
    """Return the fourth moment from the moments of a lognormal variable.

    The release is 0 below the normal deviate `lowest`.
    """
    s2 = np.float64(law.scale) ** 2
    moments = (
        (-1) ** j * comb(4, j) * np.exp(j * j * s2 / 2 - j * law.shrink * s2) * ndtr(j * law.scale - lowest)
        for j in range(5)
    )
    return float((q + law.offset) ** 4 * sum(moments) + (q**4 * ndtr(lowest) if lowest > -np.inf else 0.0))
