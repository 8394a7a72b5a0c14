"""Renyi divergences of a transformed release at a given answer, if its estimator may merge several noisy numbers.

The output g(V) has the density sum of phi(V_i) / |g'(V_i)| over all V_i that g maps to it. Clamping adds an atom at 0.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import real, scalar
from tcdp_sim.core.numerics import Bounds, closed_form, integrate
from tcdp_sim.per_record import TransformedRelease

_REACH = 12.0  # in standard deviations beyond the centres, which the order tilts
_HALVINGS = 60
_ROUNDING, _RELATIVE = 1e-14, 1e-11  # errors of the log of a mean near 1, and of densities
_LARGEST_ORDER = 1e4  # panels can still cover the reach of its tilt


class _Pair(NamedTuple):
    """A release with V centred at `first`, compared with the same release with V centred at `second`."""

    release: TransformedRelease
    first: float
    second: float


def transformed_renyi(release: TransformedRelease, influence: float, order: ArrayLike, answer: float) -> Bounds[Any]:
    """Return the larger D_order of both directions in nats between the releases of answer + influence and of answer.

    answer and influence are >= 0, and order is >= 1. The order is at most 10,000 if several noisy numbers, or those
    below 0, are merged.
    """
    orders = np.atleast_1d(np.asarray(real("order", order, 1, closed=True, finite=False)))
    answer, influence = (
        scalar(name, value, 0, closed=True) for name, value in (("answer", answer), ("influence", influence))
    )
    low = float(release.transform.forward(answer))
    step = float(release.transform.rise(influence, start=answer))
    if step == 0:
        bounds: Bounds[Any] = Bounds(*(np.zeros(orders.shape) for _ in range(3)))
    elif release.law.monotone and not release.nonnegative:
        bounds = closed_form(0.5 * (step / release.scale) ** 2 * orders, 1e-14)
    else:
        real("order", orders, 1, _LARGEST_ORDER, closed=True, finite=False)
        pairs = (_Pair(release, low + step, low), _Pair(release, low, low + step))
        rows = [np.array([_divergence(pair, a) for a in orders]) for pair in pairs]
        bounds = Bounds(*np.maximum(*rows).T)
    return bounds if np.ndim(order) else Bounds(*(float(part[0]) for part in bounds))


def _divergence(pair: _Pair, order: float) -> Bounds:
    edges = _edges(pair, order)
    log_ratio_at_zero, log_atom = _atom(pair)
    if order == 1:
        mean = integrate(lambda v: np.exp(_log_density(pair, v)) * _log_ratio(pair, v), edges)
        atom = np.exp(log_atom) * log_ratio_at_zero if log_atom > -np.inf else 0.0
        slack = _ROUNDING + _RELATIVE * (abs(mean.estimate) + abs(atom))  # the mean is below 0 where the atom is above
        return Bounds(mean.lower + atom - slack, mean.estimate + atom, mean.upper + atom + slack).clipped(0.0)
    s = order - 1

    def height(v: Floats) -> Floats:
        return _log_density(pair, v) + s * _log_ratio(pair, v)

    middle = 0.5 * (edges[1:] + edges[:-1])
    top = float(height(middle).max())
    mean = integrate(lambda v: np.exp(height(v) - top), edges)
    atom = np.exp(log_atom + s * log_ratio_at_zero - top) if log_atom > -np.inf else 0.0
    with np.errstate(divide="ignore"):
        parts = ((top + np.log(max(part + atom, 0.0))) / s for part in mean)
        lower, estimate, upper = (float(part) for part in parts)
    slack = _ROUNDING * (1 + abs(top)) / s + _RELATIVE * max(estimate, 0.0)
    return Bounds(lower - slack, estimate, upper + slack).clipped(0.0)


def _edges(pair: _Pair, order: float) -> Floats:
    """Return panels over all V that matter, with edges where clamping ends and where V begin to share outputs."""
    law, scale = pair.release.law, pair.release.scale
    centres = np.array([pair.first, pair.second, pair.first + (order - 1) * (pair.first - pair.second)])
    reach = float(np.abs(centres).max()) + _REACH * scale
    kinks = _preimages(pair, law.value(law.turns()), reach)
    cut = _preimages(pair, np.zeros(1), reach) if pair.release.nonnegative else np.empty(0)
    edges = np.unique(np.concatenate([np.linspace(-reach, reach, 200), kinks.ravel(), law.turns(), cut.ravel()]))
    return edges[np.isfinite(edges)]


def _preimages(pair: _Pair, x: Any, reach: float) -> Floats:
    """Return all V within the reach that g maps to x, one (or NaN) for each piece on which g is monotone."""
    law = pair.release.law
    x = np.asarray(x, dtype=np.float64)[..., None]
    ends = np.concatenate([[-reach], law.turns(), [reach]])
    low, high = (np.broadcast_to(part, (*x.shape[:-1], len(ends) - 1)) for part in (ends[:-1], ends[1:]))
    at_low, at_high = law.value(low), law.value(high)
    crossed = (np.minimum(at_low, at_high) <= x) & (x <= np.maximum(at_low, at_high))
    rising = at_high > at_low
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        up = (law.value(middle) <= x) == rising
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    return np.where(crossed, 0.5 * (low + high), np.nan)


def _log_density(pair: _Pair, v: Floats) -> Floats:
    """Return the log density of V (not of the output) at the first centre, or -inf where the output is clamped."""
    z = (v - pair.first) / pair.release.scale
    height = -0.5 * z * z - np.log(pair.release.scale * np.sqrt(2 * np.pi))
    return np.where(pair.release.law.value(v) > 0, height, -np.inf) if pair.release.nonnegative else height


def _log_ratio(pair: _Pair, v: Floats) -> Floats:
    """Return the privacy loss of the output g(V), in nats."""
    law, scale = pair.release.law, pair.release.scale
    others = _preimages(pair, law.value(v), float(np.abs(v).max()) + scale) if len(law.turns()) else v[:, None].copy()
    lost = np.isnan(others).all(axis=1)  # rounding can leave no preimage near a turn
    others[lost, 0] = v[lost]
    log_slope = np.where(np.isnan(others), np.inf, law.log_slope(np.nan_to_num(others)))
    others = np.nan_to_num(others)
    logs = [
        logsumexp(-0.5 * ((others - centre) / scale) ** 2 - np.maximum(log_slope, -700.0), axis=1)
        for centre in (pair.first, pair.second)
    ]
    return np.asarray(logs[0] - logs[1])


def _atom(pair: _Pair) -> tuple[float, float]:
    """Return the privacy loss of the output 0 and its log probability at the first centre, or (0, -inf) without it."""
    if not pair.release.nonnegative:
        return 0.0, -np.inf
    masses = [float(pair.release.law.cdf(centre, 0.0)) for centre in (pair.first, pair.second)]
    if masses[0] == 0:
        return 0.0, -np.inf
    return float(np.log(masses[0]) - np.log(max(masses[1], 1e-300))), float(np.log(masses[0]))
