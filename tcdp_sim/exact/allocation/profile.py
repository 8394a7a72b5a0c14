"""delta and epsilon of a record that takes part in one of several steps, chosen at random."""

from functools import lru_cache
from math import exp, inf, log, sqrt

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri_exp

from tcdp_sim.core.errors import choice, scalar, whole
from tcdp_sim.core.numerics import Bounds, root
from tcdp_sim.exact.allocation.step import mean_square
from tcdp_sim.exact.allocation.sums import Sums, sums

DIRECTIONS = ("both", "adding", "removing")
MOST_STEPS = 10**6
LEAST_SIGMA, MOST_SIGMA = 0.3, 100.0
LEAST_DELTA = 1e-9
_POINTS = (2**17, 2**19, 2**21, 2**22)
_BEYOND = 3e-5  # of delta: the probability of values above the grid
_FARTHER = 1.5  # times the largest value: the window above the sum that matters
_RAREST = 1e-13  # the least probability for which a window is chosen
_NOISE = 1e-13  # what rounding leaves of a delta at least
_CLOSE = 1e-12  # relative error of a tail
_ROOT = 0.02  # of the tolerance: where a search ends


def allocation_profile(
    sigma: float, steps: int, epsilon: float, tolerance: float = 1e-3, direction: str = "both"
) -> Bounds:
    """Return delta(epsilon) of a record that takes part in one of several steps, chosen at random.

    Each step releases a sum of vectors of length 1 at most with Gaussian noise, and neighbours differ by one record.
    A step may depend on earlier outputs. Nobody learns in which step the record took part.

    Source: Chua et al. (2024) [Chu24]; Feldman and Shenfeld (2025) [FS25]. The numerical method is ours.

    Parameters
    ----------
    sigma : float
        The standard deviation of the noise, over the largest length of a record's vector, from 0.3 to 100.
    steps : int
        The number t of steps, from 2 to 10^6.
    epsilon : float
        epsilon in nats, at least 0.
    tolerance : float
        The aim for the distance of the ends, relative to the upper one, above 0.
    direction : {"both", "adding", "removing"}
        "adding" is delta of the outputs with the record against those without it, "removing" the other way round, and
        "both" the larger one.

    Returns
    -------
    Bounds
        delta. Rounding leaves a distance of 1e-11 or so.

    Examples
    --------
    >>> from tcdp_sim.exact import allocation_profile
    >>> round(allocation_profile(1.0, 100, 0.86).estimate * 1e7, 3)
    9.825
    """
    sigma, steps = _valid(sigma, steps)
    epsilon = scalar("epsilon", epsilon, 0, closed=True)
    share = scalar("tolerance", tolerance, 0)
    choice("direction", direction, DIRECTIONS)
    rare = max(_one_step(sigma, epsilon + log(steps)), _RAREST)
    low, high = 0.0, 1.0
    for points in _POINTS:
        ends = _ends(_law(sigma, steps, epsilon, rare, points), epsilon, direction)
        low, high = max(low, ends[0]), min(high, ends[1])
        if high - low <= max(share * high, _NOISE):
            break
    return Bounds(low, 0.5 * (low + high), high)


def allocation_epsilon(
    sigma: float, steps: int, delta: float, tolerance: float = 1e-4, direction: str = "both"
) -> Bounds:
    """Return the least epsilon of (epsilon, delta)-DP for a record that takes part in one of several steps.

    Sources: see `allocation_profile`.

    Parameters
    ----------
    sigma : float
        The standard deviation of the noise, over the largest length of a record's vector, from 0.3 to 100.
    steps : int
        The number t of steps, from 2 to 10^6.
    delta : float
        delta, from 1e-9 to below 1. For smaller values the rounding errors of the transform are too large.
    tolerance : float
        The aim for the distance of the ends, in nats, above 0.
    direction : {"both", "adding", "removing"}
        As for `allocation_profile`.

    Returns
    -------
    Bounds
        epsilon in nats.

    Examples
    --------
    >>> from tcdp_sim.exact import allocation_epsilon
    >>> round(allocation_epsilon(1.0, 100, 1e-6).estimate, 3)
    0.858
    """
    sigma, steps = _valid(sigma, steps)
    delta = scalar("delta", delta, LEAST_DELTA, 1, closed=True)
    choice("direction", direction, DIRECTIONS)
    tolerance = scalar("tolerance", tolerance, 0)
    low, high, most = 0.0, *_guesses(sigma, steps, delta)
    if most == 0:
        return Bounds(0.0, 0.0, 0.0)
    for points in _POINTS:
        law = _law(sigma, steps, high, delta, points)
        ends = [_crossing(law, direction, end, delta, low, high, _ROOT * tolerance) for end in (0, 1)]
        low, high = max(low, ends[0]), ends[1] if ends[1] < high else most
        high = max(high, low)
        most = min(most, high)
        if most - low <= tolerance:
            break
    return Bounds(low, 0.5 * (low + most), most)


