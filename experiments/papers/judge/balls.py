"""The verdict of ball arithmetic on a claim: whether its two sides are rigorously apart."""

from tcdp_sim.experiments.papers.judge.evidence import Kind, Point


def are_apart(kind: Kind, point: Point) -> bool:
    """Return whether the sides contradict a claim of that kind beyond any rounding: left > right, or left != right."""
    left, right = point.left, point.right
    above = left.lower > right.upper
    return above or left.upper < right.lower if kind is Kind.IDENTITY else above
