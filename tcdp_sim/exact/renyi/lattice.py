"""Divergences of noise on a lattice from itself moved by a whole number, as sums with the tails in closed form."""

from collections.abc import Callable

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import ArrayBounds, Bounds
from tcdp_sim.exact.renyi.kernels import (
    Curve,
    Nodes,
    divergences_of_curve,
    kl_integrand,
    log_moment,
    scaled_moments,
    share_above,
    slope_of_log,
)
from tcdp_sim.noise.dithered_lattice import DitheredLattice
from tcdp_sim.noise.lattice import LatticeNoise

MOST_POINTS = 2**22  # largest number of terms of a sum
_UNDERFLOW = 800.0  # in nats
_ROUNDING = 1e-13  # relative, of sums of non-negative terms
_SMALL = 1e-3  # in nats; below it mixtures are taken of e^x - 1 instead of e^x
_MIXED = 1e-14  # relative error of a mixture
_LOG_ROUNDING = 1e-15  # relative, of the logs whose differences are losses


class LatticeLoss:
    """The privacy loss of the noise moved by a whole shift > 0, at the points below shift / 2.

    These points, half of all, are enough. For s = order - 1, E[e^(sL)] - 1 is the sum over them of
    p (e^(sL) - 1)(1 - e^(-(1 + s) L)).
    """

    def __init__(self, noise: LatticeNoise, shift: int) -> None:
        points = np.arange(-len(noise.log_mass) - 1.0, _points_below(noise, shift)) + noise.offset
        points = points[points < shift / 2]
        loss, log_mass = np.asarray(noise.privacy_loss(points, shift)), np.asarray(noise.logpdf(points))
        log_mass[0] -= np.log(-np.expm1(-noise.fall))  # includes all points further out, whose loss is the same
        self.largest = float(np.abs(loss).max())
        self.nodes = Nodes(np.exp(log_mass), loss, self.largest - loss)
        self._of_loss = _LOG_ROUNDING * float(np.abs(log_mass).max())
        self._rounding = _ROUNDING + 2 * self._of_loss / float(np.abs(loss)[loss != 0].min(initial=np.inf))

    def max_divergence(self) -> Bounds:
        """Return D_inf, the largest loss. It is a difference of rounded logs."""
        return Bounds(self.largest - self._of_loss, self.largest, self.largest + self._of_loss).clipped(0.0)

    def divergence_at_one(self) -> Bounds:
        """Return D_1, the Kullback-Leibler divergence."""
        value = float(kl_integrand(self.nodes.loss) @ self.nodes.mass)
        return Bounds(value * (1 - self._rounding), value, value * (1 + self._rounding))

    def curve(self, s: Floats) -> Curve:
        """Return s D_(1+s) at every s > 0, shape (m,)."""
        scaled, slope = scaled_moments(self.nodes, s)
        rounding = self._rounding * (1 + s * self.largest)
        lower, middle, upper = (log_moment(scaled * (1 + side * rounding), s, self.largest) for side in (-1, 0, 1))
        return Curve(lower, middle, upper, slope_of_log(slope, scaled, s, self.largest))


def _points_below(noise: LatticeNoise, shift: int) -> float:
    """Return the number of points from 0 to shift / 2, or of those before the probabilities underflow.

    Beyond the table both the probability and the loss fall, so the other points add nothing to a moment.
    """
    count = min(shift / 2 + 1, len(noise.log_mass) + _UNDERFLOW / noise.fall)
    if count > MOST_POINTS:
        raise ValueError(
            f"shift = {shift:g} is not valid for {noise!r}: its divergences are sums of {count:.3g} terms; "
            f"valid: a shift below {2 * MOST_POINTS:,}"
        )
    return count


def lattice_renyi(noise: LatticeNoise, shift: float, orders: Floats) -> ArrayBounds:
    """Return D_order in nats for shift > 0 and orders >= 1, shape (n,). It is infinite unless the shift is whole."""
    if shift != round(shift):
        return Bounds(*(np.full(orders.shape, np.inf) for _ in range(3)))
    loss = LatticeLoss(noise, int(shift))
    return divergences_of_curve(orders, loss.curve, loss.divergence_at_one(), loss.max_divergence())


def lattice_profile(noise: LatticeNoise, shift: float, epsilons: Floats) -> ArrayBounds:
    """Return delta(epsilon) for shift > 0 and epsilons >= 0, shape (n,). It is 1 unless the shift is whole."""
    if shift != round(shift):
        return Bounds(*(np.ones(epsilons.shape) for _ in range(3)))
    nodes = LatticeLoss(noise, int(shift)).nodes
    delta = share_above(epsilons[:, None], nodes.loss) @ nodes.mass
    error = _ROUNDING * (delta + ((nodes.loss > epsilons[:, None]) * (1 + nodes.loss)) @ nodes.mass * 1e-2)
    return Bounds(delta - error, delta, delta + error).clipped(0.0, 1.0)


def dithered_renyi(noise: DitheredLattice, shift: float, orders: Floats) -> ArrayBounds:
    """Return D_order in nats for shift > 0 and orders >= 1, shape (n,).

    Moments lie between those of the two whole steps beside the shift.
    """
    near, far, share = _between(noise, shift)
    ends = (_at(lattice_renyi, noise, steps, orders) for steps in (near, far))
    s = np.where(np.isfinite(orders), orders - 1, 1.0)

    def mixed(low: Floats, high: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            logs = np.logaddexp(np.log1p(-share) + s * low, np.log(share) + s * high) if share else s * low
        small = s * high < _SMALL
        linear = (1 - share) * np.expm1(np.where(small, s * low, 0)) + share * np.expm1(np.where(small, s * high, 0))
        inside = np.where(small, np.log1p(linear), logs) / np.where(s > 0, s, 1.0)
        at_one = (1 - share) * low + share * high
        return np.where(orders == 1, at_one, np.where(np.isinf(orders), high if share else low, inside))

    lower, middle, upper = (mixed(*pair) for pair in zip(*ends))
    return Bounds(lower * (1 - _MIXED), middle, upper * (1 + _MIXED))


def dithered_profile(noise: DitheredLattice, shift: float, epsilons: Floats) -> ArrayBounds:
    """Return delta(epsilon) for shift > 0 and epsilons >= 0, shape (n,), from the two whole steps beside the shift."""
    near, far, share = _between(noise, shift)
    pairs = zip(*(_at(lattice_profile, noise, steps, epsilons) for steps in (near, far)))
    lower, middle, upper = ((1 - share) * low + share * high for low, high in pairs)
    return Bounds(lower * (1 - _MIXED), middle, upper * (1 + _MIXED))


def _between(noise: DitheredLattice, shift: float) -> tuple[float, float, float]:
    """Return the whole numbers of steps beside a shift, and the share in [0, 1) of the way between them."""
    share = float(np.fmod(shift, noise.scale))  # exact, as no quotient is
    near = round((shift - share) / noise.scale)
    return near, near + 1, share / noise.scale


def _at(
    law: Callable[[LatticeNoise, float, Floats], ArrayBounds], noise: DitheredLattice, steps: float, x: Floats
) -> ArrayBounds:
    return law(noise.lattice, steps, x) if steps else Bounds(*(np.zeros(x.shape) for _ in range(3)))
