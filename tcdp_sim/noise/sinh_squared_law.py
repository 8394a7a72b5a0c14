"""The law of sinh-squared noise over its knee, U = X / knee, whose density is proportional to exp(-sinh^2(u) / 2 c^2).

The number c = scale / knee > 0 may be an array. With v = sinh(u) / c the density is exp(-v^2 / 2). The integral of the
density is a Bessel function, and its tail has no closed form. Below v = _FAR the tail is one half minus an integral of
an entire function, by Gauss-Legendre quadrature. Above, it is exp(-v^2 / 2) times a Laplace transform, by
Gauss-Laguerre quadrature. Both rules are accurate to the last digits: twice as many nodes change nothing.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf, kve, log_ndtr, ndtr, roots_laguerre

from tcdp_sim.core.arrays import Floats, Reals
from tcdp_sim.core.numerics import gauss_panels

_FAR = 2.0  # v from which on the Laguerre rule is accurate
_PANEL = 2.0  # length of u up to which the Legendre rule is accurate
_MOST_STEPS = 80  # limit on the steps of Newton's method, which needs about ten
_END, _PER_UNIT, _DEGREE = 40, 2, 12  # the table of quantiles: largest normal quantile, panels per unit, degree
_MANY = 400  # number of quantiles from which on a table pays
_DEEP = 1e9  # above, v equals the normal quantile to the last digit
_TINY = 1e-9  # c: below, the tail over the density is proportional to c
_LEAST, _LARGEST = 1e-280, 1e6  # z: outside, the Bessel function is its expansion to the last digit


def _laguerre() -> tuple[Floats, Floats]:
    """Return nodes and weights of the Gauss-Laguerre rule of 48 nodes, without the nodes that add less than 1e-20."""
    x, weight = roots_laguerre(48)
    return x[weight > 1e-20], weight[weight > 1e-20]


_LAGUERRE = _laguerre()


def bessel(z: ArrayLike) -> Reals:
    """Return e^z K_0(z) for z > 0; scipy gives NaN from 1e9 on."""
    z = np.asarray(z, dtype=np.float64)
    inverse = 1 / np.maximum(z, _LARGEST)
    large = np.sqrt(0.5 * np.pi * inverse) * (1 - inverse * (1 / 8 - inverse * (9 / 128 - inverse * 225 / 3072)))
    return np.where(z > _LARGEST, large, kve(0, np.clip(z, _LEAST, _LARGEST)))[()]


def mass(c: ArrayLike) -> Reals:
    """Return the integral of exp(-sinh^2(u) / 2 c^2) over all u, which is e^z K_0(z) at z = 1 / (2 c)^2."""
    c = np.asarray(c, dtype=np.float64)
    narrow, wide = np.sqrt(2 * np.pi) * c, np.log(8) + 2 * np.log(c) - np.euler_gamma
    middle = bessel(np.square(0.5 / np.clip(c, _TINY, 1e139)))
    return np.where(c < _TINY, narrow, np.where(c > 1e139, wide, middle))[()]


def tail(u: ArrayLike, v: ArrayLike, c: ArrayLike) -> Floats:
    """Return P[U > u] for u >= 0, where v = sinh(u) / c."""
    u, v, c, area = np.broadcast_arrays(u, v, c, mass(c))
    out, far, near = np.full(u.shape, np.nan), v >= _FAR, v < _FAR
    out[far] = np.exp(_log_far(v[far], c[far], area[far]))
    out[near] = 0.5 - _centre(u[near], c[near]) / area[near]
    return out


def log_tail(u: ArrayLike, v: ArrayLike, c: ArrayLike) -> Floats:
    """Return log P[U > u] for u >= 0, where v = sinh(u) / c."""
    u, v, c, area = np.broadcast_arrays(u, v, c, mass(c))
    out, far, near = np.full(u.shape, np.nan), v >= _FAR, v < _FAR
    out[far] = _log_far(v[far], c[far], area[far])
    out[near] = np.log(0.5 - _centre(u[near], c[near]) / area[near])
    return out


def quantile(y: ArrayLike, c: ArrayLike) -> Floats:
    """Return the u >= 0 with P[U > u] = P[N(0, 1) > y], for y >= 0."""
    values = np.unique(c)
    y, c = np.broadcast_arrays(np.asarray(y, dtype=np.float64), c)
    if y.size < _MANY * len(values):
        return _solved(y, c)
    out = np.empty(y.shape)
    for value in values:
        here = c == value if len(values) > 1 else np.full(y.shape, True)
        out[here] = _looked_up(y[here], float(value))
    return out


def _looked_up(y: Floats, c: float) -> Floats:
    """Return `quantile` by the table where it reaches; shape (n,)."""
    beyond = ~(y < _END)  # NaN as well
    out = _read_off(_table(c), np.where(beyond, 0.0, y))
    out[beyond] = _solved(y[beyond], np.full(int(beyond.sum()), c))
    return out


def _centre(u: Floats, c: Floats) -> Floats:
    """Return the integral of exp(-sinh^2(t) / 2 c^2) over 0 <= t <= u, for sinh(u) / c <= _FAR; shapes (n,)."""
    panels = max(1, int(np.ceil(u.max(initial=0.0) / _PANEL)))
    t, weight = gauss_panels(np.linspace(0, 1, panels + 1), 16)
    v = np.sinh(u[:, None] * t) / c[:, None]
    return np.asarray(u * (np.exp(-0.5 * v * v) @ weight))


def _log_far(v: Floats, c: Floats, area: Floats) -> Floats:
    """Return the log of the tail for v >= _FAR, given the mass (`area`) for c."""
    with np.errstate(over="ignore", divide="ignore"):
        return np.asarray(np.log(_mills(v, c) / area) - 0.5 * v * v)


def _mills(v: Floats, c: Floats) -> Floats:
    """Return the tail over the density at v >= _FAR, both in u; shapes (n,)."""
    x, weight = _LAGUERRE
    least = np.maximum(c, _TINY)
    with np.errstate(over="ignore"):
        squared = np.square(v)[:, None] + 2 * x
        return np.asarray((1 / np.sqrt(squared * (squared + np.square(1 / least)[:, None]))) @ weight * (c / least))


def _solved(y: Floats, c: Floats) -> Floats:
    """Return `quantile` by Newton's method, started on the side from which it cannot overshoot."""
    y, c, shape = y.ravel(), np.asarray(c, dtype=np.float64).ravel(), y.shape
    out = np.where(np.isnan(y), np.nan, np.arcsinh(c * y))
    area = mass(c)
    edge = np.exp(_log_far(np.full(c.shape, _FAR), c, area))
    near, far = ndtr(-y) > edge, (ndtr(-y) <= edge) & (y < _DEEP)
    out[near] = _solved_near(0.5 * erf(y[near] / np.sqrt(2)) * area[near], c[near])
    out[far] = _solved_far(log_ndtr(-y[far]), c[far], area[far])
    return out.reshape(shape)


