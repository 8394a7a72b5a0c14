"""What is proved of accuracy: what the papers promise, and what no mechanism can do better."""

from tcdp_sim.bounds.accuracy import histogram_error_bound, zcdp_printed_radius
from tcdp_sim.bounds.lower import least_sample_size

__all__ = ["histogram_error_bound", "least_sample_size", "zcdp_printed_radius"]
