"""Numbers with error bounds, and quadrature.

A *bracket* is an interval from quadrature: the distance between two Gauss rules plus a bound on rounding. It is an
a-posteriori error bound and not a proof. docs/explained/brackets.md defines the word.
"""

from collections.abc import Callable, Sequence
from functools import cache
from math import isnan
from typing import Any, Generic, NamedTuple

import numpy as np
from typing_extensions import TypeVar

from tcdp_sim.core.arrays import Floats, Real, RealFunction

MOST_PANELS = 2**12
TINY = 1e-307  # mass that floats may miss: no upper bound of a tail is smaller
ULP = 2.0**-51  # relative rounding of a quotient and one more operation
T = TypeVar("T", default=float)


class _Ends(NamedTuple, Generic[T]):
    lower: T
    estimate: T
    upper: T


class Bounds(_Ends[T]):
    """An interval [lower, upper] for a number, with an estimate inside.

    The ends are a bracket unless the function that returns them says that they are certified
    (docs/explained/brackets.md defines both). Arithmetic with other bounds, numbers or arrays rounds the ends outwards.
    It treats the operands as unrelated, so x - x contains 0 but is wider.

    Parameters
    ----------
    lower : float or ndarray
        The lower end. Ends may be infinite, or NaN if nothing is known.
    estimate : float or ndarray
        The best guess. If it lies beyond an end, as rounding may leave it, it is moved to that end.
    upper : float or ndarray
        The upper end, of the same shape, lower <= upper.

    Notes
    -----
    `Bounds` alone holds floats. `Bounds[Any]` is the return type of a function of numbers or arrays.

    Examples
    --------
    >>> from tcdp_sim.exact import Bounds
    >>> tail = Bounds(0.1, 0.2, 0.3)
    >>> (1 - tail).estimate
    0.8
    >>> (tail * 4).clipped(0.0, 1.0).upper
    1.0
    """

    __slots__ = ()
    __array_priority__ = 1000  # numpy leaves arithmetic with bounds to this class

    def __new__(cls, lower: T, estimate: T, upper: T) -> "Bounds[T]":
        if np.any(np.greater(lower, upper)):  # type: ignore[call-overload]
            raise ValueError(f"no number lies between {lower} and {upper}; valid bounds: lower <= upper")
        return super().__new__(cls, lower, _between(lower, estimate, upper), upper)  # type: ignore[type-var]

    def clipped(self, least: float = -np.inf, most: float = np.inf) -> "Bounds[T]":
        """Return bounds of the same quantity, known to lie in [least, most], such as a probability in [0, 1].

        Parameters
        ----------
        least, most : float
            The range of the quantity.

        Returns
        -------
        Bounds
            The bounds with all three parts moved into the range. An end that is NaN becomes the end of the range, and
            an estimate that is NaN the upper end.
        """
        low, high = _or_else(self.lower, least), _or_else(self.upper, most)
        parts = (low, _or_else(self.estimate, high), high)
        return Bounds(*(_between(least, part, most) for part in parts))

    def log(self) -> "Bounds[T]":
        """Return bounds of the natural logarithm, rounded outwards.

        Returns
        -------
        Bounds
            The bounds in nats, -inf at an end that is 0.
        """
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

    def __add__(self, other: Any) -> "Bounds[T]":  # replaces the concatenation of tuples
        other = _exactly(other)
        low, middle, high = (_outwards(np.add, a, b, to) for a, b, to in zip(self, other, (-np.inf, 0, np.inf)))
        return _bounds(low, middle, high)

    def __sub__(self, other: Any) -> "Bounds[T]":
        return self + -_exactly(other)

    def __mul__(self, other: Any) -> "Bounds[T]":
        return _hull(np.multiply, self, _exactly(other))

    def __truediv__(self, other: Any) -> "Bounds[T]":
        """Return bounds of the quotient. Raises ValueError if the divisor's bounds contain 0."""
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


def _or_else(value: Any, other: Any) -> Any:
    """Return a value, or the other one where it is NaN."""
    if isinstance(value, float):
        return other if isnan(value) else value
    return np.where(np.isnan(value), other, value)[()]


def _between(lower: Any, value: Any, upper: Any) -> Any:
    """Return the value, or the end that it has crossed; NaN ends and values stay as they are."""
    if isinstance(value, float):
        return value if isnan(lower) or isnan(upper) else max(min(value, upper), lower)
    with np.errstate(invalid="ignore"):
        return np.where(np.less(value, lower), lower, np.where(np.greater(value, upper), upper, value))[()]


def _exactly(value: Any) -> Bounds[Any]:
    """Return bounds unchanged, and a number or an array as bounds of width zero."""
    if isinstance(value, Bounds):
        return value
    plain = np.asarray(value, dtype=np.float64)[()]
    return Bounds(plain, plain, plain)


