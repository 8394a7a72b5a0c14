"""The two noises of per-record privacy in 40 digits, with mpmath from the definition of the density.

Tails of the polylogarithmic one are integrals of its density in t = log(|x| / scale + offset), cut where it has fallen
by e^-80, from which 34 digits are left; those of the generalised Gaussian are mpmath's gamma functions.
"""

from functools import cache, cached_property
from itertools import pairwise

import mpmath as mp
import numpy as np

DIGITS = 40
_FALL, _PANELS, _NODES = 80, 12, 30


class PerRecordReference:
    """A noise with density e^-phi(|x|) / norm."""

    def __init__(self, noise):
        for name in noise.parameters():
            setattr(self, name, mp.mpf(float(getattr(noise, name))))

    def pdf(self, x):
        return mp.exp(-self.phi(abs(mp.mpf(x)))) / self.norm

    def central(self, x):
        """Return P[0 < Z < x] for a small x."""
        return mp.quad(lambda z: mp.exp(-self.phi(z)), [0, mp.mpf(x)]) / self.norm

    def loss(self, y, shift):
        with mp.workdps(250):  # far out both terms agree in nearly as many digits
            return self.phi(abs(mp.mpf(float(y)) - mp.mpf(float(shift)))) - self.phi(abs(mp.mpf(float(y))))


class GeneralizedGaussianReference(PerRecordReference):
    def phi(self, z):
        return (z / self.scale) ** self.power

    @cached_property
    def norm(self):
        return 2 * self.scale * mp.gamma(1 / self.power) / self.power

    def sf(self, x):
        return mp.gammainc(1 / self.power, self.phi(mp.mpf(float(x))), regularized=True) / 2

    def moment(self, k):
        return self.scale**k * mp.gamma((k + 1) / self.power) / mp.gamma(1 / self.power)


class PolylogarithmicReference(PerRecordReference):
    def phi(self, z):
        return self.rate * mp.log(z / self.scale + self.offset) ** self.power

    @cached_property
    def norm(self):
        return 2 * self.integral(mp.mpf(0), 0)

    def sf(self, x):
        return self.integral(mp.mpf(float(x)), 0) / self.norm

    def moment(self, k):
        return 2 * self.integral(mp.mpf(0), k) / self.norm

    def integral(self, x, k):
        """Integrate z^k e^-phi(z) over z > x, x >= 0, in t, around its largest value.

        It is largest at or above the mode of e^(t (k + 1)) e^-phi."""
        low = mp.log(x / self.scale + self.offset)
        middle = low
        if self.power > 1:
            middle = max(low, ((k + 1) / (self.rate * self.power)) ** (1 / (self.power - 1)))

        def log_height(t):
            return (k + 1) * t - self.rate * t**self.power

        def integrand(t):
            return mp.exp(t - self.rate * t**self.power) * (mp.exp(t) - self.offset) ** k

        step = mp.mpf(2) ** -60
        while log_height(middle + step) > log_height(middle) - _FALL:
            step *= 2
        ends = [*mp.linspace(low, middle, _PANELS + 1), *mp.linspace(middle, middle + step, _PANELS + 1)[1:]]
        total = mp.mpf(0)
        for left, right in pairwise(ends):
            if right > left:
                total += (right - left) * mp.fsum(w * integrand(left + (right - left) * u) for u, w in unit_rule())
        return self.scale ** (k + 1) * total


@cache
def unit_rule():
    """Return Gauss-Legendre points and weights on [0, 1] in 45 digits, by Newton's method from the doubles."""
    rule = []
    with mp.workdps(DIGITS + 5):
        for start in np.polynomial.legendre.leggauss(_NODES)[0]:
            x = mp.mpf(float(start))
            for _ in range(3):
                value, before = mp.legendre(_NODES, x), mp.legendre(_NODES - 1, x)
                slope = _NODES * (before - x * value) / (1 - x * x)
                x -= value / slope
            slope = _NODES * mp.legendre(_NODES - 1, x) / (1 - x * x)
            rule.append(((x + 1) / 2, 1 / ((1 - x * x) * slope**2)))
    return tuple(rule)


def per_record_reference(noise):
    kind = GeneralizedGaussianReference if noise.family == "generalized_gaussian" else PolylogarithmicReference
    return kind(noise)
