"""Numbers with error bounds, and quadrature."""

from collections.abc import Sequence
from functools import cache
from math import isnan
from typing import Any, Generic, NamedTuple

import numpy as np
from typing_extensions import TypeVar

from tcdp_sim.core.arrays import Floats, Real, RealFunction

MOST_PANELS = 2**12
TINY = 1e-307  # what may hide beyond the floats: no upper bound of a tail is smaller
ULP = 2.0**-51  # relative: what the rounding of a quotient and of one operation more comes to
T = TypeVar("T", default=float)


class _Ends(NamedTuple, Generic[T]):
    lower: T
    estimate: T
    upper: T


class Bounds(_Ends[T]):
    """A number known to lie in [lower, upper]; estimate is the best guess inside.

    Three floats, or three arrays of one shape: `Bounds[Any]` is what a function returns whose argument may be either.
    An estimate that rounding has carried past an end is moved to that end. Ends may be infinite or NaN (nothing known).
    `+`, `-`, `*`, `/` with other bounds, numbers or arrays, and `log`, round their ends outwards. They treat their
    operands as unrelated, so x - x contains 0 and is not 0. Raises ValueError where lower > upper.
    """

    __slots__ = ()
    __array_priority__ = 1000  # numpy leaves arithmetic with bounds to the bounds

    def __new__(cls, lower: T, estimate: T, upper: T) -> "Bounds[T]":
        if np.any(np.greater(lower, upper)):  # type: ignore[call-overload]
            raise ValueError(f"no number lies between {lower} and {upper}; valid bounds: lower <= upper")
        return super().__new__(cls, lower, _between(lower, estimate, upper), upper)  # type: ignore[type-var]

    def clipped(self, least: float = -np.inf, most: float = np.inf) -> "Bounds[T]":
        """Bounds of a quantity that is known to lie in [least, most], such as a probability in [0, 1]."""
        return Bounds(*(_between(least, part, most) for part in self))

    def log(self) -> "Bounds[T]":
        """Bounds of the natural logarithm; -inf at an end that is 0. Raises ValueError for an end below 0."""
        if np.any(np.asarray(self.lower) < 0):
            raise ValueError(f"the logarithm of bounds that begin at {self.lower} is not real; valid: lower >= 0")
        with np.errstate(divide="ignore"):
            low, middle, high = (np.log(part) for part in self)  # type: ignore[call-overload]
        slack = 2 * np.spacing(np.abs(low)), 2 * np.spacing(np.abs(high))
        low = np.where(np.isfinite(low) & np.not_equal(low, 0), low - slack[0], low)
        high = np.where(np.isfinite(high) & np.not_equal(high, 0), high + slack[1], high)
        return _bounds(low, middle, high)

    def __neg__(self) -> "Bounds[T]":
        return Bounds(-self.upper, -self.estimate, -self.lower)  # type: ignore[operator]

    def __add__(self, other: Any) -> "Bounds[T]":  # not the concatenation of tuples
        other = _exactly(other)
        low, middle, high = (_outwards(np.add, a, b, to) for a, b, to in zip(self, other, (-np.inf, 0, np.inf)))
        return _bounds(low, middle, high)

    def __sub__(self, other: Any) -> "Bounds[T]":
        return self + -_exactly(other)

    def __mul__(self, other: Any) -> "Bounds[T]":
        return _hull(np.multiply, self, _exactly(other))

    def __truediv__(self, other: Any) -> "Bounds[T]":
        """Raises ValueError where the divisor's bounds contain 0."""
        other = _exactly(other)
        if np.any(np.less_equal(other.lower, 0) & np.greater_equal(other.upper, 0)):
            raise ValueError(f"cannot divide by bounds that contain 0: [{other.lower}, {other.upper}]")
        return _hull(np.divide, self, other)

    def __radd__(self, other: Any) -> "Bounds[T]":
        return self + other

    def __rsub__(self, other: Any) -> "Bounds[T]":
        return _exactly(other) - self

    def __rmul__(self, other: Any) -> "Bounds[T]":
        return self * other

    def __rtruediv__(self, other: Any) -> "Bounds[T]":
        return _exactly(other) / self


def _between(lower: Any, value: Any, upper: Any) -> Any:
    """The value, or the end that it has crossed; ends and values that are NaN stay as they are."""
    if isinstance(value, float):
        return value if isnan(lower) or isnan(upper) else max(min(value, upper), lower)
    with np.errstate(invalid="ignore"):
        return np.where(np.less(value, lower), lower, np.where(np.greater(value, upper), upper, value))[()]


def _exactly(value: Any) -> Bounds[Any]:
    """Bounds as they are; a number or an array as bounds of width zero."""
    if isinstance(value, Bounds):
        return value
    plain = np.asarray(value, dtype=np.float64)[()]
    return Bounds(plain, plain, plain)


def _hull(operation: Any, one: Bounds[Any], other: Bounds[Any]) -> Bounds[Any]:
    """Bounds of a product or quotient: it is monotone in each operand, so its extremes lie at the four corners."""
    corners = [(a, b) for a in one[::2] for b in other[::2]]
    low = np.minimum.reduce([_outwards(operation, a, b, -np.inf) for a, b in corners])
    high = np.maximum.reduce([_outwards(operation, a, b, np.inf) for a, b in corners])
    return _bounds(low, _outwards(operation, one.estimate, other.estimate, 0), high)


def _outwards(operation: Any, a: Any, b: Any, to: float) -> Any:
    """operation(a, b), moved one float towards -inf or inf where it may be rounded; nearest for to = 0."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore", divide="ignore"):
        value = operation(a, b)
        infinite = np.isinf(a) | np.isinf(b)
        undefined = np.isnan(value) & ~np.isnan(a) & ~np.isnan(b)  # 0 * inf, inf / inf: any number of that sign
        sign = np.copysign(1.0, a) * np.copysign(1.0, b)
    if operation is np.multiply:
        value = np.where(undefined, 0.0, value)  # an end that is 0 is 0, however large the other factor
    elif operation is np.divide:
        value = np.where(undefined, np.where(sign == np.sign(to), sign * np.inf, 0.0), value)
    if to == 0:
        return value
    zero = np.equal(a, 0) | np.equal(b, 0)
    underflow = np.equal(value, 0) & (np.signbit(value) == (to > 0))  # 0 lies on the outer side of it
    with np.errstate(over="ignore", under="ignore"):
        return np.where(infinite | zero | underflow, value, np.nextafter(value, to))


def _bounds(low: Any, middle: Any, high: Any) -> Bounds[Any]:
    return Bounds(low, middle, high) if np.ndim(low) else Bounds(float(low), float(middle), float(high))


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


def gauss_sums(f: RealFunction, left: Floats, right: Floats, nodes: int) -> tuple[Floats, Floats]:
    """Return the Gauss-Legendre rule's values for the integrals of f and of |f| over every panel.

    left, right: ends of the panels, of any shape; f: points of that shape and one axis more, the nodes -> values there.
    """
    x, weight = _rule(nodes)
    half = 0.5 * (right - left)
    values = f((left + half)[..., None] + half[..., None] * x)
    return half * (values * weight).sum(axis=-1), half * (np.abs(values) * weight).sum(axis=-1)


def _gauss(f: RealFunction, left: Floats, right: Floats, nodes: int) -> tuple[Floats, Floats]:
    return gauss_sums(lambda points: f(points.ravel()).reshape(points.shape), left, right, nodes)
