"""Exact sampling of order statistics, and importance sampling of rare events."""

from tcdp_sim.samplers.extremes import first_above, sample_abs_max, sample_extremes, sample_max, sample_top
from tcdp_sim.samplers.importance_sampling import ImportanceSampler, fit_importance_sampler
from tcdp_sim.samplers.losses import hockey_stick_draws, loss_tail_draws, renyi_excess_draws

__all__ = [
    "ImportanceSampler",
    "first_above",
    "fit_importance_sampler",
    "hockey_stick_draws",
    "loss_tail_draws",
    "renyi_excess_draws",
    "sample_abs_max",
    "sample_extremes",
    "sample_max",
    "sample_top",
]
