"""The order at which a bound on Renyi divergences gives the best (epsilon, delta).

Every order gives a valid answer, so a search that stops early only loses sharpness. The best order of an affine curve
solves one equation; for other curves it is searched for. The answers are rounded up by a bound on their rounding
errors.
"""

from collections.abc import Callable
from functools import lru_cache
from math import exp, expm1, hypot, inf, log, log1p, sqrt

from tcdp_sim.core.errors import scalar
from tcdp_sim.privacy.minimum import least
from tcdp_sim.privacy.renyi import TINY, Affine, RenyiBound

_LOG_RANGE = (-40.0, 709.0)  # range of log(order - 1)
_LEAST_ORDER = 1 + 2.0**-52  # the least floating-point number above 1
_GRID = 96
_TOLERANCE = 1e-6  # of log(order - 1), where the answer is flat
_SETTLED = 1e-6  # the last step of Newton's method in log(order - 1); the error is about its square
_STEPS = 100
_UP, _DOWN = 1 + 2.0**-49, 1 - 2.0**-49  # the terms of an answer lose a few units of 2^-53 each


def tightest_epsilon(bound: RenyiBound, delta: float) -> tuple[float, float]:
    """Return the least epsilon for which (epsilon, delta)-DP follows from a Renyi bound, and its order.

    At the best order a, epsilon = D_a + log(1 - 1/a) + (log(1/delta) - log a) / (a - 1). Every order gives a valid
    epsilon, so a search that stops early only loses sharpness.

    Source: Canonne et al. (2020), Proposition 12 [CKS20].

    Parameters
    ----------
    bound : RenyiBound
        Bound on the Renyi divergences between neighbours.
    delta : float
        Probability in (0, 1].

    Returns
    -------
    epsilon : float
        The least epsilon, in nats, at least 0.
    order : float
        The order that gives it. It is 1 where epsilon = 0 follows from the KL divergence.

    Examples
    --------
    >>> from tcdp_sim.privacy import ZCDP, renyi_bound, tightest_epsilon
    >>> epsilon, order = tightest_epsilon(renyi_bound(ZCDP(0.1)), 1e-6)
    >>> round(epsilon, 4), round(order, 2)
    (2.1419, 11.66)
    """
    delta = scalar("delta", delta, 0, 1, finite=False)
    _need_bound(bound)
    if delta >= total_variation(bound):
        return 0.0, 1.0
    cost = -log(delta)

    def epsilon(order: float) -> float:
        excess = order - 1
        chance = (cost * _UP - log1p(excess) * _DOWN) / excess
        return bound.curve(order) * _UP - log1p(1 / excess) * _DOWN + chance

    if isinstance(bound.curve, Affine):
        order = _affine_order_for_epsilon(bound.curve, cost, bound.highest)
    else:
        order = _best(epsilon, bound.highest)
    return max(epsilon(order), 0.0), order


def _need_bound(bound: RenyiBound) -> None:
    if not isinstance(bound, RenyiBound):
        raise ValueError(f"bound = {bound!r} is not valid; valid: a RenyiBound, such as renyi_bound(guarantee)")


def _affine_order_for_epsilon(curve: Affine, cost: float, highest: float) -> float:
    """Return the order a that solves slope (a-1)^2 + log a = cost, or the highest. The cost is log(1/delta) > 0."""
    slope = curve.slope
    most = min(0.5 * (log(cost) - log(slope)) if slope > 0 else inf, cost + log(-expm1(-cost)))  # each term alone

    def excess_cost(x: float) -> tuple[float, float]:
        u = exp(x)
        square = slope * u * u
        return square + log1p(u) - cost, 2 * square + u / (1 + u)

    return _order_at(excess_cost, most, highest)


