"""Private partition selection: the probability that a key is released, by thresholds and by the best curves."""

from tcdp_sim.partition_selection.approx_dp import OptimalApproxDP
from tcdp_sim.partition_selection.curve import ReleaseCurve
from tcdp_sim.partition_selection.optimum import Certificate, OptimalRDP, OptimalTCDP
from tcdp_sim.partition_selection.targets import MOST_KEYS, OPTIMA, key_delta, optimal_curve, threshold_curve
from tcdp_sim.partition_selection.threshold import COMPARISONS, ThresholdCurve, least_threshold

__all__ = [
    "COMPARISONS",
    "MOST_KEYS",
    "OPTIMA",
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
