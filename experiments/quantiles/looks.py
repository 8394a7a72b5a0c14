"""Names of the methods, entries of legends, and the columns that cells must share."""

from collections.abc import Iterable

from tcdp_sim.report.looks import method_look
from tcdp_sim.report.plots import line_key

PRIVACY = ("rho", "omega", "epsilon", "delta")
TARGET = ("rho", "epsilon", "delta")  # cells with another omega are compared, because methods gain by it or do not
NAMES = {
    "independent": "independent exponential mechanisms",
    "recursive": "AQ, recursive",
    "joint": "JointExp",
    "above_threshold": "above-threshold",
    "slices": "SliceQuantiles",
    "tree_search": "search in a deep noisy tree",
    "tree_2": "binary tree",
    "least_squares_2": "binary tree, least squares",
    "least_squares_16": "16-ary tree, least squares",
    "square_root": "square-root factorisation",
    "interior_points": "interior points",
}
SHORT = {
    "independent": "indep.",
    "recursive": "AQ",
    "joint": "Joint",
    "above_threshold": "above",
    "slices": "slices",
    "tree_search": "deep tree",
    "tree_2": "tree 2",
    "least_squares_2": "LS tree",
    "least_squares_16": "LS tree 16",
    "square_root": "sq. root",
    "interior_points": "interior",
}


def legend_keys(methods: Iterable[str]) -> dict[str, object]:
    """Return legend entries of methods, by their names."""
    return {NAMES[method]: line_key(**method_look(method)) for method in methods}
