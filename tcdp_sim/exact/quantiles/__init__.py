"""Exact laws of private quantiles on records in [0, k): errors of single, joint and recursive selections."""

from tcdp_sim.exact.quantiles.joint import joint_mean_error, joint_success
from tcdp_sim.exact.quantiles.recursive import recursive_mean_error
from tcdp_sim.exact.quantiles.single import single_law

__all__ = ["joint_mean_error", "joint_success", "recursive_mean_error", "single_law"]
