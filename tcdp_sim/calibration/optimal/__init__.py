"""The best of all additive noises for data that change by whole numbers, with bounds on the least cost of any noise."""

from tcdp_sim.calibration.optimal.best_noise import best_lattice_noise, optimal_noise
from tcdp_sim.calibration.optimal.lattice_mixture import LatticeMixture
from tcdp_sim.noise.objectives import LargestError, MeanAbsoluteError, MeanSquaredError, Tail

__all__ = [
    "LargestError",
    "LatticeMixture",
    "MeanAbsoluteError",
    "MeanSquaredError",
    "Tail",
    "best_lattice_noise",
    "optimal_noise",
]
