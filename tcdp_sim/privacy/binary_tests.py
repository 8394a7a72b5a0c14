"""The best (epsilon, delta) that a bound on one Renyi divergence allows, over all pairs of laws.

By data processing only binary tests matter. A test has the probabilities p under P and q under Q, and D_a <= D allows
it if

    p^a q^(1-a) + (1-p)^a (1-q)^(1-a) <= e^((a-1) D).

This set of (p, q) is convex, so that p - e^epsilon q is largest where its gradient is a multiple of the condition's.
With r = p/q and s = (1-p)/(1-q) this means

    e^epsilon = (a-1)/a (r^a - s^a) / (r^(a-1) - s^(a-1)),

and delta = q (r - e^epsilon). As r grows from e^D on, epsilon rises and delta falls. Each order gives a valid answer,
and the best order is searched for. The orders below are those of pairs (P, Q) alone: the same bound for (Q, P) could
only help further.
"""

from collections.abc import Callable
from math import exp, expm1, inf, log, log1p, sqrt, tanh, ulp

from tcdp_sim.core.numerics import root
from tcdp_sim.privacy.renyi import RenyiBound

_FARTHEST = 700.0  # of log r, and of the log of a moment: beyond, floats overflow and the usual conversion is as good
_STEPS = 100
_CLOSE = 1e-14
_NEAR = (0.25, 0.5, 0.8, 1.0, 1.25, 2.0, 4.0)  # multiples of order - 1 that are tried around the usual best one
_LOWER, _LOWEST = 1.5, -14.0  # of log(order - 1): a step down, and where the search ends
_GOLDEN = 0.5 * (5**0.5 - 1)
_TOLERANCE = 1e-4  # of log(order - 1), where the answer is flat
_ROUNDING = 1e-10  # relative; the answer is larger by it, which is more than floats lose


def binary_epsilon(bound: RenyiBound, delta: float, order: float) -> float:
    """Return an epsilon >= 0 with (epsilon, delta)-DP, from the best order near the given one; inf where floats end."""

    def at(a: float) -> float:
        most = bound.curve(a)
        if delta >= 1 / a:  # the best test is sure under P
            return most + log1p(-delta) if delta < 1 else 0.0
        if not max(a - 1, 1.0) * most < _FARTHEST:
            return inf
        x = _where(lambda x: log(max(_test(a, most, x)[1], ulp(0.0)) / delta), most)
        return _test(a, most, x)[0] if x < inf else inf

    return max(_least(at, bound, order), 0.0) * (1 + _ROUNDING)


def binary_delta(bound: RenyiBound, epsilon: float, order: float) -> float:
    """Return a delta with (epsilon, delta)-DP, from the best order near the given one; inf where floats end."""

    def at(a: float) -> float:
        most = bound.curve(a)
        if epsilon <= most + log1p(-1 / a):  # the best test is sure under P
            return -expm1(epsilon - most)
        if not max(a - 1, 1.0) * most < _FARTHEST:
            return inf
        x = _where(lambda x: epsilon - _test(a, most, x)[0], most)
        return exp(_log_q(a, most, x) + epsilon) * expm1(x - epsilon) if x < inf else inf

    return _least(at, bound, order) * (1 + _ROUNDING)


def advantage(rho: float) -> float:
    """Return the largest total variation distance under rho-zCDP, and under (rho, omega)-tCDP for every omega.

    It is tanh(x/2) with x tanh(x/2) = rho: that of randomised response with log odds x, which is rho-zCDP. At order 1
    the condition with p + q = 1 reads (2p - 1) log(p / q) <= rho.
    """
    low, high = 0.0, rho + 2 * sqrt(rho) + 1
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if middle * tanh(0.5 * middle) < rho else (low, middle)
    return tanh(0.5 * high) * (1 + _ROUNDING)


