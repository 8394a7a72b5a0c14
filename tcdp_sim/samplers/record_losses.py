"""Draws of functionals of one record's privacy loss that depend on rare outputs, for noise with a peak or cusp at 0.

The loss of a record of small influence t depends on outputs within about t of 0 and of t, whatever the width of the
noise. At t = 1e-8 widths no plain draw falls there. So the integration variable is log x, where x is the distance of
the output to the nearer of 0 and t. The four arms -x, x, t - x and t + x form one integrand, which has no cusp in log x
and is wide at every scale.
"""

import numpy as np

from tcdp_sim.core.arrays import Floats, RealFunction
from tcdp_sim.core.errors import real, scalar
from tcdp_sim.noise.privacy_loss import HasPrivacyLoss
from tcdp_sim.samplers.importance_sampling import ImportanceSampler, fit_importance_sampler
from tcdp_sim.samplers.losses import log_beyond_tangent

_LOWEST, _HIGHEST = -730.0, 700.0  # the range of log x
_BELOW = 600.0  # for the most extreme orders and cusps, the integrand peaks this far below the shift in log x
_COARSE, _FINE, _MARGIN = 1.0, 0.25, 12.0  # node spacings in log x, and the width of the finely spaced part


def record_loss_tail_draws(noise: HasPrivacyLoss, shift: float, threshold: float) -> ImportanceSampler:
    """Return a sampler of numbers with the mean P[L > threshold].

    It is defined for threshold > 0 (nats) and shift > 0 (counts).
    """
    threshold = scalar("threshold", threshold, 0)
    return _probability(noise, shift, lambda loss: np.where(loss > threshold, 0.0, -np.inf))


def record_hockey_stick_draws(noise: HasPrivacyLoss, shift: float, epsilon: float) -> ImportanceSampler:
    """Return a sampler of numbers with the mean delta(epsilon) = E[(1 - e^(epsilon - L))_+].

    It is defined for epsilon > 0 (nats) and shift > 0 (counts).
    """
    epsilon = scalar("epsilon", epsilon, 0)

    def log_of(loss: Floats) -> Floats:
        gap = loss - epsilon
        return np.where(gap > 0, np.log(-np.expm1(-gap)), -np.inf)

    return _probability(noise, shift, log_of)


def record_renyi_excess_draws(noise: HasPrivacyLoss, shift: float, order: float) -> ImportanceSampler:
    """Return a sampler of numbers with the mean E[e^((order-1) L)] - 1, which is expm1((order - 1) D_order).

    The order is above 1, and the shift is above 0, in counts. All numbers are inf if the mean is infinite or above
    1e150. They are drawn as e^(sL) - 1 + s (e^-L - 1) with s = order - 1, which has the same mean because E[e^-L] = 1
    and is never negative.
    """
    s = scalar("order", order, 1) - 1

    def log_of(loss: Floats) -> Floats:
        return np.logaddexp(log_beyond_tangent(s * loss), np.log(s) + log_beyond_tangent(-loss))

    return _integral(noise, shift, log_of)


def _probability(noise: HasPrivacyLoss, shift: float, log_of: RealFunction) -> ImportanceSampler:
    """Return the sampler of `_integral` for a value of at most 1; ValueError for tails too heavy to be drawn."""
    draws = _integral(noise, shift, log_of)
    if draws.area == np.inf:
        raise ValueError(f"the losses of {noise} cannot be drawn: its tails go beyond the largest float")
    return draws


def _integral(noise: HasPrivacyLoss, shift: float, log_of: RealFunction) -> ImportanceSampler:
    """Return a sampler of numbers with the mean E[e^log_of(L)].

    The function `log_of` is the log of a non-negative function of losses in nats.
    """
    shift = scalar("shift", shift, 0)
    noise.need_loss()

    def log_f(log_x: Floats) -> Floats:
        x = np.exp(log_x)
        inside = np.where(x < 0.5 * shift, 0.0, -np.inf)
        arms = ((-x, 0.0), (x, inside), (shift - x, inside), (shift + x, 0.0))
        logs = [_known(noise.logpdf(y) + log_of(noise.privacy_loss(y, shift))) + there for y, there in arms]
        return log_x + np.logaddexp.reduce(logs, axis=0)

    return fit_importance_sampler(log_f, _nodes(noise, shift))


def _known(values: Floats) -> Floats:
    return np.where(np.isnan(values), -np.inf, values)


def _nodes(noise: HasPrivacyLoss, shift: float) -> Floats:
    """Return logs of distances that enclose the mass of every integrand."""
    quartile = np.log(real("quartile", noise.isf(0.25), 0))
    low, high = min(np.log(shift), quartile), max(np.log(shift), quartile)
    ends = max(low - _BELOW, _LOWEST), _HIGHEST
    fine = np.arange(max(low - _MARGIN, ends[0]), min(high + _MARGIN, ends[1]), _FINE)
    edge = np.log(0.5 * shift) * (1 + np.array([-1e-15, 1e-15]))  # the two inner arms end here
    return np.concatenate([np.arange(*ends, _COARSE), fine, edge, ends])
