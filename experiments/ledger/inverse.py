"""The epsilon of a given delta, from a simulated delta and its slope at an epsilon nearby."""

from math import exp, hypot, inf, log1p, nan

Numbers = tuple[float, float, float, float]  # estimate, MCSE, and the ends of the 95% interval


def epsilon_interval(epsilon: float, delta: float, found: Numbers, slope: Numbers, bend: float = 1.0) -> Numbers:
    """Return the epsilon of `delta` with its MCSE and 95% interval.

    As a function of a = e^epsilon delta is convex, so its tangent lies below it: the tangent's root is no larger than
    the epsilon asked for. It is exact where delta is linear in a, as it is between two losses of a list of few
    outcomes. Elsewhere a share `bend` of the step from the given epsilon is added to the interval, above.

    `epsilon`, `delta`: the epsilon of the simulation in nats, and the delta whose epsilon is asked for. `found`,
    `slope`: the simulated delta and -d delta / d epsilon at `epsilon`: estimate, MCSE and the ends of the 95% interval.
    `bend`: the share, in [0, 1]. 1 is right for any list. If log delta is nearly linear, half of |log(found / delta)|
    would do for a short step.
    """
    if not slope[0] > 0:
        return nan, nan, nan, nan
    step = _step(found[0] - delta, slope[0])
    if step == -inf:
        return nan, nan, nan, nan
    size = hypot(found[1], slope[1] * (found[0] - delta) / slope[0]) / (slope[0] * exp(step))
    low, high = (_step(end - delta, slope[0]) for end in found[2:])
    error = 1.96 * size
    low, high = min(low, step - error), max(high, step + error) + abs(step)
    high -= (1 - bend) * abs(step)
    return max(epsilon + step, 0.0), size, max(epsilon + low, 0.0), max(epsilon + high, 0.0)


def _step(excess: float, slope: float) -> float:
    """Return log(1 + excess / slope), -inf where there is none."""
    return log1p(excess / slope) if excess > -slope else -inf
