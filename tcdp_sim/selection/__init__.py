"""Private selection: algorithms, baselines and the calibration of their noise."""

from tcdp_sim.selection.algorithms import GeneralizedHistogram, NoisyMax, ObviousAnswer, Selection
from tcdp_sim.selection.baselines import SparseVector, Stability, exponential_mechanism, permute_and_flip
from tcdp_sim.selection.scores import Scores

__all__ = [
    "GeneralizedHistogram",
    "NoisyMax",
    "ObviousAnswer",
    "Scores",
    "Selection",
    "SparseVector",
    "Stability",
    "exponential_mechanism",
    "permute_and_flip",
]