def _valid(sigma: float, steps: int) -> tuple[float, int]:
    sigma = scalar("sigma", sigma, LEAST_SIGMA, MOST_SIGMA, closed=True, finite=False)
    return sigma, whole("steps", steps, 2, MOST_STEPS)


def _one_step(sigma: float, epsilon: float) -> float:
    """Return E (Y - e^epsilon)+, the delta of a single step."""
    return float(ndtr(0.5 / sigma - epsilon * sigma) - exp(epsilon + log_ndtr(-0.5 / sigma - epsilon * sigma)))


def one_large_ratio(sigma: float, steps: int, epsilon: float) -> float:
    """Return a lower end of delta of (P, Q) from the outcomes in which one ratio alone is large.

    For any u, E (S - c)+ is at least the sum over i of E [(S - c)+; Y_i > u, all others <= u]. These outcomes are
    disjoint. By Jensen's inequality the other ratios may be replaced by their means, given that they are at most u. The
    end is close for little noise, where the grid is too coarse.
    """
    s = 1 / sigma
    z = np.linspace(-2.0, 12.0, 281)  # of u, in standard deviations
    log_below = log_ndtr(z)
    others = (steps - 1) * np.exp(log_ndtr(z - s) - log_below)
    rest = np.maximum(steps * exp(min(epsilon, 600.0)) - others, 0.0)  # what one ratio has to exceed
    with np.errstate(divide="ignore"):
        start = np.maximum(z, np.log(rest) * sigma + 0.5 * s)
    large = ndtr(s - start) * (1 - _CLOSE) - rest * ndtr(-start) * (1 + _CLOSE)
    return float(max((np.exp((steps - 1) * log_below) * large).max() * (1 - _CLOSE), 0.0))


def _guesses(sigma: float, steps: int, delta: float) -> tuple[float, float]:
    """Return a guess that is mostly above epsilon, and the epsilon of a record whose step is known to all."""
    top = _step_epsilon(sigma, delta)
    usual = steps + 6 * sqrt(steps * (mean_square(sigma) - 1)) + exp(top)
    return min(log(usual / steps) + 1e-3, top), top


def _step_epsilon(sigma: float, delta: float) -> float:
    """Return the epsilon of a single step, rounded up; 0 if delta(0) is below delta."""
    if _one_step(sigma, 0.0) <= delta * (1 - 1e-9):
        return 0.0
    beyond = max(0.5 / sigma**2 - ndtri_exp(log(delta)) / sigma, 0.0)  # exceeded by the loss with probability delta
    close = 1e-9 * (1 + beyond)
    found = root(lambda epsilon: _one_step(sigma, epsilon) - delta * (1 - 1e-9), 0.0, beyond + close, close)
    return found + close


def _law(sigma: float, steps: int, epsilon: float, rare: float, points: int) -> Sums:
    """Return the law of the sum, on a window that has the sum at epsilon and single values of some rarity."""
    return _cached(sigma, steps, exp(epsilon) * steps, rare, points)


@lru_cache(maxsize=8)
def _cached(sigma: float, steps: int, sum_at: float, rare: float, points: int) -> Sums:
    with_record = 0.5 / sigma - ndtri_exp(log(_BEYOND * rare))
    without = -0.5 / sigma - ndtri_exp(log(_BEYOND * rare / steps))
    largest = exp(max(with_record, without) / sigma)
    spread = sqrt(2 * 40 * steps * (mean_square(sigma) - 1))
    return sums(sigma, steps, largest, max(sum_at, steps + spread) + _FARTHER * largest, points)


def _ends(law: Sums, epsilon: float, direction: str = "both") -> tuple[float, float]:
    """Return the ends of delta in one direction, or of the larger one."""
    ways = [getattr(law, way)(epsilon) for way in DIRECTIONS[1:] if direction in (way, "both")]
    low, high = (max(way[end] for way in ways) for end in (0, 1))
    if direction != "removing":
        low = max(low, one_large_ratio(law.sigma, law.steps, epsilon))
    return float(min(max(low, 0.0), 1.0)), float(min(max(high, 0.0), 1.0))


def _crossing(law: Sums, direction: str, end: int, delta: float, low: float, high: float, close: float) -> float:
    """Return an epsilon where an end of delta(epsilon) falls to delta, rounded outwards."""

    def excess(epsilon: float) -> float:
        return _ends(law, epsilon, direction)[end] - delta

    if excess(high) >= 0:
        return low if end == 0 else inf
    if excess(low) <= 0:
        return low
    found = root(excess, low, high, close)
    return found - close if end == 0 else found + close
