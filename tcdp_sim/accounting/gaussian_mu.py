"""The least mu of Gaussian DP that a list satisfies, by branch and bound over epsilon.

A list is mu-GDP if delta(epsilon) <= G_mu(epsilon) at every epsilon >= 0 in both directions, with the profile G_mu of a
normal law moved by mu standard deviations (Dong, Roth, Su 2022 [DRS22], Corollary 1). Both profiles are convex in a =
e^epsilon. So on a cell of epsilons the list lies below its chord, and the least mu for the chord is an upper end; the
least mu at an epsilon is a lower end.
"""

from collections.abc import Callable
from heapq import heapify, heappush, heapreplace
from itertools import pairwise
from math import exp, expm1, inf, log, sqrt

import numpy as np
from scipy.special import ndtri

from tcdp_sim.accounting.brackets import cases_of_list, least_delta, least_epsilon
from tcdp_sim.accounting.composed_pairs import Entries
from tcdp_sim.accounting.releases.additive import gaussian_ratio
from tcdp_sim.accounting.releases.release import Release
from tcdp_sim.accounting.releases.sampled import Sampled
from tcdp_sim.core.numerics import ULP, Bounds, root
from tcdp_sim.exact.losses.lists import infinite
from tcdp_sim.noise import Gaussian

_PLACES = 24  # at first
_MOST = 150  # cells that are divided
_ROUGH, _FINE, _PART = 1e-3, 1e-7, 0.02  # relative tolerances of a delta: largest, least, over that of mu
_OPEN = 0.9
_ROUNDING = 1e-12  # relative error of a root, and of the height of a chord
_FARTHEST = 600.0  # e^epsilon is a float
_LEAST, _LARGEST = 1e-150, 1e6  # values of mu
Point = tuple[float, Bounds]  # epsilon and delta there


def least_mu(entries: Entries, relation: str | None, delta: float, width: float) -> Bounds:
    """Return the least mu with delta(epsilon) <= max(G_mu(epsilon), delta) at every epsilon >= 0, to a width."""
    if not entries:
        return Bounds(0.0, 0.0, 0.0)
    if not delta:
        known = _of_gaussians(entries)
        if known is not None:
            return known
    last = least_epsilon(entries, relation, delta, 1e-6).upper
    if last == inf:
        cases = cases_of_list(entries, relation, True)
        if delta or any(infinite(way)[0] for case in cases for way in case):
            return Bounds(0.0 if delta else inf, inf, inf)
        raise ValueError("delta = 0 is not valid for this list, whose losses have no bound; valid: 0 < delta < 1")
    if last == 0:
        return Bounds(0.0, 0.0, 0.0)
    if last > _FARTHEST:
        raise ValueError(f"epsilon = {last:.6g} at delta = {delta:g} is too large; valid: at most {_FARTHEST:g} nats")
    return _searched(entries, relation, last, width)


def _of_gaussians(entries: Entries) -> Bounds | None:
    """Return mu of a list of Gaussian noise alone, None for other lists.

    A sample of the records is no worse than all of them. It is as bad at the largest losses, where the record is in
    every sample: delta is then smaller by a factor alone, and mu is the same.
    """
    square = 0.0
    for release, times in entries:
        base = release.release if isinstance(release, Sampled) and release.is_poisson else release
        ratio = gaussian_ratio(base) if isinstance(base, Release) else None
        if ratio is None:
            return None
        square += times * ratio**2 if not isinstance(release, Sampled) or release.sampling_probability else 0.0
    mu = sqrt(square)
    return Bounds(mu * (1 - 8 * ULP), mu, mu * (1 + 8 * ULP))


def _searched(entries: Entries, relation: str | None, last: float, width: float) -> Bounds:
    """Return the ends by dividing the cell that may have the largest mu."""

    def at(epsilon: float, share: float) -> Point:
        return epsilon, least_delta(entries, relation, epsilon, share)

    points = [at(float(place), _ROUGH) for place in np.linspace(0, last, _PLACES + 1)]
    low = max(_mu_of_point(e, found.lower) for e, found in points)
    cells = [(-_mu_of_cell(*pair), *pair) for pair in pairwise(points)]
    heapify(cells)
    for _ in range(_MOST):
        most, start, end = cells[0]
        if -most - low <= width:
            break
        share = min(max(_PART * (-most - low) / max(low, width), _FINE), _ROUGH)
        first, middle, final = (at(e, share) for e in (start[0], 0.5 * (start[0] + end[0]), end[0]))
        low = max(low, *(_mu_of_point(e, found.lower) for e, found in (first, middle, final)))
        if _mu_of_point(middle[0], middle[1].upper) - low > _OPEN * (-most - low):  # the pairs leave it open
            break
        heapreplace(cells, (-_mu_of_cell(first, middle), first, middle))
        heappush(cells, (-_mu_of_cell(middle, final), middle, final))
    high = max(-cells[0][0], low)
    return Bounds(low, 0.5 * (low + high), high)


def _profile(mu: float, epsilon: float) -> Bounds:
    """Return G_mu(epsilon) with its rounding errors."""
    low, middle, high = Gaussian(1 / mu).closed_hockey_stick(1.0, np.array([epsilon]))
    return Bounds(float(low[0]), float(middle[0]), float(high[0]))


def _mu_of_point(epsilon: float, delta: float) -> float:
    """Return a mu, from below, with G_mu(epsilon) = delta; 0 for hardly any delta."""
    if delta <= _profile(_LEAST, epsilon).upper:
        return 0.0
    found = _root(lambda mu: _profile(mu, epsilon).upper - delta)
    return found * (1 - _ROUNDING) if found < inf else _LARGEST


def _mu_of_cell(start: Point, end: Point) -> float:
    """Return the least mu, from above, with G_mu above the chord of a cell: at its ends, and where it comes nearest."""
    (first, begin), (last, finish) = (start[0], start[1].upper), (end[0], end[1].upper)
    slope = (finish - begin) / (exp(first) * expm1(last - first))

    def room(mu: float) -> float:
        touch = -mu * (float(ndtri(min(-slope, 1.0))) + 0.5 * mu) if slope < 0 else last
        touch = min(max(touch, first), last)
        return _profile(mu, touch).lower - (begin + slope * exp(first) * expm1(touch - first)) * (1 + _ROUNDING)

    return _root(room) * (1 + _ROUNDING) if room(_LEAST) < 0 else _LEAST


def _root(rising: Callable[[float], float]) -> float:
    """Return the mu at which a function that rises with it from below 0 is 0; inf if it is above all that are tried."""
    if rising(_LARGEST) <= 0:
        return inf
    return exp(root(lambda x: rising(exp(x)), log(_LEAST), log(_LARGEST), 1e-14))
