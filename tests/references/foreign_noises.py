"""Noises that the package does not have, with only the six required methods, and their densities in mpmath."""

from dataclasses import dataclass

import mpmath as mp
import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, gammaincc, gammainccinv, gammaln, log_expit, log_ndtr, ndtr

from tcdp_sim.noise import Noise

ROOT = np.sqrt(3.0)


@dataclass(frozen=True, eq=False)
class Logistic(Noise):
    """Logistic noise: log-concave, with the tails of Laplace noise. The class does not say that it is log-concave."""

    scale: float
    family = "logistic"

    def logpdf(self, x):
        z = np.divide(x, self.scale)
        return log_expit(z) + log_expit(-z) - np.log(self.scale)

    def sf(self, x):
        return expit(-np.divide(x, self.scale))

    def logsf(self, x):
        return log_expit(-np.divide(x, self.scale))

    def isf(self, p):
        p = np.asarray(p, dtype=float)
        with np.errstate(divide="ignore"):
            return self.scale * (np.log1p(-p) - np.log(p))

    def var(self):
        return (np.pi * self.scale) ** 2 / 3

    def sample(self, size=None, *, rng):
        return rng.logistic(0.0, self.scale, size)

    def mp_pdf(self, x):
        z = mp.exp(-abs(x) / mp.mpf(self.scale))
        return z / (1 + z) ** 2 / mp.mpf(self.scale)


@dataclass(frozen=True, eq=False)
class SureLogistic(Logistic):
    """Logistic noise whose class says that it is log-concave."""

    log_concave = True


@dataclass(frozen=True, eq=False)
class OwnLogistic(SureLogistic):
    """Logistic noise that states its privacy loss: twice log(cosh(b) / cosh(a)), a and b half of y and y - shift."""

    def privacy_loss(self, y, shift):
        m, h = np.subtract(y, np.divide(shift, 2)) / (2 * self.scale), np.divide(shift, 4 * self.scale)
        return -4 * np.arctanh(np.tanh(m) * np.tanh(h))


@dataclass(frozen=True, eq=False)
class Student(Noise):
    """Student's t with three degrees of freedom: heavy tails, with moments below the third only."""

    scale: float
    family = "student"

    def logpdf(self, x):
        t = np.divide(x, self.scale * ROOT)
        return np.log(2 / (np.pi * ROOT * self.scale)) - 4 * np.log(np.hypot(1.0, t))

    def sf(self, x):
        t = np.divide(x, self.scale * ROOT, dtype=float)
        with np.errstate(all="ignore"):
            near = (np.arctan2(1.0, np.abs(t)) - np.abs(t) / (1 + t * t)) / np.pi
            w = 1 / (t * t)  # integral over t' > t of 2 / (pi (1 + t'^2)^2), in powers of 1 / t
            far = np.abs(w / t) * 2 / np.pi * sum((-1) ** n * (n + 1) / (2 * n + 3) * w**n for n in range(12))
        tail = np.where(np.abs(t) > 20, far, near)
        return np.where(t >= 0, tail, 1 - tail)[()]

    def logsf(self, x):
        t = np.divide(x, self.scale * ROOT, dtype=float)
        with np.errstate(all="ignore"):
            far = np.log(2 / (3 * np.pi)) - 3 * np.log(np.abs(t))
        return np.where(t > 1e50, far, np.log(self.sf(np.minimum(x, 1e60))))[()]

    def isf(self, p):
        return np.vectorize(self._isf)(p)[()]

    def _isf(self, p):
        if p > 0.5:
            return -self._isf(1 - p)
        if p in (0, 0.5):
            return np.inf if p == 0 else 0.0
        high = self.scale * ROOT * max(1.0, (2 / (3 * np.pi * p)) ** (1 / 3)) * 1.1
        return brentq(lambda x: np.log(self.sf(x) / p), 0.0, high, xtol=1e-300, rtol=1e-14)

    def var(self):
        return 3 * self.scale**2

    def sample(self, size=None, *, rng):
        return self.scale * rng.standard_t(3, size)

    def mp_pdf(self, x):
        return 2 / (mp.pi * mp.sqrt(3) * self.scale) / (1 + mp.mpf(x) ** 2 / (3 * mp.mpf(self.scale) ** 2)) ** 2


