"""The common base of sinh-normal and sinh-squared noise: a knee, and doubly exponential tails beyond it."""

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tcdp_sim.core.arrays import Reals
from tcdp_sim.noise.base import Noise
from tcdp_sim.noise.gaussian import Gaussian
from tcdp_sim.privacy.definitions import TCDP, Guarantee

_ABOVE_ONE = 1 + 2.0**-52


class DoublyExponentialNoise(Noise):
    """A noise whose tails fall like exp(-z(x)^2 / 2) with z(x) = (knee / scale) sinh(x / knee).

    The scale and the knee are in counts.
    """

    scale: float
    knee: float
    bounded_slope = True  # its log density is analytic
    depends_on = ("rho", "omega")
    guarantees = "TCDP with finite omega (its divergence of large orders is infinite), ApproxDP by 'tight'"
    limit: ClassVar[type[Gaussian]] = Gaussian  # the limit as the knee grows
    widest: ClassVar[float]  # the largest scale, in knees, that a tight calibration tries

    @property
    def kinks(self) -> NDArray[np.float64]:
        return np.empty(0)

    def max_order(self, shift: float) -> float:
        with np.errstate(divide="ignore", over="ignore"):  # a shift below the rounding of the knee
            largest = -1 / np.expm1(-2 * abs(shift) / self.knee)
        return np.maximum(largest, _ABOVE_ONE)  # type: ignore[no-any-return]  # order 1 is finite at every shift

    def largest_loss(self, shift: float) -> float:
        return np.inf

    def affine_max_order(self, log_scale: float, shift: float) -> float:
        """Return 1 if P is the wider law, else inf.

        The tail of a wider P falls doubly exponentially at a lower rate, so the integral of P^a Q^(1-a) diverges.
        """
        return 1.0 if log_scale < 0 else np.inf

    @classmethod
    def smooth_refusal(cls, guarantee: Guarantee, smoothing: float) -> str:
        return "stretched ever so little, its doubly exponential tails have infinite divergences at all orders above 1"

    def accuracy_radius(self, k: ArrayLike, failure: ArrayLike) -> Reals:
        # Bun-Dwork-Rothblum-Steinke 2018, Corollary 18: P[|Z| > x] <= exp(-z(x)^2 / 2).
        return self.knee * np.arcsinh(self.scale / self.knee * np.sqrt(2 * self._log_ratio(k, failure)))

    @classmethod
    def equal_privacy(cls, rho: float, omega: float | None = None, delta: float | None = None) -> TCDP:
        """Return (rho, omega)-tCDP."""
        return TCDP(rho, omega)  # type: ignore[arg-type]  # TCDP refuses None with a message that names it

    @classmethod
    def can_meet(cls, guarantee: Guarantee) -> bool:
        return guarantee.is_approx or (guarantee.rho_omega or (0.0, np.inf))[1] < np.inf

    @staticmethod
    def least_knee(order: float) -> float:
        """Return the knee up to which the divergence of that order is infinite at shift one."""
        return float(-2 / np.log1p(-1 / order))

    def _z(self, x: ArrayLike) -> Reals:
        """Return (knee / scale) sinh(x / knee), good to its last digits."""
        x = np.asarray(x, dtype=np.float64)
        u = x / self.knee
        with np.errstate(over="ignore", invalid="ignore"):
            # The rounding error of u grows by the factor u in sinh u, and by z^2 in the tail. fmod is exact.
            part = np.fmod(x, self.knee) / self.knee
            lost = (np.rint(u - part) - u) + part
            sinh = np.sinh(u) + np.where(np.abs(u) < 700, lost * np.cosh(u), 0.0)
            return sinh * (self.knee / self.scale)
