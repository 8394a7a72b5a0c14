"""delta of a mixture of shifted Gaussians by importance sampling with stretched means.

Let P = sum of w_i N(m_i, sigma^2) and Q = N(0, sigma^2), or the other way round, and L = log(P / Q). Then delta is the
mean of V = (1 - e^(epsilon - L))_+ dP/dR over draws from R = sum of w_i N(a m_i, sigma^2), with a = alpha >= 1 if P is
the mixture, and a = 1 - alpha if Q is. By Jensen's inequality, with kappa = max |m_i|^2 / sigma^2,

    dR/dQ >= exp(alpha L - kappa (alpha^2 - alpha) / 2).

So V lies between 0 and

    B(alpha) = (alpha - 1)^(alpha - 1) alpha^(-alpha) exp(kappa (alpha^2 - alpha) / 2 - (alpha - 1) epsilon),

which is 1 in the limit alpha = 1, the plain draws from P. The best alpha makes B least. Where log B is near
log delta, few draws suffice. For independent epochs losses, log weights and the numbers kappa add up.

All that depends on the draws x are the scores <m_i, x> and the squared lengths |m_i|^2.

Source: the proposal is that of jax_privacy's Monte Carlo accountant; the bound is ours.
"""

from math import exp, log, log1p
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import choice
from tcdp_sim.core.numerics import TINY
from tcdp_sim.core.search import brentq

DIRECTIONS = ("forward", "backward")  # forward: P is the mixture, with the record
_SLACK = 1e-9  # relative rounding of a bound


class Stretch(NamedTuple):
    """The factor alpha >= 1 of the means, and the bound B of the values V, rounded up."""

    alpha: float
    bound: float


def best_stretch(kappa: float, epsilon: float) -> Stretch:
    """Return the stretch with the least bound. `kappa`: the largest |m_i|^2 / sigma^2 > 0, summed over epochs.

    Its derivative is log((alpha - 1) / alpha) + kappa (alpha - 1/2) - epsilon, which grows with alpha. The search is
    for log(alpha - 1).
    """

    def slope(u: float) -> float:
        return -log1p(exp(-u)) + kappa * (0.5 + exp(u)) - epsilon

    low, high = -700.0, log(max((epsilon + log(2)) / kappa, 1.0))
    if slope(low) >= 0:
        return Stretch(1.0, 1.0)
    u = float(brentq(slope, low, high, xtol=1e-13))
    return Stretch(1 + exp(u), least_bound(kappa, epsilon, u))


def least_bound(kappa: float, epsilon: float, u: float) -> float:
    """Return B(1 + e^u), rounded up, at most 1."""
    excess = exp(u)
    log_bound = excess * u - (1 + excess) * log1p(excess) + 0.5 * kappa * (1 + excess) * excess - excess * epsilon
    return max(min(exp(log_bound) * (1 + _SLACK * (1 + abs(excess * epsilon))), 1.0), TINY)


def shift_factor(alpha: float, direction: str) -> float:
    """Return the factor a of the means from which draws are taken: alpha forward, 1 - alpha backward."""
    return alpha if choice("direction", direction, DIRECTIONS) == "forward" else 1 - alpha


def log_mean(scores: Floats, squares: Floats, log_weights: Floats, sigma: float, factor: float) -> Floats:
    """Return log of sum w_i exp((a <m_i, x> - a^2 |m_i|^2 / 2) / sigma^2), shape (draws,).

    `scores`: <m_i, x>, shape (draws, means). `squares`: |m_i|^2, shape (means,). `factor`: a.
    """
    exponents = (factor * scores - 0.5 * factor**2 * squares) / sigma**2 + log_weights
    return np.asarray(logsumexp(exponents, axis=1))


def losses(
    scores: Floats, squares: Floats, log_weights: Floats, sigma: float, alpha: float, direction: str
) -> tuple[Floats, Floats]:
    """Return the privacy losses L and the log weights log dP/dR of draws from the stretched mixture."""
    ratio = log_mean(scores, squares, log_weights, sigma, 1.0)
    proposal = log_mean(scores, squares, log_weights, sigma, shift_factor(alpha, direction))
    return (ratio, ratio - proposal) if direction == "forward" else (-ratio, -proposal)


def values(loss: Floats, log_weight: Floats, epsilon: float, bound: float) -> Floats:
    """Return V = (1 - e^(epsilon - L))_+ dP/dR, in [0, bound]. Its mean is delta(epsilon)."""
    gap = np.maximum(loss - epsilon, 0.0)
    positive = gap > 0
    found = np.where(positive, -np.expm1(-gap) * np.exp(np.where(positive, log_weight, 0.0)), 0.0)
    return np.minimum(found, bound)  # what exceeds the bound is rounding
