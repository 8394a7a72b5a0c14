"""Importance sampling of an integral over the line: independent numbers whose mean is the integral, however small.

The proposal is a step function that lies close above the integrand: it is drawn from exactly, and every draw is worth
the integrand over the step, times the area under the steps. That is bounded and nearly constant, where exponential
tilting is so for Gaussian noise only, and any steps give the right mean: they decide about the spread alone.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats, RealFunction

SPREAD = 0.05  # the area between steps and integrand over the integral: about the relative standard deviation
MOST_STEPS = 2**13
ROUNDS = 60
LARGEST = 1e150  # whose square, and so the standard error, is still a number
NEGLIGIBLE = 40.0  # an integrand that ends e^-40 below its peak has been seen to its end


@dataclass(frozen=True, eq=False)
class Importance:
    """Draws whose mean is the integral of e^log_f. Made by `importance`.

    edges: of the steps, ascending, shape (n + 1,); heights: log of the steps, shape (n,); area: under the steps, 0 if
    the integrand vanishes, inf if its integral is infinite or above 1e150. (Below 1e-150 the draws are right, but
    their squares underflow: take standard errors after scaling.)
    """

    log_f: RealFunction
    edges: Floats
    heights: Floats
    area: float

    def sample(self, rng: np.random.Generator, size: int) -> Floats:
        """`size` independent non-negative numbers whose mean is the integral; all zero or all inf where it is."""
        if not 0 < self.area < np.inf:
            return np.full(size, self.area)
        width = np.diff(self.edges)
        below = np.cumsum(width * np.exp(self.heights - self.heights.max()))
        step = np.searchsorted(below, rng.random(size) * below[-1], side="right")
        step = np.minimum(step, len(width) - 1)  # rounding of the product
        x = self.edges[step] + width[step] * rng.random(size)
        return self.area * np.exp(_known(self.log_f, x) - self.heights[step])


def importance(log_f: RealFunction, nodes: ArrayLike) -> Importance:
    """Steps around e^log_f, a vectorised log of a non-negative function (-inf or NaN: zero).

    nodes: points between whose first and last the integrand lies, dense enough that no peak is missed; steps are halved
    until they fit. An integrand that has not fallen to e^-40 of its peak at either end has an infinite integral here.
    """
    edges = np.unique(np.asarray(nodes, dtype=np.float64))
    values = _known(log_f, edges)
    for _ in range(ROUNDS):
        middle = 0.5 * (edges[:-1] + edges[1:])
        inner = _known(log_f, middle)
        around = np.stack([values[:-1], inner, values[1:]])
        heights, top = around.max(axis=0), around.max()
        if not np.isfinite(top) or max(values[0], values[-1]) > top - NEGLIGIBLE:
            break
        width = np.diff(edges)
        area = width * np.exp(heights - top)
        spare = area - width * np.exp(around.min(axis=0) - top)
        total = area.sum()
        split = (spare > 0.5 * SPREAD * total / len(width)) & (edges[:-1] < middle) & (middle < edges[1:])
        if spare.sum() <= SPREAD * total or len(edges) > MOST_STEPS or not split.any():
            log_area = top + np.log(total)
            return Importance(log_f, edges, heights, float(np.exp(log_area)) if log_area < np.log(LARGEST) else np.inf)
        where = np.flatnonzero(split)
        edges = np.insert(edges, where + 1, middle[where])
        values = np.insert(values, where + 1, inner[where])
    return Importance(log_f, edges, heights, 0.0 if top == -np.inf else np.inf)


def _known(log_f: RealFunction, x: Floats) -> Floats:
    with np.errstate(all="ignore"):
        values = log_f(x)
    return np.where(np.isnan(values), -np.inf, values)
