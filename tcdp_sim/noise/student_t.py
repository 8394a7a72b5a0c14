"""Student's t noise, whose polynomial tails bound the privacy loss of stretching it (smooth sensitivity)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincinv, betaln, hyp2f1

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import scalar
from tcdp_sim.noise.stretchable import StretchableNoise
from tcdp_sim.noise.stretched import published_shift
from tcdp_sim.privacy.definitions import Guarantee

MOST_DEGREES = 1000.0  # above, it is Gaussian noise for every purpose
_STEPS = 60  # steps of a fixed-point iteration whose error falls by more than half


@dataclass(frozen=True, eq=False)
class StudentT(StretchableNoise):
    """The noise scale T, where T has Student's t distribution.

    The variance is inf for degrees <= 2. The constants of its guarantees are derived here (`log_slopes`).

    Source: Bun and Steinke (2019) [BS19].

    Parameters
    ----------
    scale : float
        Scale of the noise, in counts, above 0.
    degrees : float
        Degrees of freedom, in [1, 1000].

    Examples
    --------
    >>> StudentT(1.0, 4.0).var()
    2.0
    """

    scale: float
    degrees: float
    family = "student_t"
    tail_cost = 14  # an incomplete beta function
    guarantees = "none by `calibrate`; use `calibrate_smooth`"
    bounded_slope = True
    log_concave_if = "never"
    tail_range = (2.05, 200.0)
    log_concave_size = True  # with u = log|x|, u - (d + 1)/2 log(1 + e^(2u) / d) is concave

    def __post_init__(self) -> None:
        self._freeze(scale=scalar("scale", self.scale, 0))
        self._freeze(degrees=scalar("degrees", self.degrees, 1, MOST_DEGREES, closed=True, finite=False))

    def logpdf(self, x: ArrayLike) -> Reals:
        return -0.5 * (self.degrees + 1) * self._rise(x) - self._log_size

    def sf(self, x: ArrayLike) -> Reals:
        return np.exp(self.logsf(x))

    def logsf(self, x: ArrayLike) -> Reals:
        x = np.asarray(x, dtype=np.float64)
        log_tail = np.log(0.5) + self._log_tails(-np.asarray(self._rise(x)))
        return np.where(x < 0, np.log1p(-np.exp(log_tail)), log_tail)[()]

    def isf(self, p: ArrayLike) -> Reals:
        tail: Any = np.asarray(p, dtype=np.float64)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            small: Any = np.minimum(tail, 1 - tail)  # 1 - tail is exact for tail >= 1/2
            size: Any = np.where(np.log(2 * small) < self._log_half, self._far(np.log(2 * small)), self._near(tail))
            size = np.where((tail >= 0) & (tail <= 1), size, np.nan)
        return (self.scale * np.where(tail <= 0.5, size, -size))[()]

    def isf_log(self, log_p: ArrayLike) -> Reals:
        log_p = np.asarray(log_p, dtype=np.float64)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            far = self.scale * self._far(np.minimum(log_p, -1.0) + np.log(2))
        return np.where(log_p + np.log(2) < self._log_half, far, self.isf(np.exp(log_p)))[()]

    def var(self) -> float:
        return self.scale**2 * self.degrees / (self.degrees - 2) if self.degrees > 2 else np.inf

    def sample(self, size: Any = None, *, rng: np.random.Generator) -> Reals:
        return self.scale * rng.standard_t(self.degrees, size)

    def largest_loss(self, shift: float) -> float:
        """Return the supremum of |privacy loss| in nats, which is attained.

        It is attained at (x - shift / 2)^2 = degrees scale^2 + shift^2 / 4.
        """
        return float((self.degrees + 1) * np.arcsinh(shift / self.scale / (2 * np.sqrt(self.degrees))))

    # Stretched

    def affine_tail(self, smoothing: float, shift: float) -> tuple[float, float]:
        """Return (0, c), where c bounds the loss by the slopes of the log density (`log_slopes`)."""
        of_scale, of_shift = self.log_slopes
        return 0.0, of_scale * smoothing + of_shift * shift * np.exp(smoothing)

    def smooth_shift(self, guarantee: Guarantee, smoothing: float) -> float:
        """Return the largest shift at which the slopes give epsilon-DP, hence (epsilon^2 / 2)-zCDP.

        Bun-Steinke 2019 [BS19] have degrees + 1 as the factor of t.
        """
        if not (guarantee.is_pure or guarantee.is_concentrated):
            return super().smooth_shift(guarantee, smoothing)
        of_scale, of_shift = self.log_slopes
        return published_shift(guarantee, of_scale * smoothing, of_shift)

    @property
    def log_slopes(self) -> tuple[float, float]:
        """The largest slopes of the log density of e^tau Z + shift: in tau, and in the shift (in 1 / counts).

        With z = x / scale the slope in tau is |1 - (d + 1) z^2 / (d + z^2)| <= max(1, d). The slope in the shift,
        (d + 1) |z| / (d + z^2) over the scale, is largest at z^2 = d.
        """
        return self.degrees, (self.degrees + 1) / (2 * np.sqrt(self.degrees) * self.scale)

    # The tail, in v = 1 / (1 + z^2 / d): P[|Z| > z] = I_v(d/2, 1/2) = v^(d/2) F(v) / (d/2 B(d/2, 1/2))

    @property
    def _log_size(self) -> float:
        return float(np.log(self.scale) + 0.5 * np.log(self.degrees) + betaln(0.5, 0.5 * self.degrees))

    @property
    def _log_half(self) -> float:
        """The log of P[|Z| > z] at v = 1/2."""
        return float(self._log_tails(np.array(np.log(0.5))))

    def _rise(self, x: ArrayLike) -> Reals:
        """Return log(1 + z^2 / d) without overflow."""
        z = np.abs(np.divide(x, self.scale, dtype=np.float64)) / np.sqrt(self.degrees)
        with np.errstate(divide="ignore", over="ignore"):
            return np.where(z < 1e10, np.log1p(z * z), 2 * np.log(z))

    def _log_tails(self, log_v: NDArray[np.float64]) -> Reals:
        a = 0.5 * self.degrees
        far = a * log_v - np.log(a) - betaln(a, 0.5) + np.log(_series(a, np.minimum(np.exp(log_v), 0.5)))
        v, w = np.exp(np.maximum(log_v, -1.0)), -np.expm1(np.maximum(log_v, -1.0))
        inside = betainc(0.5, a, w)  # near 1, v has lost the digits of z and w = 1 - v has not
        near = np.where(inside < 0.5, np.log1p(-np.minimum(inside, 0.5)), np.log(betainc(a, 0.5, v)))
        return np.where(log_v < np.log(0.5), far, near)

    def _far(self, log_tail: NDArray[np.float64]) -> Reals:
        """Return the z with P[|Z| > z] = e^log_tail by a fixed point, where v < 1/2 and F hardly changes."""
        a = 0.5 * self.degrees
        goal = log_tail + np.log(a) + betaln(a, 0.5)
        log_v = np.minimum(goal / a, np.log(0.5))
        for _ in range(_STEPS):
            log_v = np.minimum((goal - np.log(_series(a, np.exp(log_v)))) / a, np.log(0.5))
        return np.sqrt(self.degrees * -np.expm1(log_v)) * np.exp(-0.5 * log_v)

    def _near(self, p: NDArray[np.float64]) -> Reals:
        """Return the z with P[|Z| > z] = 2 min(p, 1 - p), where v > 1/2.

        The mass around 0 gives it where that mass is the smaller one.
        """
        a, small = 0.5 * self.degrees, np.minimum(p, 1 - p)
        w = np.where(small > 0.25, betaincinv(0.5, a, 2 * np.abs(0.5 - p)), 1 - betaincinv(a, 0.5, 2 * small))
        return np.sqrt(self.degrees * w / (1 - w))


def _series(a: float, v: NDArray[np.float64]) -> Reals:
    return hyp2f1(a, 0.5, a + 1, v)
