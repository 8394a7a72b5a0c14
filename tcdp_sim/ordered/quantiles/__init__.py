"""Methods that release many quantiles of records on a line, at equal privacy."""

from tcdp_sim.ordered.quantiles.above_threshold import AboveThreshold
from tcdp_sim.ordered.quantiles.from_prefix_sums import FromPrefixSums
from tcdp_sim.ordered.quantiles.independent import Independent
from tcdp_sim.ordered.quantiles.interior_points import InteriorPoints
from tcdp_sim.ordered.quantiles.joint import Joint
from tcdp_sim.ordered.quantiles.line import Line
from tcdp_sim.ordered.quantiles.method import Method
from tcdp_sim.ordered.quantiles.recursive import Recursive
from tcdp_sim.ordered.quantiles.slices import Slices
from tcdp_sim.ordered.quantiles.tree_search import TreeSearch

__all__ = [
    "AboveThreshold",
    "FromPrefixSums",
    "Independent",
    "InteriorPoints",
    "Joint",
    "Line",
    "Method",
    "Recursive",
    "Slices",
    "TreeSearch",
]
