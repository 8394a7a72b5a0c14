"""Sinh-squared noise, with which Corollary 18 of Bun-Dwork-Rothblum-Steinke 2018 [BDRS18] holds as printed."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, ndtri_exp

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import real
from tcdp_sim.core.numerics import ArrayBounds
from tcdp_sim.noise import sinh_squared_law as law
from tcdp_sim.noise.doubly_exponential import DoublyExponentialNoise
from tcdp_sim.noise.sinh_squared_renyi import scaled_divergence
from tcdp_sim.noise.strips import Strips, strips
from tcdp_sim.privacy.definitions import Guarantee

_OUTER = 801  # points of the fast profile over the other coordinate


@dataclass(frozen=True, eq=False)
class SinhSquared(DoublyExponentialNoise):
    """Noise with a density proportional to exp(-(knee / scale)^2 sinh^2(x / knee) / 2).

    It is Gaussian up to about the knee, and its tails fall doubly exponentially beyond. It is log-concave. It is the
    density of sinh-normal noise without the factor cosh(x / knee). Both tend to Gaussian noise of that scale as the
    knee grows. exp(2 X / knee) has the generalised inverse Gaussian law of index 0. The divergences have a closed form
    (docs/experiments/histograms.md). It implies (rho, omega)-tCDP exactly if D_omega <= rho omega.

    Source: Bun et al. (2018), Corollary 18 [BDRS18].

    Parameters
    ----------
    scale : float or array
        Standard deviation of the Gaussian limit, in counts, above 0.
    knee : float or array
        Size beyond which the tails fall doubly exponentially, in counts, above 0.

    Examples
    --------
    >>> round(float(SinhSquared(1.0, 5.0).var()), 4)
    0.9312
    """

    scale: float
    knee: float
    family = "sinh_squared"
    widest = 64.0  # far beyond the best noise at any number of bins

    def __post_init__(self) -> None:
        self._freeze(scale=real("scale", self.scale, 0), knee=real("knee", self.knee, 0))

    @property
    def log_concave(self) -> bool:
        return True

    def logpdf(self, x: ArrayLike) -> Reals:
        z = self._z(x)
        with np.errstate(over="ignore"):
            return -0.5 * z * z - np.log(self.knee) - np.log(law.mass(self._c))

    def sf(self, x: ArrayLike) -> Reals:
        z = self._z(x)
        upper = law.tail(np.abs(np.divide(x, self.knee, dtype=np.float64)), np.abs(z), self._c)
        return np.where(z < 0, 1 - upper, upper)[()]

    def logsf(self, x: ArrayLike) -> Reals:
        z = self._z(x)
        upper = law.log_tail(np.abs(np.divide(x, self.knee, dtype=np.float64)), np.abs(z), self._c)
        return np.where(z < 0, np.log1p(-np.exp(upper)), upper)[()]

    def isf(self, p: ArrayLike) -> Reals:
        return self._at(-ndtri(np.asarray(p, dtype=np.float64)))

    def isf_log(self, log_p: ArrayLike) -> Reals:
        return self._at(-ndtri_exp(np.asarray(log_p, dtype=np.float64)))

    def var(self) -> Reals:
        # Trapezoid rule in u = x / knee: the integrand is entire and decays doubly exponentially.
        c = self._c[..., None]
        step = np.minimum(0.05, c / 4)
        u = step * np.arange(1, int(np.max(np.ceil(np.arcsinh(40 * c) / step))) + 1)
        with np.errstate(over="ignore"):
            z = np.sinh(u) / c
            moment = (u * u * np.exp(-0.5 * z * z)).sum(axis=-1)
        return (2 * np.square(self.knee) * step[..., 0] * moment / law.mass(self._c))[()]

    def sample(self, size: Any = None, *, rng: np.random.Generator) -> Reals:
        out = np.empty(self.shape if size is None else size)
        self.fill(out=out, rng=rng)
        return out[()]

    def fill(self, out: NDArray[np.float64], *, rng: np.random.Generator) -> None:
        if self.shape == ():
            _strips(self).fill(out=out, rng=rng)
            return
        log_p = -rng.standard_exponential(out.shape) - np.log(2)
        out[...] = np.copysign(self.isf_log(log_p), rng.random(out.shape) - 0.5)

    def privacy_loss(self, y: ArrayLike, shift: ArrayLike) -> Reals:
        # sinh^2(m - h) - sinh^2(m + h) = -sinh(2m) sinh(2h), in which nothing cancels.
        y, shift = np.asarray(y, dtype=np.float64), np.asarray(shift, dtype=np.float64)
        ratio = np.divide(self.knee, self.scale)
        with np.errstate(over="ignore", invalid="ignore"):
            twice = ((y - shift) + y) / self.knee
            loss = -0.5 * (ratio * np.sinh(twice)) * (ratio * np.sinh(shift / self.knee))
            return np.where(shift == 0, 0 * twice, loss)[()]  # not 0 * inf where sinh overflows

    def closed_renyi(self, shift: float, order: NDArray[np.float64]) -> ArrayBounds:
        return scaled_divergence(self.scale, self.knee, shift, order)

    @classmethod
    def by_theorem(cls, guarantee: Guarantee, sensitivity: float, coordinates: int) -> Self:
        # docs/experiments/histograms.md proves Corollary 18 as printed for omega >= sqrt(coordinates / (128 rho)).
        if guarantee.rho_omega is None or np.isinf(guarantee.rho_omega[1]):
            raise cls.cannot_meet(guarantee)
        rho, omega = guarantee.rho_omega
        least = np.sqrt(coordinates / (128 * rho))
        if omega < least * (1 - 1e-12):
            raise ValueError(
                f"sinh_squared by Corollary 18 with {coordinates} changed coordinates needs omega >= "
                f"sqrt({coordinates}/(128 rho)) = {least:.6g}; got omega = {omega:.6g} at rho = {rho:.6g} "
                "(a larger omega keeps the guarantee; method 'tight' needs no such bound)"
            )
        return cls(scale=sensitivity * np.sqrt(8 * coordinates / rho), knee=8 * sensitivity * omega)

    # A tight calibration searches over scale and knee with these fast values at shift one. They are not brackets.

    def fast_divergences(self, s: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return s D_(1+s) in nats for each s > 0, shape (n,)."""
        return np.asarray(s * self.closed_renyi(1.0, 1 + s).estimate)

    def fast_profile(self, epsilon: float, delta: float, coordinates: int) -> float:
        """Return delta(epsilon) for 1 or 2 coordinates that all change by one, by the trapezoid rule.

        The loss decreases in x, so it exceeds t below one point, which has a closed form.
        """

        def inner(t: NDArray[np.float64]) -> NDArray[np.float64]:
            cut = self._cut(t)
            with np.errstate(over="ignore", invalid="ignore"):
                excess = self.cdf(cut) - np.exp(t + self.logcdf(cut - 1))
            return np.where(excess > 0, excess, 0.0)

        if coordinates == 1:
            return float(inner(np.array([epsilon]))[0])
        rarest = self.isf(max(1e-10 * delta, 1e-300))
        x = np.linspace(-rarest, rarest, _OUTER)  # the other coordinate
        return float(self.pdf(x) @ inner(epsilon - self.privacy_loss(x, 1.0)) * (x[1] - x[0]))

    def _cut(self, loss: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the outputs at which the privacy loss at shift one has these values, in nats."""
        slope = 0.5 * np.square(self.knee / self.scale) * np.sinh(1 / self.knee)
        return 0.5 - 0.5 * self.knee * np.arcsinh(loss / slope)

    def _at(self, y: Reals) -> Reals:
        """Return the quantile that belongs to the normal quantile y."""
        return self.knee * np.copysign(law.quantile(np.abs(y), self._c), y)[()]

    @property
    def _c(self) -> NDArray[np.float64]:
        return np.divide(self.scale, self.knee)


@lru_cache(maxsize=64)
def _strips(noise: SinhSquared) -> Strips:
    return strips(noise)
