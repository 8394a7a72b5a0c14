"""The likelihood ratio of one step with Gaussian noise, spread to the points of a grid.

The ratio is Y = exp(s x - s^2 / 2), for a standard normal x and s = 1 / sigma: log-normal with mean 1. The P-law of Y,
with density y f(y), is the law of a step in which the record takes part.
"""

from dataclasses import dataclass
from math import exp

import numpy as np
from scipy.special import ndtr

from tcdp_sim.core.arrays import Floats

_EDGE = 1e-14  # relative error of the tails of the normal law, and of an edge of a cell
_STEEP = 30.0  # of b h: the bound on a mean's distance is then far above h


@dataclass(frozen=True)
class Step:
    """The spread law of Y, on the points 0, h, 2h, ... of the grid.

    - `width`: h.
    - `mass`: the probability of each point.
    - `down`, `up`: the mass times a bound on the distance by which the mean of Y lies below or above the point.
    - `rounding`: the mass times a bound on the distance that rounding may add.
    - `beyond`: the probability of values above the grid, under Q and under P.
    """

    width: float
    mass: Floats
    down: Floats
    up: Floats
    rounding: Floats
    beyond: tuple[float, float]


def spread(sigma: float, width: float, cells: int) -> Step:
    """Return the law of Y, with every cell of the grid spread to its two ends so that its mean stays."""
    s = 1 / sigma
    edge = np.asarray(np.arange(cells + 1) * width, np.float64)
    with np.errstate(divide="ignore"):
        z = np.log(edge) / s + 0.5 * s
    mass, error = between(z, 0.0)
    moment, error_of_moment = between(z, s)
    right = np.clip((moment - edge[:-1] * mass) / width, 0.0, mass)
    points = np.zeros(cells + 1)
    points[:-1] += mass - right
    points[1:] += right
    with np.errstate(invalid="ignore"):
        near = np.where(np.isfinite(z), np.exp(-0.5 * z * z) * (1 + np.abs(z) + s) / s, 0.0)
    moved = edge[1:] * error + error_of_moment + _EDGE * np.maximum(edge[1:] * near[1:], edge[:-1] * near[:-1])
    rounding = np.zeros(cells + 1)
    rounding[:-1] += moved
    rounding[1:] += moved
    distance = points * _distance(edge, width, s)
    down, up = distance.copy(), distance
    down[0] = 0.0  # no mean is below 0
    up[0] = min(points[0] * width, 1.0)  # E Y = 1
    return Step(width, points, down, up, rounding, (float(ndtr(-z[-1])), float(ndtr(s - z[-1]))))


def between(z: Floats, shift: float) -> tuple[Floats, Floats]:
    """Return the probability that a normal variable with mean `shift` is in each cell, and a bound on the error."""
    below, above = ndtr(z - shift), ndtr(shift - z)
    upper = z[:-1] > shift
    tail = np.where(upper, above[:-1], below[1:])
    return np.maximum(np.where(upper, above[:-1] - above[1:], below[1:] - below[:-1]), 0.0), _EDGE * tail


def _distance(point: Floats, width: float, s: float) -> Floats:
    """Return a bound on the distance of each point from the mean of Y given that it was spread to the point.

    The density within h of the point is f, and its share of the point falls linearly. If |(log f)'| <= b there, the
    mean is at most b e^(2bh) h^2 / 6 away, because the part of the density that is even in the distance changes by a
    factor of e^(2bh) at most, and its quotient with the odd part is at most tanh(b u) at the distance u.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = [np.abs(1 + (np.log(np.maximum(point + way, 0.0)) / s + 0.5 * s) / s) for way in (-width, width)]
        b = np.maximum(*ends) / np.maximum(point - width, 0.0)
    b = np.minimum(np.where(np.isnan(b), np.inf, b), _STEEP / width)
    return np.minimum(b * width**2 / 6 * np.exp(2 * b * width), width)


def mean_square(sigma: float) -> float:
    """Return E Y^2."""
    return exp(1 / sigma**2)
