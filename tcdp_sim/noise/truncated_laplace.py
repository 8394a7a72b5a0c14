"""Truncated Laplace noise: bounded noise for (epsilon, delta)-differential privacy."""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammainc

from tcdp_sim.errors import real
from tcdp_sim.noise.base import Noise
from tcdp_sim.noise.laplace import difference_of_sizes


@dataclass(frozen=True, eq=False)
class TruncatedLaplace(Noise):
    """Density proportional to exp(-|x| / scale) on [-bound, bound], zero outside; both in counts, > 0.

    With scale = Delta / epsilon and bound = scale * log(1 + (e^epsilon - 1) / (2 delta)) >= Delta it is
    exactly (epsilon, delta)-DP for sensitivity Delta: on the common support the ratio is at most e^epsilon, and
    the mass outside it is delta.
    """

    scale: float
    bound: float
    family = "truncated_laplace"
    log_concave = True

    def __post_init__(self):
        self._freeze(scale=real("scale", self.scale, 0), bound=real("bound", self.bound, 0))

    def logpdf(self, x):
        size = np.abs(x, dtype=np.float64)
        inside = -size / self.scale - np.log(2 * self.scale * self._mass())
        return np.where(size <= self.bound, inside, np.where(np.isnan(size), np.nan, -np.inf))[()]

    def sf(self, x):
        tail = self._tail(np.abs(x, dtype=np.float64))
        return np.where(np.less(x, 0), 1 - tail, tail)[()]

    def logsf(self, x):
        size = np.minimum(np.abs(x, dtype=np.float64), self.bound)
        with np.errstate(divide="ignore"):
            rest = np.log(-np.expm1(-(self.bound - size) / self.scale))
            log_tail = -size / self.scale + rest - np.log(2 * self._mass())
            return np.where(np.less(x, 0), np.log1p(-np.exp(np.minimum(log_tail, 0))), log_tail)[()]

    def isf(self, p):
        p = np.asarray(p, dtype=np.float64)
        small = np.minimum(p, 1 - p)
        small = np.where((p >= 0) & (p <= 1), small, np.nan)
        # exp(-x / scale) = edge + 2 p mass; above one half 1 minus that is the accurate form.
        mass, edge = self._mass(), np.exp(-self.bound / self.scale)
        with np.errstate(divide="ignore"):
            far, rest = -np.log(edge + 2 * small * mass), (1 - 2 * small) * mass
            size = self.scale * np.where(rest < 0.5, -np.log1p(-rest), far)
        size = np.where(small == 0, self.bound, np.minimum(size, self.bound))
        return np.where(p <= 0.5, size, -size)[()]

    def var(self):
        ratio = self.bound / self.scale
        return 2 * np.square(self.scale) * gammainc(3, ratio) / self._mass()

    def sample(self, rng, size=None):
        # Having no memory, an exponential modulo the bound is an exponential truncated there; fmod is exact, and
        # the tails are right, where inverting a 53-bit uniform has none beyond 37 scales.
        size = self.shape if size is None else size
        magnitude = self.scale * np.fmod(rng.standard_exponential(size), self.bound / self.scale)
        return np.copysign(np.minimum(magnitude, self.bound), rng.random(size) - 0.5)

    def privacy_loss(self, y, shift):
        # Inside both supports that of the Laplace; outside one or both, from the log densities.
        outside = super().privacy_loss(y, shift)
        return np.where(np.isfinite(outside), difference_of_sizes(y, shift) / self.scale, outside)[()]

    def _mass(self):
        """The mass that the untruncated distribution has on the support."""
        return -np.expm1(-self.bound / self.scale)

    def _tail(self, size):
        size = np.minimum(size, self.bound)
        return np.exp(-size / self.scale) * -np.expm1(-(self.bound - size) / self.scale) / (2 * self._mass())
