"""Fast divergences of stretched noise by one trapezoid rule. They guide a search and have no error bounds."""

from functools import lru_cache

import numpy as np
from scipy.special import logsumexp

from tcdp_sim.calibration.neighbouring_scales import Pair
from tcdp_sim.core.arrays import Floats
from tcdp_sim.noise import Noise

_POINTS = 1201
_DEEPEST = 1e-250
COARSE = np.array([1e-3, 0.1, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 14.0, 20.0, 35.0, 60.0, 100.0, 300.0])
FINE = np.geomspace(1e-4, 600, 40)  # COARSE and FINE are orders minus one
_LARGEST_EXPONENT = 300.0


class Grid:
    """Points x = c sinh(u), evenly spaced in u, with the log mass of each.

    The points reach into the tails to probabilities of 1e-250.
    """

    def __init__(self, noise: Noise) -> None:
        middle, far = float(noise.isf(0.3)), min(float(noise.isf(_DEEPEST)), 1e280)
        u = np.linspace(-1, 1, _POINTS) * np.arcsinh(far / middle)
        self.noise, self.x = noise, middle * np.sinh(u)
        self.log_p = np.asarray(noise.logpdf(self.x))
        self.log_mass = self.log_p + np.log(middle * np.cosh(u)) + np.log(u[1] - u[0])
        self.mass = np.exp(self.log_mass)

    def loss(self, pair: Pair) -> Floats:
        """Return log(P / Q) at the points."""
        tau, shift = pair
        return self.log_p - np.asarray(self.noise.logpdf((self.x - shift) * np.exp(-tau))) + tau

    def worst_ratio(self, pairs: list[Pair], omega: float, orders: Floats) -> float:
        """Return the largest D_a / a of the pairs over a = omega and the given smaller a = 1 + order."""
        s = np.append(orders[orders < omega - 1], omega - 1) if np.isfinite(omega) else orders
        worst = 0.0
        for pair in pairs:
            loss = self.loss(pair)
            worst = max(worst, float((self._scaled(s, loss) / (s * (s + 1))).max()))
        return worst

    def _scaled(self, s: Floats, loss: Floats) -> Floats:
        """Return s D_(1+s).

        Where it is a float, E[e^(sL) - 1 + s (e^-L - 1)] is used, because errors of the rule nearly cancel in it.
        """
        near = s * np.abs(loss).max() < _LARGEST_EXPONENT
        value = np.empty(len(s))
        rise = np.expm1(np.multiply.outer(s[near], loss)) + np.multiply.outer(s[near], np.expm1(-loss))
        value[near] = np.log1p(rise @ self.mass)
        value[~near] = logsumexp(self.log_mass + np.multiply.outer(s[~near], loss), axis=1)
        return value

    def worst_delta(self, pairs: list[Pair], epsilon: float) -> float:
        """Return the largest delta(epsilon) of the pairs."""
        losses = [self.loss(pair) for pair in pairs]
        return max(float(self.mass @ np.maximum(-np.expm1(epsilon - loss), 0.0)) for loss in losses)


@lru_cache(maxsize=64)
def grid(noise: Noise) -> Grid:
    """Return the grid of a noise. Grids are cached."""
    return Grid(noise)
