"""Laplace log-normal noise: a Laplace variable of log-normal size (smooth sensitivity)."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import wrightomega

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import scalar
from tcdp_sim.noise.inversion import rising_root
from tcdp_sim.noise.stretchable import StretchableNoise
from tcdp_sim.noise.stretched import published_shift
from tcdp_sim.privacy.definitions import Guarantee

MOST_SIGMA = 5.0  # above, the integrals need too many points
_LEFT, _RIGHT, _NORMAL = 8.5, 20.0, 9.0  # ends of the trapezoid rule: two in widths of the peak, one in deviates
_NODES = 64  # nodes of the trapezoid rule, times sigma above 1
_FIRST, _LAST, _STEP, _DEGREE = -45.0, 6.8, 0.1, 9  # knots of log q; W of any float is below e^6.7
_LARGEST = 1e308  # stands for inf
_LEAST, _MOST = -745.0, 700.0  # the range of log(|x| / scale) in which quantiles are searched


@dataclass(frozen=True, eq=False)
class LaplaceLogNormal(StretchableNoise):
    """The noise scale Y e^(sigma Z) with Y ~ Laplace(1) and Z ~ N(0, 1).

    Let G(x) = E[exp(-x e^(-sigma Z))], the Laplace transform of a log-normal law, and z = |x| / scale. The tail is G(z)
    / 2. The density is e^(sigma^2 / 2) G(z e^(sigma^2)) / (2 scale).

    Source: Bun and Steinke (2019) [BS19].

    Parameters
    ----------
    scale : float
        Scale of the noise, in counts, above 0.
    sigma : float
        Weight of the tails, in (0, 5], without unit.

    Examples
    --------
    >>> round(LaplaceLogNormal(1.0, 0.5).var(), 4)
    3.2974
    """

    scale: float
    sigma: float
    family = "laplace_log_normal"
    guarantees = "none by `calibrate`; use `calibrate_smooth`"
    bounded_slope = True
    log_concave_if = "never"
    tail_range = (0.02, 3.0)
    density_cost = 32  # a spline and Wright's omega
    log_concave_size = True  # log|X| is the sum of two variables with log-concave densities

    def __post_init__(self) -> None:
        self._freeze(scale=scalar("scale", self.scale, 0))
        self._freeze(sigma=scalar("sigma", self.sigma, 0, MOST_SIGMA, finite=False))

    def logpdf(self, x: ArrayLike) -> Reals:
        size = self._size(x) * np.exp(self.sigma**2)
        return (self._log_transform(size) + self.sigma**2 / 2 - np.log(2 * self.scale))[()]

    def sf(self, x: ArrayLike) -> Reals:
        return np.exp(self.logsf(x))

    def logsf(self, x: ArrayLike) -> Reals:
        log_tail = self._log_transform(self._size(x)) - np.log(2)
        return np.where(np.less(x, 0), np.log1p(-np.exp(log_tail)), log_tail)[()]

    def isf(self, p: ArrayLike) -> Reals:
        tail: Any = np.asarray(p, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            size: Any = np.where(
                np.minimum(tail, 1 - tail) < 0.25, self._far(np.log(2 * np.minimum(tail, 1 - tail))), self._near(tail)
            )
            size = np.where((tail >= 0) & (tail <= 1), size, np.nan)
        return (self.scale * np.where(tail <= 0.5, size, -size))[()]

    def var(self) -> float:
        return float(2 * self.scale**2 * np.exp(2 * self.sigma**2))

    def sample(self, size: Any = None, *, rng: np.random.Generator) -> Reals:
        magnitude = rng.standard_exponential(size) * np.exp(self.sigma * rng.standard_normal(size))
        return self.scale * np.copysign(magnitude, rng.random(size) - 0.5)

    # Stretched

    def affine_tail(self, smoothing: float, shift: float) -> tuple[float, float]:
        """Return (b, c) with D_a(P || Q) <= b a + c.

        Stretching is a shift of sigma Z whatever Y is, with the divergence a tau^2 / (2 sigma^2). A shift adds at most
        its own loss. The slope of the log density is a mean of e^(-sigma z), and is largest at x = 0: e^(3 sigma^2 /
        2).
        """
        slope = np.exp(1.5 * self.sigma**2) / self.scale
        return 0.5 * (smoothing / self.sigma) ** 2, float(slope * shift * np.exp(smoothing))

    def smooth_shift(self, guarantee: Guarantee, smoothing: float) -> float:
        """Return the largest shift at which the formula of Bun-Steinke 2019 [BS19] gives (epsilon^2 / 2)-zCDP.

        The formula is epsilon = t / sigma + e^(3 sigma^2 / 2) s.
        """
        if not guarantee.is_concentrated:
            return super().smooth_shift(guarantee, smoothing)
        of_scale = smoothing / self.sigma
        of_shift = np.exp(1.5 * self.sigma**2)
        return published_shift(guarantee, of_scale, of_shift / self.scale)

    # The transform

    def _size(self, x: ArrayLike) -> NDArray[np.float64]:
        return np.abs(np.divide(x, self.scale, dtype=np.float64))

    def _log_transform(self, x: NDArray[np.float64]) -> Reals:
        """Return log G(x) by Laplace's method, exact in q = W(sigma^2 x), plus its interpolated error."""
        with np.errstate(divide="ignore"):
            q = wrightomega(np.log(np.minimum(x, _LARGEST)) + 2 * np.log(self.sigma))
            missed = _missed_by_laplace(self.sigma)
            log_q = np.clip(np.log(q), missed.t[0], missed.t[-1])
        value = -q * (0.5 * q + 1) / self.sigma**2 - 0.5 * np.log1p(q) + missed(log_q)
        return np.where(np.isinf(x), -np.inf, np.minimum(value, 0.0))

    def _central(self, log_x: NDArray[np.float64]) -> Reals:
        """Return P[|X| < x] = 1 - G(e^log_x).

        It is the mean of 1 - exp(-x e^(-sigma Z)), whose peak is between -sigma and 0.
        """
        step = 0.1 / max(1.0, self.sigma)
        z = np.arange(-12.0 - self.sigma, 12.0, step)
        weight = np.exp(-0.5 * z * z) * step / np.sqrt(2 * np.pi)
        with np.errstate(over="ignore"):
            return -np.expm1(-np.exp(log_x[..., None] - self.sigma * z)) @ weight

    def _far(self, log_tail: NDArray[np.float64]) -> Reals:
        log_x = rising_root(lambda u: -self._log_transform(np.exp(u)), -log_tail, _LEAST, _MOST)
        return np.where(np.isneginf(log_tail), np.inf, np.exp(log_x))

    def _near(self, p: NDArray[np.float64]) -> Reals:
        goal = 2 * np.abs(0.5 - p)
        return np.where(goal == 0, 0.0, np.exp(rising_root(self._central, goal, _LEAST, _MOST)))