@dataclass(frozen=True, eq=False)
class TwoPeaks(Noise):
    """A mixture of two Gaussians with means -apart and apart and standard deviation 1."""

    apart: float
    family = "two_peaks"

    def logpdf(self, x):
        m = self.apart
        near, far = (np.abs(np.abs(x, dtype=float) + sign * m) for sign in (-1, 1))
        return np.logaddexp(-(near**2) / 2, -(far**2) / 2) - np.log(2) - np.log(2 * np.pi) / 2

    def sf(self, x):
        return (ndtr(-np.subtract(x, self.apart)) + ndtr(-np.add(x, self.apart))) / 2

    def logsf(self, x):
        return np.logaddexp(log_ndtr(-np.subtract(x, self.apart)), log_ndtr(-np.add(x, self.apart))) - np.log(2)

    def isf(self, p):
        return np.vectorize(self._isf)(p)[()]

    def _isf(self, p):
        if p > 0.5:
            return -self._isf(1 - p)
        if p in (0, 0.5):
            return np.inf if p == 0 else 0.0
        return brentq(lambda x: self.logsf(x) - np.log(p), 0.0, self.apart + 40.0, xtol=1e-300, rtol=1e-14)

    def var(self):
        return 1 + self.apart**2

    def sample(self, size=None, *, rng):
        return self.apart * np.sign(rng.random(size) - 0.5) + rng.standard_normal(size)

    def mp_pdf(self, x):
        return (mp.npdf(x, self.apart) + mp.npdf(x, -mp.mpf(self.apart))) / 2


@dataclass(frozen=True, eq=False)
class Uniform(Noise):
    """Uniform noise on (-bound, bound)."""

    bound: float
    family = "uniform"

    def logpdf(self, x):
        return np.where(np.abs(x) <= self.bound, -np.log(2 * self.bound), -np.inf)[()]

    def sf(self, x):
        return np.clip(0.5 - np.divide(x, 2 * self.bound), 0.0, 1.0)

    def logsf(self, x):
        with np.errstate(divide="ignore"):
            return np.log(self.sf(x))

    def isf(self, p):
        return self.bound * (1 - 2 * np.asarray(p, dtype=float))[()]

    def var(self):
        return self.bound**2 / 3

    def sample(self, size=None, *, rng):
        return rng.uniform(-self.bound, self.bound, size)

    def mp_pdf(self, x):
        return 1 / (2 * mp.mpf(self.bound)) if abs(x) <= self.bound else mp.mpf(0)


SIX = (Logistic(2.236), Logistic(0.1), Student(1.0), Student(50.0), TwoPeaks(3.0), TwoPeaks(200.0), TwoPeaks(1e6))
WITHOUT_LOSS = (*SIX, SureLogistic(2.236), Uniform(4.0))


def landmarks(noise, shift):
    """Return the points at which mpmath cuts an integral over the noise and the shifted noise."""
    steps = [mp.mpf(2) ** n for n in range(-1, 8)]
    centres = [-noise.apart, 0, noise.apart] if isinstance(noise, TwoPeaks) else [0]
    unit = getattr(noise, "scale", 1)
    steps = steps + ([mp.mpf(4) ** n for n in range(4, 16)] if isinstance(noise, Student) else [])
    steps = [s for s in steps if not isinstance(noise, TwoPeaks) or s <= 16]
    points = {c + m + sign * unit * s for c in centres for m in (0, mp.mpf(shift)) for s in steps for sign in (-1, 1)}
    points |= {c + m for c in centres for m in (0, mp.mpf(shift))} | {mp.mpf(shift) / 2}
    return sorted(points)


