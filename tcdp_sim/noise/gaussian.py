"""Gaussian noise: the noise of zCDP, and the baseline for every other notion."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfcx, log_ndtr, ndtr, ndtri, ndtri_exp

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import real, scalar
from tcdp_sim.core.numerics import TINY, ULP, ArrayBounds, Bounds, closed_form, gauss_panels, rounded
from tcdp_sim.noise.base import Noise
from tcdp_sim.noise.stretched import too_many_orders
from tcdp_sim.privacy.definitions import Guarantee

HALF_LOG_TWO_PI = 0.5 * np.log(2 * np.pi)


@dataclass(frozen=True, eq=False)
class Gaussian(Noise):
    """The normal distribution N(0, scale^2).

    With scale^2 = Delta^2 / (2 rho) it gives rho-zCDP for sensitivity Delta, hence (rho, omega)-tCDP for every omega.

    Source: Bun and Steinke (2016), Proposition 6 [BS16].

    Parameters
    ----------
    scale : float or array
        Standard deviation, in counts, above 0.

    Examples
    --------
    >>> round(float(Gaussian(2.0).isf(0.025)), 4)
    3.9199
    """

    scale: float
    family = "gaussian"
    guarantees = "ZCDP with xi = 0, TCDP, ApproxDP"
    log_concave = True
    log_concave_size = True
    isotropic = True
    linear_in_order = True

    def __post_init__(self) -> None:
        self._freeze(scale=real("scale", self.scale, 0))

    def logpdf(self, x: ArrayLike) -> Reals:
        z = np.divide(x, self.scale, dtype=np.float64)
        with np.errstate(over="ignore"):
            return -0.5 * z * z - HALF_LOG_TWO_PI - np.log(self.scale)

    @property
    def kinks(self) -> NDArray[np.float64]:
        return np.empty(0)

    def sf(self, x: ArrayLike) -> Reals:
        return ndtr(-np.divide(x, self.scale, dtype=np.float64))

    def logsf(self, x: ArrayLike) -> Reals:
        return log_ndtr(-np.divide(x, self.scale, dtype=np.float64))

    def isf(self, p: ArrayLike) -> Reals:
        return -self.scale * ndtri(np.asarray(p, dtype=np.float64))

    def var(self) -> Reals:
        return np.square(self.scale)

    def kurtosis(self) -> float:
        return 3.0

    def sample(self, size: Any = None, *, rng: np.random.Generator) -> Reals:
        return self.scale * rng.standard_normal(self.shape if size is None else size)

    def fill(self, out: NDArray[np.float64], *, rng: np.random.Generator) -> None:
        rng.standard_normal(out=out)
        out *= self.scale

    def privacy_loss(self, y: ArrayLike, shift: ArrayLike) -> Reals:
        # This form of the difference of the log densities does not cancel.
        middle = np.subtract(np.multiply(0.5, shift), y, dtype=np.float64)  # exact near the zero of the loss
        with np.errstate(invalid="ignore"):
            return np.divide(shift, self.scale) * (middle / self.scale)

    def isf_log(self, log_p: ArrayLike) -> Reals:
        return -self.scale * ndtri_exp(log_p)

    def largest_loss(self, shift: float) -> float:
        return np.inf

    def exact_rho(self, shift: float) -> Fraction:
        return (Fraction(float(shift)) / Fraction(float(self.scale))) ** 2 / 2

    def closed_renyi(self, shift: float, order: NDArray[np.float64]) -> ArrayBounds:
        return closed_form(order * np.square(np.divide(shift, self.scale)) / 2, 1e-14)

    def closed_hockey_stick(self, shift: float, epsilon: NDArray[np.float64]) -> ArrayBounds:
        # Balle-Barthe-Gaboardi 2018, Theorem 4. Mills' ratio is used where the difference of two tails would cancel.
        theta = shift / self.scale
        low, high = epsilon / theta - theta / 2, epsilon / theta + theta / 2
        with np.errstate(over="ignore", invalid="ignore"):
            near = ndtr(-low) - np.exp(-0.5 * low * low) * erfcx(high / np.sqrt(2)) / 2
            far = np.exp(-0.5 * low * low) * (_mills_drop(epsilon / theta, theta) / np.sqrt(2 * np.pi))
            value = np.where((low < 1) & (theta > 0.5), near, far)
            rounded = ULP * (epsilon / theta + theta)  # of `low`, which moves the tail
            error = 1e-11 + rounded * (1 + np.maximum(low, 0.0))
            most = np.where(np.isnan(low), 1.0, ndtr(2 * rounded - low)) * (1 + 1e-11)  # of all losses above epsilon
        value, error = np.where(np.isnan(value), 0.0, value), np.where(np.isnan(error), np.inf, error)
        lost: Reals = np.where(value > 0, value * np.minimum(error, 1.0), 0.0)
        upper: Reals = np.minimum(np.where(error < 0.1, value + lost, 1.0), most) + TINY
        delta: Reals = value
        return Bounds(delta - lost - TINY, delta, upper)

    def affine_max_order(self, log_scale: float, shift: float) -> float:
        return -1 / np.expm1(2 * log_scale) if log_scale < 0 else np.inf  # type: ignore[no-any-return]

    def closed_affine_renyi(self, log_scale: float, shift: float, order: NDArray[np.float64]) -> ArrayBounds:
        # Gil-Alajaji-Linder 2013, Table 2. `tilted` is the variance of P over that of the tilted law.
        s, drop = order - 1, -np.expm1(-2 * log_scale)  # `drop` is 1 - 1 / v with v = e^(2 log_scale)
        tilted = 1 + s * drop
        with np.errstate(divide="ignore", invalid="ignore"):
            of_scale = log_scale - np.where(s > 0, np.log1p(s * drop) / (2 * s), 0.5 * drop)
        of_shift = 0.5 * order * np.square(shift / self.scale * np.exp(-log_scale)) / tilted
        return rounded(of_scale + of_shift, 1e-13 * (np.abs(log_scale) + of_shift) / np.minimum(tilted, 1))

    @classmethod
    def smooth_refusal(cls, guarantee: Guarantee, smoothing: float) -> str:
        return too_many_orders(guarantee, cls(1.0).affine_max_order(-smoothing, 0.0))

    def smooth_shift(self, guarantee: Guarantee, smoothing: float) -> float:
        # (s^2 + 4 t^2, 1 / (4 t))-tCDP, t <= 1/4: Bun-Dwork-Rothblum-Steinke 2018, Gaussian smooth sensitivity.
        if guarantee.rho_omega is None or guarantee.rho_omega[1] == np.inf or smoothing > 0.25:
            return super().smooth_shift(guarantee, smoothing)
        rho, omega = guarantee.rho_omega
        room = rho - 4 * smoothing**2
        return self.scale * np.sqrt(room) if room > 0 and omega <= 0.25 / smoothing else 0.0

    def accuracy_radius(self, k: ArrayLike, failure: ArrayLike) -> Reals:
        # Bun-Steinke 2016, Section 6.1, corrected: P[|Z| > x] <= exp(-x^2 / (2 scale^2)).
        return self.scale * np.sqrt(2 * self._log_ratio(k, failure))

    def printed_radius(self, rho: float, k: ArrayLike, failure: ArrayLike) -> Reals:
        return np.sqrt(self._log_ratio(k, failure) / rho)  # Bun-Steinke 2016, Section 6.1, without its factor 2

    @classmethod
    def can_meet(cls, guarantee: Guarantee) -> bool:
        return guarantee.is_approx or guarantee.is_concentrated

    @classmethod
    def by_theorem(cls, guarantee: Guarantee, sensitivity: float, coordinates: int) -> Self:
        slope = guarantee.rho_omega
        rho = _zcdp_of(*guarantee.epsilon_delta) if slope is None else slope[0]  # type: ignore[misc]  # `can_meet`
        return cls(sensitivity * np.sqrt(coordinates / (2 * rho)))

    @classmethod
    def theorem_is_sharp(cls, guarantee: Guarantee) -> bool:
        return guarantee.is_concentrated


def _zcdp_of(epsilon: float, delta: float) -> float:
    """Return the largest rho such that rho-zCDP implies (epsilon, delta)-DP.

    The condition is rho + 2 sqrt(rho log(1/delta)) <= epsilon.
    """
    tail, epsilon = -np.log(scalar("delta", delta, 0, 1)), scalar("epsilon", epsilon, 0)
    return float((epsilon / (np.sqrt(tail + epsilon) + np.sqrt(tail))) ** 2)


def _mills_drop(middle: NDArray[np.float64], width: float) -> Reals:
    """Return m(low) - m(high) around `middle`, without cancellation.

    The function m(v) = e^(v^2/2) integral_v^inf e^(-u^2/2) du is Mills' ratio.
    """
    if width > 0.5:
        ends = ((middle - width / 2) / np.sqrt(2), (middle + width / 2) / np.sqrt(2))
        return np.sqrt(np.pi / 2) * (erfcx(ends[0]) - erfcx(ends[1]))
    x, weight = gauss_panels(np.array([-0.5, 0.5]), 20)
    return width * (_minus_mills_slope(middle[:, None] + width * x) * weight).sum(axis=1)


def _minus_mills_slope(v: NDArray[np.float64]) -> Reals:
    """Return 1 - v m(v), by its asymptotic series where the difference cancels."""
    direct = 1 - v * np.sqrt(np.pi / 2) * erfcx(v / np.sqrt(2))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        w = 1 / (v * v)
        series = w * (1 - w * (3 - w * (15 - w * (105 - w * (945 - w * 10395)))))
    return np.where(v > 30, series, direct)
