"""Arithmetic of certified numbers that several claims need."""

from tcdp_sim.experiments.papers.judge.evidence import constant

from tcdp_sim.numerics import Bounds

ONE = constant(1.0)


def scaled(bounds: Bounds[float], factor: float) -> Bounds[float]:
    """Bounds of a number >= 0 times a factor > 0, which is known to 1e-15."""
    lower, upper = bounds.lower * factor * (1 - 1e-14), bounds.upper * factor * (1 + 1e-14)
    return Bounds(float(lower), float(bounds.estimate * factor), float(upper))


def plus(first: Bounds[float], second: Bounds[float]) -> Bounds[float]:
    """The sum of two certified numbers."""
    return Bounds(*(float(a + b) for a, b in zip(first, second)))


def times(bounds: Bounds[float], other: Bounds[float]) -> Bounds[float]:
    """The product of two certified numbers >= 0."""
    return Bounds(*(float(a * b) for a, b in zip(bounds, other)))
