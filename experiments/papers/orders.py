"""The largest Renyi divergence per order, as a bracket over all orders, which concentrated guarantees bound."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tcdp_sim import exact
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.noise import Noise

Divergence = Callable[[Floats], Bounds[Any]]  # orders >= 1, ascending, shape (n,) -> D of each
ROUNDS = 12
MOST = 2000  # largest number of orders


def largest_over_order(divergence: Divergence, omega: float, relative: float = 1e-4) -> Bounds[float]:
    """Return the supremum over 1 <= order < omega of D_order / order, in nats, for finite omega > 1.

    (rho, omega)-tCDP means that the supremum is at most rho. The function psi(s) = s D_(1+s) is convex, so between two
    orders it lies below its chord, whose largest ratio has a closed form. Up to the first order above 1, D does not
    fall. Intervals that could contain the supremum are halved until the bounds are `relative` apart, or ROUNDS are
    over.
    """
    s = np.concatenate([[0.0], np.geomspace(1e-5, 1.0, 24) * (omega - 1)])
    for _ in range(ROUNDS):
        lower, _, upper = divergence(1 + s)
        best = float((lower / (1 + s)).max())
        most = np.concatenate([[upper[1]], _chords(s[1:], s[1:] * upper[1:])])
        wide = most > best * (1 + relative)
        if not wide.any() or len(s) > MOST:
            break
        middle = np.where(s[:-1] > 0, np.sqrt(s[:-1] * s[1:]), 0.1 * s[1:])
        s = np.sort(np.concatenate([s, middle[wide]]))
    return Bounds(best, best, max(float(most.max()), best))


def largest_cost(noise: Noise, omega: float, shift: float = 1.0) -> Bounds[float]:
    """Return the least rho of (rho, omega)-tCDP for a query that moves by exactly `shift`, for finite omega."""
    return largest_over_order(partial(exact.renyi_divergence, noise, shift), omega)


def _chords(s: Floats, psi: Floats) -> Floats:
    """Return the largest c(s) / (s (1 + s)) of the chords c of psi between successive s > 0.

    It is attained at an end, or where the ratio is flat.
    """
    u, v = s[:-1], s[1:]
    slope = np.diff(psi) / (v - u)
    start = psi[:-1] - slope * u  # c(s) = start + slope s; flat where slope s^2 + 2 start s + start = 0
    with np.errstate(invalid="ignore", divide="ignore"):
        turn = (-start + np.sqrt(start * start - start * slope)) / slope
    turn = np.where((turn > u) & (turn < v), turn, u)
    return np.max([(start + slope * x) / (x * (1 + x)) for x in (u, turn, v)], axis=0)
