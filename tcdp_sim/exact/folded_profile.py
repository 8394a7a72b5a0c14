"""The profile delta(epsilon) of noise whose loss falls away from 0, as an integral over two intervals."""

from typing import Any, NamedTuple

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds, gauss_panels
from tcdp_sim.exact.renyi.kernels import share_above
from tcdp_sim.exact.work import spend
from tcdp_sim.noise import Noise

_SPAN = 40.0  # in log |y|; outputs e^-40 times nearer to 0 than the mass and the crossing are negligible
_WIDTH = 0.8  # of a panel
_FURTHEST, _NEAREST = 700.0, -745.0  # of log |y|
_PLACES, _ROUNDS = 40, 9  # of the search for a crossing: 1e-11 in log |y|, which enters squared
_FINE, _COARSE = 16, 10
_ROWS = 128  # epsilons at a time
_ROUNDING = 4e-12  # relative, of densities
_LOSS_ROUNDING = 4e-15  # relative, of losses


class Profile(NamedTuple):
    """The values of delta(epsilon), and estimates of the probabilities that the loss exceeds epsilon."""

    delta: Bounds[Any]
    exceeded: Any


class FoldedProfile:
    """The function epsilon -> delta(epsilon) of the noise from itself moved by shift > 0, if `falls_away` admits it.

    The loss exceeds epsilon on -x1 < y < x2, with x2 < shift / 2.
    """

    def __init__(self, noise: Noise, shift: float) -> None:
        self.noise, self.shift, self.largest = noise, shift, noise.largest_loss(shift)
        self._peak, self._middle = float(noise.pdf(0.0)), float(np.log(noise.isf(0.25)))

    def __call__(self, epsilon: float) -> Profile:
        """Return the profile at one epsilon >= 0, in nats."""
        found = self.at(np.array([epsilon]))
        return Profile(Bounds(*(float(part[0]) for part in found.delta)), float(found.exceeded[0]))

    def at(self, epsilon: Floats) -> Profile:
        """Return the profile at each epsilon >= 0, in nats; shape (n,)."""
        total = np.zeros((4, len(epsilon)))  # lower, estimate, upper, exceeded
        below = np.flatnonzero(epsilon < self.largest)
        for start in range(0, len(below), _ROWS):
            rows = below[start : start + _ROWS]
            total[:, rows] = sum(self._half(epsilon[rows], side) for side in (-1.0, 1.0))
        return Profile(Bounds(*total[:3]).clipped(0.0, 1.0), total[3])

    def _half(self, epsilon: Floats, side: float) -> Floats:
        """Return the contribution of the outputs on one side of 0: lower, estimate, upper, exceeded; shape (4, n)."""
        end = _FURTHEST if side < 0 else min(float(np.log(self.shift / 2)), _FURTHEST)
        cut = self._crossing(epsilon, side, end)
        low = np.maximum(np.minimum(cut, min(self._middle, float(np.log(self.shift)))) - _SPAN, _NEAREST)
        out, panels = np.empty((4, len(epsilon))), ((cut - low) / _WIDTH).astype(int) + 1
        for count in np.unique(panels):
            rows = panels == count
            edges = np.linspace(low[rows], cut[rows], count + 1, axis=1)
            out[:, rows] = self._over(epsilon[rows], side, edges)
        return out

    def _over(self, epsilon: Floats, side: float, edges: Floats) -> Floats:
        """Return the contributions of the outputs up to the last edge of each row, in log |y|; edges: (n, panels)."""
        low, cut = edges[:, 0], edges[:, -1]
        fine, exceeded, lost = self._integral(epsilon, side, edges, _FINE)
        error = np.abs(fine - self._integral(epsilon, side, edges, _COARSE)[0]) + _ROUNDING * fine + lost
        beyond = 2 * self._peak * np.exp(low) * -np.expm1(epsilon - self.largest)
        if (cut == _FURTHEST).any():
            furthest = float(self._loss(side, np.array([_FURTHEST]))[0])
            outside = float(self.noise.sf(np.exp(_FURTHEST))) * -np.expm1(epsilon - furthest)
            beyond = beyond + np.where(cut == _FURTHEST, outside, 0.0)
        return np.stack([fine - error, fine, fine + error + beyond, exceeded])

    def _loss(self, side: float, log_size: Floats) -> Floats:
        return np.asarray(self.noise.privacy_loss(side * np.exp(log_size), self.shift))

    def _crossing(self, epsilon: Floats, side: float, end: float) -> Floats:
        """Return the largest log |y| on that side, up to `end`, at which the loss exceeds each epsilon."""
        low, high = np.full(len(epsilon), _NEAREST), np.full(len(epsilon), end)
        for _ in range(_ROUNDS):
            spend(_PLACES * len(epsilon))
            x = np.linspace(low, high, _PLACES, axis=1)
            above = (self._loss(side, x) > epsilon[:, None]).sum(axis=1)  # the loss falls
            low = np.take_along_axis(x, np.maximum(above - 1, 0)[:, None], axis=1)[:, 0]
            high = np.take_along_axis(x, np.minimum(above, _PLACES - 1)[:, None], axis=1)[:, 0]
        return np.where(self._loss(side, np.array([end]))[0] > epsilon, end, low)

    def _integral(self, epsilon: Floats, side: float, edges: Floats, nodes: int) -> tuple[Floats, Floats, Floats]:
        """Return the integrals over log |y| of f (1 - e^(epsilon - L)), of f, and of the rounding of L; shapes (n,)."""
        unit, share = gauss_panels(np.array([-1.0, 1.0]), nodes)
        half = 0.5 * np.diff(edges, axis=1)[..., None]
        x, weight = (each.reshape(len(edges), -1) for each in (edges[:, :-1, None] + half + half * unit, half * share))
        spend(x.size)
        size = np.exp(x)
        mass = weight * size * self.noise.pdf(size)
        loss = self._loss(side, x)
        gain = share_above(epsilon[:, None], loss)
        return (mass * gain).sum(axis=1), mass.sum(axis=1), _LOSS_ROUNDING * (mass * loss).sum(axis=1)
