"""Noises in ball arithmetic, from their definitions: log density, tail, and bounds on integrals over tails."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tcdp_sim.experiments.papers.balls.arithmetic import Function, Given, ball, between, flint, normal_tail, power

if TYPE_CHECKING:
    from flint import acb, arb


class Law(Protocol):
    """An additive noise: symmetric, with a density f that falls on either side of one or two modes."""

    def log_density(self) -> Function:
        """Return log f on the positive half line."""

    def tail(self, x: "arb") -> "arb":
        """Return P[Z > x], x >= 0, or a ball that holds it."""

    def tilted_tails(self, reach: "arb", shift: "arb", order: "arb") -> "arb":
        """Return an upper bound of the integral of f(x)^order f(x - shift)^(1 - order) outside [-reach, shift + reach].

        It need not be a number before `reach` is large enough.
        """


class BoundedLoss(ABC):
    """A noise whose density falls away from 0, and whose privacy loss is at most `largest_loss`."""

    @abstractmethod
    def tail(self, x: "arb") -> "arb":
        """Return P[Z > x], x >= 0."""

    @abstractmethod
    def largest_loss(self, shift: "arb") -> "arb":
        """Return an upper bound of |log f(x) - log f(x - shift)| for all x, shift > 0."""

    def tilted_tails(self, reach: "arb", shift: "arb", order: "arb") -> "arb":
        """Bound the integrand by f(x) e^((order - 1) loss) on the left, by f(x) on the right, where f(x) is less."""
        return self.tail(reach) * (1 + ((order - 1) * self.largest_loss(shift)).exp())


@dataclass(frozen=True)
class Gaussian:
    """Normal noise N(0, scale^2)."""

    scale: Given

    def log_density(self) -> Function:
        """Return -x^2/2σ^2 - log(σ √2π)."""
        scale = ball(self.scale)
        rate, size = 1 / (2 * scale**2), (scale * (2 * flint().arb.pi()).sqrt()).log()
        return lambda x, analytic: -x * x * rate - size

    def tail(self, x: "arb") -> "arb":
        """Return P[Z > x]."""
        return normal_tail(x / ball(self.scale))

    def tilted_tails(self, reach: "arb", shift: "arb", order: "arb") -> "arb":
        """Bound the tails of e^(a(a-1)s^2/2σ^2) times the density of N((1 - a)s, σ^2), by completing the square."""
        size = (order * (order - 1) * shift**2 / (2 * ball(self.scale) ** 2)).exp()
        return size * (self.tail(reach - (order - 1) * shift) + self.tail(reach + order * shift))


@dataclass(frozen=True)
class Laplace(BoundedLoss):
    """Laplace noise of density e^(-|x|/scale) / 2 scale."""

    scale: Given

    def log_density(self) -> Function:
        """Return -x/b - log 2b."""
        scale = ball(self.scale)
        size = (2 * scale).log()
        return lambda x, analytic: -x / scale - size

    def tail(self, x: "arb") -> "arb":
        """Return P[Z > x]."""
        return (-x / ball(self.scale)).exp() / 2

    def largest_loss(self, shift: "arb") -> "arb":
        """Return s/b, by the triangle inequality."""
        return shift / ball(self.scale)


@dataclass(frozen=True)
class GeneralizedGaussian(BoundedLoss):
    """Noise of density proportional to exp(-(|x|/scale)^exponent), 0 < exponent <= 1."""

    scale: Given
    exponent: Given

    def log_density(self) -> Function:
        """Return -(x/σ)^p - log(2σ Γ(1 + 1/p))."""
        scale, exponent = ball(self.scale), ball(self.exponent)
        size = (2 * scale * (1 + 1 / exponent).gamma()).log()
        return lambda x, analytic: -power(x / scale, exponent, analytic) - size

    def tail(self, x: "arb") -> "arb":
        """Return Γ(1/p, (x/σ)^p) / 2Γ(1/p)."""
        exponent = ball(self.exponent)
        return ((x / ball(self.scale)) ** exponent).gamma_upper(1 / exponent, 1) / 2

    def largest_loss(self, shift: "arb") -> "arb":
        """Return (s/σ)^p: t^p is concave and 0 at 0, so that it is subadditive."""
        return (shift / ball(self.scale)) ** ball(self.exponent)


@dataclass(frozen=True)
class ExponentialPolylogarithmic(BoundedLoss):
    """Noise of density proportional to exp(-rate log(|x|/scale + offset)^p), p = 1 or 2, offset >= e^(p - 1)."""

    scale: Given
    exponent: int
    offset: Given
    rate: Given

    def log_density(self) -> Function:
        """Return -d log(x/σ + a)^p less the log of its integral."""
        scale, offset, rate, exponent = ball(self.scale), ball(self.offset), ball(self.rate), self.exponent
        size = (2 * scale * self._beyond(offset)).log()
        return lambda x, analytic: -rate * (x / scale + offset).log(analytic=analytic) ** exponent - size

    def tail(self, x: "arb") -> "arb":
        """Return P[Z > x]."""
        offset = ball(self.offset)
        return self._beyond(x / ball(self.scale) + offset) / self._beyond(offset) / 2

    def largest_loss(self, shift: "arb") -> "arb":
        """Return φ(s), φ(t) = d (log(t/σ + a)^p - log(a)^p), concave for a >= e^(p - 1) and 0 at 0: subadditive."""
        logs = (shift / ball(self.scale) + ball(self.offset)).log(), ball(self.offset).log()
        return ball(self.rate) * (logs[0] ** self.exponent - logs[1] ** self.exponent)

    def _beyond(self, y: "arb") -> "arb":
        """Return the integral of exp(-d log(t)^p) over t > y: elementary for p = 1, by t = e^u normal for p = 2."""
        rate = ball(self.rate)
        if self.exponent == 1:
            return y ** (1 - rate) / (rate - 1)
        root = rate.sqrt() * (y.log() - 1 / (2 * rate))
        return (1 / (4 * rate)).exp() * (flint().arb.pi() / rate).sqrt() * root.erfc() / 2


@dataclass(frozen=True)
class SinhNormal:
    """The noise knee arsinh(scale/knee N) of truncated concentrated privacy, with N standard normal."""

    scale: Given
    knee: Given
    cosh = 1  # the power of cosh(x/knee) in the density

    def log_density(self) -> Function:
        """Return log cosh u - (κ/2) sinh^2 u less the log of its integral, u = x/knee, κ = (knee/scale)^2."""
        knee, kappa, size = ball(self.knee), self._kappa(), self._log_integral()
        half, cosh = kappa / 2, self.cosh

        def density(x: "acb", analytic: bool) -> "acb":
            u = x / knee
            shape = -half * u.sinh() ** 2 - size
            return shape + u.cosh().log(analytic=analytic) if cosh else shape

        return density

    def tail(self, x: "arb") -> "arb":
        """Return P[N > sinh(x/knee) knee/scale]."""
        return normal_tail((x / ball(self.knee)).sinh() * ball(self.knee) / ball(self.scale))

    def tilted_tails(self, reach: "arb", shift: "arb", order: "arb") -> "arb":
        """Bound both tails, with u = x/knee, h = shift/knee, v = |u|, and c the power of cosh.

        On the left, a sinh^2 v - (a-1) sinh^2(v+h) >= (A e^2v - 1)/2 with A = (a - (a-1)e^2h)/2. Moreover (cosh
        v/cosh(v+h))^(a-1) <= 1 and cosh v <= e^v. So the integrand is at most e^(cv - (κ/4)(A e^2v - 1)), which falls
        at the rate (κ/2) A e^2v - c or faster. On the right, sinh(u-h) < sinh u and cosh u <= e^h cosh(u-h) leave f(x)
        e^(c h (a-1)).
        """
        knee, kappa = ball(self.knee), self._kappa()
        h, v = shift / knee, reach / knee
        grown = (order - (order - 1) * (2 * h).exp()) / 2 * (2 * v).exp()
        rate = kappa / 2 * grown - self.cosh
        if not rate > 0:
            return flint().arb.pos_inf()
        left = (self.cosh * v - kappa / 4 * (grown - 1) - self._log_integral()).exp() * knee / rate
        return left + (self.cosh * h * (order - 1)).exp() * self.tail(reach)

    def _kappa(self) -> "arb":
        return (ball(self.knee) / ball(self.scale)) ** 2

    def _log_integral(self) -> "arb":
        """Return the log of σ √2π, as y = knee sinh u is N(0, σ^2)."""
        return (ball(self.scale) * (2 * flint().arb.pi()).sqrt()).log()


@dataclass(frozen=True)
class SinhSquared(SinhNormal):
    """Noise of density proportional to exp(-V), V(t) = (knee^2 / 2 scale^2) sinh^2(t/knee)."""

    cosh = 0

    def tail(self, x: "arb") -> "arb":
        """Return a ball from 0 to e^(-V(x)) / V'(x) over the integral, x > 0: V is convex."""
        u, kappa = x / ball(self.knee), self._kappa()
        slope = kappa * u.sinh() * u.cosh() / ball(self.knee)
        return between(0, ((-kappa / 2 * u.sinh() ** 2 - self._log_integral()).exp() / slope).upper())

    def _log_integral(self) -> "arb":
        """Return log(knee e^(κ/4) K_0(κ/4)), as sinh^2 u = (cosh 2u - 1)/2."""
        quarter = self._kappa() / 4
        return (ball(self.knee) * flint().arb.bessel_k(quarter, 0, scaled=True)).log()