def _hull(operation: Any, one: Bounds[Any], other: Bounds[Any]) -> Bounds[Any]:
    """Return bounds of a product or quotient, which is monotone in each operand and so extreme at the four corners."""
    corners = [(a, b) for a in one[::2] for b in other[::2]]
    low = np.minimum.reduce([_outwards(operation, a, b, -np.inf) for a, b in corners])
    high = np.maximum.reduce([_outwards(operation, a, b, np.inf) for a, b in corners])
    return _bounds(low, _outwards(operation, one.estimate, other.estimate, 0), high)


def _outwards(operation: Any, a: Any, b: Any, to: float) -> Any:
    """Return operation(a, b), moved one float towards -inf or inf where it may be rounded; not moved for to = 0."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore", divide="ignore"):
        value = operation(a, b)
        infinite = np.isinf(a) | np.isinf(b)
        # 0 * inf and inf / inf may be any number of that sign
        undefined = np.isnan(value) & ~np.isnan(a) & ~np.isnan(b)
        sign = np.copysign(1.0, a) * np.copysign(1.0, b)
    if operation is np.multiply:
        value = np.where(undefined, 0.0, value)  # an end of 0 stays 0, however large the other factor
    elif operation is np.divide:
        value = np.where(undefined, np.where(sign == np.sign(to), sign * np.inf, 0.0), value)
    if to == 0:
        return value
    zero = np.equal(a, 0) | np.equal(b, 0)
    # 0 already lies on the outer side of the true value
    underflow = np.equal(value, 0) & (np.signbit(value) == (to > 0))
    with np.errstate(over="ignore", under="ignore"):
        return np.where(infinite | zero | underflow, value, np.nextafter(value, to))


def _bounds(low: Any, middle: Any, high: Any) -> Bounds[Any]:
    """Return bounds of arrays, or of floats for 0-d arrays."""
    return Bounds(low, middle, high) if np.ndim(low) else Bounds(float(low), float(middle), float(high))


ArrayBounds = Bounds[Floats]


def closed_form(value: Real, relative_error: float = 1e-11) -> Bounds[Any]:
    """Return bounds around a closed form evaluated in double precision, a number or an array; relative_error >= 0."""
    slack = np.abs(value) * relative_error
    return Bounds(value - slack, value, value + slack)


def rounded(value: Floats, error: Floats) -> ArrayBounds:
    """Return bounds around a value >= 0 with a known absolute error; shapes (n,)."""
    return Bounds(np.maximum(value - error, 0.0), np.maximum(value, 0.0), np.maximum(value, 0.0) + error)


def integrate(f: RealFunction, edges: Sequence[float] | Floats, relative: float = 1e-10, rounds: int = 60) -> Bounds:
    """Return the integral of a vectorised real function over [edges[0], edges[-1]], as a bracket.

    Every panel between successive edges gets the Gauss-Legendre rule with 20 nodes. The error is bounded by the
    distance to the 10-node rule, plus a bound on the rounding of the sum. For smooth integrands that distance exceeds
    the error of the 20-node rule by orders of magnitude. Panels whose error exceeds their share of the tolerance are
    halved, all at once. This ends if none is left, after `rounds`, or if more than MOST_PANELS are left. In the last
    two cases the result is wide.

    The bracket trusts a panel that looks smooth at 30 nodes, and it does not cover the rounding of `f` itself. Put an
    edge at every kink or jump of `f`, and edges around every narrow peak.

    `f`: a function of a float array, elementwise. `edges`: at least two finite numbers, in any order. `relative`: the
    tolerance relative to the whole integral, > 0. `rounds`: the largest number of halvings.
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
        if len(left) > MOST_PANELS:  # noise, NaN or an integral of zero would be halved until memory is full
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
    """Return nodes and weights of the Gauss-Legendre rule on every panel between successive edges, both flat.

    `edges` is ascending with shape (panels + 1,). `nodes` is the number of nodes in a panel, at least 1.
    """
    x, weight = _rule(nodes)
    half = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half + half * x).ravel(), (half * weight).ravel()


@cache
def _rule(nodes: int) -> tuple[Floats, Floats]:
    """Return nodes and weights of the Gauss-Legendre rule on [-1, 1]."""
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


def root(
    f: Callable[[float], float], low: float, high: float, absolute: float = 2e-12, relative: float = 1e-14
) -> float:
    """Return a place in [low, high] where f changes its sign, by Brent's method.

    scipy.optimize is imported when it is used, because it takes longer to import than all of numpy.
    """
    from scipy.optimize import brentq

    return float(brentq(f, low, high, xtol=absolute, rtol=relative))
