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
gives the conversion of Canonne, Kamath and Steinke (2020) [CKS20], and s0 = 1 is nearly exact for small delta. The
optimum is that of the joint range of two f-divergences (Asoodeh et al. 2020 [ALCKS20], by its abstract).

For a given epsilon, with u = log r - epsilon, v = epsilon - log s0 and t = (s0 / r)^(a-1), the best test has

    (a-1) (e^u - 1) = 1 - t - (a-1) t (1 - e^-v).

Its delta = K (r - e^epsilon) / (r^a - a s0^(a-1) r + (a-1) s0^a) is valid for every s0, and the least is exact.
"""

from collections.abc import Callable
from math import exp, expm1, inf, log, log1p, sqrt, tanh

from tcdp_sim.privacy.minimum import Point, least
from tcdp_sim.privacy.renyi import RenyiBound

_FARTHEST = 700.0  # of log r, and of the log of a moment: beyond, floats overflow and the usual conversion is as good
_CLOSE = 1e-14
_DOWN, _UP = (log(0.8), log(0.5), log(0.25)), (log(1.25), log(2.0), log(4.0))  # places tried beside the usual best one
_FARTHER = 1.5  # from the last place to the next one
_LOWEST = -14.0  # the log(order - 1) where the search ends
_TOLERANCE = 1e-4  # of log(order - 1), where the answer is flat
_ROUNDING = 1e-10  # relative; the answer is larger by it, which is more than floats lose
_ABSOLUTE = 1e-14  # of epsilon, which is the log of a number near 1 if it is small
_LOST = 2.0**-48  # of log delta, relative to the exponents in it; more than floats lose
_TANGENTS = 40  # three suffice unless p is close to 1/2 or 1
_SETTLED = 1e-6  # of log s, relative; the square of this is lost
_FLAT = 1e-13  # relative change of the answer, which ends the search near p = 1
_STEPS = 100  # of Newton's method; five suffice
_NEAR = 1e-5  # of order * v, below which u = v, with a relative error of this size


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

    def log_delta(a: float) -> float:
        most = bound.curve(a)
        if epsilon <= most + log1p(-1 / a):  # the best test is sure under P
            return log(-expm1(epsilon - most)) + _LOST * a * (1 + epsilon)
        return _log_delta_by_tangents(a, most, epsilon) if max(a - 1, 1.0) * most < _FARTHEST else inf

    best = _best_order(log_delta, bound, order)
    return exp(best) * (1 + _ROUNDING) if best < 0 else inf


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
    """Return the least epsilon that one order allows for delta < 1/a."""

    def at(y: float) -> tuple[float, float]:
        epsilon, p, q = _under_tangent(a, most, delta, y)
        return epsilon, log1p(-p) - log1p(-q) if p < 1 else -inf

    return _best_tangent(at, 0.0)


def _log_delta_by_tangents(a: float, most: float, epsilon: float) -> float:
    """Return the log of the least delta that one order allows, for an epsilon at which no test is sure under P."""
    above = a - 1

    def own(log_delta: float, u: float) -> float:
        """Return the log s of the test with this delta and log r = epsilon + u."""
        p = exp(log_delta) / -expm1(-u)
        q = p * exp(-u - epsilon)
        return log1p(p * expm1(-epsilon - u) / (1 - q)) if p < 1 else -inf

    def at(y: float) -> tuple[float, float]:
        v = epsilon - y
        u = _excess_loss(above, v)
        x, z = epsilon + u, u + v
        room = _room(a, most, y)
        log_delta = log(room) + log(-expm1(-u)) - log(_curvature(above, z)) - above * x
        return log_delta + _LOST * (1 + above * (x + most)), own(log_delta, u)

    usual = above * (most - epsilon - log1p(1 / above)) - log(a)  # that of Canonne, Kamath and Steinke
    start = own(min(usual, 0.0), log1p(1 / above))
    found = _best_tangent(at, start if start > -inf else -1.0)
    return min(found, _best_tangent(at, 0.0)) if epsilon > 0 else found  # s0 is 1 up to rounding for tiny divergences


def _best_tangent(at: Callable[[float], tuple[float, float]], y: float) -> float:
    """Return the least answer of tangents at log s0, from y on; each is given with the log s of its own test."""
    before, best, low, high = None, inf, -inf, 0.0
    for _ in range(_TANGENTS):
        value, own = at(y)
        flat, best = abs(value - best) <= _FLAT * max(abs(value), 1e-3), min(best, value)
        move = own - y
        if flat or abs(move) <= _SETTLED * abs(own) < inf or own == y:
            break
        low, high = (y, high) if move > 0 else (low, y)
        following = own
        if before is not None and inf > abs(before[1] - move) > 0:
            following = y - move * (y - before[0]) / (move - before[1])
        if not low < following < high:
            following = 0.5 * (low + high) if low > -inf else 2 * high - 1
        y, before = following, (y, move)
    return best


def _under_tangent(a: float, most: float, delta: float, y: float) -> tuple[float, float, float]:
    """Return epsilon and the best test (p, q) under the tangent at log s0 = y. No digits are lost."""
    above, tilt, room = a - 1, (a - 1) * y, _room(a, most, y)
    if y > -1:
        rise = above * room / (a * delta) + expm1(tilt)  # r^(a-1) - 1
    else:  # the same, where these two terms nearly cancel if the order is close to 1
        spare = (1 - delta) - above * delta
        rise = (expm1(above * most) - spare * expm1(tilt) + above * exp(tilt) * expm1(y)) / (a * delta)
    log_r = log1p(rise) / above
    if log_r > _FARTHEST:  # the same in units of r, beside which s0 is nothing
        share = 1 / a - delta / room * exp(tilt)
        p = delta / share if share > 0 else inf
        return log_r + log(above / a + delta / room * exp(tilt)), p, p * exp(-log_r)
    r = exp(log_r)
    # The difference of r and s0 is s0 (r / s0 - 1) where both are near 1.
    second = delta / room * (exp(a * y) * expm1(log_r - y) if y > -1 else exp(tilt) * (r - exp(y)))
    first = r * above / a
    q = delta / (r / a - second) if r / a > second else inf
    return log(first + second), r * q, q


def _room(a: float, most: float, y: float) -> float:
    """Return K / (a-1) at log s0 = y, as a sum of positive terms."""
    above, tilt = a - 1, (a - 1) * y
    if y == -inf:
        return (expm1(above * most) + 1) / above
    power = exp(tilt)
    bend = power * _bend(-tilt) if tilt > -1 else tilt * power - expm1(tilt)
    return (expm1(above * most) + bend) / above + power * _bend(y)


def _excess_loss(above: float, v: float) -> float:
    """Return u = log r - epsilon of the best test under the tangent at log s0 = epsilon - v, at order 1 + above."""
    if (1 + above) * v < _NEAR:
        return v
    lost = -expm1(-v)
    low, high = 0.0, log1p(1 / above)
    u = min(log1p(v), high)  # near 0 it is v, and at order 1 it solves e^u = u + v + e^-v
    for _ in range(_STEPS):
        t = exp(-above * (u + v))
        value = above * (expm1(u) + t * lost) + expm1(-above * (u + v))
        slope = above * (exp(u) - t * (1 + above * lost))
        low, high = (u, high) if value < 0 else (low, u)
        after = u - value / slope if slope > 0 else low
        if not low < after < high:
            after = 0.5 * (low + high)
        settled, u = abs(after - u) <= _SETTLED * u, after
        if settled:
            break
    return u


def _curvature(above: float, z: float) -> float:
    """Return (r^a - a s0^(a-1) r + (a-1) s0^a) / (r^a (a-1)) for z = log(r / s0) > 0, as a sum of positive terms."""
    w = above * z
    fall = exp(-w)
    return fall * _bend(-z) + (fall * _bend(w) if w < 1 else 1 - (1 + w) * fall) / above


def _bend(x: float) -> float:
    """Return e^x - 1 - x, with all its digits."""
    if abs(x) > 0.1:
        return expm1(x) - x
    series = 1 + x / 6 * (1 + x / 7 * (1 + x / 8 * (1 + x / 9 * (1 + x / 10))))
    return x * x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5 * series)))


def _best_order(at: Callable[[float], float], bound: RenyiBound, order: float) -> float:
    """Return the least value of a function of the order near the given one."""

    def point(log_excess: float) -> Point:
        try:
            return log_excess, at(bound.highest if log_excess == end else min(1 + exp(log_excess), bound.highest))
        except (ArithmeticError, ValueError):  # floats overflow or vanish
            return log_excess, inf

    end = log(bound.highest - 1) if bound.highest < inf else inf
    here = point(min(log(max(order - 1, 1e-9)), end))
    beside = point(here[0] - _TOLERANCE if here[0] == end else here[0] + _DOWN[0])
    if here[0] == end and beside[1] > here[1]:
        return here[1]  # the largest order decides, as for tCDP with small delta
    if beside[1] < here[1] or beside[1] == inf:  # for a large delta the best order is 1, or near it
        points = _falling(point, [here, beside], [here[0] + step for step in _DOWN], -_FARTHER, _LOWEST)
    else:
        points = _falling(point, [beside, here], [here[0] + step for step in _UP], _FARTHER, end)
    if len(points) < 3:
        return min(value for _, value in points)
    places = [place for place, _ in points]
    return least(lambda x: point(x)[1], min(places), max(places), _TOLERANCE, tuple(points))[0]


def _falling(
    point: Callable[[float], Point],
    points: list[Point],
    places: list[float],
    farther: float,
    end: float,
) -> list[Point]:
    """Return three points around the least value, or the last two where the values fall until the end."""
    places = [place for place in places if (place - points[-1][0]) * farther > 0]
    while points[-1][1] <= points[-2][1] and points[-1][0] != end:
        place = places.pop(0) if places else points[-1][0] + farther
        points = [*points[-2:], point(min(place, end) if farther > 0 else max(place, end))]
    return points if points[-1][1] > points[-2][1] else points[-2:]
