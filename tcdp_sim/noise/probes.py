"""The outputs at which the contract of a noise looks, and the form of its complaints."""

from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Floats

TAILS = np.array(
    [0.4999, 0.45, 0.35, 0.25, 0.15, 0.08, 0.02, 1e-3, 1e-4, 1e-6, 1e-9, 1e-13, 1e-20, 1e-40, 1e-80, 1e-150]
)
CLOSE = 1e-6  # relative distance of two tails, or of a mass and its integral
OF_LOGS = 1e-8  # the same for logarithms, relative to 1 + their size
LEAST = 1e-300  # no smaller probability is compared
STREAM = "c0" * 32  # of the draws that are checked


def positive(noise: Any) -> Floats:
    """Return the different outputs above 0 at the tail probabilities TAILS, ascending."""
    x = np.unique(np.asarray(noise.isf(TAILS), dtype=float))
    return x[(x > 0) & (x < 1e300)]


def both_sides(noise: Any) -> Floats:
    """Return these outputs and their negatives, ascending."""
    x = positive(noise)
    return np.concatenate([-x[::-1], x])


def first(bad: Any) -> int | None:
    """Return the first index at which an array is True, or None."""
    found = np.flatnonzero(bad)
    return int(found[0]) if len(found) else None


def line(noise: Any, method: str, given: Any, found: Any, right: str) -> str:
    """Return the complaint about one value of a method."""
    value = f"{float(found):.10g}" if np.ndim(found) == 0 else repr(found)
    return f"{type(noise).__name__}.{method}({given}) is {value}; valid: {right}"
