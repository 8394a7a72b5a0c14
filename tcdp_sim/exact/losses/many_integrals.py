"""Many integrals of one integrand over intervals that differ in their ends and share the panels in between.

Each has the value of `numerics.integrate` for the same panels, to the last bit. If its first round is accurate enough,
the values on whole panels are computed for all integrals at once. Otherwise `integrate` itself is called.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import gauss_sums, integrate

Integrand = Callable[[Any, Floats], Floats]  # parameter, points -> values; broadcasts
_RELATIVE, _FEWEST = 1e-10, 64  # as in `integrate`


def integrate_each(f: Integrand, parameters: Floats, left: Floats, right: Floats, edges: Floats) -> Floats:
    """Return lower ends, estimates and upper ends, shape (3, n), of the integrals of f(parameter, x) over x.

    The parameters and the ends have shape (n,), with n >= 1 and left < right. The panels end at the ascending `edges`.
    """
    first, last = np.searchsorted(edges, left, "right"), np.searchsorted(edges, right)
    inside = first < last  # some edge lies inside
    if len(left) == 1:
        panels = np.concatenate([left, edges[first[0] : last[0]], right])
        return np.array(integrate(lambda x: f(parameters[0], x), panels))[:, None]
    shared = edges[first[inside].min() : last[inside].max()] if inside.any() else edges[:0]
    starts = _errors(f, parameters, left[:, None], np.where(inside, edges[first % len(edges)], right)[:, None])
    middles = _errors(f, parameters, shared[:-1], shared[1:])
    ends = _errors(f, parameters, np.where(inside, edges[last - 1], left)[:, None], right[:, None])
    fine, error = (np.concatenate(parts, axis=1) for parts in zip(starts, middles, ends))
    rows = np.empty((len(left), 3))
    for j, (a, b) in enumerate(zip(first, last)):
        panels = np.concatenate([left[j : j + 1], edges[a:b], right[j : j + 1]])
        skipped = np.searchsorted(shared, panels[1])
        kept = [0, *range(1 + skipped, skipped + b - a), fine.shape[1] - 1] if a < b else [0]
        rows[j] = _settled(fine[j, kept], error[j, kept]) or integrate(lambda x: f(parameters[j], x), panels)  # noqa: B023
    return rows.T


def _errors(f: Integrand, parameters: Floats, left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """Return integrals over panels and bounds of their errors, shape (n, panels), for one row of panels or n rows."""
    own = left.ndim == 2

    def values(points: Floats) -> Floats:
        x = points.ravel()
        if own:
            return f(np.repeat(parameters, points.shape[-1]), x).reshape(points.shape)
        shape = (len(parameters), *points.shape)
        return np.broadcast_to(f(parameters[:, None], x), (len(parameters), len(x))).reshape(shape)

    (fine, size), (coarse, _) = (gauss_sums(values, left, right, nodes) for nodes in (20, 10))
    return fine, np.abs(fine - coarse) + 1e-14 * size


def _settled(fine: Floats, error: Floats) -> tuple[float, float, float] | None:
    """Return the bounds of an integral from the bounds of its panels, or None if panels have to be halved."""
    total = fine.sum()
    if not (error <= _RELATIVE * abs(total) / max(len(fine), _FEWEST)).all():
        return None
    bound = error.sum()
    return total - bound, total, total + bound
