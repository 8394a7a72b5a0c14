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

For a given delta, tangents give epsilon without a root (ours). The second term of the condition is convex in (p, q).
Its tangent at a point with s = s0 is a s0^(a-1) (1-p) - (a-1) s0^a (1-q), which is never above it. With the tangent in
its place and K = e^((a-1) D) - a s0^(a-1) + (a-1) s0^a, the best test has

    r^(a-1) = K / (a delta) + s0^(a-1),    e^epsilon = (1 - 1/a) r + (a-1) s0^(a-1) (r - s0) delta / K.

So every s0 in [0, 1] gives a valid epsilon. The least is exact, and its s0 is the s of its own test. The value s0 = 0
gives the conversion of Canonne, Kamath and Steinke (2020), and s0 = 1 is nearly exact for small delta. The optimum is
that of the joint range of two f-divergences (Asoodeh et al. 2020, https://arxiv.org/abs/2001.05990, by its abstract).
"""

from collections.abc import Callable
from math import exp, expm1, inf, log, log1p, sqrt, tanh

from tcdp_sim.core.numerics import root
from tcdp_sim.privacy.minimum import least
from tcdp_sim.privacy.renyi import RenyiBound

_FARTHEST = 700.0  # of log r, and of the log of a moment: beyond, floats overflow and the usual conversion is as good
_STEPS = 100
_CLOSE = 1e-14
_NEAR = (0.25, 0.5, 0.8, 1.0, 1.25, 2.0, 4.0)  # multiples of order - 1 that are tried around the usual best one
_LOWER, _LOWEST = 1.5, -14.0  # of log(order - 1): a step down, and where the search ends
_TOLERANCE = 1e-4  # of log(order - 1), where the answer is flat
_ROUNDING = 1e-10  # relative; the answer is larger by it, which is more than floats lose
_ABSOLUTE = 1e-14  # of epsilon, which is the log of a number near 1 if it is small
_TANGENTS = 30  # three suffice unless p is close to 1/2
_SETTLED = 1e-6  # of log s, relative; the square of this is lost


def binary_epsilon(bound: RenyiBound, delta: float, order: float) -> float:
    """Return an epsilon >= 0 with (epsilon, delta)-DP, from the best order near the given one; inf where floats end."""

    def at(a: float) -> float:
        most = bound.curve(a)
        if delta >= 1 / a:  # the best test is sure under P
            return most + log1p(-delta) if delta < 1 else 0.0
        return _by_tangents(a, most, delta) if max(a - 1, 1.0) * most < _FARTHEST else inf

    return max(_best_order(at, bound, order) + _ABSOLUTE, 0.0) * (1 + _ROUNDING)


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

    return _best_order(at, bound, order) * (1 + _ROUNDING)


def advantage(rho: float) -> float:
    """Return the largest total variation distance under rho-zCDP, and under (rho, omega)-tCDP for every omega.

    It is tanh(x/2) with x tanh(x/2) = rho: that of randomised response with log odds x, which is rho-zCDP. At order 1
    the condition with p + q = 1 reads (2p - 1) log(p / q) <= rho.
    """
    low, high = max(rho, sqrt(2 * rho)) * (1 - _CLOSE), rho + 2 * sqrt(rho)  # tanh(x/2) is at most 1, and at most x/2
    while high - low > _CLOSE * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if middle * tanh(0.5 * middle) < rho else (low, middle)
    return tanh(0.5 * high) * (1 + _ROUNDING)


def _by_tangents(a: float, most: float, delta: float) -> float:
    """Return the least epsilon that one order allows for delta < 1/a, by tangents at log s0 = y."""
    y, before, best = 0.0, None, inf
    for _ in range(_TANGENTS):
        e_epsilon, p, q = _under_tangent(a, most, delta, y)
        best = min(best, e_epsilon)
        own = log1p(-p) - log1p(-q) if p < 1 else -inf
        move = own - y
        if abs(move) <= _SETTLED * abs(own) < inf or own == y:
            break
        secant = inf
        if before is not None and inf > abs(before[1] - move) > 0:
            secant = y - move * (y - before[0]) / (move - before[1])
        y, before = (secant if secant <= 0 else own), (y, move)
    return log(best)


def _under_tangent(a: float, most: float, delta: float, y: float) -> tuple[float, float, float]:
    """Return e^epsilon and the best test (p, q) under the tangent at log s0 = y. All terms are positive."""
    above, tilt = a - 1, (a - 1) * y
    power = exp(tilt)
    if y == -inf:
        room = (expm1(above * most) + 1) / above  # K / (a-1)
    else:
        bend = power * _bend(-tilt) if tilt > -1 else tilt * power - expm1(tilt)
        room = (expm1(above * most) + bend) / above + power * _bend(y)
    log_r = log1p(above * room / (a * delta) + expm1(tilt)) / above
    r = exp(log_r)
    second = delta / room * exp(a * y) * expm1(log_r - y) if y > -inf else 0.0  # r - s0 = s0 (r / s0 - 1)
    first = r * above / a
    q = delta / (r / a - second) if r / a > second else inf
    return first + second, r * q, q


def _bend(x: float) -> float:
    """Return e^x - 1 - x, with all its digits."""
    if abs(x) > 0.1:
        return expm1(x) - x
    total = 0.0
    for n in range(11, 2, -1):
        total = (1 + total) * x / n
    return (1 + total) * x * x / 2


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


def _best_order(at: Callable[[float], float], bound: RenyiBound, order: float) -> float:
    """Return the least value of a function of the order near the given one."""

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
    return min(values[best], least(of, low, high, _TOLERANCE)[0])
