"""The noise of a family that meets a guarantee, and the guarantees at which families are compared."""

from tcdp_sim.calibration.calibrated_releases import CalibratedReleases
from tcdp_sim.calibration.families import calibrate, equal_privacy
from tcdp_sim.calibration.records import calibrate_records
from tcdp_sim.calibration.releases import calibrate_releases
from tcdp_sim.calibration.smooth import calibrate_smooth, standard_deviation
from tcdp_sim.calibration.tradeoff_point import TradeoffPoint
from tcdp_sim.calibration.unequal_moves import calibrate_unequal
from tcdp_sim.noise.calibrated import Calibrated
from tcdp_sim.noise.objectives import VARIANCE, LargestError

__all__ = [
    "VARIANCE",
    "Calibrated",
    "CalibratedReleases",
    "LargestError",
    "TradeoffPoint",
    "calibrate",
    "calibrate_records",
    "calibrate_releases",
    "calibrate_smooth",
    "calibrate_unequal",
    "equal_privacy",
    "standard_deviation",
]
