"""Exact sampling of order statistics, and importance sampling of rare events."""

from tcdp_sim.samplers.extremes import sample_abs_max, sample_extremes, sample_max, sample_top

__all__ = [
    "sample_abs_max",
    "sample_extremes",
    "sample_max",
    "sample_top",
]
