"""The largest Rényi divergence per order by chords: few orders are looked at, and all between them are covered.

With x = α - 1, x D is convex and 0 at 0, so that it lies below its chords.
"""

from collections.abc import Callable
from math import asinh, ceil, sqrt
from typing import Any

import numpy as np

from tcdp_sim.arrays import Floats
from tcdp_sim.numerics import Bounds

Divergence = Callable[[Floats], Bounds[Any]]  # orders > 1, ascending, shape (n,) -> D of each
_FIRST, _STEP = 0.003, 0.15  # of x; steps of a chord, relative to √(x(x + 1)): its error is a quarter of its square


def largest_by_chords(divergence: Divergence, omega: float) -> Bounds[float]:
    """sup over 1 < order < omega of D_order / order, in nats, to better than 1%; 1 < omega < inf."""
    last = omega - 1
    first = min(_FIRST, 0.1 * last)
    start, end = asinh(sqrt(first)), asinh(sqrt(last))
    x = np.sinh(np.linspace(start, end, 1 + ceil(2 * (end - start) / _STEP))) ** 2
    lower, _, upper = divergence(1 + x)
    best = float((lower / (1 + x)).max())
    most = max(float(upper[0]), _steepest(x, x * upper))  # D does not fall: that of the first order covers those below
    return Bounds(best, best, max(best, most) * (1 + 1e-12))


def _steepest(x: Floats, values: Floats) -> float:
    """The most that the chords of the values are of x(x + 1), between any two neighbours."""
    slope = np.diff(values) / np.diff(x)
    depth = np.maximum(slope * x[:-1] - values[:-1], 0.0)  # the chord is slope x - depth
    with np.errstate(divide="ignore", invalid="ignore"):
        top = (depth + np.sqrt(depth * (depth + slope))) / slope
    top = np.clip(np.where(np.isfinite(top), top, x[:-1]), x[:-1], x[1:])
    return float(max(((slope * at - depth) / (at * (at + 1))).max() for at in (x[:-1], top, x[1:])))
