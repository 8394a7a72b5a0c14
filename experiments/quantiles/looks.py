"""Names, colours and markers of the methods, the same in every figure, and the columns that cells must share."""

from collections.abc import Iterable

from tcdp_sim.report.looks import COLOURS, MARKERS
from tcdp_sim.report.plots import GREY, line_key

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
PLACES = ("independent", "recursive", "joint", "above_threshold", "tree_search", "least_squares_2", "square_root")
LOOKS = {method: (COLOURS[i], MARKERS[i]) for i, method in enumerate((*PLACES, "interior_points"))}
LOOKS["slices"] = LOOKS["least_squares_2"]  # the two need not be told apart, because their guarantees differ
OTHER = (GREY, "x")  # the look of further methods


def look(method: str) -> tuple[str, str]:
    """Return the colour and the marker of a method."""
    return LOOKS.get(method, OTHER)


def legend_keys(methods: Iterable[str]) -> dict[str, object]:
    """Return legend entries of methods, by their names."""
    return {NAMES[method]: line_key(look(method)[0], marker=look(method)[1]) for method in methods}
