"""The largest Renyi divergence per order, certified over all orders: what concentrated guarantees bound."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tcdp_sim.arrays import Floats
from tcdp_sim.numerics import Bounds

Divergence = Callable[[Floats], Bounds[Any]]  # orders >= 1, ascending, shape (n,) -> D of each
ROUNDS = 12


def largest_over_order(divergence: Divergence, omega: float, relative: float = 1e-3, first: int = 65) -> Bounds[float]:
    """sup over 1 <= order < omega of D_order / order, in nats: (rho, omega)-tCDP is that it is at most rho.

    D does not fall with the order, so that D_b / a bounds the ratio over [a, b]; intervals that could hold the largest
    one are halved until the bounds are `relative` apart or ROUNDS are over. omega > 1, finite.
    """
    orders = np.geomspace(1.0, omega, first)
    for _ in range(ROUNDS):
        lower, _, upper = divergence(orders)
        best, most = float((lower / orders).max()), upper[1:] / orders[:-1]
        wide = most > best * (1 + relative)
        if not wide.any() or len(orders) > 20_000:
            break
        orders = np.sort(np.concatenate([orders, np.sqrt(orders[:-1] * orders[1:])[wide]]))
    return Bounds(best, best, max(float(most.max()), best))
