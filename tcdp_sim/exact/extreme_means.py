"""Exact means of the extremes of k independent draws, as integrals of their tails."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds, closed_form, integrate
from tcdp_sim.exact.extremes import log_all_below
from tcdp_sim.noise import Noise

LEAST = 1e-30  # tails beyond are added to the bracket as if they fell like x^(-4/3)
MOST_POINTS = 10**6  # of a lattice, whose tail is a sum instead of an integral
# The expected numbers of draws beyond the edges of panels, between which the tails are smooth.
_BEYOND = np.concatenate([np.geomspace(LEAST, 1e-2, 10)[:-1], np.geomspace(1e-2, 1, 6)[:-1], np.geomspace(1, 60, 7)])


def mean_of_max_abs(noise: Noise, k: float) -> Bounds[float]:
    """Return the mean of the largest absolute value of `k` independent draws, for k in [1, 1e300].

    Raises ValueError for a lattice with too many points.
    """
    edges = np.maximum(_edges(noise, np.log(k) + np.log(2)), 0.0)

    def tail(x: Floats) -> Floats:
        outside = 2 * noise.sf(x)
        with np.errstate(divide="ignore", over="ignore"):
            rare = -np.exp(np.minimum(np.log(k) + np.log(2) + noise.logsf(x), 700.0))
            return -np.expm1(np.where(outside > 1e-290, k * np.log1p(-np.minimum(outside, 1.0)), rare))

    return _integral(noise, tail, np.append(edges, 0.0))


def mean_of_max(noise: Noise, k: float) -> Bounds[float]:
    """Return the mean of the largest of `k` independent draws, for k in [1, 1e300], as `mean_of_max_abs` does."""
    edges = _edges(noise, np.log(k))

    def above(x: Floats) -> Floats:
        return -np.expm1(log_all_below(noise, x, k))

    def below(x: Floats) -> Floats:
        return np.exp(log_all_below(noise, -x, k))

    positive, negative = np.append(np.maximum(edges, 0.0), 0.0), np.append(np.maximum(-edges, 0.0), 0.0)
    return _integral(noise, above, positive) - _integral(noise, below, negative)


def _edges(noise: Noise, log_k: float) -> Floats:
    """Return edges of panels: the points beyond which _BEYOND of e^log_k draws are expected, and the kinks."""
    log_expected = np.log(_BEYOND) - log_k  # of a draw beyond; the probability is 1 - exp(-expected)
    rare = log_expected < np.log(np.log(2))
    with np.errstate(divide="ignore"):
        small = np.where(log_expected < -30, log_expected, np.log(-np.expm1(-np.exp(np.minimum(log_expected, 0.0)))))
    below = -np.exp(log_expected[~rare])  # the log of the probability of a draw that is not beyond
    found = [np.asarray(noise.isf_log(small[rare])), -np.asarray(noise.isf_log(below))]
    kinks = noise.kinks
    return np.concatenate([*found, kinks[np.abs(kinks) <= np.abs(found[0]).max()]])


def _integral(noise: Noise, tail: Callable[[Floats], Floats], edges: Floats) -> Bounds[float]:
    """Return the integral of a tail over positive numbers."""
    top = float(edges.max())
    if not top > 0:
        return Bounds(0.0, 0.0, 0.0)
    found = _sum(noise, tail, top) if noise.is_discrete else integrate(tail, np.unique(edges))
    beyond = top + (noise.step_length or 0.0) / 2 if noise.is_discrete else top  # beside an atom
    rest = 4 * beyond * float(tail(np.array([beyond]))[0])
    return found + Bounds(0.0, 0.0, rest)


def _sum(noise: Any, tail: Callable[[Floats], Floats], top: float) -> Bounds[float]:
    """Return the same for a lattice: the tail is constant between its points."""
    step, first = noise.step_length, noise.offset * noise.step_length
    if top > MOST_POINTS * step:
        raise ValueError(f"a lattice of more than {MOST_POINTS} points is too fine for the mean of its extremes")
    middles = first + step * (np.arange(np.ceil(top / step) + 1) + 0.5)
    total = first * float(tail(np.array([first / 2]))[0]) + step * float(tail(middles).sum())
    return closed_form(total)
