"""Uniform log-normal noise: a uniform variable of log-normal size (smooth sensitivity)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfcx, log_ndtr, ndtr

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import scalar
from tcdp_sim.noise.gaussian import HALF_LOG_TWO_PI
from tcdp_sim.noise.inversion import rising_root
from tcdp_sim.noise.stretchable import StretchableNoise
from tcdp_sim.noise.stretched import published_shift
from tcdp_sim.privacy.definitions import Guarantee

LEAST_SIGMA, MOST_SIGMA = 0.05, 10.0  # below, tails lose digits; above, quantiles soon overflow
_FAR = 1.0  # the normal deviate from which on tails use Mills' ratio
_LEAST, _MOST = -745.0, 60.0  # range of normal deviates in which quantiles are searched; the least is over sigma


@dataclass(frozen=True, eq=False)
class UniformLogNormal(StretchableNoise):
    """The noise scale U e^(sigma Z) with U uniform on [-1, 1] and Z ~ N(0, 1).

    The density is e^(sigma^2 / 2) P[Z > log(|x| / scale) / sigma + sigma] / (2 scale).

    Source: Bun and Steinke (2019) [BS19].

    Parameters
    ----------
    scale : float
        Scale of the noise, in counts, above 0.
    sigma : float
        Weight of the tails, in [0.05, 10], without unit.

    Examples
    --------
    >>> round(UniformLogNormal(1.0, 0.5).var(), 4)
    0.5496
    """

    scale: float
    sigma: float
    family = "uniform_log_normal"
    guarantees = "none by `calibrate`; use `calibrate_smooth`"
    bounded_slope = True
    log_concave_if = "never"
    tail_range = (0.1, 3.0)
    log_concave_size = True  # log|X| is the sum of two variables with log-concave densities

    def __post_init__(self) -> None:
        self._freeze(scale=scalar("scale", self.scale, 0))
        self._freeze(sigma=scalar("sigma", self.sigma, LEAST_SIGMA, MOST_SIGMA, closed=True, finite=False))

    def logpdf(self, x: ArrayLike) -> Reals:
        return log_ndtr(-self._v(x) - self.sigma) + self.sigma**2 / 2 - np.log(2 * self.scale)

    def sf(self, x: ArrayLike) -> Reals:
        return np.exp(self.logsf(x))

    def logsf(self, x: ArrayLike) -> Reals:
        x = np.asarray(x, dtype=np.float64)
        log_tail = self._log_tail(np.asarray(self._v(x)))
        return np.where(x < 0, np.log1p(-np.exp(log_tail)), log_tail)[()]

    def isf(self, p: ArrayLike) -> Reals:
        tail: Any = np.asarray(p, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            size: Any = np.where(
                np.minimum(tail, 1 - tail) < 0.25, self._far(np.log(np.minimum(tail, 1 - tail))), self._near(tail)
            )
            size = np.where((tail >= 0) & (tail <= 1), size, np.nan)
        return (self.scale * np.where(tail <= 0.5, size, -size))[()]

    def var(self) -> float:
        return float(self.scale**2 * np.exp(2 * self.sigma**2) / 3)

    def sample(self, size: Any = None, *, rng: np.random.Generator) -> Reals:
        uniform = 2 * rng.random(size) - 1
        return self.scale * uniform * np.exp(self.sigma * rng.standard_normal(size))

    # Stretched

    def affine_tail(self, smoothing: float, shift: float) -> tuple[float, float]:
        """Return (b, c) with D_a(P || Q) <= b a + c.

        Stretching is a shift of sigma Z whatever U is, with the divergence a tau^2 / (2 sigma^2). A shift adds at most
        its own loss. The slope of the log density at |x| = e^(sigma (w - sigma)) is m e^(-sigma w) e^(sigma^2) / sigma,
        with m = phi / sf of the normal law at w. It is largest where m - w = sigma.
        """
        from scipy.optimize import brentq  # imported late, because it takes longer to import than all of numpy

        w = brentq(lambda w: _hazard(w) - w - self.sigma, -40.0, 1e4)
        slope = _hazard(w) * np.exp(self.sigma * (self.sigma - w)) / (self.sigma * self.scale)
        return 0.5 * (smoothing / self.sigma) ** 2, float(slope * shift * np.exp(smoothing))

    def smooth_shift(self, guarantee: Guarantee, smoothing: float) -> float:
        """Return the largest shift at which the formula of Bun-Steinke 2019 [BS19] gives (epsilon^2 / 2)-zCDP.

        The formula is epsilon = t / sigma + e^(3 sigma^2 / 2) sqrt(2 / (pi sigma^2)) s.
        """
        if not guarantee.is_concentrated:
            return super().smooth_shift(guarantee, smoothing)
        of_scale = smoothing / self.sigma
        of_shift = np.exp(1.5 * self.sigma**2) * np.sqrt(2 / np.pi) / self.sigma
        return published_shift(guarantee, of_scale, of_shift / self.scale)

    # In v = log(|x| / scale) / sigma

    def _v(self, x: ArrayLike) -> Reals:
        with np.errstate(divide="ignore"):
            return np.log(np.abs(np.divide(x, self.scale, dtype=np.float64))) / self.sigma

    def _log_tail(self, v: NDArray[np.float64]) -> Reals:
        """Return log P[X > x], by Mills' ratio far out.

        The tail is (sf(v) - e^(sigma v + sigma^2 / 2) sf(v + sigma)) / 2.
        """
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            near = np.log1p(-self._central(np.minimum(v, _FAR)))
            w = np.clip(v, _FAR, 1e150)
            drop = np.sqrt(np.pi / 2) * (erfcx(w / np.sqrt(2)) - erfcx((w + self.sigma) / np.sqrt(2)))
            far = -0.5 * w * w - HALF_LOG_TWO_PI + np.log(drop)
        return np.where(np.isnan(v), np.nan, np.where(v < _FAR, near, far)) - np.log(2)

    def _central(self, v: NDArray[np.float64]) -> Reals:
        """Return P[|X| < x]."""
        return ndtr(v) + np.exp(self.sigma * v + self.sigma**2 / 2) * ndtr(-v - self.sigma)

    def _far(self, log_p: NDArray[np.float64]) -> Reals:
        v = rising_root(lambda v: -self._log_tail(v), -log_p, _LEAST / self.sigma, _MOST)
        return np.where(np.isneginf(log_p), np.inf, np.exp(self.sigma * v))

    def _near(self, p: NDArray[np.float64]) -> Reals:
        goal = 2 * np.abs(0.5 - p)
        v = rising_root(self._central, goal, _LEAST / self.sigma, _MOST)
        return np.where(goal == 0, 0.0, np.exp(self.sigma * v))


def _hazard(w: float) -> float:
    """Return phi(w) / P[Z > w]."""
    return float(np.exp(-0.5 * w * w - HALF_LOG_TWO_PI - log_ndtr(-w)))
