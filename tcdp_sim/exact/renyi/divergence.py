"""Renyi divergences of a noise from its shifted self, with P = law of Z and Q = law of Z + shift.

`choice.way` names the way for each noise. This file holds the quadrature from a noise's own log density and loss, with
panels where some order's integrand matters. A noise with a closed form (`Noise.closed_renyi`) uses that instead.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Bools, Floats
from tcdp_sim.core.errors import real
from tcdp_sim.core.numerics import ArrayBounds, Bounds
from tcdp_sim.exact.mixtures import Mixture
from tcdp_sim.exact.renyi.choice import Quantity, Way, way
from tcdp_sim.exact.renyi.folded_loss import folded_renyi
from tcdp_sim.exact.renyi.kernels import SURE, density_and_loss, max_divergence, quadrature
from tcdp_sim.exact.renyi.lattice import dithered_renyi, lattice_renyi
from tcdp_sim.exact.renyi.mixture_divergences import renyi_divergence_between
from tcdp_sim.exact.resolution import with_kinks
from tcdp_sim.exact.work import MOST_POINTS, within
from tcdp_sim.noise import Noise

NEGLIGIBLE = 60.0  # an integrand e^-60 below its peak adds less than the rounding of the peak
_LEVELS = np.concatenate([np.linspace(0.45, 0.05, 9), 10.0 ** -np.geomspace(2, 307, 40)])


@np.errstate(over="ignore", invalid="ignore")  # undefined values far out leave the bounds wide
@within(MOST_POINTS, "valid: fewer orders, or a smaller shift")
def renyi_divergence(noise: Noise, shift: float, order: ArrayLike) -> Bounds[Any]:
    """Return the Renyi divergence D_order(P || Q) of a noise from its shifted self.

    P is the law of Z, and Q is the law of Z + shift. The divergence is infinite for sinh-normal noise at order >= 1 /
    (1 - exp(-2 |shift| / knee)), and for truncated Laplace noise at every order.

    Source: Mironov (2017) [Mir17].

    Parameters
    ----------
    noise : Noise
        The noise Z.
    shift : float
        The change of the answer in counts, finite, of either sign. The noises are symmetric, so both directions are
        equal.
    order : float or array
        The order, >= 1. Order 1 is the Kullback-Leibler divergence and inf the max-divergence.

    Returns
    -------
    Bounds
        The divergence in nats, of the shape of `order`. The ends are about 1e-10 apart (relative). They are further
        apart near the largest finite order, and at small shifts for a noise without its own `privacy_loss`. Within
        1e-12 of the largest order only the lower end is finite.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> round(renyi_divergence(Gaussian(2.0), 1.0, 2.0).estimate, 6)
    0.25
    """
    orders = np.atleast_1d(np.asarray(real("order", order, 1, closed=True, finite=False)))
    size = abs(real("shift", shift, -np.inf))
    if size == 0:
        bounds: Bounds[Any] = Bounds(*(np.zeros(orders.shape) for _ in range(3)))
    else:
        bounds = WAYS[way(noise, size, Quantity.DIVERGENCE)](noise, size, orders)
    bounds = bounds.clipped(0.0)  # of what floats leave unknown, nothing is claimed
    return bounds if np.ndim(order) else Bounds(*(float(part[0]) for part in bounds))


def _mixture_renyi(noise: Noise, shift: float, orders: Floats) -> ArrayBounds:
    return renyi_divergence_between(Mixture(noise), Mixture(noise, (shift,)), orders)


def _loss_renyi(noise: Noise, shift: float, orders: Floats) -> ArrayBounds:
    """Return D_order for orders >= 1, including inf, of a noise that knows its loss and where its orders end."""
    largest, loss = noise.max_order(shift), max_divergence(noise, shift)
    finite = (orders < largest * (1 - SURE)) | ((orders == 1) & (largest > 1))
    parts = [np.where(np.isinf(orders), end, np.inf) for end in loss]
    if finite.any():
        for part, value in zip(parts, _finite_renyi(noise, shift, orders[finite])):
            part[finite] = value
    unsure = ~finite & (orders < largest * (1 + SURE))
    if unsure.any() and largest > 1:
        parts[0][unsure] = _finite_renyi(noise, shift, np.array([max(largest * (1 - 2 * SURE), 1.0)])).lower[0]
    ends = (np.where(np.isnan(part), least, part) for part, least in zip(parts, (0.0, np.inf, np.inf)))
    return Bounds(*ends).clipped(0.0, loss.upper)


WAYS: dict[Way, Callable[[Any, float, Floats], ArrayBounds]] = {
    Way.LATTICE: lattice_renyi,
    Way.DITHERED: dithered_renyi,
    Way.FOLDED: folded_renyi,
    Way.LOSS: _loss_renyi,
    Way.MIXTURE: _mixture_renyi,
}


def _finite_renyi(noise: Noise, shift: float, orders: Floats) -> ArrayBounds:
    if (closed := noise.closed_renyi(shift, orders)) is not None:
        return closed
    x, cut = reach(noise, shift, orders, _arm(noise))
    parts = np.full((3, len(orders)), np.inf)
    if not cut.all():
        parts[:, ~cut] = quadrature(noise, shift, orders[~cut], x)
    for i in np.flatnonzero(cut):  # peaks far outside the tails need their own grids
        order = orders[i : i + 1]
        x, cut_again = reach(noise, shift, order, _far_arm(noise, shift, orders[i]))
        low, middle, high = quadrature(noise, shift, order, x)
        parts[:, i] = (low[0], np.inf, np.inf) if cut_again[0] else (low[0], middle[0], high[0])
    return Bounds(*parts)


def _arm(noise: Noise) -> Floats:
    """Return points of one side that cover the mass, down to tails of 1e-307 and slightly beyond."""
    arm = noise.isf(_LEVELS)
    return np.concatenate([arm, arm[-1] * np.geomspace(1.02, 2, 14)])


def _far_arm(noise: Noise, shift: float, order: float) -> Floats:
    """Return the arm, and edges around the peak of P e^(sL), which lies near (order - 1) shifts for Gaussian tails."""
    arm = _arm(noise)
    near = np.geomspace(arm[0], max(arm[-1], order * shift), 400)
    far = near[-1] * np.geomspace(1, 1e6, 400)[1:]
    x = np.concatenate([near, far])
    for _ in range(60):
        height = _log_integrand(noise, shift, order, -x)
        best = int(np.argmax(height))
        low, high = x[max(best - 1, 0)], x[min(best + 1, len(x) - 1)]
        if height[best] - min(height[max(best - 1, 0)], height[min(best + 1, len(x) - 1)]) < 1:
            break
        x = np.linspace(low, high, 17)
    steps = (high - low) * np.concatenate([np.linspace(0.5, 40, 80), np.geomspace(42, 1e4, 60)])
    around = np.concatenate([x[best] - steps, x[best : best + 1], x[best] + steps])
    return np.unique(np.concatenate([arm, around[around > 0]]))


def _log_integrand(noise: Noise, shift: float, order: float, x: Floats) -> Floats:
    """Return the log of P e^(sL), or -inf where P vanishes or the value is unknown."""
    log_p, loss = density_and_loss(noise, shift, x)
    with np.errstate(all="ignore"):
        value = log_p + (order - 1) * loss
    return np.where(np.isfinite(value), value, -np.inf)


def reach(noise: Noise, shift: float, orders: Floats, arm: Floats) -> tuple[Floats, Bools]:
    """Return panel edges over all x where some order's integrand matters, and the orders whose integrand goes on.

    The kinks of both densities are edges, because between a kink and its image, `shift` away, the whole loss may fall.
    An integrand that is cut off has only a lower bound.
    """
    arm = with_kinks(noise, arm)
    x = np.unique(np.concatenate([-arm, arm, arm + shift, shift - arm, [0.5 * shift]]))
    log_p, loss = density_and_loss(noise, shift, x)
    with np.errstate(all="ignore"):
        lift = np.maximum(np.multiply.outer(orders - 1, loss), np.maximum(-loss, 0))  # P e^(sL), P, and P e^-L = Q
        lifted = np.where(np.isfinite(log_p), log_p + lift, -np.inf)
        lifted = np.where(np.isfinite(lifted), lifted, -np.inf)
    matters = lifted > lifted.max(axis=1, keepdims=True) - NEGLIGIBLE
    cut = matters[:, 0] | matters[:, -1]
    kept = matters[~cut] if 0 < cut.sum() < len(cut) else matters
    if not kept.any():  # no finite integrand anywhere, because the orders are too large
        return x, np.ones_like(cut)
    first, last = np.flatnonzero(kept.any(axis=0))[[0, -1]]
    return x[max(first - 1, 0) : last + 2], cut
