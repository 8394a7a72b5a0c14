"""Exact laws: what the simulations must agree with. Every answer is Bounds(lower, estimate, upper)."""

from tcdp_sim.exact.divergence import max_order, renyi_divergence
from tcdp_sim.exact.extremes import max_abs_quantile, max_abs_sf, max_quantile
from tcdp_sim.exact.profile import hockey_stick
from tcdp_sim.exact.ranking import spurious_wins_probability, top_stays_probability
from tcdp_sim.numerics import Bounds

__all__ = [
    "Bounds",
    "hockey_stick",
    "max_abs_quantile",
    "max_abs_sf",
    "max_order",
    "max_quantile",
    "renyi_divergence",
    "spurious_wins_probability",
    "top_stays_probability",
]
