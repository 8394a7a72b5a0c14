"""Prefix sums of a histogram by factorisation mechanisms: trees, least squares, the square root, and the optimum."""

from tcdp_sim.ordered.prefix_sums.direct import EachBin, EachPrefix
from tcdp_sim.ordered.prefix_sums.factorisation import Factorisation
from tcdp_sim.ordered.prefix_sums.limits import least_root_mean_square
from tcdp_sim.ordered.prefix_sums.optimum import Optimum
from tcdp_sim.ordered.prefix_sums.sparse_square_root import SparseSquareRoot
from tcdp_sim.ordered.prefix_sums.square_root import SquareRoot
from tcdp_sim.ordered.prefix_sums.tree import Tree
from tcdp_sim.ordered.prefix_sums.weighted_square_root import WeightedSquareRoot
from tcdp_sim.ordered.prefix_sums.weighted_tree import WeightedTree

__all__ = [
    "EachBin",
    "EachPrefix",
    "Factorisation",
    "Optimum",
    "SparseSquareRoot",
    "SquareRoot",
    "Tree",
    "WeightedSquareRoot",
    "WeightedTree",
    "least_root_mean_square",
]
