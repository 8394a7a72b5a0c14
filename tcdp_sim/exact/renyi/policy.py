"""The largest D_order / order of a noise from its shifted self, which is the zCDP or tCDP of its divergences."""

from functools import partial
from math import inf
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.renyi.best_order import best_ratio
from tcdp_sim.exact.renyi.choice import Quantity, Way, way
from tcdp_sim.exact.renyi.divergence import renyi_divergence
from tcdp_sim.exact.renyi.folded_loss import FoldedLoss
from tcdp_sim.exact.renyi.kernels import Curve
from tcdp_sim.exact.renyi.lattice import LatticeLoss
from tcdp_sim.noise import Noise
from tcdp_sim.noise.missing import cannot, undefined


def largest_ratio(noise: Noise, shift: float, omega: float) -> Bounds:
    """Return the supremum over 1 < order < omega of D_order / order, in nats, for shift >= 0.

    It is inf if a divergence below omega is. Raises ValueError for omega = inf and a noise whose divergences are not
    linear in the order, unless it defines `privacy_loss` and a finite `largest_loss`. Otherwise not all orders can be
    searched.
    """
    if shift == 0:
        return Bounds(0.0, 0.0, 0.0)
    if noise.linear_in_order:
        return Bounds(*(part * 0.5 for part in renyi_divergence(noise, shift, 2.0)))
    if omega > noise.max_order(shift):
        return Bounds(inf, inf, inf)
    chosen = way(noise, shift, Quantity.LARGEST_RATIO)
    if chosen is Way.LATTICE:
        return _lattice_ratio(noise, shift, omega)
    if chosen is Way.FOLDED:
        return _folded_ratio(noise, shift, omega)
    if omega == inf:
        _need_largest_loss(noise, shift)
    at_one = renyi_divergence(noise, shift, 1.0)
    if omega == inf and at_one.lower <= 0:
        return Bounds(0.0, at_one.estimate, noise.largest_loss(shift))
    if omega == inf:  # D is at most the largest loss, so D / order is below D_1 from here on
        omega = 1 + noise.largest_loss(shift) / at_one.lower
    return best_ratio(partial(_curve, noise, shift), at_one, inf, omega)


def _need_largest_loss(noise: Noise, shift: float) -> None:
    """Raise ValueError unless the loss has a known and finite supremum. High orders would magnify its rounding."""
    if noise.gives_loss and noise.largest_loss(shift) < inf:
        return
    lacking = undefined(noise, "privacy_loss", "largest_loss")
    reason = "the supremum of its privacy loss is unknown" if lacking else "its privacy loss is not bounded"
    raise cannot(f"find the zCDP of {noise!r} (omega = inf)", reason, *lacking, instead="a finite omega")


def _lattice_ratio(noise: Any, shift: float, omega: float) -> Bounds:
    """Return the supremum for noise on a lattice, from sums. Losses without an end need a finite omega."""
    endless = not np.isfinite(noise.largest_loss(shift))
    if endless and omega == inf:
        _need_largest_loss(noise, shift)
    loss = LatticeLoss(noise, shift, omega - 1 if endless else 0.0)
    return best_ratio(loss.curve, loss.divergence_at_one(), inf if endless else loss.largest, omega)


def _folded_ratio(noise: Noise, shift: float, omega: float) -> Bounds:
    """Return the supremum for a noise of bounded loss. No order beyond its largest loss over D_1 has a larger ratio."""
    largest, at_one = noise.largest_loss(shift), FoldedLoss(noise, shift, 0.0).divergence_at_one()
    if at_one.lower <= 0:
        return Bounds(0.0, at_one.estimate, largest)
    folded = FoldedLoss(noise, shift, min(omega - 1, largest / at_one.lower))
    return best_ratio(folded.curve, at_one, largest, omega)


def _curve(noise: Noise, shift: float, s: Floats) -> Curve:
    """Return s D_(1+s) of any noise. Its slopes are unknown."""
    lower, estimate, upper = (s * part for part in renyi_divergence(noise, shift, 1 + s))
    return Curve(lower, estimate, upper, np.full(s.shape, np.nan))
