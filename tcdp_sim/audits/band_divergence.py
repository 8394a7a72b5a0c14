"""Lower bounds on Renyi divergences from the upper band of a trade-off curve.

The trade-off curve of two laws is convex. It is at most 1 at 0, and 0 at 1, and it is below each point of an upper
band. So it is below the lower convex hull of all these points. The hull is the trade-off curve of two discrete laws
with an atom for each of its sides, whose probabilities are the side's width and its fall. A channel leads from the two
laws to the discrete ones (Blackwell's theorem; Dong et al. 2022 [DRS22]). So no Renyi divergence of the discrete laws
exceeds that of the two laws.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp

from tcdp_sim.audits.claims import ROUNDING, Measure
from tcdp_sim.audits.rank_bounds import Events
from tcdp_sim.core.arrays import Floats


def bound(one: Measure, events: Events) -> float:
    """Return the lower bound on a number that follows from Renyi divergences, in either direction."""
    widths, falls = _sides(*np.maximum(events.errors(events.low), events.errors(events.high)))
    orders = np.array(one.orders)
    found = [one.of_divergence(_divergences(orders, *each), orders) for each in ((falls, widths), (widths, falls))]
    return float(np.max(found))


def _sides(alpha: Floats, beta: Floats) -> tuple[Floats, Floats]:
    """Return the widths and the falls of the sides of the lower convex hull of these points, (0, 1) and (1, 0)."""
    below = alpha + beta < 1  # the other points are above the chord of the two ends
    points = sorted({(0.0, 1.0), (1.0, 0.0), *zip(alpha[below].tolist(), beta[below].tolist())})
    hull: list[tuple[float, float]] = []
    for point in points:
        while len(hull) > 1 and not _turns_left(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    x, y = np.array(hull).T
    return np.diff(x), -np.diff(y)


def _turns_left(one: Sequence[float], other: Sequence[float], last: Sequence[float]) -> bool:
    """Return True if the way from one point by another to the last one turns left."""
    return (other[0] - one[0]) * (last[1] - one[1]) > (other[1] - one[1]) * (last[0] - one[0])


def _divergences(orders: Floats, first: Floats, second: Floats) -> Floats:
    """Return the Renyi divergences of these orders between two discrete laws, in nats, rounded down."""
    with np.errstate(divide="ignore"):
        one, other = np.log(first), np.log(second)
    powers = np.multiply.outer(orders, one) + np.multiply.outer(1 - orders, other)
    size = 1 + np.abs(np.nan_to_num(powers, posinf=0.0, neginf=0.0)).max(axis=-1)
    return (logsumexp(powers, axis=-1) - len(first) * ROUNDING * size) / (orders - 1)
