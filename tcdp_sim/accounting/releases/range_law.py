"""The law of the loss of one epsilon-bounded-range release: the density e^(l/2) / (4 sinh(epsilon/2)) on its range."""

from dataclasses import dataclass
from math import exp, expm1, log, log1p

import numpy as np

from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.exact.losses.atoms import Atoms
from tcdp_sim.exact.losses.grid_law import MOST_POINTS, GridLaw, TooFine
from tcdp_sim.privacy.least_rho import bounded_range_rho

_CRUDE = 400
_PEAK = 1e-5  # of epsilon: the losses that are taken together as the largest ones
_FARTHEST = 1e300  # of order epsilon: beyond, the divergence is the largest loss in floats
_NEAREST = 1e-12  # of the range: the distance from the largest loss of the last edge of a crude law


@dataclass(frozen=True)
class RangeLoss:
    """The class pair of bounded range: its profile is the supremum over all pairs with losses t and t - epsilon.

    The supremum over t of p_t - e^e q_t, at e^(2t) = e^(e + epsilon), is (e^(epsilon/2) - e^(e/2))^2 / (e^epsilon - 1).
    Its second derivative in e^e gives the density.
    """

    epsilon: float

    def crude(self) -> Atoms:
        """Return atoms at the middle of intervals, which are ever shorter towards the largest loss."""
        below = np.union1d(np.linspace(0.0, 2.0, _CRUDE + 1), np.geomspace(_NEAREST, 2 / _CRUDE, _CRUDE // 2))
        edges = self.epsilon * below[::-1]  # distances from the largest loss
        mass = np.exp(-edges[1:] / 2) * -np.expm1(-(edges[:-1] - edges[1:]) / 2) / -np.expm1(-self.epsilon)
        loss = self.epsilon - 0.5 * (edges[1:] + edges[:-1])
        loss[0] = -self.epsilon  # nothing is below it, so that losses are raised only where that costs nothing
        return Atoms(loss, mass, 0.0)

    def lost(self) -> tuple[float, float]:
        """Return 0, because every loss is finite."""
        return 0.0, 0.0

    def largest(self) -> tuple[float, float]:
        """Return epsilon."""
        return self.epsilon, self.epsilon

    def peak(self) -> tuple[float, float]:
        """Return a loss close below epsilon, and the probability from there on."""
        near = _PEAK * self.epsilon
        mass = np.expm1(-near / 2) / np.expm1(-self.epsilon)
        return (self.epsilon - near) * (1 - 4e-16), float(mass) * (1 - 1e-14)

    def lattice(self) -> None:
        """Return None, because the losses fill an interval."""

    def renyi(self, order: float) -> Bounds:
        """Return the largest Renyi divergence of the class, which several releases attain together."""
        return range_renyi(self.epsilon, order)

    def on_grid(self, step: float, offset: float, rare: float, floor: float, top: float = np.inf) -> GridLaw:
        """Return the law on the grid; nothing is rare enough to be cut off."""
        low = max(floor, -self.epsilon) if floor < self.epsilon else -self.epsilon
        first, last = (int(np.floor((end - offset) / step)) for end in (low, self.epsilon))
        if last - first > MOST_POINTS:
            raise TooFine
        points = offset + step * np.arange(first, last + 1)
        start, end = np.maximum(points, -self.epsilon), np.minimum(points + step, self.epsilon)
        end = np.maximum(start, end)
        # integrals of c e^(l/2) and of c e^(l/2) (1 - e^(g - l)), without cancellation
        scale = 0.5 * np.exp((points - self.epsilon) / 2) / -np.expm1(-self.epsilon)
        below, above = (start - points) / 2, (end - points) / 2
        mass = 2 * scale * (np.expm1(above) - np.expm1(below))
        upper = 8 * scale * (np.sinh(above / 2) ** 2 - np.sinh(below / 2) ** 2) / -np.expm1(-step)
        upper = np.clip(upper, 0.0, mass)
        total = np.append(mass - upper, 0.0) + np.append(0.0, upper)
        raised = float(np.exp((points[0] - self.epsilon) / 2) * np.expm1(-(points[0] + self.epsilon) / 2))
        raised /= float(np.expm1(-self.epsilon))
        if raised > 0:
            total[0] += raised
        moved = ((float(points[0]), raised),) if raised > 0 else ()
        return GridLaw(first, total, offset, step, (0.0, 0.0), moved, 4e-15 * (1 + self.epsilon), step, 1e-13)


def range_renyi(epsilon: float, order: float) -> Bounds:
    """Return the largest Renyi divergence of an epsilon-bounded-range release.

    With psi(s) = log(sinh(s/2) / (s/2)) it is [a psi(a epsilon) - (a-1) psi((a-1) epsilon) - psi(epsilon)] / (a - 1),
    and psi(epsilon) + epsilon psi'(epsilon) at order 1. D_a / a falls in a.
    """
    if not order * epsilon < _FARTHEST:
        return Bounds(epsilon * (1 - 4e-16), epsilon, epsilon)
    rho, rest = bounded_range_rho(epsilon), order - 1
    if rest < 1e-6:
        return Bounds(rho * (1 - 1e-12), rho, rho * order * (1 + 1e-12))
    if order * epsilon < 0.3:  # the series of psi: the terms of order s^2, s^4, s^6 and s^8
        powers = [(order ** (n + 1) - rest ** (n + 1) - 1) * epsilon**n / rest for n in (2, 4, 6, 8)]
        value = powers[0] / 24 - powers[1] / 2880 + powers[2] / 181440 - powers[3] / 9676800
        return closed_form(value, 1e-9)
    # psi(s) = s / 2 + log(1 - e^-s) - log s; the quadratic parts leave epsilon, so that large orders lose no digits
    terms = [0.5 * epsilon - _psi(epsilon), -log(order * epsilon), -rest * log1p(1 / rest)]
    terms += [order * _log_rest(order * epsilon), -rest * _log_rest(rest * epsilon)]
    value, error = epsilon + sum(terms) / rest, 4e-15 * (epsilon + sum(map(abs, terms)) / rest)
    high = min(value + error, rho * order * (1 + 1e-12), epsilon * (1 + 4e-16))
    return Bounds(min(max(value - error, rho * (1 - 1e-12)), high), min(value, high), high)


def _log_rest(s: float) -> float:
    """Return log(1 - e^-s)."""
    return log1p(-exp(-s)) if s > 1 else log(-expm1(-s))


def _psi(s: float) -> float:
    if s < 1e-2:
        return s**2 / 24 - s**4 / 2880
    return float(s / 2 + np.log(-np.expm1(-s) / s))
