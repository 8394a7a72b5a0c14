"""Further noises of the package in ball arithmetic, from their definitions, and laws of mixtures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from tcdp_sim.experiments.papers.balls import laws
from tcdp_sim.experiments.papers.balls.arithmetic import (
    ball,
    between,
    far_enough,
    flint,
    integral,
    normal_tail,
    precise,
)
from tcdp_sim.experiments.papers.balls.laws import BoundedLoss, Gaussian

REST = "1e-60"


@dataclass(frozen=True)
class SinhSquared(laws.SinhSquared):
    """The law of the papers' code, with its tail, for which that code has a bound only."""

    @precise
    def tail(self, x):
        density = self.log_density()
        most = super().tail(x).upper() * ball(REST)
        reach = far_enough(lambda y: super(SinhSquared, self).tail(y).upper(), most, start=x)
        edges = [x, *(x + (reach - x) * part / 16 for part in range(1, 17))]
        inside = integral(lambda y, analytic: density(y, analytic).exp(), edges)
        return inside + super().tail(reach)


@dataclass(frozen=True)
class StudentT(BoundedLoss):
    """A Student t variable times a scale."""

    scale: float
    degrees: float

    def log_density(self):
        s, d = ball(self.scale), ball(self.degrees)
        size = (d / 2).lgamma() - ((d + 1) / 2).lgamma() + (d * flint().arb.pi()).log() / 2 + s.log()
        return lambda x, analytic: -(d + 1) / 2 * (1 + x * x / (d * s * s)).log(analytic=analytic) - size

    def tail(self, x):
        d = ball(self.degrees)
        return (d / (d + (x / ball(self.scale)) ** 2)).beta_lower(d / 2, ball("0.5"), regularized=True) / 2

    def largest_loss(self, shift):
        """Return a bound by the slope of log f, which is (d + 1)x/(d + x^2) <= (d + 1)/2√d."""
        d = ball(self.degrees)
        return shift * (d + 1) / (2 * d.sqrt() * ball(self.scale))


@dataclass(frozen=True)
class ArsinhNormal(BoundedLoss):
    """The noise scale sinh(sigma N) / sigma, with N standard normal."""

    scale: float
    sigma: float

    def log_density(self):
        scale, sigma = ball(self.scale), ball(self.sigma)
        size = (scale * (2 * flint().arb.pi()).sqrt()).log()

        def density(x, analytic):
            v = sigma * x / scale
            cosh = (1 + v * v).sqrt(analytic=analytic)
            y = (v + cosh).log(analytic=analytic) / sigma
            return -y * y / 2 - cosh.log(analytic=analytic) - size

        return density

    def tail(self, x):
        sigma = ball(self.sigma)
        return normal_tail((sigma * x / ball(self.scale)).asinh() / sigma)

    def largest_loss(self, shift):
        """Return a bound by the slope (y + σ tanh σy)/(scale cosh σy): cosh v >= √2 v, and tanh/cosh <= 1/2."""
        sigma = ball(self.sigma)
        return shift * (1 / (ball(2).sqrt() * sigma) + sigma / 2) / ball(self.scale)


@dataclass(frozen=True)
class UniformLogNormal(BoundedLoss):
    """The noise scale U e^(sigma N), U uniform on [-1, 1]. Its density is e^(σ²/2) P[N > log(z)/σ + σ] / 2 scale."""

    scale: float
    sigma: float

    def log_density(self):
        scale, sigma = ball(self.scale), ball(self.sigma)
        size = (2 * scale).log() - sigma**2 / 2

        def far(x, analytic):
            w = (x / scale).log(analytic=analytic) / sigma + sigma
            return ((w / ball(2).sqrt()).erfc() / 2).log(analytic=analytic) - size

        def density(x, analytic):
            value = far(x, analytic)
            if analytic or value.is_finite():
                return value
            end = far(flint().acb(x.abs_upper()), False).real  # it falls with x > 0, from -size at 0
            return flint().acb(between(end.lower(), -size))

        return density

    def tail(self, x):
        """Return ½ E(1 - z e^(-σN))_+."""
        z, sigma = x / ball(self.scale), ball(self.sigma)
        v = z.log() / sigma
        return (normal_tail(v) - z * (sigma**2 / 2).exp() * normal_tail(v + sigma)) / 2

    def largest_loss(self, shift):
        """Return a bound by the slope h(w)/(scale σ z), z = e^(σ(w - σ)), with h the normal hazard rate.

        For w >= 0 h <= w + 1, and (w + 1)e^(-σw) <= max(1, e^σ/σ); below, h <= 2φ(w), and φ(w)e^(-σw) <= e^(σ²/2)/2.
        """
        sigma = ball(self.sigma)
        most = (sigma**2).exp() / sigma * (1 + sigma.exp() / sigma) + (2 * sigma**2).exp() / sigma
        return shift * most / ball(self.scale)


@precise
def laplace_log_normal_tail(scale: float, sigma: float, x: float):
    """Return P[Z > x] of scale Y e^(sigma N), Y ~ Laplace(1): ½ E exp(-z e^(-σN)), at most 1 beyond |N| = 20."""
    z, sigma, reach = ball(x) / ball(scale), ball(sigma), ball(20)
    density = Gaussian(1).log_density()
    value = integral(lambda n, a: (density(n, a) - z * (-sigma * n).exp()).exp(), [-reach, reach], absolute=REST)
    return (value + between(0, (2 * normal_tail(reach)).upper())) / 2


