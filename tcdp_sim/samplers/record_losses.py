"""Draws of what is known of the privacy loss of one record by rare outputs, for noise with a peak or cusp at 0.

What decides about a record of small influence t are outputs within about t of 0 and of t, whatever the noise's own
width: at t = 1e-8 of it no plain draw sees them. So outputs are drawn by x, their distance to the nearer of 0 and t, in
log x: the four arms -x, x, t - x and t + x are one integrand, which has no cusp there and is wide at every scale.
"""

import numpy as np

from tcdp_sim.core.arrays import Floats, RealFunction
from tcdp_sim.core.errors import real, scalar
from tcdp_sim.noise.privacy_loss import HasPrivacyLoss
from tcdp_sim.samplers.importance import Importance, importance
from tcdp_sim.samplers.losses import log_beyond_tangent

_LOWEST, _HIGHEST = -730.0, 700.0  # of log x
_BELOW = 600.0  # where orders and cusps are as extreme as floats allow, the integrand is largest that far below
_COARSE, _FINE, _MARGIN = 1.0, 0.25, 12.0  # steps of the first nodes in log x, and around which places they are fine


def record_loss_tail_draws(noise: HasPrivacyLoss, shift: float, threshold: float) -> Importance:
    """Draws with mean P[L > threshold]; threshold > 0 in nats; shift > 0 in counts."""
    threshold = scalar("threshold", threshold, 0)
    return _probability(noise, shift, lambda loss: np.where(loss > threshold, 0.0, -np.inf))


def record_hockey_stick_draws(noise: HasPrivacyLoss, shift: float, epsilon: float) -> Importance:
    """Draws with mean delta(epsilon) = E[(1 - e^(epsilon - L))_+]; epsilon > 0 in nats; shift > 0 in counts."""
    epsilon = scalar("epsilon", epsilon, 0)

    def log_of(loss: Floats) -> Floats:
        gap = loss - epsilon
        return np.where(gap > 0, np.log(-np.expm1(-gap)), -np.inf)

    return _probability(noise, shift, log_of)


def record_renyi_excess_draws(noise: HasPrivacyLoss, shift: float, order: float) -> Importance:
    """Draws with mean E[e^((order-1) L)] - 1 = expm1((order - 1) D_order); order > 1; shift > 0 in counts.

    All inf where that is infinite or above 1e150. Drawn as e^(sL) - 1 + s (e^-L - 1), s = order - 1, which has the same
    mean because E[e^-L] = 1, and is never negative.
    """
    s = scalar("order", order, 1) - 1

    def log_of(loss: Floats) -> Floats:
        return np.logaddexp(log_beyond_tangent(s * loss), np.log(s) + log_beyond_tangent(-loss))

    return _integral(noise, shift, log_of)


def _probability(noise: HasPrivacyLoss, shift: float, log_of: RealFunction) -> Importance:
    """As `_integral`, of what is at most 1; ValueError where the tails are too heavy to be drawn to their end."""
    draws = _integral(noise, shift, log_of)
    if draws.area == np.inf:
        raise ValueError(f"the losses of {noise} cannot be drawn: its tails go beyond the largest float")
    return draws


def _integral(noise: HasPrivacyLoss, shift: float, log_of: RealFunction) -> Importance:
    """Draws with mean E[e^log_of(L)], log_of: the log of a non-negative function of losses in nats."""
    shift = scalar("shift", shift, 0)
    noise.need_loss()

    def log_f(log_x: Floats) -> Floats:
        x = np.exp(log_x)
        inside = np.where(x < 0.5 * shift, 0.0, -np.inf)
        arms = ((-x, 0.0), (x, inside), (shift - x, inside), (shift + x, 0.0))
        logs = [_known(noise.logpdf(y) + log_of(noise.privacy_loss(y, shift))) + there for y, there in arms]
        return log_x + np.logaddexp.reduce(logs, axis=0)

    return importance(log_f, _nodes(noise, shift))


def _known(values: Floats) -> Floats:
    return np.where(np.isnan(values), -np.inf, values)


def _nodes(noise: HasPrivacyLoss, shift: float) -> Floats:
    """Logs of distances, from where no integrand has mass left to where none has."""
    quartile = np.log(real("quartile", noise.isf(0.25), 0))
    low, high = min(np.log(shift), quartile), max(np.log(shift), quartile)
    ends = max(low - _BELOW, _LOWEST), _HIGHEST
    fine = np.arange(max(low - _MARGIN, ends[0]), min(high + _MARGIN, ends[1]), _FINE)
    edge = np.log(0.5 * shift) * (1 + np.array([-1e-15, 1e-15]))  # where the two inner arms end
    return np.concatenate([np.arange(*ends, _COARSE), fine, edge, ends])
