"""The law of a privacy loss whose profile goes through given points."""

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import TINY
from tcdp_sim.exact.losses.grid_law import AtomicLoss

_RELATIVE = 1e-12  # error of a mass, from the second differences of heights


def profile_law(places: Floats, heights: Floats) -> AtomicLoss:
    """Return the law with the largest convex profile below the heights at evenly spaced epsilons, and chords between.

    It dominates every pair whose profile is at most the heights there: chords lie above a convex profile. What is left
    at the last place is the probability of an infinite loss.
    """
    a, h = np.append(0.0, np.exp(places)), np.append(1.0, heights)
    kept = _convex(a, h)
    a, h, loss = a[kept], h[kept], np.append(-np.inf, places)[kept]
    slopes = np.append(np.diff(h) / np.diff(a), 0.0)
    mass = np.maximum(np.diff(slopes), 0.0) * a[1:]
    loss, lost = loss[1:], float(h[-1])
    mass *= max(1.0, (1 - lost) / max(float(mass.sum()), TINY))
    held = mass > 0
    spacing = float((places[-1] - places[0]) / (len(places) - 1))
    slack = 4e-15 * float(np.abs(places).max())
    return AtomicLoss(loss[held], mass[held], (0.0, lost), spacing, _RELATIVE, slack)


def _convex(x: Floats, y: Floats) -> list[int]:
    """Return the vertices of the largest convex function below points with ascending x."""
    kept: list[int] = []
    for i in range(len(x)):
        while len(kept) > 1 and _is_above(kept[-1], kept[-2], i, x, y):
            kept.pop()
        kept.append(i)
    return kept


def _is_above(middle: int, first: int, last: int, x: Floats, y: Floats) -> bool:
    """Return True if the middle point is on or above the chord of the others."""
    return bool((y[middle] - y[first]) * (x[last] - x[middle]) >= (y[last] - y[middle]) * (x[middle] - x[first]))
