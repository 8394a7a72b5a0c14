"""Exact sampling of order statistics."""

from tcdp_sim.samplers.extremes import sample_abs_max, sample_extremes, sample_max
from tcdp_sim.samplers.top_m import sample_top

__all__ = ["sample_abs_max", "sample_extremes", "sample_max", "sample_top"]