def tightest_log_delta(bound: RenyiBound, epsilon: float) -> tuple[float, float]:
    """Return the log of the least delta for which (epsilon, delta)-DP follows from a Renyi bound, and its order.

    This is the inverse of `tightest_epsilon`. At the best order a,
    log delta = (a-1)(D_a - epsilon) + (a-1) log(1 - 1/a) - log a.

    Source: Canonne et al. (2020), Proposition 12 [CKS20].

    Parameters
    ----------
    bound : RenyiBound
        Bound on the Renyi divergences between neighbours.
    epsilon : float
        Epsilon in nats, at least 0.

    Returns
    -------
    log_delta : float
        The natural logarithm of the least delta, at most 0.
    order : float
        The order that gives it. It is 1 where the KL divergence gives it.

    Examples
    --------
    >>> from tcdp_sim.privacy import ZCDP, renyi_bound, tightest_log_delta
    >>> log_delta, order = tightest_log_delta(renyi_bound(ZCDP(0.1)), 2.0)
    >>> round(log_delta, 3), round(order, 2)
    (-12.351, 10.98)
    """
    epsilon = scalar("epsilon", epsilon, 0, closed=True)
    _need_bound(bound)

    def log_delta(order: float) -> float:
        excess = order - 1
        gap = bound.curve(order) * _UP - epsilon * _DOWN - log1p(1 / excess) * _DOWN
        return excess * gap - log1p(excess) * _DOWN

    if isinstance(bound.curve, Affine):
        order = _affine_order_for_delta(bound.curve, epsilon, bound.highest)
    else:
        order = _best(log_delta, bound.highest)
    value = log_delta(order)
    cap = log(max(total_variation(bound), TINY)) * _DOWN
    return (value, order) if value < cap else (cap, 1.0)


def _affine_order_for_delta(curve: Affine, epsilon: float, highest: float) -> float:
    """Return the order a that solves 2 slope (a-1) - log(1 + 1/(a-1)) = epsilon - D_1, or the highest."""
    slope, room = curve.slope, epsilon - curve(1.0)
    # As log(1 + 1/u) <= 1/u, the solution is at most that of the quadratic equation 2 slope u - 1/u = room.
    width = hypot(room, sqrt(8 * slope))
    if room > 0:
        most = 0.25 * (room + width) / slope if slope > 0 else inf
    else:
        most = 2 / (width - room) if width > 0 else inf

    def excess_room(x: float) -> tuple[float, float]:
        u = exp(x)
        return 2 * slope * u - log1p(1 / u) - room, 2 * slope * u + 1 / (1 + u)

    return _order_at(excess_room, log(most), highest)


def _order_at(rising: Callable[[float], tuple[float, float]], start: float, highest: float) -> float:
    """Return the order at which a rising function of log(order - 1), given with its slope, is 0.

    The start is not below the zero. If there is no zero from the least order that floats tell from 1 to the highest
    order, the nearer of the two is returned.
    """
    low, high = log(_LEAST_ORDER - 1), min(log(highest - 1), _LOG_RANGE[1])
    if start >= high and rising(high)[0] <= 0:
        return highest if highest < inf else 1 + exp(high)
    x = max(min(start, high), low)
    for _ in range(_STEPS):
        value, slope = rising(x)
        low, high = (x, high) if value < 0 else (low, x)
        after = x - value / slope
        if not low <= after <= high:
            after = 0.5 * (low + high)
        settled, x = abs(after - x) < _SETTLED, after
        if settled:
            break
    return min(max(1 + exp(x), _LEAST_ORDER), highest)


def total_variation(bound: RenyiBound) -> float:
    """Return the largest total variation distance that the KL divergence allows, which is delta at epsilon = 0.

    It is the lesser of sqrt(KL / 2) (Pinsker) and sqrt(1 - e^-KL) (Bretagnolle-Huber). KL is bounded by D_a at an order
    a just above 1.
    """
    kl = bound.curve(min(1 + 1e-12, bound.highest))
    return min(sqrt(min(0.5 * kl, -expm1(-kl))) * _UP, 1.0)


def _best(f: Callable[[float], float], highest: float) -> float:
    """Return the order of the least value of f(order) that is found for 1 < order <= highest.

    The search uses a grid in log(order - 1), then `least` around its best point. If the bound is a true Renyi
    curve then (a-1) D_a is convex and f is unimodal. In floating point, 1 + (highest - 1) never exceeds highest, so f
    is evaluated at the domain's end and never beyond.
    """

    def at(excess: float) -> float:
        return f(max(1 + excess, _LEAST_ORDER))

    low, step, high, points = _grid(highest)
    values = [at(point) for point in points]
    best = min(range(_GRID + 1), key=values.__getitem__)
    ends = max(low + step * (best - 1), low), min(low + step * (best + 1), high)
    value, place = least(lambda x: at(exp(x)), *ends, _TOLERANCE)
    return max(1 + (exp(place) if value < values[best] else points[best]), _LEAST_ORDER)


@lru_cache(maxsize=256)
def _grid(highest: float) -> tuple[float, float, float, list[float]]:
    """Return the first log(order - 1), the step, the last one, and order - 1 at all points."""
    low, high = _LOG_RANGE[0], min(log(highest - 1), _LOG_RANGE[1])
    step = (high - low) / _GRID
    return low, step, high, [exp(low + step * i) for i in range(_GRID)] + [min(exp(high), highest - 1)]