@lru_cache(maxsize=256)
def _missed_by_laplace(sigma: float) -> Any:
    """Return a spline in log q of the error of Laplace's method for log G(x), with q = W(sigma^2 x).

    The error is log G(x) + q (q / 2 + 1) / sigma^2 + log(1 + q) / 2. The integrand of G peaks at z = q / sigma with a
    width of 1 / sqrt(1 + q) to lowest order, and the trapezoid rule integrates around the peak. Left of the first knot
    the error is below the rounding of 1.
    """
    from scipy.interpolate import make_interp_spline  # imported here, because it takes 40 ms and few runs need it

    log_q = np.arange(_FIRST - 0.5 * sigma**2 - 3 * sigma + 2 * np.log(sigma), _LAST, _STEP)
    q = np.exp(log_q)
    width = 1 / np.sqrt(1 + q)
    left, right = -_LEFT * width, np.minimum(_RIGHT * width, _NORMAL)
    nodes = int(np.ceil(_NODES * max(1.0, sigma)))
    step = (right - left) / nodes
    t = left[:, None] + step[:, None] * np.arange(nodes + 1)
    fall = 0.5 * t * t + (q / sigma**2)[:, None] * (np.expm1(-sigma * t) + sigma * t)
    total = np.exp(-fall).sum(axis=1) * step / np.sqrt(2 * np.pi)
    return make_interp_spline(log_q, np.log(total / width), k=_DEGREE)
