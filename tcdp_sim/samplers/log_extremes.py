"""The largest of very many draws of a noise, 2^65536 of them and more, through the log of its tail."""

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats, Real, Reals, Shape
from tcdp_sim.noise.distribution import Distribution


def sample_max_log(noise: Distribution, log_k: ArrayLike, size: Shape, *, rng: np.random.Generator) -> Floats:
    """Return draws of the maximum of k = exp(log_k) independent draws, log_k >= 0; -inf where log_k is -inf.

    The upper tail of the maximum is -expm1(-E / k), where E is standard exponential. If k is above e^30, that
    equals E / k to every digit.
    """
    exponential = np.maximum(rng.standard_exponential(size), 2.0**-54)  # a draw of 0 would give inf
    log_many = np.broadcast_to(np.asarray(log_k, dtype=np.float64), exponential.shape)
    none = np.isneginf(log_many)
    with np.errstate(divide="ignore"):
        rate = exponential * np.exp(-np.clip(log_many, 0, 30))
        log_tail = np.where(log_many > 30, np.log(exponential) - log_many, np.log(-np.expm1(-rate)))
    draws = isf_log(noise, np.where(none, -1.0, np.minimum(log_tail, 0)))
    return np.where(none, -np.inf, draws)


def isf_log(noise: Distribution, log_p: Real) -> Reals:
    """Return the x with log P[Z > x] = log_p, for any log_p <= 0.

    Raises ValueError for a noise without tails below 1e-300, if such a tail is asked for.
    """
    return noise.isf_log(log_p)
