"""The distributions in 50 digits, written independently with mpmath from their definitions."""

from functools import cached_property
from math import inf, isfinite

import mpmath as mp

mp.mp.dps = 50


def normal_sf(z):
    return mp.erfc(z / mp.sqrt(2)) / 2


class Reference:
    """A symmetric distribution given by its density and upper tail at exact doubles."""

    def __init__(self, *parameters):
        self.parameters = [mp.mpf(float(value)) for value in parameters]

    def logpdf(self, x):
        density = self.pdf(x)
        return mp.log(density) if density else -mp.inf

    def logsf(self, x):
        if x < 0:
            return mp.log1p(-self.sf(-x))
        tail = self.sf(x)
        return mp.log(tail) if tail else -mp.inf

    def loss(self, y, shift):
        return mp.log(self.pdf(y)) - mp.log(self.pdf(mp.mpf(y) - mp.mpf(shift)))


class GaussianReference(Reference):
    def pdf(self, x):
        (scale,) = self.parameters
        return mp.exp(-((mp.mpf(x) / scale) ** 2) / 2) / (scale * mp.sqrt(2 * mp.pi))

    def sf(self, x):
        (scale,) = self.parameters
        return normal_sf(mp.mpf(x) / scale)

    def var(self):
        return self.parameters[0] ** 2


class LaplaceReference(Reference):
    def pdf(self, x):
        (scale,) = self.parameters
        return mp.exp(-abs(mp.mpf(x)) / scale) / (2 * scale)

    def sf(self, x):
        (scale,) = self.parameters
        tail = mp.exp(-abs(mp.mpf(x)) / scale) / 2
        return tail if x >= 0 else 1 - tail

    def var(self):
        return 2 * self.parameters[0] ** 2


class TruncatedLaplaceReference(Reference):
    """The law of a Laplace variable given that it lies in [-bound, bound]."""

    def pdf(self, x):
        scale, bound = self.parameters
        x = mp.mpf(x)
        return mp.exp(-abs(x) / scale) / (2 * scale * self.mass()) if abs(x) <= bound else mp.mpf(0)

    def sf(self, x):
        scale, bound = self.parameters
        size = min(abs(mp.mpf(x)), bound)
        tail = (mp.exp(-size / scale) - mp.exp(-bound / scale)) / (2 * self.mass())
        return tail if x >= 0 else 1 - tail

    def mass(self):
        scale, bound = self.parameters
        return 1 - mp.exp(-bound / scale)

    def var(self):
        scale, bound = self.parameters
        edge = mp.exp(-bound / scale)
        second = 2 * scale**3 - edge * (bound**2 * scale + 2 * bound * scale**2 + 2 * scale**3)
        return second / (scale * self.mass())


class SinhNormalReference(Reference):
    """The increasing transform x = knee arsinh(scale / knee z) of a standard normal z."""

    def z(self, x):
        scale, knee = self.parameters
        return knee / scale * mp.sinh(mp.mpf(x) / knee)

    def pdf(self, x):
        scale, knee = self.parameters
        return mp.exp(-(self.z(x) ** 2) / 2) / mp.sqrt(2 * mp.pi) * mp.cosh(mp.mpf(x) / knee) / scale

    def sf(self, x):
        z = self.z(x)
        return normal_sf(z) if abs(z) < 1000 else mp.mpf(z < 0)

    def logsf(self, x):
        z = self.z(x)
        if z < 1000:
            return super().logsf(x)
        return -(z**2) / 2 - mp.log(z * mp.sqrt(2 * mp.pi)) - 1 / z**2  # Mills's ratio, to 3 / z^4

    def logpdf(self, x):
        scale, knee = self.parameters
        return mp.log(mp.cosh(mp.mpf(x) / knee) / (scale * mp.sqrt(2 * mp.pi))) - self.z(x) ** 2 / 2

    def loss(self, y, shift):
        knee = self.parameters[1]
        y, other = mp.mpf(y), mp.mpf(y) - mp.mpf(shift)
        return mp.log(mp.cosh(y / knee) / mp.cosh(other / knee)) - (self.z(y) ** 2 - self.z(other) ** 2) / 2

    def var(self):
        scale, knee = self.parameters
        ratio = scale / knee

        def integrand(z):
            return (knee * mp.asinh(ratio * z)) ** 2 * mp.exp(-z * z / 2)

        # asinh bends at z = 1 / ratio
        cuts = sorted({mp.mpf(0), min(1 / ratio, mp.mpf(1)), min(10 / ratio, mp.mpf(2)), 4, 8, 16})
        return 2 * mp.quad(integrand, cuts) / mp.sqrt(2 * mp.pi)


