"""Methods that release many quantiles of records on a line, at equal privacy."""

from tcdp_sim.quantiles.above_threshold import AboveThreshold
from tcdp_sim.quantiles.budget import epsilon_share
from tcdp_sim.quantiles.from_prefix_sums import FromPrefixSums
from tcdp_sim.quantiles.independent import Independent
from tcdp_sim.quantiles.interior_points import InteriorPoints
from tcdp_sim.quantiles.joint import Joint
from tcdp_sim.quantiles.line import Line
from tcdp_sim.quantiles.method import Method, even_levels
from tcdp_sim.quantiles.recursive import Recursive
from tcdp_sim.quantiles.slices import Slices
from tcdp_sim.quantiles.tree_search import TreeSearch

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
    "epsilon_share",
    "even_levels",
]
