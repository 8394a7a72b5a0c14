"""The noise of a family that meets a guarantee, and the guarantees at which families are compared."""

from tcdp_sim.calibration.families import METHODS, MOST_COORDINATES, calibrate, equal_privacy
from tcdp_sim.calibration.objectives import LargestError, spec_objective, variance
from tcdp_sim.calibration.records import calibrate_records
from tcdp_sim.calibration.smooth import SmoothNoise, calibrate_smooth, standard_deviation

__all__ = [
    "METHODS",
    "MOST_COORDINATES",
    "LargestError",
    "SmoothNoise",
    "calibrate",
    "calibrate_records",
    "calibrate_smooth",
    "equal_privacy",
    "spec_objective",
    "standard_deviation",
    "variance",
]
