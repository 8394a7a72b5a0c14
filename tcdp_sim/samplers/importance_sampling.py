"""Importance sampling of an integral over the real line, with a small relative error however small the integral is.

The proposal is a step function close above the integrand. It is sampled exactly, and a draw has the value integrand
over step, times the area under the steps. This value is bounded and nearly constant; exponential tilting achieves that
for Gaussian noise only. The mean is right for any steps, which affect the spread alone.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats, RealFunction

SPREAD = 0.05  # (area between steps and integrand) / integral, about the relative standard deviation of a draw
MOST_STEPS = 2**13
ROUNDS = 60
LARGEST = 1e150  # the squares of larger draws, and so the standard error, would overflow
NEGLIGIBLE = 40.0  # an integrand below e^-40 of its peak has negligible mass beyond the node


@dataclass(frozen=True, eq=False)
class ImportanceSampler:
    """A sampler of numbers whose mean is the integral of e^log_f, as `fit_importance_sampler` constructs it.

    If the integral is below 1e-150, the draws are right but their squares underflow. Scale them before you compute a
    standard error.

    `edges`: the edges of the steps, ascending, shape (n + 1,). `heights`: the logs of the heights of the steps, shape
    (n,). `area`: the area under the steps: 0 if the integrand vanishes, inf if its integral is infinite or above 1e150.
    """

    log_f: RealFunction
    edges: Floats
    heights: Floats
    area: float

    def sample(self, size: int, *, rng: np.random.Generator) -> Floats:
        """Return independent non-negative numbers whose mean is the integral."""
        if not 0 < self.area < np.inf:
            return np.full(size, self.area)
        return self.area * np.exp(self.points(size, rng=rng)[1])

    def points(self, size: int, *, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return independent points of the proposal and log(integrand / step) there.

        The integrand over the proposal's density is the area times the exponential of the second array.
        """
        width = np.diff(self.edges)
        below = np.cumsum(width * np.exp(self.heights - self.heights.max()))
        step = np.searchsorted(below, rng.random(size) * below[-1], side="right")
        step = np.minimum(step, len(width) - 1)  # the product may round up to the total
        x = self.edges[step] + width[step] * rng.random(size)
        return x, _known(self.log_f, x) - self.heights[step]


def fit_importance_sampler(log_f: RealFunction, nodes: ArrayLike) -> ImportanceSampler:
    """Return an importance sampler for the integral of e^log_f, with steps that are halved until they fit.

    `log_f`: the log of a non-negative function, vectorised; -inf and NaN mean zero. `nodes`: points that enclose the
    mass of the integrand, dense enough to miss no peak. An integrand that has not fallen to e^-40 of its peak at both
    ends counts as having an infinite integral.
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
            return ImportanceSampler(
                log_f, edges, heights, float(np.exp(log_area)) if log_area < np.log(LARGEST) else np.inf
            )
        where = np.flatnonzero(split)
        edges = np.insert(edges, where + 1, middle[where])
        values = np.insert(values, where + 1, inner[where])
    return ImportanceSampler(log_f, edges, heights, 0.0 if top == -np.inf else np.inf)


def _known(log_f: RealFunction, x: Floats) -> Floats:
    with np.errstate(all="ignore"):
        values = log_f(x)
    return np.where(np.isnan(values), -np.inf, values)
