"""Renyi divergences of noise whose density falls away from a peak at 0, however steep, at any shift and many orders.

The loss L is antisymmetric about shift / 2, so half of the outputs is enough. For s = order - 1,

    E[e^(sL)] - 1 = integral over outputs y < shift / 2 of f(y) (e^(sL) - 1) (1 - e^(-(1 + s) L)),

where nothing cancels. The integral is over log |y|, on y < 0 and on 0 < y < shift / 2. It approaches the peak as
closely as the largest order needs, and extends as far as the tails matter.
"""

from functools import cached_property

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import ArrayBounds, Bounds, gauss_panels
from tcdp_sim.exact.renyi.kernels import (
    Curve,
    Nodes,
    divergences_of_curve,
    kl_integrand,
    log_moment,
    max_divergence,
    scaled_moments,
    slope_of_log,
)
from tcdp_sim.noise import Noise

_LOGS = np.linspace(-700.0, 700.0, 1401)  # values of log |y| at which the integrands' ranges are searched
_NEGLIGIBLE = 1e-19  # of the largest integrand
_WIDTH = 0.8  # of a panel in log |y|; the nearest singularity is pi away
_FINE, _COARSE = 16, 10
_ROUNDING = 2e-12  # relative, of densities
_LOSS_ROUNDING = 4e-15  # relative, of losses


def falls_away(noise: Noise, shift: float) -> bool:
    """Return True if this file applies to the noise moved by shift > 0, from a check of its assumptions at 1401 places.

    The noise must give its loss, which must be bounded. Density and loss must fall with |y| on y < 0 and on
    0 < y < shift / 2.
    """
    if not noise.gives_loss or not np.isfinite(noise.largest_loss(shift)):
        return False
    log_density, outer, inner = _looked_at(noise, shift)
    slack = 1e-9 * noise.largest_loss(shift)
    return bool(
        (np.diff(log_density) <= 1e-9).all() and (np.diff(outer) <= slack).all() and (np.diff(inner) <= slack).all()
    )


def _looked_at(noise: Noise, shift: float) -> tuple[Floats, Floats, Floats]:
    """Return log density and loss at y = -size, and the loss at y = size up to shift / 2, for all sizes of _LOGS."""
    size = np.exp(_LOGS)
    losses = (noise.privacy_loss(y, shift) for y in (-size, np.minimum(size, shift / 2)))
    log_density, outer, inner = (np.asarray(each) for each in (noise.logpdf(size), *losses))
    return log_density, outer, inner


class FoldedLoss:
    """The privacy loss of a noise moved by shift > 0, in nats, ready for divergences of orders up to 1 + largest_s.

    The noise must satisfy `falls_away`, and largest_s is finite and >= 0.
    """

    def __init__(self, noise: Noise, shift: float, largest_s: float) -> None:
        self.noise, self.shift = noise, shift
        self.largest = noise.largest_loss(shift)
        self._low, self._high = self._reach(largest_s)

    def divergence_at_one(self) -> Bounds:
        """Return D_1, the Kullback-Leibler divergence."""
        fine, coarse = (float(kl_integrand(nodes.loss) @ nodes.mass) for nodes in (self._fine, self._coarse))
        rest = float(kl_integrand(self._left_out.loss) @ self._left_out.mass)
        error = abs(fine - coarse) + (_ROUNDING + 2 * _LOSS_ROUNDING) * fine
        return Bounds(fine - error, fine, fine + error + rest).clipped(0.0)

    def curve(self, s: Floats) -> Curve:
        """Return s D_(1+s) at every s > 0, shape (m,)."""
        fine, slope = scaled_moments(self._fine, s)
        coarse, _ = scaled_moments(self._coarse, s)
        error = np.abs(fine - coarse) + (_ROUNDING + _LOSS_ROUNDING * (2 + s * self.largest)) * fine
        rest, _ = scaled_moments(self._left_out, s)
        lower, middle, upper = (
            log_moment(mean, s, self.largest) for mean in (np.maximum(fine - error, 0.0), fine, fine + error + rest)
        )
        return Curve(lower, middle, upper, slope_of_log(slope, fine, s, self.largest))

    def _reach(self, largest_s: float) -> tuple[float, float]:
        """Return the ends of log |y| between which some order's integrand is not negligible."""
        log_density, outer, _ = _looked_at(self.noise, self.shift)
        low, high = len(_LOGS), 0
        for s in (0.0, largest_s):
            with np.errstate(all="ignore"):
                height = _LOGS + log_density - s * (self.largest - outer) + 2 * np.log(-np.expm1(-(1 + s) * outer))
            height = np.where(np.isfinite(height), height, -np.inf)
            matters = np.flatnonzero(height > height.max() + np.log(_NEGLIGIBLE))
            if matters.size == 0:
                raise ValueError(f"shift = {self.shift:g} is not valid for {self.noise!r}: all its losses underflow")
            low, high = min(low, matters[0] - 1), max(high, matters[-1] + 1)
        return float(_LOGS[max(low, 0)]), float(_LOGS[min(high, len(_LOGS) - 1)])

    def _losses(self, size: Floats, half: str) -> Floats:
        return np.asarray(self.noise.privacy_loss(-size if half == "outer" else size, self.shift))

    def _nodes(self, count: int) -> Nodes:
        middle = min(float(np.log(self.shift / 2)), 700.0)
        parts = []
        for half, end in (("outer", self._high), ("inner", middle)):
            low = min(self._low, end - 1)
            x, weight = gauss_panels(np.linspace(low, end, int(np.ceil((end - low) / _WIDTH)) + 1), count)
            size = np.exp(x)
            parts.append((weight * size * self.noise.pdf(size), self._losses(size, half)))
        mass, loss = (np.concatenate(each) for each in zip(*parts))
        keep = mass > 0
        return Nodes(mass[keep], loss[keep], np.maximum(self.largest - loss[keep], 0.0))

    @cached_property
    def _fine(self) -> Nodes:
        return self._nodes(_FINE)

    @cached_property
    def _coarse(self) -> Nodes:
        return self._nodes(_COARSE)

    @cached_property
    def _left_out(self) -> Nodes:
        """Upper bounds on the probabilities of the outputs without nodes, near 0 and far out, with their losses."""
        near, far = np.exp(self._low), np.exp(self._high)
        loss = np.array([self.largest, float(self._losses(np.array([far]), "outer")[0])])
        further = float(far * self.noise.pdf(far)) * (
            _LOGS[-1] - self._high + 1
        )  # y f(y) e^(sL) L^2 falls with y there
        mass = np.array([2 * near * float(self.noise.pdf(0.0)), further])
        return Nodes(mass, loss, self.largest - loss)


def folded_renyi(noise: Noise, shift: float, orders: Floats) -> ArrayBounds:
    """Return D_order in nats for shift > 0 and orders >= 1 (inf included), shape (n,), if `falls_away` holds."""
    s = np.where((orders > 1) & np.isfinite(orders), orders - 1, 1.0)
    folded = FoldedLoss(noise, shift, float(s.max()))
    return divergences_of_curve(orders, folded.curve, folded.divergence_at_one(), max_divergence(noise, shift))
