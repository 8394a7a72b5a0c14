"""Sinh-normal noise: the noise of truncated concentrated differential privacy."""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from tcdp_sim.errors import real
from tcdp_sim.noise.base import Noise
from tcdp_sim.noise.gaussian import HALF_LOG_TWO_PI


@dataclass(frozen=True, eq=False)
class SinhNormal(Noise):
    """knee * arsinh(scale / knee * N(0, 1)): Gaussian up to about the knee, doubly exponential tails beyond.

    scale (sigma) > 0 and knee (A) > 0 are in counts. Log-concave iff knee >= scale; below that it has two modes.
    Source: Bun-Dwork-Rothblum-Steinke 2018, Section 4.
    """

    scale: float
    knee: float
    family = "sinh_normal"

    def __post_init__(self):
        self._freeze(scale=real("scale", self.scale, 0), knee=real("knee", self.knee, 0))

    @property
    def log_concave(self):
        return bool(np.all(np.greater_equal(self.knee, self.scale)))

    def logpdf(self, x):
        u = np.abs(np.divide(x, self.knee, dtype=np.float64))
        log_cosh = u + np.log1p(np.exp(-2 * u)) - np.log(2)
        z = self._z(x)
        with np.errstate(over="ignore", invalid="ignore"):  # inf - inf at infinity
            shape = np.where(np.isinf(z), -np.inf, log_cosh - 0.5 * z * z)[()]
            return shape - HALF_LOG_TWO_PI - np.log(self.scale)

    def sf(self, x):
        return ndtr(-self._z(x))

    def logsf(self, x):
        return log_ndtr(-self._z(x))

    def isf(self, p):
        return -self.knee * np.arcsinh(self.scale / self.knee * ndtri(np.asarray(p, dtype=np.float64)))

    def var(self):
        # Trapezoid rule in u = x / knee: the integrand is entire and decays doubly exponentially.
        c = np.divide(self.scale, self.knee)[..., None]
        step = np.minimum(0.05, c / 4)
        count = int(np.max(np.ceil(np.arcsinh(40 * c) / step)))
        u = step * np.arange(1, count + 1)
        with np.errstate(over="ignore"):
            z = np.sinh(u) / c
            weight = np.exp(-0.5 * z * z - HALF_LOG_TWO_PI)
            terms = np.where(weight > 0, u * u * weight * np.cosh(u), 0.0)
        return (2 * np.square(self.knee) * (step / c)[..., 0] * terms.sum(axis=-1))[()]

    def sample(self, rng, size=None):
        out = np.empty(self.shape if size is None else size)
        self.fill(rng, out)
        return out[()]

    def fill(self, rng, out):
        rng.standard_normal(out=out)
        out *= self.scale / self.knee
        np.arcsinh(out, out=out)
        out *= self.knee

    def privacy_loss(self, y, shift):
        # The difference of the log densities, without its cancellation: with m the output's distance from the
        # middle and h half the shift, both over the knee, log(cosh(m + h) / cosh(m - h)) = 2 artanh(tanh m tanh h).
        y, shift = np.asarray(y, dtype=np.float64), np.asarray(shift, dtype=np.float64)
        ratio = np.divide(self.knee, self.scale)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            m, h = 0.5 * ((y - shift) + y) / self.knee, 0.5 * shift / self.knee
            nearer = np.minimum(np.abs(m), np.abs(h))  # where both are large, the tanh round to one
            rest = np.log1p(np.exp(-2 * np.abs(m + h))) - np.log1p(np.exp(-2 * np.abs(m - h)))
            far = np.copysign(2 * nearer, m) * np.copysign(1.0, h) + rest
            log_cosh_ratio = np.where(nearer < 1, 2 * np.arctanh(np.tanh(m) * np.tanh(h)), far)
            loss = log_cosh_ratio - 0.5 * ratio * ratio * np.sinh(2 * m) * np.sinh(2 * h)
            return np.where(h == 0, 0 * m, loss)[()]  # not 0 * inf where sinh overflows

    def _z(self, x):
        """The standard normal quantile at which the noise equals x."""
        x = np.asarray(x, dtype=np.float64)
        u = x / self.knee
        with np.errstate(over="ignore", invalid="ignore"):
            # What rounding u loses is u times as much in sinh u, and z^2 times that in the tail; fmod is exact.
            part = np.fmod(x, self.knee) / self.knee
            lost = (np.rint(u - part) - u) + part
            sinh = np.sinh(u) + np.where(np.abs(u) < 700, lost * np.cosh(u), 0.0)
            return sinh * (self.knee / self.scale)
