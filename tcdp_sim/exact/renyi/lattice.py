"""Divergences of noise on a lattice from itself moved by a whole number, as sums with the tails in closed form."""

from collections.abc import Callable
from typing import Any

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
from tcdp_sim.exact.work import spend
from tcdp_sim.noise.discrete import FAINTEST, DiscreteNoise
from tcdp_sim.noise.dithered import DitheredNoise
from tcdp_sim.noise.lattice import LatticeNoise

MOST_POINTS = 2**22  # largest number of terms of a sum
_UNDERFLOW = 800.0  # in nats
_ROUNDING = 1e-13  # relative, of sums of non-negative terms
_NEGLIGIBLE = 60.0  # nats below the largest term of a moment
_AT_ONCE = 2**21  # terms in memory at a time
_SMALL = 1e-3  # in nats; below it mixtures are taken of e^x - 1 instead of e^x
_MIXED = 1e-14  # relative error of a mixture
_LOG_ROUNDING = 1e-15  # relative, of the logs whose differences are losses


class LatticeLoss:
    """The privacy loss of the noise moved by a shift > 0 of whole steps, at the points below shift / 2.

    These points, half of all, are enough. For s = order - 1, E[e^(sL)] - 1 is the sum over them of
    p (e^(sL) - 1)(1 - e^(-(1 + s) L)). If the losses have no end, moments are right for s up to `most`.
    """

    def __init__(self, noise: DiscreteNoise, shift: float, most: float = 0.0) -> None:
        table = isinstance(noise, LatticeNoise)
        loss, log_mass = _half_of_table(noise, int(shift)) if table else _half(noise, shift, most)
        self.largest = float(np.abs(loss).max())
        self.nodes = Nodes(np.exp(log_mass), loss, self.largest - loss)
        self._log_mass = log_mass if not np.isfinite(noise.largest_loss(shift)) else None
        self._log_error = _LOG_ROUNDING * np.where(log_mass > -np.inf, np.abs(log_mass), 0.0)
        self._of_loss = _LOG_ROUNDING * float(np.abs(log_mass).max())
        self._rounding = _ROUNDING + 2 * self._of_loss / float(np.abs(loss)[loss != 0].min(initial=np.inf))
        if not table:  # the noise gives its losses to their last digits
            self._rounding = _ROUNDING + 2 * self._of_loss
        self._rows = 2**62 if table else max(_AT_ONCE // len(loss), 1)

    def max_divergence(self) -> Bounds:
        """Return D_inf, the largest loss. It is a difference of rounded logs."""
        return Bounds(self.largest - self._of_loss, self.largest, self.largest + self._of_loss).clipped(0.0)

    def divergence_at_one(self) -> Bounds:
        """Return D_1, the Kullback-Leibler divergence."""
        value = float(kl_integrand(self.nodes.loss) @ self.nodes.mass)
        return Bounds(value * (1 - self._rounding), value, value * (1 + self._rounding))

    def curve(self, s: Floats) -> Curve:
        """Return s D_(1+s) at every s > 0, shape (m,)."""
        parts = [self._curve(s[i : i + self._rows]) for i in range(0, len(s), self._rows)]
        return Curve(*(np.concatenate(part) for part in zip(*parts))) if len(parts) > 1 else parts[0]

    def _curve(self, s: Floats) -> Curve:
        if self._log_mass is not None:
            return self._curve_in_logs(self._log_mass, s)
        scaled, slope = scaled_moments(self.nodes, s)
        rounding = self._rounding * (1 + s * self.largest)
        lower, middle, upper = (log_moment(scaled * (1 + side * rounding), s, self.largest) for side in (-1, 0, 1))
        return Curve(lower, middle, upper, slope_of_log(slope, scaled, s, self.largest))

    def _curve_in_logs(self, log_mass: Floats, s: Floats) -> Curve:
        """Return the curve of losses without an end, whose moments may lie where probabilities are no floats."""
        lift = s[:, None] * self.nodes.loss
        logs = log_mass + lift + np.log(-np.expm1(-lift)) + np.log(-np.expm1(-lift - self.nodes.loss))
        peak = logs.argmax(axis=1)
        top = logs[np.arange(len(s)), peak]
        moment = top + np.log(np.exp(logs - top[:, None]).sum(axis=1))
        size = np.abs(log_mass[peak]) + s * self.nodes.loss[peak]
        rounding = np.minimum(self._rounding + _ROUNDING * (1 + size), 0.5)
        lower, middle, upper = (np.logaddexp(0.0, moment + np.log1p(side * rounding)) for side in (-1, 0, 1))
        return Curve(lower, middle, upper, np.full(s.shape, np.nan))

    def profile(self, epsilons: Floats) -> ArrayBounds:
        """Return delta(epsilon) for epsilons >= 0, shape (m,)."""
        parts = [self._profile(epsilons[i : i + self._rows]) for i in range(0, len(epsilons), self._rows)]
        return Bounds(*(np.concatenate(part) for part in zip(*parts))) if len(parts) > 1 else parts[0]

    def _profile(self, epsilons: Floats) -> ArrayBounds:
        delta = share_above(epsilons[:, None], self.nodes.loss) @ self.nodes.mass
        # logs of masses and their differences, the losses, have errors relative to the logs
        error_of_mass = self.nodes.mass * (1e-2 * _ROUNDING * (1 + self.nodes.loss) + self._log_error)
        error = _ROUNDING * delta + (self.nodes.loss > epsilons[:, None]) @ error_of_mass
        return Bounds(delta - error, delta, delta + error).clipped(0.0, 1.0)


def _half_of_table(noise: Any, shift: int) -> tuple[Floats, Floats]:
    """Return losses and log probabilities of a noise that is a table with geometric tails."""
    points = np.arange(-len(noise.log_mass) - 1.0, _points_below(noise, shift)) + noise.offset
    points = points[points < shift / 2]
    loss, log_mass = np.asarray(noise.privacy_loss(points, shift)), np.asarray(noise.logpdf(points))
    log_mass[0] -= np.log(-np.expm1(-noise.fall))  # includes all points further out, whose loss is the same
    return loss, log_mass


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


def _half(noise: DiscreteNoise, shift: float, most: float) -> tuple[Floats, Floats]:
    """Return positive losses and their log probabilities, as far out as they count in moments with s <= most."""
    log_least = FAINTEST
    while True:
        atoms = noise.loss_atoms(shift, log_least)
        spend(atoms.loss.size * noise.density_cost)
        lifted = atoms.log_mass + most * atoms.loss
        if np.isneginf(atoms.log_above) or lifted[0] < lifted.max() - _NEGLIGIBLE:
            return atoms.loss[atoms.loss > 0], atoms.log_mass[atoms.loss > 0]
        log_least *= 4


def lattice_renyi(noise: DiscreteNoise, shift: float, orders: Floats) -> ArrayBounds:
    """Return D_order in nats for shift > 0 and orders >= 1, shape (n,). It is infinite unless steps are whole."""
    if noise.steps_of(shift) is None:
        return Bounds(*(np.full(orders.shape, np.inf) for _ in range(3)))
    orders = np.where((orders < noise.max_order(shift)) | (orders == 1), orders, np.inf)
    finite = np.isfinite(orders)
    if (closed := noise.closed_renyi(shift, np.where(finite, orders, 1.0))) is not None:
        return Bounds(*(np.where(finite, part, noise.largest_loss(shift)) for part in closed))
    loss = LatticeLoss(noise, shift, float(orders[finite].max(initial=1.0)) - 1)
    ends = loss.max_divergence() if np.isfinite(noise.largest_loss(shift)) else Bounds(np.inf, np.inf, np.inf)
    return divergences_of_curve(orders, loss.curve, loss.divergence_at_one(), ends)


def lattice_profile(noise: DiscreteNoise, shift: float, epsilons: Floats) -> ArrayBounds:
    """Return delta(epsilon) for shift > 0 and epsilons >= 0, shape (n,). It is 1 unless steps are whole."""
    if noise.steps_of(shift) is None:
        return Bounds(*(np.ones(epsilons.shape) for _ in range(3)))
    closed = noise.closed_hockey_stick(shift, epsilons)
    return LatticeLoss(noise, shift).profile(epsilons) if closed is None else closed


def dithered_renyi(noise: DitheredNoise, shift: float, orders: Floats) -> ArrayBounds:
    """Return D_order in nats for shift > 0 and orders >= 1, shape (n,).

    Moments lie between the moments of the two whole steps next to the shift.
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


def dithered_profile(noise: DitheredNoise, shift: float, epsilons: Floats) -> ArrayBounds:
    """Return delta(epsilon) for shift > 0 and epsilons >= 0, shape (n,), from the two whole steps next to the shift."""
    near, far, share = _between(noise, shift)
    pairs = zip(*(_at(lattice_profile, noise, steps, epsilons) for steps in (near, far)))
    lower, middle, upper = ((1 - share) * low + share * high for low, high in pairs)
    return Bounds(lower * (1 - _MIXED), middle, upper * (1 + _MIXED))


def _between(noise: DitheredNoise, shift: float) -> tuple[float, float, float]:
    """Return the whole numbers of steps next to a shift, and the share in [0, 1) of the way between them."""
    share = float(np.fmod(shift, noise.scale))  # exact, as no quotient is
    near = round((shift - share) / noise.scale)
    return near, near + 1, share / noise.scale


def _at(
    law: Callable[[DiscreteNoise, float, Floats], ArrayBounds], noise: DitheredNoise, steps: float, x: Floats
) -> ArrayBounds:
    return law(noise.lattice, steps, x) if steps else Bounds(*(np.zeros(x.shape) for _ in range(3)))