@dataclass(frozen=True)
class Lattice:
    """A law P[Z = x] ∝ e^table[i] at x = ±(offset + i), which falls by e^-fall a step beyond the table."""

    offset: float
    table: Sequence[float]
    fall: float

    def mass(self, i: int):
        """Return the probability of offset + i, or of its mirror image, as a ball, for any whole number i."""
        i = i if i >= 0 else -i - round(2 * self.offset)
        return self._weight(i) / self._total()

    def _weight(self, i: int):
        last = len(self.table) - 1
        return (ball(self.table[min(i, last)]) - max(i - last, 0) * ball(self.fall)).exp()

    @cache  # noqa: B019
    def _total(self):
        sides = sum((2 * self._weight(i) for i in range(len(self.table))), ball(0))
        beyond = 2 * self._weight(len(self.table)) / (1 - (-ball(self.fall)).exp())
        return sides + beyond - (self._weight(0) if self.offset == 0 else 0)

    def renyi(self, shift: int, order):
        """Return D_order at a whole shift. Beyond table and shift, p/q is e^±(shift fall) and the sums geometric."""
        a, n, mirror = ball(order), len(self.table) + shift, round(2 * self.offset)
        total = ball(0)
        for i in range(-n - mirror, n + shift + 1):
            total += self.mass(i) ** a * self.mass(i - shift) ** (1 - a)
        rest = self.mass(n + shift + 1) / (1 - (-ball(self.fall)).exp())
        right = rest * (-(a - 1) * shift * ball(self.fall)).exp()
        left = self.mass(n + 1) / (1 - (-ball(self.fall)).exp()) * ((a - 1) * shift * ball(self.fall)).exp()
        return (total + left + right).log() / (a - 1)

    def hockey_stick(self, shift: int, epsilon):
        """Return δ(ε) at a whole shift. Beyond the table, p < q on the right and the left sum is geometric."""
        n, mirror, zero = len(self.table) + shift, round(2 * self.offset), ball(0)
        factor = ball(epsilon).exp()
        terms = (self.mass(i) - factor * self.mass(i - shift) for i in range(-n - mirror, n + shift + 1))
        left = (self.mass(n + 1) - factor * self.mass(n + 1 + shift)) / (1 - (-ball(self.fall)).exp())
        return sum((term.max(zero) for term in terms), left.max(zero))


@precise
def mixture_renyi(scale: float, p: dict[float, float], q: dict[float, float], order: float):
    """Return D_order of normal mixtures (shift -> weight), whose tails are bounded.

    By Jensen's inequality p^a <= Σ w f^a, and q >= v g for its heaviest part g of weight v."""
    a = ball(order)
    of_p, of_q = (_mixture(scale, each) for each in (p, q))
    centre, weight = max(q.items(), key=lambda item: item[1])

    def beyond(reach):
        parts = (ball(w) * _tilted_tails(scale, m, centre, a, reach) for m, w in p.items())
        return sum(parts, ball(0)) * ball(weight) ** (1 - a)

    reach = far_enough(beyond, REST)

    def integrand(x, analytic):
        return (a * of_p(x).log(analytic=analytic) + (1 - a) * of_q(x).log(analytic=analytic)).exp()

    edges = [-reach, ball(0), reach]
    total = integral(integrand, edges, absolute=REST) + between(0, beyond(reach).upper())
    return total.log() / (a - 1)


def _tilted_tails(scale, m, centre, a, reach):
    """Bound the tails of f^a g^(1-a) for f of N(m, σ²) and g of N(c, σ²).

    It is e^(a(a-1)(m-c)²/2σ²) times the density of N(am + (1-a)c, σ²)."""
    m, c, s = ball(m), ball(centre), ball(scale)
    middle = a * m + (1 - a) * c
    return (a * (a - 1) * (m - c) ** 2 / (2 * s * s)).exp() * (
        normal_tail((reach - middle) / s) + normal_tail((reach + middle) / s)
    )


def _mixture(scale: float, parts: dict[float, float]) -> Callable:
    log_density = Gaussian(scale).log_density()
    known = [(ball(m), ball(w)) for m, w in parts.items()]
    return lambda x: sum((w * log_density(x - m, False).exp() for m, w in known), flint().acb(0))


@precise
def mixture_hockey_stick(scale: float, p: dict[float, float], q: dict[float, float], epsilon: float, rest=REST):
    """Return δ(ε) of normal mixtures. The outputs beyond the reach add at most their probability under P."""
    of_p, of_q, factor = _mixture(scale, p), _mixture(scale, q), ball(epsilon).exp()

    def beyond(reach):
        return sum((ball(w) * 2 * normal_tail((reach - abs(ball(m))) / ball(scale)) for m, w in p.items()), ball(0))

    reach = far_enough(beyond, rest)

    def integrand(x, analytic):
        return (of_p(x) - factor * of_q(x)).real_max(flint().acb(0), analytic=analytic)

    return integral(integrand, [-reach, ball(0), reach], absolute=rest) + between(0, beyond(reach).upper())
