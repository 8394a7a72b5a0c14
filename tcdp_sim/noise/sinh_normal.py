"""Sinh-normal noise: the noise of truncated concentrated differential privacy."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr, logsumexp, ndtr, ndtri, ndtri_exp

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import real
from tcdp_sim.noise.doubly_exponential import DoublyExponentialNoise
from tcdp_sim.noise.gaussian import HALF_LOG_TWO_PI
from tcdp_sim.privacy.definitions import Guarantee

_OUTER, _LOSSES = 801, 1001  # points of the fast profile: of the other coordinate, and of the table of losses


@dataclass(frozen=True, eq=False)
class SinhNormal(DoublyExponentialNoise):
    """The noise knee * arsinh(scale / knee * N(0, 1)).

    It is Gaussian up to about the knee, with doubly exponential tails beyond. It is log-concave if and only if
    knee >= scale. Below that it has two modes.

    Source: Bun et al. (2018), Section 4 [BDRS18].

    Parameters
    ----------
    scale : float or array
        Standard deviation of the Gaussian limit (sigma in the paper), in counts, above 0.
    knee : float or array
        Size beyond which the tails fall doubly exponentially (A in the paper), in counts, above 0.

    Examples
    --------
    >>> round(float(SinhNormal(1.0, 5.0).var()), 4)
    0.9636
    """

    scale: float
    knee: float
    family = "sinh_normal"
    log_concave_if = "knee >= scale"
    widest = 1.0  # beyond, it is not log-concave

    def __post_init__(self) -> None:
        self._freeze(scale=real("scale", self.scale, 0), knee=real("knee", self.knee, 0))

    @property
    def log_concave(self) -> bool:
        return bool(np.all(np.greater_equal(self.knee, self.scale)))

    def logpdf(self, x: ArrayLike) -> Reals:
        u = np.abs(np.divide(x, self.knee, dtype=np.float64))
        log_cosh = u + np.log1p(np.exp(-2 * u)) - np.log(2)
        z = self._z(x)
        with np.errstate(over="ignore", invalid="ignore"):  # inf - inf at infinity
            shape = np.where(np.isinf(z), -np.inf, log_cosh - 0.5 * z * z)[()]
            return shape - HALF_LOG_TWO_PI - np.log(self.scale)

    def sf(self, x: ArrayLike) -> Reals:
        return ndtr(-self._z(x))

    def logsf(self, x: ArrayLike) -> Reals:
        return log_ndtr(-self._z(x))

    def isf(self, p: ArrayLike) -> Reals:
        return -self.knee * np.arcsinh(self.scale / self.knee * ndtri(np.asarray(p, dtype=np.float64)))

    def var(self) -> Reals:
        # Trapezoid rule in u = x / knee: the integrand is entire and decays doubly exponentially.
        c = np.divide(self.scale, self.knee)[..., None]
        step = np.minimum(0.05, c / 4)
        count = int(np.max(np.ceil(np.arcsinh(40 * c) / step)))
        u = step * np.arange(1, count + 1)
        with np.errstate(over="ignore"):
            z = np.sinh(u) / c
            weight = np.exp(-0.5 * z * z - HALF_LOG_TWO_PI)
            terms = np.where(weight > 0, u * u * weight * np.cosh(u), 0.0)
        return (2 * np.square(self.knee) * (step / c)[..., 0] * terms.sum(axis=-1))[()]

    def sample(self, size: Any = None, *, rng: np.random.Generator) -> Reals:
        out = np.empty(self.shape if size is None else size)
        self.fill(out=out, rng=rng)
        return out[()]

    def fill(self, out: NDArray[np.float64], *, rng: np.random.Generator) -> None:
        rng.standard_normal(out=out)
        out *= self.scale / self.knee
        np.arcsinh(out, out=out)
        out *= self.knee

    def privacy_loss(self, y: ArrayLike, shift: ArrayLike) -> Reals:
        # This form of the difference of the log densities does not cancel. Let m be the output's distance from the
        # middle and h half the shift, both over the knee: log(cosh(m + h) / cosh(m - h)) = 2 artanh(tanh m tanh h).
        y, shift = np.asarray(y, dtype=np.float64), np.asarray(shift, dtype=np.float64)
        ratio = np.divide(self.knee, self.scale)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            m, h = 0.5 * ((y - shift) + y) / self.knee, 0.5 * shift / self.knee
            nearer = np.minimum(np.abs(m), np.abs(h))
            log_cosh_ratio = 2 * np.arctanh(np.tanh(m) * np.tanh(h))
            if not np.all(nearer < 1):  # where both are large, both tanh round to one
                rest = np.log1p(np.exp(-2 * np.abs(m + h))) - np.log1p(np.exp(-2 * np.abs(m - h)))
                far = np.copysign(2 * nearer, m) * np.copysign(1.0, h) + rest
                log_cosh_ratio = np.where(nearer < 1, log_cosh_ratio, far)
            loss = log_cosh_ratio - 0.5 * ratio * ratio * np.sinh(2 * m) * np.sinh(2 * h)
            return np.where(h == 0, 0 * m, loss)[()]  # not 0 * inf where sinh overflows

    def isf_log(self, log_p: ArrayLike) -> Reals:
        return -self.knee * np.arcsinh(self.scale / self.knee * ndtri_exp(log_p))

    @classmethod
    def by_theorem(cls, guarantee: Guarantee, sensitivity: float, coordinates: int) -> Self:
        # Theorem 17 at rho' = rho / (16 coordinates), knee = 8 sensitivity omega; composition over the coordinates.
        if guarantee.rho_omega is None or np.isinf(guarantee.rho_omega[1]):
            raise cls.cannot_meet(guarantee)
        rho, omega = guarantee.rho_omega
        least = 0.5 * np.sqrt(coordinates / rho)
        if omega < least * (1 - 1e-12):
            raise ValueError(
                f"sinh_normal by Theorem 17 with {coordinates} changed coordinates needs omega >= "
                f"sqrt({coordinates}/(4 rho)) = {least:.6g}; got omega = {omega:.6g} at rho = {rho:.6g} "
                "(its proof needs it, and well below it the guarantee is false)"
            )
        return cls(scale=sensitivity * np.sqrt(8 * coordinates / rho), knee=8 * sensitivity * omega)

    def widened(self, factor: float) -> Self:
        scale = self.scale * factor
        return type(self)(scale, max(self.knee, scale))

    # A tight calibration searches over scale and knee with these fast values at shift one. They are not brackets.

    def fast_divergences(self, s: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return s D_(1+s) in nats for each s > 0 by the trapezoid rule, shape (n,); inf where nothing is known."""
        # P e^(sL) peaks where (s + 1) (log p)'(x) = s (log p)'(x - 1): at x = -peak, up to a term of tanh(x/knee)/knee
        rise = np.sinh(2 / self.knee) / (1 / s - 2 * np.sinh(1 / self.knee) ** 2)
        if not ((rise > 0) & (rise < 1)).all():
            return np.full(len(s), np.inf)
        peak = self.knee / 2 * np.arctanh(rise)
        far = peak > 12 * self.scale  # the peak is e^72 times as large as everything else
        scaled = np.empty(len(s))
        scaled[far] = [self._far_divergence(s[i], peak[i]) for i in np.flatnonzero(far)]
        if not far.all():
            scaled[~far] = self._near_divergences(s[~far], peak[~far].max())
        return scaled

    def _near_divergences(self, s: NDArray[np.float64], peak: float) -> NDArray[np.float64]:
        """Return s D_(1+s) for peaks among the noise's own mass."""
        reach = self.knee * np.arcsinh(12 * self.scale / self.knee) * 1.5 + 2
        x = np.linspace(-max(reach, peak + reach / 1.5), reach, 301)
        s = s[:, None]
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            log_p, loss = self.logpdf(x), self.privacy_loss(x, 1.0)
            p = np.exp(log_p)
            terms = np.where(log_p > -700, p * (np.expm1(s * loss) + s * np.expm1(-loss)), np.exp(log_p + s * loss))
            return np.asarray(np.log1p(terms.sum(axis=1) * (x[1] - x[0])))

    def _far_divergence(self, s: float, peak: float) -> float:
        """Return s D_(1+s) for a peak far outside, in logarithms on a grid as wide as the peak."""
        angle, turn = 2 / self.knee, 2 * peak / self.knee
        fall = (s + 1) * np.cosh(turn) - s * np.cosh(turn + angle)
        width = self.scale / np.sqrt(fall) if fall > 0 else self.scale
        x = -peak + width * np.linspace(-16, 16, 301)
        if x[1] == x[0]:  # the peak is narrower than the spacing of floats
            return np.inf
        return float(logsumexp(self.logpdf(x) + s * self.privacy_loss(x, 1.0)) + np.log(x[1] - x[0]))

    def fast_profile(self, epsilon: float, delta: float, coordinates: int) -> float:
        """Return delta(epsilon) for 1 or 2 coordinates that all change by one, without events much rarer than `delta`.

        The loss decreases in x, so it exceeds t below one point c(t), which a table gives. P - e^t Q is integrated up
        to its own zero, so an error of c counts only squared.
        """
        reach = self.knee * np.arcsinh(38 * self.scale / self.knee)
        x = np.linspace(-reach, reach + 1, _LOSSES)
        loss = self.privacy_loss(x, 1.0)

        def inner(t: NDArray[np.float64]) -> NDArray[np.float64]:
            cut = np.interp(-t, -loss, x)
            with np.errstate(over="ignore", invalid="ignore"):
                excess = self.cdf(cut) - np.exp(t + self.logcdf(cut - 1))
            return np.where(excess > 0, excess, 0.0)

        if coordinates == 1:
            return float(inner(np.array([epsilon]))[0])
        rarest = ndtri(max(1e-10 * delta, 1e-300))
        z = np.linspace(rarest, -rarest, _OUTER)  # the other coordinate, on its own normal scale
        at = self.knee * np.arcsinh(self.scale / self.knee * z)
        weight = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi) * (z[1] - z[0])
        return float(weight @ inner(epsilon - self.privacy_loss(at, 1.0)))
