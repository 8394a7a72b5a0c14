"""What is proved of accuracy: what the papers promise, and what no mechanism can do better."""

from tcdp_sim.bounds.accuracy import histogram_error_bound, zcdp_printed_radius
from tcdp_sim.bounds.lower import (
    fano,
    histogram_error,
    histogram_records,
    information,
    interior_records,
    least_records,
    least_sample_size,
    marginals_records,
    selection_gap,
    told_apart,
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
    "selection_gap",
    "told_apart",
    "zcdp_printed_radius",
]