def _solved_near(goal: Floats, c: Floats) -> Floats:
    """Return the u at which the integral from 0 equals the goal.

    The integral is concave in u, so Newton's method approaches from below.
    """
    u = np.zeros_like(goal)
    for _ in range(_MOST_STEPS):
        v = np.sinh(u) / c
        step = (goal - _centre(u, c)) * np.exp(0.5 * v * v)
        u = u + step
        if (np.abs(step) <= 4e-16 * u).all():
            break
    return u


def _solved_far(goal: Floats, c: Floats, area: Floats) -> Floats:
    """Return the u at which the log of the tail equals the goal.

    The log is concave and below -v^2 / 2, so Newton's method approaches from above.
    """
    u = np.arcsinh(c * np.sqrt(-2 * (goal + np.log(2))))
    for _ in range(_MOST_STEPS):
        v = np.maximum(np.sinh(u) / c, _FAR)
        step = (_log_far(v, c, area) - goal) * _mills(v, c)
        u = u + step
        if (np.abs(step) <= 4e-16 * u).all():
            break
    return u


@lru_cache(maxsize=64)
def _table(c: float) -> Floats:
    """Return coefficients of polynomials, shape (_DEGREE + 1, panels), of quantile(y) / y on each panel of y."""
    t = np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))  # Chebyshev's nodes
    y = (np.arange(_END * _PER_UNIT)[:, None] + 0.5 * (1 + t)) / _PER_UNIT
    ratio = _solved(y, np.full(y.shape, c)) / y
    return np.linalg.solve(np.vander(t, increasing=True), ratio.T)


def _read_off(table: Floats, y: Floats) -> Floats:
    """Return the quantiles that belong to normal quantiles 0 <= y < _END; shape (n,)."""
    panel = (y * _PER_UNIT).astype(np.intp)
    t = 2 * (y * _PER_UNIT - panel) - 1
    ratio = table[-1].take(panel)
    for row in table[-2::-1]:
        ratio *= t
        ratio += row.take(panel)
    return np.asarray(ratio * y)
