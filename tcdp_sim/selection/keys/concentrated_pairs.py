"""The pairs of release probabilities that tCDP, or a bound on one Renyi divergence, allows for neighbouring data sets.

A key is released with probability p on one data set and r = p + d > p on its neighbour. A pair is allowed if
D_a <= bound for each order a of the guarantee and both orders of the pair. With t = a - 1 and the cumulant function

    K(t) = log(r^(1+t) p^(-t) + (1-r)^(1+t) (1-p)^(-t)),

and the same with p and r exchanged, tCDP means K(t) <= t (t + 1) rho for 0 < t <= omega - 1.

**Which orders decide (ours).** K is the cumulant function of a loss with two values, so K'' rises to a peak and falls.
G(t) = K(t) - t (t + 1) rho is therefore concave, then convex, then concave, where the first two parts may be missing,
and G(0) = 0. So G <= 0 everywhere if and only if G'(0) <= 0, which is the condition at order 1 (KL divergence <= rho),
and G <= 0 at the maximum of the last concave part. That maximum is one root of a concave function.

**The largest d (ours).** The largest d that one order allows is an upper bound. The search takes the order that is
violated most at the present bound, takes the largest d of that order, and repeats this until no order is violated.
"""

from dataclasses import dataclass
from math import exp, expm1, inf, log, log1p, sqrt
from typing import NamedTuple

from tcdp_sim.core.errors import scalar

LEAST_RHO = 1e-8  # below, a curve has more than 40,000 steps, and rounding matters
_STEPS, _ROUNDS, _NEWTON = 300, 60, 20
_CLOSE = 1e-14
_EXCESS = 4e-14  # relative, of a divergence over its bound: about what rounding leaves
_MOST = 1 - 1e-15  # of the complement, beyond which d is not told apart from it
_INSIDE = 1e-11  # relative, by which the lower end of d is smaller


class Odds(NamedTuple):
    """A probability p and its complement q = 1 - p, each with full relative precision."""

    p: float
    q: float


class Condition(NamedTuple):
    """The bound on the divergence of one order; `reverse` if the smaller probability comes first."""

    t: float
    reverse: bool


class Step(NamedTuple):
    """The bracket low <= d <= high of the largest d, and the condition whose largest d is `high`."""

    low: float
    high: float
    condition: Condition


@dataclass(frozen=True)
class ConcentratedPairs:
    """The pairs of release probabilities that (rho, omega)-tCDP allows.

    Source: Bun et al. (2018), Definition 1 [BDRS18].

    `rho`: rho in nats, at least 1e-8.
    """

    rho: float
    omega: float = inf

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", scalar("rho", self.rho, 0))
        object.__setattr__(self, "omega", scalar("omega", self.omega, 1, finite=False))
        if self.rho < LEAST_RHO:
            raise ValueError(f"rho = {self.rho:g} is not valid; valid: at least {LEAST_RHO:g}")

    @property
    def start(self) -> Condition:
        """A condition to begin with."""
        return Condition(0.0, False)

    def bound(self, t: float) -> float:
        """Return the bound on K(t) / t at order 1 + t."""
        return (1 + t) * self.rho

    def worst(self, at: Odds, d: float) -> tuple[float, Condition]:
        """Return the largest relative excess of a divergence over its bound, and its condition."""
        return max(self._worst(at, d, reverse) for reverse in (False, True))

    def _worst(self, at: Odds, d: float, reverse: bool) -> tuple[float, Condition]:
        first = _excess(self, at, d, Condition(0.0, reverse))
        t = self._last_peak(at, d, reverse)
        if t <= 0:
            return first, Condition(0.0, reverse)
        return max(
            (first, Condition(0.0, reverse)), (_excess(self, at, d, Condition(t, reverse)), Condition(t, reverse))
        )

    def _last_peak(self, at: Odds, d: float, reverse: bool) -> float:
        """Return the t where G is largest in its last concave part, or 0 if that part gives no condition."""
        weight, other, gain, loss = _losses(at, d, reverse)
        spread, most = gain - loss, self.omega - 1
        flat = 8 * self.rho / spread**2
        if flat >= 1:  # G is concave throughout, so the condition at order 1 decides
            return 0.0
        share = 0.5 * (1 + sqrt(1 - flat))  # of the larger loss in the tilted law, where K'' = 2 rho for the last time
        bend = (log(share / (0.25 * flat / share)) - log(weight / other)) / spread
        low, high = max(bend, 0.0), 0.5 * (gain / self.rho - 1)
        if most <= low:
            return most  # the last concave part lies beyond all orders

        def slope(t: float) -> tuple[float, float]:
            rest = 1 / (1 + exp(min(t * spread + log(weight / other), 700.0)))  # of the smaller loss
            return gain - spread * rest - (2 * t + 1) * self.rho, spread**2 * rest * (1 - rest) - 2 * self.rho

        if high <= low or slope(low)[0] <= 0:
            return 0.0
        t = high
        for _ in range(_STEPS):  # Newton's method from the right: the slope is concave and falls
            value, derivative = slope(t)
            after = t - value / derivative if derivative < 0 else 0.5 * (low + t)
            after = after if low < after < t else 0.5 * (low + t) if after <= low else t
            if t - after <= 1e-12 * t:
                break
            t = after
        return min(t, most)


