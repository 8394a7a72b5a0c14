"""Printed policies: the privacy loss of a record, in nats, as a function of its influence t alone.

The policy of a release is public, and its value at a real record is confidential. Source: Finley et al. (2024) [Fin24],
with the factor 2 of the Gaussian policy corrected.
"""

from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import real
from tcdp_sim.noise.missing import cannot, undefined
from tcdp_sim.noise.privacy_loss import HasPrivacyLoss
from tcdp_sim.per_record.base import elementwise, influences
from tcdp_sim.per_record.transforms import Transform


def gaussian(influence: Any, scale: float) -> Reals:
    """Return t^2 / (2 scale^2), in nats.

    This is the zCDP of N(0, scale^2) noise on an answer that a record moves by t >= 0.
    """
    with np.errstate(over="ignore"):
        return 0.5 * np.square(influences(influence) / real("scale", scale, 0))


def transformation(transform: Transform, influence: Any, scale: float) -> Reals:
    """Return (f(t+a) - f(a))^2 / (2 scale^2), in nats.

    This is the zCDP of N(0, scale^2) noise on f(q + a) for concave f. It is attained at q = 0.
    """
    return gaussian(transform.rise(influences(influence)), scale)


def value_change(transform: Transform, old: Any, new: Any, scale: float) -> Reals:
    """Return (f(max+a) - f(min+a))^2 / (2 scale^2), in nats.

    This is the zCDP if one record changes from `old` to `new`, both >= 0.
    """
    old, new = real("old", old, 0, closed=True), real("new", new, 0, closed=True)
    low = np.minimum(old, new)
    return gaussian(transform.rise(np.abs(np.subtract(new, old)), start=low), scale)


def pure(noise: HasPrivacyLoss, influence: Any) -> Reals:
    """Return the supremum of the privacy loss of additive noise, in nats; inf if the loss is unbounded."""
    return elementwise(lambda t: _largest_loss(noise, t), influences(influence))


def printed_zcdp(loss: Any) -> Reals:
    """Return P tanh(P / 2), in nats, for a pure DP loss P >= 0.

    This is the zCDP of P-DP in both directions (Finley et al. 2024 [Fin24], Lemma 5.2).
    """
    loss = real("loss", loss, 0, closed=True)
    return loss * np.tanh(np.multiply(0.5, loss))


def additive(noise: HasPrivacyLoss, influence: Any) -> Reals:
    """Return the zCDP policy of additive noise, in nats.

    It is the divergence of order 1 if D_a = a D_1, else P tanh(P / 2) of the largest loss P. Raises ValueError for a
    noise without a zCDP policy: one whose loss is unbounded and not linear in the order.
    """
    t = influences(influence)
    if noise.linear_in_order:
        return elementwise(lambda each: _first_order(noise, each), t)
    loss = pure(noise, t)
    if not np.all(np.isfinite(loss)):
        lacking = undefined(noise, "largest_loss")
        reason = "the supremum of its privacy loss is unknown" if lacking else "its privacy loss is not bounded"
        raise cannot(f"print a zCDP policy of {noise!r}", reason, *lacking, instead="gaussian or laplace noise")
    return printed_zcdp(loss)


def _first_order(noise: HasPrivacyLoss, t: float) -> float:
    closed = noise.closed_renyi(t, np.array([1.0])) if t > 0 else None
    return 0.0 if closed is None else float(closed.estimate[0])


def _largest_loss(noise: HasPrivacyLoss, t: float) -> float:
    loss = noise.largest_loss(t) if t > 0 else 0.0
    return np.inf if np.isnan(loss) else float(loss)  # NaN means unknown
