"""Generalised Gaussian noise of power at most one, whose privacy loss grows as a power of a record's influence."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gamma, gammaincc, gammainccinv, gammaincinv, gammaln

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import real, scalar
from tcdp_sim.noise.base import Noise
from tcdp_sim.noise.laplace import difference_of_sizes
from tcdp_sim.privacy.definitions import Guarantee, PureDP

LEAST_POWER = 0.02  # below, the variance at scale 1 overflows
_FAR = 600.0  # from here on the tail's series has converged, and e^-w is still a float
_TERMS = 80  # terms of that series; the ratio of two is at most 1 / (LEAST_POWER _FAR)
_STEPS = 12  # steps of Newton's method for quantiles, which starts within a few units


@dataclass(frozen=True, eq=False)
class GeneralizedGaussian(Noise):
    """Noise with a density proportional to exp(-(|x| / scale)^power).

    A record of influence t, in counts, has a privacy loss of at most (t / scale)^power nats. Above power 1 the loss has
    no bound. All moments are finite. Below power 1 the log density is not concave: it has a vertical cusp at 0.

    Source: Finley et al. (2024), Corollary 5.6 (without its power 0) [Fin24].

    Parameters
    ----------
    scale : float or array
        Scale of the noise, in counts, above 0.
    power : float or array
        Power of the exponent, in [0.02, 1], by default 1/2; 1 is Laplace noise.

    Examples
    --------
    >>> round(float(GeneralizedGaussian(1.0, 0.5).var()), 6)
    120.0
    """

    scale: float
    power: float = 0.5
    family = "generalized_gaussian"
    guarantees = "PureDP, ApproxDP with delta > 0, ZCDP with xi = 0, TCDP, each by the largest loss"
    log_concave_if = "power = 1"

    def __post_init__(self) -> None:
        power = real("power", self.power, 0)
        wrong = np.asarray(power)[(np.asarray(power) < LEAST_POWER) | (np.asarray(power) > 1)]
        if wrong.size:
            raise ValueError(
                f"power = {wrong.flat[0]:g} is not valid; valid: {LEAST_POWER} <= power <= 1 "
                "(above 1 the privacy loss has no bound, below 0.02 the variance is no float)"
            )
        self._freeze(scale=real("scale", self.scale, 0), power=power)

    @property
    def log_concave(self) -> bool:
        return bool(np.all(np.equal(self.power, 1)))

    def logpdf(self, x: ArrayLike) -> Reals:
        return -self._w(x) - np.log(2 * np.multiply(self.scale, gamma(1 + 1 / np.asarray(self.power))))

    def sf(self, x: ArrayLike) -> Reals:
        tail = 0.5 * gammaincc(1 / np.asarray(self.power), self._w(x))
        return np.where(np.less(x, 0), 1 - tail, tail)[()]

    def logsf(self, x: ArrayLike) -> Reals:
        log_tail = _log_upper(1 / np.asarray(self.power), self._w(x)) - np.log(2)
        return np.where(np.less(x, 0), np.log1p(-np.exp(log_tail)), log_tail)[()]

    def isf(self, p: ArrayLike) -> Reals:
        p = np.asarray(p, dtype=np.float64)
        shape, small = 1 / np.asarray(self.power), np.minimum(p, 1 - p)  # 1 - p is exact for p >= 1/2
        small = np.where((p >= 0) & (p <= 1), small, np.nan)
        with np.errstate(divide="ignore", over="ignore"):
            central = gammaincinv(shape, 1 - 2 * np.maximum(small, 0.25))
            outer = gammainccinv(shape, np.clip(2 * small, 1e-200, 0.5))
            deep = _inverse_log_upper(shape, np.log(2 * np.minimum(small, 1e-200)))
            w = np.where(small > 0.25, central, np.where(small > 1e-200, outer, deep))
            size = self.scale * w**shape
        return np.where(np.isnan(small), np.nan, np.where(p > 0.5, -size, size))[()]

    def isf_log(self, log_p: ArrayLike) -> Reals:
        log_p = np.asarray(log_p, dtype=np.float64)
        shape = 1 / np.asarray(self.power)
        with np.errstate(over="ignore"):
            deep = self.scale * _inverse_log_upper(shape, np.minimum(log_p, -_FAR) + np.log(2)) ** shape
        return np.where(log_p < -_FAR, deep, self.isf(np.exp(log_p)))[()]

    def var(self) -> Reals:
        power = np.asarray(self.power)
        with np.errstate(over="ignore"):
            return (np.square(self.scale) * (gamma(3 / power) / gamma(1 / power)))[()]

    def kurtosis(self) -> float:
        five, three, one = (float(gammaln(k / self.power)) for k in (5, 3, 1))
        return float(np.exp(five - 2 * three + one))

    def sample(self, size: Any = None, *, rng: np.random.Generator) -> Reals:
        # Gamma draws have exact tails, and |Z / scale|^power has the law Gamma(1 / power).
        size = self.shape if size is None else size
        shape = 1 / np.asarray(self.power)
        magnitude = rng.standard_gamma(shape, size) ** shape
        return self.scale * np.copysign(magnitude, rng.random(size) - 0.5)

    def privacy_loss(self, y: ArrayLike, shift: ArrayLike) -> Reals:
        # The difference of two powers is the smaller one times expm1, because that does not cancel.
        y, shift = np.asarray(y, dtype=np.float64), np.asarray(shift, dtype=np.float64)
        further = difference_of_sizes(y, shift)
        gap, near = np.abs(further), np.minimum(np.abs(y), np.abs(y - shift))
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            ratio = gap / near
            rise = self._w(near) * np.expm1(self.power * np.log1p(ratio))
            rise = np.where(np.isfinite(ratio), rise, self._w(near + gap) - self._w(near))
            rise = np.where(np.isinf(near), 0.0, rise)
            rise = np.where(np.equal(self.power, 1), gap / self.scale, rise)
            return np.where(gap == 0, 0.0 * further, np.copysign(rise, further))[()]

    def largest_loss(self, shift: float) -> float:
        return float((shift / self.scale) ** self.power)

    @classmethod
    def equal_privacy(cls, rho: float, omega: float | None = None, delta: float | None = None) -> PureDP:
        """Return epsilon-DP with epsilon^2 / 2 = rho, which implies rho-zCDP (Bun-Steinke 2016, Proposition 4)."""
        return PureDP(np.sqrt(2 * real("rho", rho, 0)))

    @classmethod
    def by_theorem(cls, guarantee: Guarantee, sensitivity: float, coordinates: int) -> Self:
        # Each coordinate loses at most (sensitivity / scale)^power, also at smaller changes.
        epsilon = scalar("epsilon", guarantee.sufficient_epsilon, 0)
        return cls(sensitivity * (coordinates / epsilon) ** (1 / cls.power))

    @classmethod
    def theorem_is_sharp(cls, guarantee: Guarantee) -> bool:
        return guarantee.is_pure

    def scaled(self, factor: float) -> Self:
        return replace(self, scale=self.scale * factor)

    def _w(self, x: ArrayLike) -> Reals:
        """Return (|x| / scale)^power, in nats."""
        with np.errstate(over="ignore"):
            return np.abs(np.divide(x, self.scale, dtype=np.float64)) ** self.power


def _log_upper(shape: Reals, w: Reals) -> Reals:
    """Return log Q(shape, w), the log of the regularised upper incomplete gamma function, for w >= 0."""
    with np.errstate(divide="ignore"):
        near = np.log(gammaincc(shape, np.minimum(w, _FAR)))
    u = np.where(np.isposinf(w), _FAR, np.maximum(w, _FAR))
    far = (shape - 1) * np.log(u) - u - gammaln(shape) + np.log(_series(shape, u))
    return np.where(np.isposinf(w), -np.inf, np.where(u > _FAR, far, near))


def _series(shape: Reals, w: Reals) -> Reals:
    """Return Q(shape, w) Gamma(shape) e^w w^(1 - shape) for large w.

    The series is 1 + (shape - 1)/w + (shape - 1)(shape - 2)/w^2 + ... For shape <= 50 and w >= 600 the omitted terms
    are below 1e-30.
    """
    total = np.ones(np.broadcast_shapes(np.shape(shape), np.shape(w)))
    for k in range(_TERMS, 0, -1):
        total = 1 + (shape - k) / w * total
    return total


def _inverse_log_upper(shape: Reals, log_q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the w with log Q(shape, w) = log_q by Newton's method, for log_q below -400; inf at -inf."""
    goal = np.maximum(log_q, -1e300)
    w = -goal + np.maximum(0.0, (shape - 1) * np.log(-goal) - gammaln(shape))
    for _ in range(_STEPS):  # the slope of log Q is -1 / _mills
        w = w + (_log_upper(shape, w) - goal) * _mills(shape, w)
    return np.where(np.isneginf(log_q), np.inf, w)


def _mills(shape: Reals, w: Reals) -> Reals:
    """Return Q over minus its slope at w.

    The series gives it where it holds. Below that range, this is an estimate that Newton's method can use.
    """
    return _series(shape, np.maximum(w, _FAR))
