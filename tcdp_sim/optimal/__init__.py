"""The best of all additive noises for data that change by whole numbers, with bounds on the least cost of any noise."""

from tcdp_sim.noise.calibrated import Calibrated
from tcdp_sim.noise.objectives import LargestError, MeanAbsoluteError, MeanSquaredError, Tail
from tcdp_sim.optimal.best_noise import best_lattice_noise, optimal_noise
from tcdp_sim.optimal.lattice_mixture import LatticeMixture
from tcdp_sim.optimal.step_ends import StepEnd, step_ends

__all__ = [
    "Calibrated",
    "LargestError",
    "LatticeMixture",
    "MeanAbsoluteError",
    "MeanSquaredError",
    "StepEnd",
    "Tail",
    "best_lattice_noise",
    "optimal_noise",
    "step_ends",
]
