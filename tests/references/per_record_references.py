"""The two noises of per-record privacy written down again in 40 digits with mpmath, from the definition of the density.

Tails are integrals of that density, not special functions: in t = log(|x| / scale + offset), or in
u = (|x| / scale)^power, cut where it has fallen by e^-110, from which 30 digits are left.
"""

import mpmath as mp

DIGITS = 40
_FALL = 110
_PANELS = 12


class PerRecordReference:
    """Of a noise with density e^-phi(|x|) / norm: everything from phi and a coordinate in which it is tame."""

    def __init__(self, noise):
        for name in noise.parameters():
            setattr(self, name, mp.mpf(float(getattr(noise, name))))

    def norm(self):
        return 2 * self.integral(mp.mpf(0), 0)

    def pdf(self, x):
        return mp.exp(-self.phi(abs(mp.mpf(x)))) / self.norm()

    def sf(self, x):
        return self.integral(mp.mpf(x), 0) / self.norm()

    def central(self, x):
        """P[0 < Z < x] for a small x."""
        return mp.quad(lambda z: mp.exp(-self.phi(z)), mp.linspace(0, mp.mpf(x), 5)) / self.norm()

    def moment(self, k):
        return 2 * self.integral(mp.mpf(0), k) / self.norm()

    def loss(self, y, shift):
        return self.phi(abs(mp.mpf(y) - mp.mpf(shift))) - self.phi(abs(mp.mpf(y)))

    def integral(self, x, k):
        """Of z^k e^-phi(z) over z > x, x >= 0."""
        low = self.coordinate(x)
        top = self.peak(k)
        peak = max(low, top)

        def log_integrand(u):
            z = self.value(u)
            return -self.phi(z) + self.log_slope(u) + (k * mp.log(z) if k else 0)

        def exponential(u):
            return mp.exp(log_integrand(u)) if self.value(u) > 0 or not k else mp.mpf(0)

        step = mp.mpf(2) ** -60
        while log_integrand(peak + step) > log_integrand(peak + mp.mpf(2) ** -80) - _FALL:
            step *= 2
        cuts = (
            [low, *(low + (peak - low) * mp.mpf(i) / _PANELS for i in range(1, _PANELS + 1))] if peak > low else [low]
        )
        return mp.quad(exponential, cuts + [peak + step * mp.mpf(i) / _PANELS for i in range(1, _PANELS + 1)])


class GeneralizedGaussianReference(PerRecordReference):
    """phi = (z / scale)^power, in u = phi^(1/m) with m near the shape, in which the integrand is smooth at 0."""

    def phi(self, z):
        return (z / self.scale) ** self.power

    def coordinate(self, x):
        return mp.log1p(self.phi(x))

    def value(self, u):
        return self.scale * mp.expm1(u) ** (1 / self.power)

    def log_slope(self, u):
        w = mp.expm1(u)
        if self.power == 1:
            return mp.log(self.scale) + u
        return mp.log(self.scale / self.power) + (1 / self.power - 1) * mp.log(w) + u if w > 0 else -mp.inf

    def peak(self, k):
        return mp.log1p(max((k + 1) / self.power - 1, mp.mpf(0)))


class PolylogarithmicReference(PerRecordReference):
    """phi = rate log(z / scale + offset)^power, in t = log(z / scale + offset)."""

    def phi(self, z):
        return self.rate * mp.log(z / self.scale + self.offset) ** self.power

    def coordinate(self, x):
        return mp.log(x / self.scale + self.offset)

    def value(self, t):
        return self.scale * (mp.exp(t) - self.offset)

    def log_slope(self, t):
        return mp.log(self.scale) + t

    def peak(self, k):
        if self.power == 1:
            return mp.log(self.offset) + mp.mpf(k) / self.rate
        return max(((k + 1) / (self.rate * self.power)) ** (1 / (self.power - 1)), mp.log(self.offset))


def per_record_reference(noise):
    kind = GeneralizedGaussianReference if noise.family == "generalized_gaussian" else PolylogarithmicReference
    return kind(noise)
