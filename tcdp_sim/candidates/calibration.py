"""The rho of the best of a random number of Gaussian runs, and the least noise of a run for a given rho."""

from collections.abc import Callable
from functools import lru_cache
from math import ceil, exp, inf, log, sqrt

import numpy as np

from tcdp_sim.candidates.gaussian_runs import gaussian_renyi
from tcdp_sim.candidates.theorems import theorem_renyi
from tcdp_sim.candidates.tries import Tries
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import choice, scalar
from tcdp_sim.core.numerics import root

ACCOUNTINGS = ("paper", "tight")
FIRST = 1.005  # the least order of the grid; D_a / a is at most 0.5% larger below it
NEAR, STEP = 1.25, 0.12  # up to NEAR the grid is even in log(a - 1); above, in log a with at most this step
CELLS = 800  # of the sums; the bracket is about 0.1% wide
SHIFTS = (1e-6, 20.0)


def least_rho(shift: float, tries: Tries, omega: float, accounting: str = "tight") -> float:
    """Return a rho for which the best of a random number of Gaussian runs is (rho, omega)-tCDP.

    Let G = (a - 1) D_a with the largest D_a. It is convex and vanishes at 1, so it lies below its chords between the
    orders of a grid.

    Parameters
    ----------
    shift : float
        The sensitivity over the standard deviation of the noise of a run, above 0.
    tries : Tries
        The law of the number of runs.
    omega : float
        The end of the range of orders, above 1, finite.
    accounting : {"tight", "paper"}
        "tight" takes `gaussian_renyi`, or the theorem where that is smaller. "paper" takes `theorem_renyi`.

    Returns
    -------
    float
        rho in nats.

    Examples
    --------
    >>> from tcdp_sim.candidates import tries_of
    >>> tries = tries_of("poisson", 10.0)
    >>> [round(least_rho(0.1, tries, 10.0, way), 3) for way in ("paper", "tight")]
    [0.38, 0.02]
    """
    scalar("shift", shift, 0)
    orders = _orders(scalar("omega", omega, 1))
    bound = _bound(choice("accounting", accounting, ACCOUNTINGS))
    divergences = np.array([bound(float(order), shift, tries) for order in orders])
    gains = (orders - 1) * divergences  # G
    if not np.isfinite(divergences).all():
        return inf
    inside = [_most_on_chord(*ends) for ends in zip(orders, orders[1:], gains, gains[1:])]
    return float(max([divergences[0], *inside]))


def _orders(omega: float) -> Floats:
    """Return orders from just above 1 to omega, whose chords are at most about 2% above a (a - 1)."""
    first = min(FIRST, 1 + 0.5 * (omega - 1))
    near = 1 + np.geomspace(first - 1, min(omega, NEAR) - 1, 9)
    if omega <= NEAR:
        return np.asarray(near)
    return np.concatenate([near, np.geomspace(NEAR, omega, 2 + ceil(log(omega / NEAR) / STEP))[1:]])


def _most_on_chord(low: float, high: float, start: float, end: float) -> float:
    """Return the largest G / (a (a - 1)) where G is on the chord from (low, start) to (high, end)."""
    slope = (end - start) / (high - low)
    at_zero = start - slope * low
    # the derivative vanishes where slope a^2 + 2 at_zero a - at_zero = 0
    inner = at_zero * (at_zero + slope)
    turns = [(-at_zero + sign * sqrt(inner)) / slope for sign in (-1, 1)] if inner >= 0 and slope > 0 else []
    ends = [low, high, *(turn for turn in turns if low < turn < high)]
    return max((at_zero + slope * a) / (a * (a - 1)) for a in ends)


def _bound(accounting: str) -> Callable[[float, float, Tries], float]:
    if accounting == "paper":
        return theorem_renyi
    return lambda order, shift, tries: min(
        gaussian_renyi(order, shift, tries, CELLS).upper, theorem_renyi(order, shift, tries)
    )


@lru_cache(maxsize=1024)
def largest_shift(rho: float, omega: float, tries: Tries, accounting: str = "tight") -> float:
    """Return the largest sensitivity over scale of a run's Gaussian noise with which the best run is (rho, omega)-tCDP.

    Parameters
    ----------
    rho : float
        rho of the target in nats, from 1e-8 to 100.
    omega : float
        omega of the target, above 1, finite.
    tries : Tries
        The law of the number of runs.
    accounting : {"tight", "paper"}
        As for `least_rho`.

    Returns
    -------
    float
        The shift, rounded down by about 1e-6 relative.

    Examples
    --------
    >>> from tcdp_sim.candidates import tries_of
    >>> tries = tries_of("poisson", 10.0)
    >>> [round(largest_shift(0.1, 2.4, tries, way), 3) for way in ("paper", "tight")]
    [0.027, 0.228]
    """
    rho = scalar("rho", rho, 1e-8, 100.0, closed=True)

    def spent(x: float) -> float:
        return min(least_rho(exp(x), tries, omega, accounting), 1e6)

    # a run alone costs shift^2 / 2 at least
    high = log(min(sqrt(2 * rho) * (1 + 1e-9), SHIFTS[1]))
    found = root(lambda x: log(spent(x) / rho), log(SHIFTS[0]), high, 1e-6, 1e-9) if spent(high) > rho else high
    for step in range(60):
        if spent(found) <= rho:
            return exp(found)
        found -= 1e-6 * 2.0**step
    raise ValueError(f"rho = {rho:g} is not reached with {tries}")