@dataclass(frozen=True, eq=False)
class Cusped(Noise):
    """A density proportional to exp(-|x / scale|^power), power < 1, with an undeclared infinite slope at 0."""

    scale: float
    power: float
    family = "cusped"

    def _z(self, x):
        return np.abs(np.divide(x, self.scale)) ** self.power

    def logpdf(self, x):
        return -self._z(x) - np.log(2 * self.scale) - gammaln(1 + 1 / self.power)

    def sf(self, x):
        upper = gammaincc(1 / self.power, self._z(x)) / 2
        return np.where(np.less(x, 0), 1 - upper, upper)[()]

    def logsf(self, x):
        with np.errstate(divide="ignore"):
            return np.log(self.sf(x))

    def isf(self, p):
        p = np.asarray(p, dtype=float)
        size = self.scale * gammainccinv(1 / self.power, 2 * np.minimum(p, 1 - p)) ** (1 / self.power)
        return np.where(p <= 0.5, size, -size)[()]

    def var(self):
        return self.scale**2 * np.exp(gammaln(3 / self.power) - gammaln(1 / self.power))

    def sample(self, size=None, *, rng):
        size_of_noise = rng.standard_gamma(1 / self.power, size) ** (1 / self.power)
        return self.scale * np.copysign(size_of_noise, rng.random(size) - 0.5)

    def privacy_loss(self, y, shift):
        y = np.asarray(y, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):  # far out y - shift would be rounded to y
            near = self._z(y) * np.expm1(self.power * np.log1p(-shift / y))
        return np.where(np.abs(y) > np.abs(shift), near, self._z(y - shift) - self._z(y))[()]

    def largest_loss(self, shift):
        return float((shift / self.scale) ** self.power)

    def mp_renyi(self, shift, order):
        """Return D_order by mpmath, over panels closing in on the cusps: the mean of e^(sL) - 1 - s (1 - e^(-L))."""
        p, t, s = mp.mpf(self.power), mp.mpf(shift) / mp.mpf(self.scale), mp.mpf(order) - 1

        def mean(x):
            loss = abs(x - t) ** p - abs(x) ** p
            return mp.exp(-(abs(x) ** p)) * (mp.expm1(s * loss) - s * -mp.expm1(-loss))

        far = [t + mp.mpf(10) ** k for k in range(-11, 21)]
        near = [t * mp.mpf(10) ** k for k in range(-30, 0, 2)]
        right = sorted({t / 2, t, *(t - x / 2 for x in near), *(t + x for x in near), *far})
        left = sorted({mp.mpf(0), t / 2, *near})
        outside = sorted({mp.mpf(0), *(-x for x in near), -t, *(-x for x in far)})
        total = mp.quad(mean, outside) + mp.quad(mean, left) + mp.quad(mean, right)
        return mp.log1p(total / (2 * mp.gamma(1 + 1 / p))) / s


@dataclass(frozen=True, eq=False)
class Bent(Noise):
    """A density proportional to e^-g(|x|), g with slope 1 up to 1 and slope 3 beyond: kinks at -1, 0 and 1."""

    knows_its_largest_loss: bool = True
    family = "bent"
    log_concave = True
    _HALF = 1 - 2 / 3 * float(np.exp(-1))  # integral of e^-g over x > 0
    _TAIL = float(np.exp(-1)) / (3 * _HALF)  # P[|Z| > 1]

    @property
    def kinks(self):
        return np.array([-1.0, 0.0, 1.0])

    def _g(self, size):
        return size + 2 * np.maximum(size - 1, 0)

    def logpdf(self, x):
        return -self._g(np.abs(x, dtype=float)) - np.log(2 * self._HALF)

    def logsf(self, x):
        far = -self._g(np.abs(x, dtype=float)) - np.log(6 * self._HALF)
        return np.where(np.greater(x, 1), far, np.log(self.sf(np.minimum(x, 1))))[()]

    def sf(self, x):
        size = np.abs(x, dtype=float)
        near = (np.exp(-np.minimum(size, 1)) - 2 / 3 * np.exp(-1)) / (2 * self._HALF)
        far = np.exp(-self._g(np.maximum(size, 1))) / (6 * self._HALF)
        tail = np.where(size < 1, near, far)
        return np.where(np.less(x, 0), 1 - tail, tail)[()]

    def isf(self, p):
        p = np.asarray(p, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            small = np.minimum(p, 1 - p)
            near = -np.log(2 * self._HALF * small + 2 / 3 * np.exp(-1))
            far = (2 - np.log(6 * self._HALF * small)) / 3
            size = np.where(2 * small > self._TAIL, near, far)
        return np.where(p <= 0.5, size, -size)[()]

    def var(self):
        return float(2 * mp.quad(lambda x: x * x * self.mp_pdf(x), [0, 1, 2, 8, 60]))

    def sample(self, size=None, *, rng):
        return self.isf(rng.random(size))

    def privacy_loss(self, y, shift):
        y, shift = np.asarray(y, dtype=float), np.asarray(shift, dtype=float)
        rise = np.clip(shift - 2 * y, -np.abs(shift), np.abs(shift))  # of the size, for a shift of either sign
        rise = np.where(shift < 0, np.clip(2 * y - shift, shift, -shift), rise)
        near, far = np.abs(y), np.abs(y - shift)
        both = np.minimum(near, far) >= 1
        return np.where(both, 3 * rise, rise + 2 * (np.maximum(far - 1, 0) - np.maximum(near - 1, 0)))[()]

    def largest_loss(self, shift):
        return 3 * abs(shift) if self.knows_its_largest_loss else np.nan

    def mp_log_pdf(self, x):
        size = abs(mp.mpf(x))
        return -(size + 2 * max(size - 1, mp.mpf(0))) - mp.log(2 - 4 * mp.exp(-1) / 3)

    def mp_pdf(self, x):
        return mp.exp(self.mp_log_pdf(x))
