"""Draws of what is known of the privacy loss of additive noise by rare outputs only.

The loss L(y) = log(p(y) / p(y - shift)) of an output y of the noise against its shifted self, in nats. Tails, privacy
profile and Renyi moments are integrals over y of the noise's density times a function of the loss; they are drawn by
importance sampling from `logpdf` and `privacy_loss` alone, so that 1e-100 costs what 1e-1 costs.
"""

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import real
from tcdp_sim.noise.privacy_loss import HasPrivacyLoss
from tcdp_sim.samplers.importance import Importance, importance

_LEVELS = np.concatenate([np.linspace(0.48, 0.04, 12), 10.0 ** -np.geomspace(1.5, 307, 60)])
_BEYOND = np.geomspace(1.02, 8, 40)


def loss_tail_draws(noise: HasPrivacyLoss, shift: float, threshold: float) -> Importance:
    """Draws with mean P[L > threshold]. threshold: nats, of any sign; shift: counts, not zero."""
    threshold = real("threshold", threshold, -np.inf)

    def log_f(y: Floats) -> Floats:
        return np.where(noise.privacy_loss(y, shift) > threshold, noise.logpdf(y), -np.inf)

    return importance(log_f, noise_nodes(noise, shift))


def hockey_stick_draws(noise: HasPrivacyLoss, shift: float, epsilon: float) -> Importance:
    """Draws with mean delta(epsilon) = E[(1 - e^(epsilon - L))_+], the hockey-stick divergence.

    epsilon: nats, of any sign; shift: counts, not zero.
    """
    epsilon = real("epsilon", epsilon, -np.inf)

    def log_f(y: Floats) -> Floats:
        gap = noise.privacy_loss(y, shift) - epsilon
        return np.where(gap > 0, noise.logpdf(y) + np.log(-np.expm1(-gap)), -np.inf)

    return importance(log_f, noise_nodes(noise, shift))


def renyi_excess_draws(noise: HasPrivacyLoss, shift: float, order: float) -> Importance:
    """Draws with mean E[e^((order-1) L)] - 1 = expm1((order - 1) D_order): the Renyi divergence's moment over one.

    order > 1; shift: counts, not zero. All inf where the moment is infinite or above 1e150. Because E[e^-L] = 1, the
    mean is that of e^(sL) - 1 + s (e^-L - 1), s = order - 1, which is never negative: a divergence of 1e-10 is drawn
    as precisely as one of 10.
    """
    s = real("order", order, 1) - 1

    def log_f(y: Floats) -> Floats:
        loss = noise.privacy_loss(y, shift)
        return noise.logpdf(y) + np.logaddexp(log_beyond_tangent(s * loss), np.log(s) + log_beyond_tangent(-loss))

    return importance(log_f, noise_nodes(noise, shift))


def log_beyond_tangent(x: Floats) -> Floats:
    """log(e^x - 1 - x)."""
    series = 2 * np.log(np.abs(x)) + np.log(0.5 + x / 6 * (1 + x / 4 * (1 + x / 5 * (1 + x / 6))))
    direct = np.log(np.expm1(x) - x)
    return np.where(np.abs(x) < 0.01, series, np.where(x > 700, x, direct))


def noise_nodes(noise: HasPrivacyLoss, shift: float) -> Floats:
    """Points over all outputs of the noise and of its shifted self, from the centre to far beyond 1e-300.

    Raises ValueError for a noise that gives no privacy loss of its own: draws have no error bound.
    """
    shift = real("shift", shift, -np.inf)
    if shift == 0 or noise.shape != ():
        raise ValueError(f"shift = {shift:g} of {noise} is not valid; valid: a shift that is not zero, one noise")
    noise.need_loss()
    arm = noise.isf(_LEVELS)
    arm = np.concatenate([arm, arm[-1] * _BEYOND])
    jumps = np.concatenate([np.nextafter(noise.steps, -np.inf), noise.steps])
    return np.concatenate([-arm, arm, arm + shift, shift - arm, [0.0, 0.5 * shift, shift], jumps, jumps + shift])
