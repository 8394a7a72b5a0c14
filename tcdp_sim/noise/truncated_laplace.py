"""Truncated Laplace noise: bounded noise for (epsilon, delta)-differential privacy."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammainc

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import real, scalar
from tcdp_sim.core.numerics import TINY, ULP, ArrayBounds, Bounds
from tcdp_sim.noise.base import Noise
from tcdp_sim.noise.laplace import difference_of_sizes, room
from tcdp_sim.privacy.definitions import ApproxDP, Guarantee


@dataclass(frozen=True, eq=False)
class TruncatedLaplace(Noise):
    """Noise with a density proportional to exp(-|x| / scale) on [-bound, bound] and zero outside.

    With scale = Delta / epsilon and bound = scale * log(1 + (e^epsilon - 1) / (2 delta)) >= Delta it gives exactly
    (epsilon, delta)-DP for sensitivity Delta. On the common support the ratio is at most e^epsilon, and the mass
    outside it is delta.

    Source: Geng et al. (2020) [GDGK20].

    Parameters
    ----------
    scale : float or array
        Scale of the noise, in counts, above 0.
    bound : float or array
        End of the support, in counts, above 0.

    Examples
    --------
    >>> round(float(TruncatedLaplace(1.0, 10.0).var()), 4)
    1.9946
    """

    scale: float
    bound: float
    family = "truncated_laplace"
    depends_on = ("rho", "delta")
    guarantees = "ApproxDP"
    log_concave = True

    def __post_init__(self) -> None:
        self._freeze(scale=real("scale", self.scale, 0), bound=real("bound", self.bound, 0))

    def logpdf(self, x: ArrayLike) -> Reals:
        size = np.abs(x, dtype=np.float64)
        inside = -size / self.scale - np.log(2 * self.scale * self._mass())
        return np.where(size <= self.bound, inside, np.where(np.isnan(size), np.nan, -np.inf))[()]

    def sf(self, x: ArrayLike) -> Reals:
        tail = self._tail(np.abs(x, dtype=np.float64))
        return np.where(np.less(x, 0), 1 - tail, tail)[()]

    def logsf(self, x: ArrayLike) -> Reals:
        size = np.minimum(np.abs(x, dtype=np.float64), self.bound)
        with np.errstate(divide="ignore"):
            rest = np.log(-np.expm1(-(self.bound - size) / self.scale))
            log_tail = -size / self.scale + rest - np.log(2 * self._mass())
            return np.where(np.less(x, 0), np.log1p(-np.exp(np.minimum(log_tail, 0))), log_tail)[()]

    def isf(self, p: ArrayLike) -> Reals:
        p = np.asarray(p, dtype=np.float64)
        small = np.minimum(p, 1 - p)
        small = np.where((p >= 0) & (p <= 1), small, np.nan)
        # exp(-x / scale) = edge + 2 p mass. Above one half, 1 minus it is the accurate form.
        mass, edge = self._mass(), np.exp(-self.bound / self.scale)
        with np.errstate(divide="ignore"):
            far, rest = -np.log(edge + 2 * small * mass), (1 - 2 * small) * mass
            size = self.scale * np.where(rest < 0.5, -np.log1p(-rest), far)
        size = np.where(small == 0, self.bound, np.minimum(size, self.bound))
        return np.where(p <= 0.5, size, -size)[()]

    def var(self) -> Reals:
        ratio = self.bound / self.scale
        return 2 * np.square(self.scale) * gammainc(3, ratio) / self._mass()

    def sample(self, size: Any = None, *, rng: np.random.Generator) -> Reals:
        # An exponential law has no memory, so a draw modulo the bound is a draw truncated there, and fmod is exact.
        # Inverting a 53-bit uniform draw would have no tail beyond 37 scales.
        size = self.shape if size is None else size
        magnitude = self.scale * np.fmod(rng.standard_exponential(size), self.bound / self.scale)
        return np.copysign(np.minimum(magnitude, self.bound), rng.random(size) - 0.5)

    def privacy_loss(self, y: ArrayLike, shift: ArrayLike) -> Reals:
        # Inside both supports, the loss is that of Laplace noise. Outside, it comes from the log densities.
        outside = super().privacy_loss(y, shift)
        return np.where(np.isfinite(outside), difference_of_sizes(y, shift) / self.scale, outside)[()]

    def isf_log(self, log_p: ArrayLike) -> Reals:
        return self.isf(np.exp(log_p))  # where e^log_p underflows, the quantile is the bound to every digit

    def largest_loss(self, shift: float) -> float:
        return np.inf

    def closed_hockey_stick(self, shift: float, epsilon: NDArray[np.float64]) -> ArrayBounds:
        """Return delta(epsilon) of (P, Q): the mass outside the other support, plus the integrals over two stretches.

        On the first stretch the loss is theta, and on the second it falls linearly. The integral over the second is
        e^-first (1 - e^-length)^2 over `twice`, with lengths in scales.
        """
        theta, start = shift / self.scale, min(shift - self.bound, self.bound)
        twice = 2 * -np.expm1(-self.bound / self.scale)
        if start < 0:  # both are computed from small distances, because differences would cancel
            outside = np.exp(start / self.scale) * -np.expm1(-theta) / twice
            flat = -np.expm1(start / self.scale) / twice
        else:
            outside, flat = self.cdf(start), 0.0
        first = max(start, 0.0)
        space = room(self.scale, shift, epsilon)
        crossing = np.clip(0.5 * self.scale * space, first, self.bound)
        share = -np.expm1((first - crossing) / self.scale)
        falls = np.exp(-first / self.scale) * share / twice  # the mass of the stretch on which the loss falls
        inner = flat * np.maximum(-np.expm1(-space), 0) + falls * share
        lost = np.where(first > 0, 4 * ULP * crossing / self.scale * falls, 0.0)  # the rounding of crossing - first
        lost = lost + 1e-12 * inner + outside * min(1e-12 + ULP * abs(start) / self.scale, 1.0) + TINY
        delta = outside + inner
        return Bounds(delta - lost, delta, delta + lost)

    def accuracy_radius(self, k: ArrayLike, failure: ArrayLike) -> Reals:
        return np.minimum(self.bound, self.scale * self._log_ratio(k, failure))

    @classmethod
    def equal_privacy(cls, rho: float, omega: float | None = None, delta: float | None = None) -> ApproxDP:
        """Return (epsilon, delta)-DP with the epsilon of Laplace noise, for comparison only: it implies no rho."""
        return ApproxDP(float(np.sqrt(2 * scalar("rho", rho, 0))), scalar("delta", delta, 0, 1))

    @classmethod
    def can_meet(cls, guarantee: Guarantee) -> bool:
        return guarantee.is_approx

    @classmethod
    def by_theorem(cls, guarantee: Guarantee, sensitivity: float, coordinates: int) -> Self:
        # The ratio of each coordinate is at most e^(epsilon / coordinates) on the common support, and its mass outside
        # is `delta_each`. All coordinates stay inside with probability (1 - delta_each)^coordinates = 1 - delta.
        epsilon, delta = guarantee.epsilon_delta  # type: ignore[misc]  # `can_meet`
        epsilon_each = real("epsilon", epsilon, 0) / coordinates
        with np.errstate(divide="ignore"):
            delta_each = -np.expm1(np.log1p(-delta) / coordinates)
        if delta_each > 0.5:
            raise ValueError(
                f"truncated_laplace at delta = {delta:g} over {coordinates} coordinates puts "
                f"{delta_each:g} > 1/2 of each outside the common support; valid: delta <= {1 - 0.5**coordinates:g}"
            )
        scale = sensitivity / epsilon_each
        log_rise = epsilon_each + np.log(-np.expm1(-epsilon_each))  # log(e^epsilon - 1) without overflow
        return cls(scale, scale * np.logaddexp(0.0, log_rise - np.log(2 * delta_each)))

    @classmethod
    def theorem_is_sharp(cls, guarantee: Guarantee) -> bool:
        return True

    def _mass(self) -> Reals:
        """Return the mass of the untruncated distribution on the support."""
        return -np.expm1(-self.bound / self.scale)

    def _tail(self, size: Reals) -> Reals:
        size = np.minimum(size, self.bound)
        return np.exp(-size / self.scale) * -np.expm1(-(self.bound - size) / self.scale) / (2 * self._mass())
