"""Private partition selection: the probability that a key is released, by thresholds and by the best curves."""

from tcdp_sim.selection.keys.approx_dp import OptimalApproxDP
from tcdp_sim.selection.keys.curve import ReleaseCurve
from tcdp_sim.selection.keys.optimum import Certificate, OptimalRDP, OptimalTCDP
from tcdp_sim.selection.keys.targets import key_delta, optimal_curve, threshold_curve
from tcdp_sim.selection.keys.threshold import ThresholdCurve, least_threshold

__all__ = [
    "Certificate",
    "OptimalApproxDP",
    "OptimalRDP",
    "OptimalTCDP",
    "ReleaseCurve",
    "ThresholdCurve",
    "key_delta",
    "least_threshold",
    "optimal_curve",
    "threshold_curve",
]