class SinhSquaredReference(Reference):
    """The density exp(-z^2 / 2), z = knee / scale sinh(x / knee), over its integral; the tail by quadrature."""

    def z(self, x):
        scale, knee = self.parameters
        return knee / scale * mp.sinh(mp.mpf(x) / knee)

    def logpdf(self, x):
        return -(self.z(x) ** 2) / 2 - self.log_mass

    @cached_property
    def log_mass(self):
        scale, knee = self.parameters
        order = (knee / scale) ** 2 / 4
        return mp.log(knee * mp.besselk(0, order)) + order

    def pdf(self, x):
        return mp.exp(self.logpdf(x))

    def sf(self, x):
        if abs(self.z(x)) < 1:  # where the distance from one half has to be right
            return mp.mpf(1) / 2 - mp.quad(self.pdf, [0, mp.mpf(x)], maxdegree=5)
        return 1 - self.sf(-x) if x < 0 else mp.exp(self.logsf(x))

    def logsf(self, x):
        """Return the log tail. Tail over density is the integral of exp(-(z(t)^2 - z(x)^2) / 2) over t > x."""
        if x < 0 or self.z(x) < 1:
            return super().logsf(x)
        scale, knee = self.parameters
        start, rate = mp.mpf(x) / knee, (knee / scale) ** 2 / 2
        squared = mp.sinh(start) ** 2
        with mp.workdps(20):
            cuts = [start, *(mp.asinh(mp.sqrt(squared + mp.mpf(drop) / rate)) for drop in (0.5, 2, 6, 15, 30, 44))]
            mills = mp.quad(lambda t: mp.exp(-rate * (mp.sinh(t) ** 2 - squared)), cuts)
        return self.logpdf(x) + mp.log(knee * mills)

    def loss(self, y, shift):
        return (self.z(mp.mpf(y) - mp.mpf(shift)) ** 2 - self.z(y) ** 2) / 2

    def var(self):
        scale, knee = self.parameters
        rate, order = (knee / scale) ** 2 / 2, (knee / scale) ** 2 / 4
        cuts = [0, *(mp.asinh(mp.sqrt(mp.mpf(drop) / rate)) for drop in (0.01, 0.1, 0.5, 1, 2, 4, 8, 16, 32, 64, 120))]
        moment = mp.quad(lambda t: t * t * mp.exp(-rate * mp.sinh(t) ** 2), cuts)
        return 2 * knee**2 * moment / (mp.besselk(0, order) * mp.exp(order))


REFERENCES = {
    "gaussian": GaussianReference,
    "laplace": LaplaceReference,
    "truncated_laplace": TruncatedLaplaceReference,
    "sinh_normal": SinhNormalReference,
    "sinh_squared": SinhSquaredReference,
}


def reference(noise):
    return REFERENCES[noise.family](*(getattr(noise, name) for name in noise.__dataclass_fields__))


def error(value, exact):
    """Return the relative error of a double. It is infinite if only one of value and nearest double is."""
    value, nearest = float(value), float(exact)
    if nearest == 0 or not (isfinite(value) and isfinite(nearest)):
        return 0.0 if value == nearest else inf
    return float(abs((mp.mpf(value) - exact) / exact))
