"""What a guarantee says of the Renyi divergences, and the best (epsilon, delta) that follows from such a bound.

Everything is in nats. Scalars only: these run millions of times in planning, so they use math, not numpy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import exp, expm1, inf, log, log1p, sinh, sqrt, tanh, ulp

from tcdp_sim.core.errors import scalar
from tcdp_sim.privacy.definitions import RDP, TCDP, ZCDP, Guarantee, MeanConcentratedDP, PureDP, simplest

TINY = ulp(0.0)  # the smallest positive float: what a positive number is rounded up to when it underflows
_LOG_RANGE = (-40.0, 709.0)  # of order - 1; below, an order is 1 in double precision
_GRID = 96
_GOLDEN = (sqrt(5) - 1) / 2


@dataclass(frozen=True)
class RenyiBound:
    """D_order <= bound(order) between neighbours, both ways, for 1 < order <= highest; inf beyond.

    `curve` is asked for 1 <= order <= highest only. The end is included: D is the limit from below of lower orders.
    """

    curve: Callable[[float], float]
    highest: float = inf

    def __post_init__(self) -> None:
        object.__setattr__(self, "highest", scalar("highest", self.highest, 1, finite=False))

    def __call__(self, order: float) -> float:
        """The bound at one order > 1; ValueError for others."""
        order = scalar("order", order, 1, finite=False)
        return self.curve(order) if order <= self.highest else inf


def renyi_bound(guarantee: Guarantee) -> RenyiBound:
    """The Renyi curve that a guarantee implies, with its domain.

    PureDP: the exact worst case (`pure_renyi`); ZCDP: xi + rho a; TCDP: rho a up to omega; RDP: epsilon up to its
    order (monotonicity); MeanConcentratedDP: mu + (a - 1) tau^2 / 2 with mu cut at tau^2 / 2 (see `to_zcdp`).
    Raises ValueError for (epsilon, delta)-DP and approximate zCDP with delta > 0, which bound no Renyi divergence.
    """
    match simplest(guarantee):
        case PureDP(epsilon=epsilon):
            return RenyiBound(partial(pure_renyi, epsilon))
        case ZCDP(rho=rho, xi=xi):
            return RenyiBound(partial(_affine, xi, rho))
        case TCDP(rho=rho, omega=omega):
            return RenyiBound(partial(_affine, 0.0, rho), omega)
        case RDP(order=order, epsilon=epsilon):
            return RenyiBound(partial(_affine, epsilon, 0.0), order)
        case MeanConcentratedDP(mu=mu, tau=tau):
            slope = scalar("tau^2 / 2", max(0.5 * tau * tau, TINY), 0)
            return RenyiBound(partial(_affine, min(mu - slope, 0.0), slope))
    raise ValueError(f"{guarantee} bounds no Renyi divergence: with probability delta anything may happen")


def _affine(intercept: float, slope: float, order: float) -> float:
    return intercept + slope * order


def pure_renyi(epsilon: float, order: float) -> float:
    """The largest D_order that epsilon-DP allows: that of randomised response; order = 1 is the KL divergence.

    1/(a-1) log[(sinh(a e) - sinh((a-1) e)) / sinh e], in forms that lose no digits at either end.
    Source: Bun-Steinke 2016, proof of Proposition 4.
    """
    if order == inf:
        return epsilon
    excess, half = order - 1, tanh(0.5 * epsilon)
    y = excess * epsilon
    if y < 1e-9:  # mean and variance of the loss; the next term is y^2 times smaller
        return epsilon * (half + 0.5 * y * (1 - half * half))
    if y <= 1:  # cosh(e/2 + y) / cosh(e/2) = 1 + 2 sinh^2(y/2) + tanh(e/2) sinh(y): no cancellation
        return log1p(2 * sinh(0.5 * y) ** 2 + half * sinh(y)) / excess
    return epsilon - log1p(exp(-epsilon) * -expm1(-2 * y) / (1 + exp(-epsilon - 2 * y))) / excess


def tightest_epsilon(bound: RenyiBound, delta: float) -> tuple[float, float]:
    """(epsilon, order): the least epsilon >= 0 for which (epsilon, delta)-DP follows from a Renyi bound.

    0 < delta <= 1; ValueError outside.
    Canonne-Kamath-Steinke 2020: epsilon = D_a + log(1 - 1/a) + (log(1/delta) - log a) / (a - 1), at the best order a.
    Every order gives a valid epsilon and the answer is the formula's value at the order returned, so a search that
    stopped early could only cost sharpness. The order is 1 where epsilon = 0 follows from the KL divergence.
    """
    delta = scalar("delta", delta, 0, 1, finite=False)
    if delta >= total_variation(bound):
        return 0.0, 1.0
    log_one_over_delta = -log(delta)

    def epsilon(excess: float) -> float:
        chance = log_one_over_delta - log1p(excess)
        return bound.curve(1 + excess) - log1p(1 / excess) + chance / excess

    value, order = _least(epsilon, bound.highest)
    return max(value, 0.0), order


def tightest_log_delta(bound: RenyiBound, epsilon: float) -> tuple[float, float]:
    """(log delta, order): the least delta <= 1 for which (epsilon, delta)-DP follows from a Renyi bound.

    epsilon >= 0; ValueError outside. The inverse of `tightest_epsilon`:
    log delta = (a-1)(D_a - epsilon) + (a-1) log(1 - 1/a) - log a.
    """
    epsilon = scalar("epsilon", epsilon, 0, closed=True)

    def log_delta(excess: float) -> float:
        return excess * (bound.curve(1 + excess) - epsilon - log1p(1 / excess)) - log1p(excess)

    value, order = _least(log_delta, bound.highest)
    cap = log(max(total_variation(bound), TINY))
    return (value, order) if value < cap else (cap, 1.0)


def total_variation(bound: RenyiBound) -> float:
    """The largest total variation distance that the KL divergence allows: delta at epsilon = 0.

    The lesser of sqrt(KL / 2) (Pinsker) and sqrt(1 - e^-KL) (Bretagnolle-Huber), with KL <= D_a for an a just above 1.
    """
    kl = bound.curve(min(1 + 1e-12, bound.highest))
    return sqrt(min(0.5 * kl, -expm1(-kl)))


def _least(f: Callable[[float], float], highest: float) -> tuple[float, float]:
    """(value, order) where f(order - 1) is least over 1 < order <= highest.

    A grid in log(order - 1), then golden section around its best point. f is unimodal if the bound is a true Renyi
    curve (then (a-1) D_a is convex); for others the answer is still a value of f. 1 + (highest - 1) never exceeds
    highest in floating point, so the domain's end is asked for and nothing beyond.
    """
    low, high = _LOG_RANGE[0], min(log(highest - 1), _LOG_RANGE[1])
    step = (high - low) / _GRID
    points = [exp(low + step * i) for i in range(_GRID)] + [min(exp(high), highest - 1)]
    values = [f(point) for point in points]
    best = min(range(_GRID + 1), key=values.__getitem__)
    value, excess = _golden(f, max(low + step * (best - 1), low), min(low + step * (best + 1), high))
    if not value < values[best]:
        value, excess = values[best], points[best]
    return value, 1 + excess


def _golden(f: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    inner, outer = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_inner, at_outer = f(exp(inner)), f(exp(outer))
    while high - low > 1e-9:
        if at_inner <= at_outer:
            high, outer, at_outer = outer, inner, at_inner
            inner = high - _GOLDEN * (high - low)
            at_inner = f(exp(inner))
        else:
            low, inner, at_inner = inner, outer, at_outer
            outer = low + _GOLDEN * (high - low)
            at_outer = f(exp(outer))
    return (at_inner, exp(inner)) if at_inner <= at_outer else (at_outer, exp(outer))
