"""A check that a noise keeps a concentrated guarantee at all orders, from finitely many upper ends of divergences.

With s = order - 1 the curve s D_(1+s) is convex in s and zero at s = 0. Between two orders it lies below its chord. The
guarantee allows rho s (s + 1), so every chord must stay below that parabola. The upper ends come from
`exact.renyi_divergence`. They rest on the agreement of two Gauss rules and on the accuracy of the density.
"""

from collections.abc import Callable

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.exact.renyi.divergence import renyi_divergence
from tcdp_sim.noise import Noise

SLACK = 1e-4  # share of rho that the chords may leave unused, which costs 5e-5 of the scale


def holds_at_all_orders(noise: Noise, shift: float, rho: float, omega: float) -> bool:
    """Return True if finitely many upper ends give D_a <= rho a for ALL orders 1 < a < omega and all smaller shifts.

    A noise that is not log-concave is refused, because a smaller shift may be worse.
    """
    if not noise.max_order(shift) > omega or not np.isfinite(omega):
        return False
    if not noise.log_concave:
        return False
    return below_parabola(lambda s: np.asarray(s * renyi_divergence(noise, shift, 1 + s).upper), rho, omega)


def below_parabola(curve: Callable[[Floats], Floats], rho: float, omega: float) -> bool:
    """Return True if a convex curve of s, zero at 0, stays below rho s (s + 1) for all 0 < s < omega - 1.

    The vectorised function `curve` gives upper bounds of the curve. omega is finite and above 1. Intervals whose chord
    rises above the parabola are halved. The search gives up once the intervals are so short that a chord of the
    parabola itself would rise above it by less than SLACK.
    """
    ends = (omega - 1) * np.geomspace(1e-3, 1, 13)
    left, right = np.concatenate([[0.0], ends[:-1]]), ends
    value = curve(right)
    low, high = np.concatenate([[0.0], value[:-1]]), value
    while True:
        if (high > rho * right * (right + 1)).any():
            return False
        fails = _chord_excess(left, right, low, high, rho) > 0
        left, right, low, high = left[fails], right[fails], low[fails], high[fails]
        if not fails.any():
            return True
        if (rho * (right - left) ** 2 / 4 < SLACK * rho * right * (right + 1)).any():
            return False
        middle = np.where(left > 0, np.sqrt(left * right), 0.1 * right)
        value = curve(middle)
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
        low, high = np.concatenate([low, value]), np.concatenate([value, high])


def _chord_excess(left: Floats, right: Floats, low: Floats, high: Floats, rho: float) -> Floats:
    """Return the most by which the chord from (left, low) to (right, high) rises above rho s (s + 1) in between."""
    slope = (high - low) / (right - left)
    touch = np.clip((slope / rho - 1) / 2, left, right)  # where the parabola is parallel to the chord
    return np.asarray(low + slope * (touch - left) - rho * touch * (touch + 1))
