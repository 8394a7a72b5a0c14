"""Exact laws: what the simulations must agree with. Every answer is Bounds(lower, estimate, upper)."""

from tcdp_sim.exact.divergence import max_order, renyi_divergence
from tcdp_sim.exact.extremes import max_abs_quantile, max_abs_sf, max_quantile
from tcdp_sim.exact.products import product_profile
from tcdp_sim.exact.profile import hockey_stick
from tcdp_sim.exact.ranking import spurious_wins_probability, top_stays_probability
from tcdp_sim.exact.selection import required_gap, selection_failure, selection_probability
from tcdp_sim.exact.selection_outputs import delta_of_outputs, divergence_of_outputs, selection_distribution
from tcdp_sim.exact.selection_privacy import OutputPair, output_pair, spent_delta, spent_renyi, worst_pairs
from tcdp_sim.numerics import Bounds

__all__ = [
    "Bounds",
    "OutputPair",
    "delta_of_outputs",
    "divergence_of_outputs",
    "hockey_stick",
    "max_abs_quantile",
    "max_abs_sf",
    "max_order",
    "max_quantile",
    "output_pair",
    "product_profile",
    "renyi_divergence",
    "required_gap",
    "selection_distribution",
    "selection_failure",
    "selection_probability",
    "spent_delta",
    "spent_renyi",
    "spurious_wins_probability",
    "top_stays_probability",
    "worst_pairs",
]
