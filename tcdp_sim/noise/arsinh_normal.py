"""Arsinh-normal noise: Gaussian in the middle with log-normal tails, so that it can be stretched."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import scalar
from tcdp_sim.noise.gaussian import HALF_LOG_TWO_PI
from tcdp_sim.noise.stretchable import StretchableNoise
from tcdp_sim.noise.stretched import published_shift
from tcdp_sim.privacy.definitions import Guarantee

MOST_SIGMA = 10.0  # above, quantiles and the variance soon overflow


@dataclass(frozen=True, eq=False)
class ArsinhNormal(StretchableNoise):
    """The noise scale sinh(sigma Y) / sigma with Y ~ N(0, 1).

    With y = arsinh(sigma x / scale) / sigma, the density is phi(y) / (scale cosh(sigma y)). The noise tends to
    N(0, scale^2) as sigma falls to 0. Sinh-normal noise is its mirror image: it has arsinh in place of sinh.

    Source: Bun and Steinke (2019) [BS19].

    Parameters
    ----------
    scale : float
        Standard deviation of the Gaussian limit, in counts, above 0.
    sigma : float
        Weight of the tails, in (0, 10], without unit.

    Examples
    --------
    >>> round(ArsinhNormal(1.0, 0.5).var(), 4)
    1.2974
    """

    scale: float
    sigma: float
    family = "arsinh_normal"
    guarantees = "none by `calibrate`; use `calibrate_smooth`"
    bounded_slope = True
    log_concave_if = "never"
    tail_range = (0.02, 3.0)
    log_concave_size = True  # the log density of log|X| has the decreasing slope 1 - y tanh / sigma - tanh^2 of sigma y

    def __post_init__(self) -> None:
        self._freeze(scale=scalar("scale", self.scale, 0))
        self._freeze(sigma=scalar("sigma", self.sigma, 0, MOST_SIGMA, finite=False))

    def logpdf(self, x: ArrayLike) -> Reals:
        y = np.abs(self._y(x))
        u = self.sigma * y
        with np.errstate(over="ignore"):
            log_cosh = u + np.log1p(np.exp(-2 * u)) - np.log(2)
            return -0.5 * y * y - log_cosh - HALF_LOG_TWO_PI - np.log(self.scale)

    def sf(self, x: ArrayLike) -> Reals:
        return ndtr(-self._y(x))

    def logsf(self, x: ArrayLike) -> Reals:
        return log_ndtr(-self._y(x))

    def isf(self, p: ArrayLike) -> Reals:
        return self._x(-ndtri(np.asarray(p, dtype=np.float64)))

    def isf_log(self, log_p: ArrayLike) -> Reals:
        return self._x(-ndtri_exp(log_p))

    def var(self) -> float:
        return float(self.scale**2 * np.expm1(2 * self.sigma**2) / (2 * self.sigma**2))

    def sample(self, size: Any = None, *, rng: np.random.Generator) -> Reals:
        return self._x(rng.standard_normal(size))

    # Stretched

    def affine_tail(self, smoothing: float, shift: float) -> tuple[float, float]:
        """Return (b, c) with D_a(P || Q) <= b a + c, derived here for orders of at least 2.

        Stretching by e^tau moves y by at most k = |tau| / sigma, towards 0 or away from it. Towards 0 the loss is at
        most |tau|. Away from it the loss is at most k |y| + k^2 / 2, whose moments under N(0, 1) give D_a <= a k^2 / 2
        + log(2) / (a - 1). A shift adds at most its largest loss: the slope of the log density, (y + sigma tanh) /
        cosh, is below (2 / (3 sigma) + sigma / 2) / scale.
        """
        of_shift = (2 / (3 * self.sigma) + self.sigma / 2) / self.scale
        constant = smoothing + np.log(2) + of_shift * shift * np.exp(smoothing)
        return 0.5 * (smoothing / self.sigma) ** 2, float(constant)

    def smooth_shift(self, guarantee: Guarantee, smoothing: float) -> float:
        """Return the largest shift at which the formula of Bun-Steinke 2019 [BS19] gives (epsilon^2 / 2)-zCDP.

        The formula is epsilon = sqrt(t^2 / sigma^2 + t / sigma + 2 t) + (2 / (3 sigma) + sigma / 2) s.
        """
        if not guarantee.is_concentrated:
            return super().smooth_shift(guarantee, smoothing)
        of_scale = np.sqrt((smoothing / self.sigma) ** 2 + smoothing / self.sigma + 2 * smoothing)
        of_shift = 2 / (3 * self.sigma) + self.sigma / 2
        return published_shift(guarantee, of_scale, of_shift / self.scale)

    def _y(self, x: ArrayLike) -> Reals:
        """Return the standard normal quantile at which the noise equals x."""
        z = np.divide(x, self.scale, dtype=np.float64)
        with np.errstate(over="ignore"):
            return np.arcsinh(self.sigma * z) / self.sigma

    def _x(self, y: ArrayLike) -> Reals:
        with np.errstate(over="ignore"):
            return self.scale * (np.sinh(np.multiply(self.sigma, y)) / self.sigma)
