"""Gaussian noise: the noise of zCDP, and the baseline for every other notion."""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from tcdp_sim.errors import real
from tcdp_sim.noise.base import Noise

HALF_LOG_TWO_PI = 0.5 * np.log(2 * np.pi)


@dataclass(frozen=True, eq=False)
class Gaussian(Noise):
    """N(0, scale^2). scale > 0 is the standard deviation, in counts.

    With scale^2 = Delta^2 / (2 rho) it is rho-zCDP for sensitivity Delta (Bun-Steinke 2016, Proposition 6),
    hence (rho, omega)-tCDP for every omega.
    """

    scale: float
    family = "gaussian"
    log_concave = True

    def __post_init__(self):
        self._freeze(scale=real("scale", self.scale, 0))

    def logpdf(self, x):
        z = np.divide(x, self.scale, dtype=np.float64)
        with np.errstate(over="ignore"):
            return -0.5 * z * z - HALF_LOG_TWO_PI - np.log(self.scale)

    def sf(self, x):
        return ndtr(-np.divide(x, self.scale, dtype=np.float64))

    def logsf(self, x):
        return log_ndtr(-np.divide(x, self.scale, dtype=np.float64))

    def isf(self, p):
        return -self.scale * ndtri(np.asarray(p, dtype=np.float64))

    def var(self):
        return np.square(self.scale)

    def sample(self, rng, size=None):
        return self.scale * rng.standard_normal(self.shape if size is None else size)

    def fill(self, rng, out):
        rng.standard_normal(out=out)
        out *= self.scale

    def privacy_loss(self, y, shift):
        # The difference of the log densities, without its cancellation.
        middle = np.subtract(np.multiply(0.5, shift), y, dtype=np.float64)  # exact near the zero of the loss
        with np.errstate(invalid="ignore"):
            return np.divide(shift, self.scale) * (middle / self.scale)
