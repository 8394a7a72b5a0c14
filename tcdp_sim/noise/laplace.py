"""Laplace noise: the noise of pure differential privacy."""

from dataclasses import dataclass

import numpy as np

from tcdp_sim.errors import real
from tcdp_sim.noise.base import Noise


@dataclass(frozen=True, eq=False)
class Laplace(Noise):
    """Density proportional to exp(-|x| / scale); scale > 0 in counts, standard deviation sqrt(2) scale.

    With scale = Delta / epsilon it is epsilon-DP for L1 sensitivity Delta.
    """

    scale: float
    family = "laplace"
    log_concave = True

    def __post_init__(self):
        self._freeze(scale=real("scale", self.scale, 0))

    def logpdf(self, x):
        return -np.abs(np.divide(x, self.scale, dtype=np.float64)) - np.log(2 * self.scale)

    def sf(self, x):
        z = np.divide(x, self.scale, dtype=np.float64)
        tail = 0.5 * np.exp(-np.abs(z))
        return np.where(z >= 0, tail, 1 - tail)[()]

    def logsf(self, x):
        z = np.divide(x, self.scale, dtype=np.float64)
        size = np.abs(z)
        return np.where(z >= 0, -size - np.log(2), np.log1p(-0.5 * np.exp(-size)))[()]

    def isf(self, p):
        p = np.asarray(p, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            size = -np.log(2 * np.minimum(p, 1 - p))  # 1 - p is exact for p >= 1/2
        return (self.scale * np.where(p <= 0.5, size, -size))[()]

    def var(self):
        return 2 * np.square(self.scale)

    def sample(self, rng, size=None):
        # Exponential draws have exact tails; inverting a 53-bit uniform has none beyond 1e-16.
        size = self.shape if size is None else size
        magnitude = rng.standard_exponential(size)
        return self.scale * np.copysign(magnitude, rng.random(size) - 0.5)

    def privacy_loss(self, y, shift):
        return difference_of_sizes(y, shift) / self.scale


def difference_of_sizes(y, shift):
    """|y - shift| - |y|, without its cancellation for |y| far above |shift|."""
    size = np.abs(shift, dtype=np.float64)
    with np.errstate(over="ignore"):
        return np.copysign(1.0, shift) * np.clip(np.subtract(shift, np.multiply(2.0, y)), -size, size)
