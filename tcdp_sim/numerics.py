"""Numbers with error bounds, and quadrature."""

from collections.abc import Sequence
from functools import cache
from typing import Any, Generic, NamedTuple

import numpy as np
from typing_extensions import TypeVar

from tcdp_sim.arrays import Floats, Real, RealFunction

MOST_PANELS = 2**12
TINY = 1e-307  # what may hide beyond the floats: no upper bound of a tail is smaller
ULP = 2.0**-51  # relative: what the rounding of a quotient and of one operation more comes to
T = TypeVar("T", default=float)


class Bounds(NamedTuple, Generic[T]):
    """A certified number: the truth lies in [lower, upper]; estimate is the best guess inside.

    Three floats, or three arrays of one shape: `Bounds[Any]` is what a function gives whose argument may be either.
    """

    lower: T
    estimate: T
    upper: T


ArrayBounds = Bounds[Floats]


def closed_form(value: Real, relative_error: float = 1e-11) -> Bounds[Any]:
    """Bounds around a closed form evaluated in double precision, a number or an array; relative_error >= 0."""
    slack = np.abs(value) * relative_error
    return Bounds(value - slack, value, value + slack)


def rounded(value: Floats, error: Floats) -> ArrayBounds:
    """Bounds around a value >= 0 whose error, absolute, is known; shapes (n,)."""
    return Bounds(np.maximum(value - error, 0.0), np.maximum(value, 0.0), np.maximum(value, 0.0) + error)


def integrate(f: RealFunction, edges: Sequence[float] | Floats, relative: float = 1e-10, rounds: int = 60) -> Bounds:
    """The integral of a vectorised real function over [edges[0], edges[-1]], with an error bound.

    Gauss-Legendre with 20 nodes on every panel between successive edges; the bound is the distance to the
    10-node rule, which for smooth integrands exceeds the error of the 20-node rule by orders of magnitude. Panels
    whose bound is more than their share of `relative` times the integral are halved, all at once, until none is
    left, or `rounds` are over, or more than MOST_PANELS are left (then the bounds are wide, and say so). Put an edge
    wherever f has a kink or jump, and edges around every narrow peak: a panel that looks smooth at 30 nodes is
    believed. The bound counts the rounding of the sum, not that of f itself.
    edges: at least two, finite, in any order; relative: > 0, of the whole integral. Nothing is raised: where f gives
    NaN, so do the bounds.
    """
    panels = np.unique(np.asarray(edges, dtype=np.float64))
    left, right = panels[:-1], panels[1:]
    total = bound = 0.0
    for _ in range(rounds):
        fine, size = _gauss(f, left, right, 20)
        error = np.abs(fine - _gauss(f, left, right, 10)[0]) + 1e-14 * size
        scale = abs(total + fine.sum())
        middle = 0.5 * (left + right)
        done = (error <= relative * scale / max(len(panels), 64)) | (middle <= left) | (middle >= right)
        if len(left) > MOST_PANELS:  # noise, NaN, or an integral of zero: halving would go on until memory is full
            done[:] = True
        total += fine[done].sum()
        bound += error[done].sum()
        left, middle, right = left[~done], middle[~done], right[~done]
        fine, error = fine[~done], error[~done]
        if done.all():
            break
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
    total += fine.sum()
    bound += error.sum()
    return Bounds(total - bound, total, total + bound)


def gauss_panels(edges: Floats, nodes: int) -> tuple[Floats, Floats]:
    """Nodes and weights of the Gauss-Legendre rule on every panel between successive edges, both flat.

    edges: shape (panels + 1,), ascending; nodes: of every panel, at least 1.
    """
    x, weight = _rule(nodes)
    half = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half + half * x).ravel(), (half * weight).ravel()


@cache
def _rule(nodes: int) -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(nodes)


def _gauss(f: RealFunction, left: Floats, right: Floats, nodes: int) -> tuple[Floats, Floats]:
    """The rule's value for the integrals of f and of |f| over every panel."""
    x, weight = _rule(nodes)
    half = 0.5 * (right - left)
    points = (left + half)[:, None] + half[:, None] * x
    values = f(points.ravel()).reshape(points.shape)
    return half * (values * weight).sum(axis=1), half * (np.abs(values) * weight).sum(axis=1)
