"""Private partition selection: the probability that a key is released, by thresholds and by the best curves."""

from tcdp_sim.partition_selection.approx_dp import OptimalApproxDP
from tcdp_sim.partition_selection.curve import ReleaseCurve
from tcdp_sim.partition_selection.optimum import Certificate, OptimalRDP, OptimalTCDP
from tcdp_sim.partition_selection.threshold import COMPARISONS, ThresholdCurve, least_threshold

__all__ = [
    "COMPARISONS",
    "Certificate",
    "OptimalApproxDP",
    "OptimalRDP",
    "OptimalTCDP",
    "ReleaseCurve",
    "ThresholdCurve",
    "least_threshold",
]
