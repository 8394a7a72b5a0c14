"""The best additive noise that there can be, for data that change by whole numbers, and how good it is at most."""

from tcdp_sim.optimal.best_noise import best_lattice_noise, optimal_noise
from tcdp_sim.optimal.lattice_mixture import LatticeMixture
from tcdp_sim.optimal.objectives import LargestErrorQuantile, MeanAbsoluteError, MeanSquaredError, Tail
from tcdp_sim.optimal.step_ends import StepEnd, step_ends

__all__ = [
    "LargestErrorQuantile",
    "LatticeMixture",
    "MeanAbsoluteError",
    "MeanSquaredError",
    "StepEnd",
    "Tail",
    "best_lattice_noise",
    "optimal_noise",
    "step_ends",
]