@dataclass(frozen=True)
class RenyiPairs:
    """The pairs of release probabilities that a bound on the Renyi divergence of one order allows.

    Source: Mironov (2017), Definition 4 [Mir17].

    `epsilon`: the bound on the divergence in nats, at least 1e-8 times the order.
    """

    order: float
    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", scalar("order", self.order, 1))
        object.__setattr__(self, "epsilon", scalar("epsilon", self.epsilon, 0))
        if self.epsilon < LEAST_RHO * self.order:
            raise ValueError(f"epsilon = {self.epsilon:g} is not valid; valid: at least {LEAST_RHO:g} times the order")

    @property
    def start(self) -> Condition:
        """A condition to begin with."""
        return Condition(self.order - 1, False)

    def bound(self, t: float) -> float:
        """Return the bound on K(t) / t."""
        return self.epsilon

    def worst(self, at: Odds, d: float) -> tuple[float, Condition]:
        """Return the larger relative excess of both divergences over the bound, and its condition."""
        conditions = [Condition(self.order - 1, reverse) for reverse in (False, True)]
        return max((_excess(self, at, d, condition), condition) for condition in conditions)


Pairs = ConcentratedPairs | RenyiPairs


def largest_step(pairs: Pairs, at: Odds, start: Condition) -> Step:
    """Return a bracket of the largest d with (p, p + d) allowed.

    `at`: p and its complement, both above 0.
    """
    condition, high = start, _largest(pairs, at, start)
    for _ in range(_ROUNDS):
        excess, violated = pairs.worst(at, min(high, at.q * _MOST))
        if excess <= _EXCESS:
            break
        after = _largest(pairs, at, violated)
        if after >= high * (1 - _CLOSE):
            break
        condition, high = violated, after
    inside = _INSIDE
    while inside < 1e-6:
        low = high * (1 - inside)
        if pairs.worst(at, low)[0] <= -_EXCESS:
            return Step(low, min(high * (1 + 4 * _CLOSE), at.q), condition)
        inside *= 4
    raise ArithmeticError(f"the largest step from the release probability {at.p:g} is lost in rounding under {pairs}")


def tangent(at: Odds, d: float, condition: Condition) -> float:
    """Return the slope of r against p along the boundary of a condition, at p and r = p + d.

    Pairs that meet one condition form a convex set, so none of them lies above the tangent.
    """
    if d >= at.q:  # no condition is needed for r <= 1
        return 0.0
    t, reverse = condition
    gain, loss = log1p(d / at.p), log1p(-d / at.q)  # log(r / p) and log((1 - r) / (1 - p))
    if t == 0 and not reverse:  # KL(r, p)
        by_r, by_p = gain - loss, -(d / at.p) / at.q
    elif t == 0:  # KL(p, r)
        by_r, by_p = d / ((at.p + d) * (at.q - d)), -(gain - loss)
    elif not reverse:  # both derivatives of K are divided by e^(t gain)
        by_r = (1 + t) * -expm1(t * (loss - gain))
        by_p = t * exp(gain) * expm1((1 + t) * (loss - gain))
    else:  # and here by e^(-(1 + t) loss)
        by_r = -t * expm1((1 + t) * (loss - gain))
        by_p = (1 + t) * exp(loss) * expm1(t * (loss - gain))
    return -by_p / by_r


def _losses(at: Odds, d: float, reverse: bool) -> tuple[float, float, float, float]:
    """Return the probability of the larger loss and its complement, the larger loss, and the smaller one."""
    gain, loss = log1p(d / at.p), log1p(-d / at.q)
    return (at.q, at.p, -loss, -gain) if reverse else (at.p + d, at.q - d, gain, loss)


def _divergence(at: Odds, d: float, condition: Condition) -> float:
    """Return K(t) / t, the divergence of order 1 + t."""
    weight, other, gain, loss = _losses(at, d, condition.reverse)
    t = condition.t
    if t == 0:
        return weight * gain + other * loss
    if t * gain < 1:
        return log1p(weight * expm1(t * gain) + other * expm1(t * loss)) / t
    return (t * gain + log(weight + other * exp(t * (loss - gain)))) / t


def _excess(pairs: Pairs, at: Odds, d: float, condition: Condition) -> float:
    return _divergence(at, d, condition) / pairs.bound(condition.t) - 1


def _largest(pairs: Pairs, at: Odds, condition: Condition) -> float:
    """Return the largest d that one condition allows, by Newton's method for log K against log d, kept in a bracket.

    Where log K bends sharply, Newton's steps may go round between two points, so after _NEWTON steps every other one
    halves the bracket.
    """
    bound = pairs.bound(condition.t)
    low, high = 0.0, at.q * _MOST
    if _divergence(at, high, condition) <= bound:
        return at.q
    d = min(sqrt(2 * bound / (1 + condition.t) * at.p * at.q), 0.5 * at.q)
    for step in range(_STEPS):
        value = _divergence(at, d, condition)
        low, high = (d, high) if value <= bound else (low, d)
        slope = _slope(at, d, condition) * d / value if value > 0 else 0.0
        after = d * exp(min(max(-log(value / bound) / slope, -5.0), 5.0)) if slope > 0 else 0.0
        halves = step >= _NEWTON and step % 2 == 0
        after = after if low < after < high and not halves else 0.5 * (low + high)
        if abs(after - d) <= 0.25 * _CLOSE * d:
            break
        d = after
    return d


def _slope(at: Odds, d: float, condition: Condition) -> float:
    """Return the derivative of the divergence with respect to d."""
    t, reverse = condition
    gain, loss = log1p(d / at.p), log1p(-d / at.q)
    if t == 0:
        return d / ((at.p + d) * (at.q - d)) if reverse else gain - loss
    if reverse:
        top = max(-(1 + t) * gain, -(1 + t) * loss)
        moment = at.p * exp(-t * gain - top) + at.q * exp(-t * loss - top)
        return -(exp(-(1 + t) * gain - top) - exp(-(1 + t) * loss - top)) / moment
    top = t * gain
    moment = (at.p + d) * exp(t * gain - top) + (at.q - d) * exp(t * loss - top)
    return (1 + t) / t * (exp(t * gain - top) - exp(t * loss - top)) / moment
