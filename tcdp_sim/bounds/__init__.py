"""Bounds on accuracy: radii that papers prove for a noise, and lower bounds for every mechanism with a guarantee."""

from tcdp_sim.bounds.accuracy import histogram_error_bound
from tcdp_sim.bounds.lower import (
    fano,
    histogram_error,
    histogram_records,
    information,
    interior_records,
    least_records,
    least_sample_size,
    marginals_records,
    packing_divergence,
    selection_gap,
)

__all__ = [
    "fano",
    "histogram_error",
    "histogram_error_bound",
    "histogram_records",
    "information",
    "interior_records",
    "least_records",
    "least_sample_size",
    "marginals_records",
    "packing_divergence",
    "selection_gap",
]
