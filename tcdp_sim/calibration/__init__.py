"""The noise of a family that meets a guarantee, and the guarantees at which families are compared."""

from tcdp_sim.calibration.families import (
    METHODS,
    MOST_COORDINATES,
    LargestError,
    calibrate,
    equal_privacy,
    spec_objective,
    variance,
)
from tcdp_sim.calibration.records import calibrate_records

__all__ = [
    "METHODS",
    "MOST_COORDINATES",
    "LargestError",
    "calibrate",
    "calibrate_records",
    "equal_privacy",
    "spec_objective",
    "variance",
]
