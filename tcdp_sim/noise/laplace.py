"""Laplace noise: the noise of pure differential privacy."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import real, scalar
from tcdp_sim.core.numerics import ArrayBounds, Bounds, closed_form, rounded
from tcdp_sim.noise.base import Noise
from tcdp_sim.noise.stretched import too_many_orders
from tcdp_sim.privacy.definitions import Guarantee, PureDP

_LEAST_EXCESS = 1e-6  # least order - 1 for the closed form of the stretched noise


@dataclass(frozen=True, eq=False)
class Laplace(Noise):
    """Noise with a density proportional to exp(-|x| / scale).

    With scale = Delta / epsilon it gives epsilon-DP for L1 sensitivity Delta. The standard deviation is sqrt(2) scale.

    Source: Dwork et al. (2006) [DMNS06].

    Parameters
    ----------
    scale : float or array
        Scale of the noise, in counts, above 0.

    Examples
    --------
    >>> round(float(Laplace(1.0).isf(0.025)), 4)
    2.9957
    """

    scale: float
    family = "laplace"
    log_concave = True
    log_concave_size = True
    theorem_is_nearly_sharp = True

    def __post_init__(self) -> None:
        self._freeze(scale=real("scale", self.scale, 0))

    def logpdf(self, x: ArrayLike) -> Reals:
        return -np.abs(np.divide(x, self.scale, dtype=np.float64)) - np.log(2 * self.scale)

    def sf(self, x: ArrayLike) -> Reals:
        z = np.divide(x, self.scale, dtype=np.float64)
        tail = 0.5 * np.exp(-np.abs(z))
        return np.where(z >= 0, tail, 1 - tail)[()]

    def logsf(self, x: ArrayLike) -> Reals:
        z = np.divide(x, self.scale, dtype=np.float64)
        size = np.abs(z)
        return np.where(z >= 0, -size - np.log(2), np.log1p(-0.5 * np.exp(-size)))[()]

    def isf(self, p: ArrayLike) -> Reals:
        p = np.asarray(p, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            size = -np.log(2 * np.minimum(p, 1 - p))  # 1 - p is exact for p >= 1/2
        return (self.scale * np.where(p <= 0.5, size, -size))[()]

    def var(self) -> Reals:
        return 2 * np.square(self.scale)

    def kurtosis(self) -> float:
        return 6.0

    def sample(self, size: Any = None, *, rng: np.random.Generator) -> Reals:
        # Exponential draws have exact tails; inverting a 53-bit uniform has none beyond 1e-16.
        size = self.shape if size is None else size
        magnitude = rng.standard_exponential(size)
        return self.scale * np.copysign(magnitude, rng.random(size) - 0.5)

    def privacy_loss(self, y: ArrayLike, shift: ArrayLike) -> Reals:
        return difference_of_sizes(y, shift) / self.scale

    def isf_log(self, log_p: ArrayLike) -> Reals:
        upper = -self.scale * (log_p + np.log(2))
        return np.where(np.less(log_p, -1), upper, self.isf(np.exp(log_p)))

    def largest_loss(self, shift: float) -> float:
        return shift / self.scale

    def closed_renyi(self, shift: float, order: NDArray[np.float64]) -> ArrayBounds:
        theta = shift / self.scale
        return closed_form(np.array([_renyi(theta, each) for each in order]), 1e-12)

    def closed_hockey_stick(self, shift: float, epsilon: NDArray[np.float64]) -> ArrayBounds:
        # Balle-Barthe-Gaboardi 2018, Theorem 3.
        return closed_form(np.maximum(-np.expm1(-room(self.scale, shift, epsilon) / 2), 0.0), 1e-14)

    def affine_max_order(self, log_scale: float, shift: float) -> float:
        return -1 / np.expm1(log_scale) if log_scale < 0 else np.inf  # type: ignore[no-any-return]

    def closed_affine_renyi(self, log_scale: float, shift: float, order: NDArray[np.float64]) -> ArrayBounds:
        # Derived here. Below the least order, D lies between its values at order 1 and there, because it does not fall.
        m, b = abs(shift) / self.scale, np.exp(log_scale)
        kl = log_scale + (m + np.exp(-m)) / b - 1
        a = np.maximum(order, 1 + _LEAST_EXCESS)
        p, q = a, (a - 1) / b
        lifted = (1 + np.exp(-(p + q) * m)) / (p - q) - np.expm1(-(p + q) * m) / (p + q)  # without the factor e^(q m)
        value = log_scale + (q * m + np.log(lifted / 2)) / (a - 1)
        bounds = rounded(value, 1e-15 * (1 + p / (p - q) + (a - 1) * abs(log_scale) + q * m) / (a - 1))
        near, lost = order < 1 + _LEAST_EXCESS, 4e-15 * (1 + abs(log_scale) + m)
        low, middle = np.where(near, max(kl - lost, 0.0), bounds.lower), np.where(near, kl, bounds.estimate)
        high = np.where(order == 1, kl + lost, bounds.upper)
        return Bounds(low, middle, high)

    @classmethod
    def smooth_refusal(cls, guarantee: Guarantee, smoothing: float) -> str:
        return too_many_orders(guarantee, cls(1.0).affine_max_order(-smoothing, 0.0))

    def accuracy_radius(self, k: ArrayLike, failure: ArrayLike) -> Reals:
        return self.scale * self._log_ratio(k, failure)

    @classmethod
    def equal_privacy(cls, rho: float, omega: float | None = None, delta: float | None = None) -> PureDP:
        """Return epsilon-DP with epsilon^2 / 2 = rho, which implies rho-zCDP (Bun-Steinke 2016, Proposition 4)."""
        return PureDP(np.sqrt(2 * real("rho", rho, 0)))

    @classmethod
    def by_theorem(cls, guarantee: Guarantee, sensitivity: float, coordinates: int) -> Self:
        return cls(coordinates * sensitivity / scalar("epsilon", guarantee.sufficient_epsilon, 0))

    @classmethod
    def theorem_is_sharp(cls, guarantee: Guarantee) -> bool:
        return guarantee.is_pure


def difference_of_sizes(y: ArrayLike, shift: ArrayLike) -> Reals:
    """Return |y - shift| - |y|, without its cancellation for |y| far above |shift|."""
    size = np.abs(shift, dtype=np.float64)
    with np.errstate(over="ignore"):
        return np.copysign(1.0, shift) * np.clip(np.subtract(shift, np.multiply(2.0, y)), -size, size)


def room(scale: float, shift: float, epsilons: NDArray[np.float64]) -> Reals:
    """Return shift / scale - epsilon to its last digits.

    The product scale * epsilon is computed without its rounding error (Dekker 1971 [Dek71]).
    """
    with np.errstate(over="ignore", invalid="ignore"):
        product = scale * epsilons
        (a, b), (c, d) = _halves(scale), _halves(epsilons)
        lost = ((a * c - product) + a * d + b * c) + b * d
        lost = np.where(np.isfinite(lost), lost, 0.0)  # it overflows only where the product exceeds every shift
        return ((shift - product) - lost) / scale


def _halves(x: Reals) -> tuple[Reals, Reals]:
    """Return two numbers of 26 bits that add up to x."""
    high = x * (2.0**27 + 1)
    high = high - (high - x)
    return high, x - high


def _renyi(theta: float, order: float) -> float:
    """Return the Renyi divergence at shift theta scale, in a form in which its first order in theta cancels.

    The divergence is log(a/(2a-1) e^((a-1) theta) + (a-1)/(2a-1) e^(-a theta)) / (a-1).
    """
    if np.isinf(order):
        return theta
    s = order - 1
    if s == 0:
        return _renyi_excess(0.0, theta)
    if s * theta > 1:
        return float(theta + np.log(order / (2 * s + 1) * (1 + s / order * np.exp(-(2 * s + 1) * theta))) / s)
    return float(np.log1p(_renyi_excess(s, theta)) / s)


def _renyi_excess(s: float, theta: float) -> float:
    """Return E_P[e^(sL)] - 1 for s > 0, and its slope at s = 0.

    It is s (s+1) / (2s+1) * (expm1(s theta) / s + expm1(-(s+1) theta) / (s+1)).
    """
    if (s + 1) * theta > 0.1:
        rising = np.expm1(s * theta) / s if s else theta
        bracket = rising + np.expm1(-(s + 1) * theta) / (s + 1)
    else:
        term, bracket = theta, 0.0
        for k in range(2, 14):
            term *= theta / k
            bracket += term * (s ** (k - 1) + (-1) ** k * (s + 1) ** (k - 1))
    return float((s or 1) * (s + 1) / (2 * s + 1) * bracket)
