"""Renyi divergences at the end of the orders: from which one on they are infinite, and the one of order infinity."""

from math import inf

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.noise import Noise

SURE = 1e-12  # relative: nearer to the largest order rounding decides whether it is infinite
_ROUNDING = 1e-14  # relative, of a largest loss: its formulas take powers, of up to some 40 units in the last place


def max_order(noise: Noise, shift: float) -> float:
    """Return the order from which on the Renyi divergence from the shifted noise is infinite (inf: none)."""
    return noise.max_order(shift)


def max_divergence(noise: Noise, shift: float) -> Bounds:
    """Return D_inf in nats, the supremum of the privacy loss, for shift > 0; NaN where the noise does not know it."""
    loss = float(noise.largest_loss(shift))
    slack = _ROUNDING * loss if loss < inf else 0.0
    return Bounds(loss - slack, loss, loss + slack)