def _where(excess: Callable[[float], float], most: float) -> float:
    """Return log r > most at which a falling function is 0, or slightly beyond it, or inf."""
    low, high = most, most + 1e-9 + 1e-6 * most
    while excess(high) > 0:
        if high == _FARTHEST:
            return inf
        low, high = high, min(most + 4 * (high - most), _FARTHEST)
    if excess(low) <= 0:
        return low
    found = root(excess, low, high, 1e-15 * high, 1e-14)
    step = 1e-15 * high
    while excess(found) > 0 and found < high:
        found, step = found + step, 2 * step
    return min(found, high)


def _test(a: float, most: float, x: float) -> tuple[float, float]:
    """Return epsilon and delta of the test with log r = x on the boundary of the condition."""
    log_q = _log_q(a, most, x)
    log_s = _log_s(x, log_q)
    fall = log_s - x
    epsilon = x + log1p(-1 / a) + log(expm1(a * fall) / expm1((a - 1) * fall)) if fall > -inf else x + log1p(-1 / a)
    return epsilon, exp(log_q + epsilon) * expm1(x - epsilon)


def _log_s(x: float, log_q: float) -> float:
    p = exp(min(x + log_q, 0.0))
    return log1p(-p) - log1p(-exp(log_q)) if p < 1 else -inf


def _log_q(a: float, most: float, x: float) -> float:
    """Return the log of the q on the boundary of the condition, with p = e^x q, in an interval that contains it."""
    moment = expm1((a - 1) * most)
    low, high = log(moment) - a * x, -x
    if (a - 1) * x < 1:  # the terms below would cancel, so 1 is taken off each of them

        def excess(y: float) -> float:
            log_s = _log_s(x, y)
            p = exp(x + y)
            return p * expm1((a - 1) * x) + (1 - p) * expm1((a - 1) * log_s) - moment if log_s > -inf else 1.0

        return root(excess, low, high, 1e-15 * abs(low), _CLOSE) if excess(low) < 0 else low
    y = low
    for _ in range(_STEPS):
        q, log_s = exp(y), _log_s(x, y)
        power = exp(a * log_s) if log_s > -inf else 0.0
        total = moment + q + (1 - q) * -expm1(a * log_s) if log_s > -inf else moment + 1
        gap = a * x + y - log(total)
        if gap < 0:
            low = y
        else:
            high = y
        slope = 1 - q * (power + a * exp((a - 1) * log_s if log_s > -inf else -inf) * expm1(x) / (1 - q)) / total
        step = y - gap / slope if slope > 0 else inf
        after = step if low < step < high else 0.5 * (low + high)
        if abs(after - y) <= _CLOSE * max(abs(y), 1.0) or after in (low, high):
            return after
        y = after
    return y


def _least(at: Callable[[float], float], bound: RenyiBound, order: float) -> float:
    """Return the least value of a function of the order near the given one: over a few orders, then golden section."""

    def of(log_excess: float) -> float:
        try:
            return at(min(1 + exp(log_excess), bound.highest))
        except (ArithmeticError, ValueError):  # floats overflow or vanish
            return inf

    centre, most = log(max(order - 1, 1e-9)), (log(bound.highest - 1) if bound.highest < inf else inf)
    places = sorted({min(centre + log(factor), most) for factor in _NEAR} | ({most} if most < inf else set()))
    values = [of(place) for place in places]
    while values[0] == min(values) < inf and places[0] > _LOWEST:  # for a large delta the best order is 1, or near it
        places.insert(0, max(places[0] - _LOWER, _LOWEST))
        values.insert(0, of(places[0]))
    best = min(range(len(places)), key=values.__getitem__)
    if best == 0:
        return values[0]
    if places[best] == most and of(most - _TOLERANCE) > values[best]:
        return values[best]  # the largest order decides, as for tCDP with small delta
    low, high = places[max(best - 1, 0)], places[min(best + 1, len(places) - 1)]
    inner, outer = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    tried = of(inner), of(outer)
    least = min(values[best], *tried)
    while high - low > _TOLERANCE:
        if tried[0] <= tried[1]:
            high, outer, inner = outer, inner, outer - _GOLDEN * (outer - low)
            tried = of(inner), tried[0]
        else:
            low, inner, outer = inner, outer, inner + _GOLDEN * (high - inner)
            tried = tried[1], of(outer)
        least = min(least, *tried)
    return least
