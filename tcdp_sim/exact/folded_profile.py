"""The profile delta(epsilon) of noise whose loss falls away from 0, as an integral over two intervals."""

from typing import NamedTuple

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds, gauss_panels
from tcdp_sim.exact.renyi.kernels import share_above
from tcdp_sim.exact.work import spend
from tcdp_sim.noise import Noise

_SPAN = 40.0  # in log |y|; outputs e^-40 times nearer to 0 than the mass and the crossing are negligible
_WIDTH = 0.8  # of a panel
_FURTHEST, _NEAREST = 700.0, -745.0  # of log |y|
_PLACES, _ROUNDS = 200, 6  # of the search for a crossing: 1e-11 in log |y|, which enters squared
_FINE, _COARSE = 16, 10
_ROUNDING = 4e-12  # relative, of densities
_LOSS_ROUNDING = 4e-15  # relative, of losses


class Profile(NamedTuple):
    """The value of delta(epsilon), and an estimate of the probability that the loss exceeds epsilon."""

    delta: Bounds
    exceeded: float


class FoldedProfile:
    """The function epsilon -> delta(epsilon) of the noise from itself moved by shift > 0, if `falls_away` admits it.

    The loss exceeds epsilon on -x1 < y < x2, with x2 < shift / 2.
    """

    def __init__(self, noise: Noise, shift: float) -> None:
        self.noise, self.shift, self.largest = noise, shift, noise.largest_loss(shift)
        self._peak, self._middle = float(noise.pdf(0.0)), float(np.log(noise.isf(0.25)))

    def __call__(self, epsilon: float) -> Profile:
        """Return the profile at epsilon >= 0, in nats."""
        if epsilon >= self.largest:
            return Profile(Bounds(0.0, 0.0, 0.0), 0.0)
        halves = [self._half(epsilon, side) for side in (-1.0, 1.0)]
        parts = zip(*((*half.delta, half.exceeded) for half in halves))
        lower, estimate, upper, exceeded = (sum(part) for part in parts)
        return Profile(Bounds(lower, estimate, upper).clipped(0.0, 1.0), exceeded)

    def _half(self, epsilon: float, side: float) -> Profile:
        """Return the contribution of the outputs on one side of 0."""
        end = _FURTHEST if side < 0 else min(float(np.log(self.shift / 2)), _FURTHEST)
        cut = self._crossing(epsilon, side, end)
        low = max(min(cut, self._middle, float(np.log(self.shift))) - _SPAN, _NEAREST)
        edges = np.linspace(low, cut, int((cut - low) / _WIDTH) + 2)
        fine, exceeded, lost = self._integral(epsilon, side, edges, _FINE)
        error = abs(fine - self._integral(epsilon, side, edges, _COARSE)[0]) + _ROUNDING * fine + lost
        beyond = 2 * self._peak * np.exp(low) * -np.expm1(epsilon - self.largest)
        if cut == _FURTHEST:
            furthest = float(self._loss(side, np.array([_FURTHEST]))[0])
            beyond += float(self.noise.sf(np.exp(_FURTHEST))) * -np.expm1(epsilon - furthest)
        return Profile(Bounds(fine - error, fine, fine + error + beyond), exceeded)

    def _loss(self, side: float, log_size: Floats) -> Floats:
        return np.asarray(self.noise.privacy_loss(side * np.exp(log_size), self.shift))

    def _crossing(self, epsilon: float, side: float, end: float) -> float:
        """Return the largest log |y| on that side, up to `end`, at which the loss exceeds epsilon."""
        if self._loss(side, np.array([end]))[0] > epsilon:
            return end
        low, high = _NEAREST, end
        for _ in range(_ROUNDS):
            x = np.linspace(low, high, _PLACES)
            above = int(np.searchsorted(-self._loss(side, x), -epsilon))  # the loss falls
            low, high = float(x[max(above - 1, 0)]), float(x[min(above, _PLACES - 1)])
        return low

    def _integral(self, epsilon: float, side: float, edges: Floats, nodes: int) -> tuple[float, float, float]:
        """Return the integrals over log |y| of f (1 - e^(epsilon - L)), of f, and of the rounding of L."""
        x, weight = gauss_panels(edges, nodes)
        spend(x.size)
        size = np.exp(x)
        mass = weight * size * self.noise.pdf(size)
        loss = self._loss(side, x)
        gain = share_above(epsilon, loss)
        return float(mass @ gain), float(mass.sum()), _LOSS_ROUNDING * float(mass @ loss)
