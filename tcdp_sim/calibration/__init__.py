"""The noise of a family that meets a guarantee, and the guarantees at which families are compared."""

from tcdp_sim.calibration.families import (
    DEPENDS_ON,
    METHODS,
    MOST_COORDINATES,
    LargestError,
    calibrate,
    equal_privacy,
    variance,
)

__all__ = ["DEPENDS_ON", "METHODS", "MOST_COORDINATES", "LargestError", "calibrate", "equal_privacy", "variance"]
