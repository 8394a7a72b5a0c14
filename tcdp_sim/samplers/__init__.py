"""Exact sampling of order statistics."""

from tcdp_sim.samplers.extremes import sample_abs_max, sample_extremes, sample_max

__all__ = ["sample_abs_max", "sample_extremes", "sample_max"]
