"""Exact success probabilities of private selection, and the gap that each method needs.

m candidates tie at the top and lead the k - m others by `gap`. The others tie as well. The gap is in units of the
sensitivity, the most by which neighbours may change one score. For generalized_histogram, obvious_answer and stability
the law of the output depends on the scores through the gap alone. For the other methods no scores with that gap are
harder.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import expit

from tcdp_sim.core.arrays import Floats, RealFunction
from tcdp_sim.core.errors import choice, real, scalar
from tcdp_sim.core.numerics import Bounds, closed_form, integrate
from tcdp_sim.core.search import brentq
from tcdp_sim.exact.extremes import log_all_below
from tcdp_sim.exact.resolution import resolved
from tcdp_sim.exact.work import spend, within
from tcdp_sim.noise import Laplace, Noise

MOST = 1e300
TINY = 1e-310  # rounding where floats end; no upper bound is smaller
MOST_SELECTED = 10**6
MOST_POINTS = 300_000_000  # of an answer: some eight seconds for the most expensive noise
_SLACKS = 1e-12 * 4.0 ** np.arange(20)  # of the required gap: what its bounds may be apart
# Upper tail probabilities of the noise at which panels start; less is left out than any probability of interest.
TAILS = np.concatenate([10.0 ** -np.array([300, 200, 140, 100, 70, 50, 35, 25, 18, 12, 8, 5, 3, 2]), [0.05, 0.2]])
_AROUND = 10.0 ** np.array([-8, -3, -1.5, -0.8, -0.3, 0, 0.4, 1, 2, 4])  # tails of the maximum of k, in units of 1/k
WITH_NOISE = ("generalized_histogram", "noisy_max", "obvious_answer", "stability")
WITH_EPSILON = ("exponential_mechanism", "permute_and_flip", "sparse_vector")
Law = Callable[[Any, float, bool], Bounds]  # noise or epsilon, gap, whether to succeed
WITH_TOP_M = ("generalized_histogram", "noisy_max", "exponential_mechanism")


@within(MOST_POINTS, "valid: another noise")
def selection_probability(
    algorithm: str, noise: Noise | float, gap: float, k: float, m: int = 1, *, delta: float | None = None
) -> Bounds:
    """Return P[the true top m are selected], with a relative error of about 1e-9, however small it is.

    Source: Bun et al. (2018), Algorithms 21 and 22 [BDRS18]; McKenna and Sheldon (2020) [MS20].

    Parameters
    ----------
    algorithm : str
        A row of the table below.
    noise : Noise or float
        A noise or an epsilon, by the table below.
    gap : float
        The gap in units of the sensitivity, >= 0.
    k : float
        The number of candidates, a whole number from 2 to 1e300.
    m : int
        The number of candidates to select, 1 <= m < k and m <= 10^6. Methods without top-m take 1.
    delta : float, optional
        delta of "stability", in (0, 1).

    Returns
    -------
    Bounds
        The probability.

    Notes
    -----
    | algorithm | noise | top-m |
    |---|---|---|
    | generalized_histogram (Algorithm 21) | a noise | yes |
    | noisy_max | a noise | yes |
    | obvious_answer (Algorithm 22) | a noise | no |
    | stability | a noise, and `delta` | no |
    | exponential_mechanism | an epsilon | yes |
    | permute_and_flip | an epsilon | no |
    | sparse_vector, at its balanced public threshold | an epsilon | no |

    Examples
    --------
    >>> selection_probability("exponential_mechanism", 1.0, 0.0, 4).estimate
    0.25
    """
    return _law(algorithm, k, m, delta)(noise, real("gap", gap, 0, closed=True), True)


@within(MOST_POINTS, "valid: another noise")
def selection_failure(
    algorithm: str, noise: Noise | float, gap: float, k: float, m: int = 1, *, delta: float | None = None
) -> Bounds:
    """Return 1 - `selection_probability`, with a relative error of about 1e-9, however small it is.

    Source: Bun et al. (2018), Algorithms 21 and 22 [BDRS18].

    Parameters
    ----------
    algorithm : str
        An algorithm of `selection_probability`.
    noise : Noise or float
        A noise or an epsilon, by the algorithm.
    gap : float
        The gap in units of the sensitivity, >= 0.
    k : float
        The number of candidates, a whole number from 2 to 1e300.
    m : int
        The number of candidates to select, 1 <= m < k and m <= 10^6. Methods without top-m take 1.
    delta : float, optional
        delta of "stability", in (0, 1).

    Returns
    -------
    Bounds
        The probability.

    Examples
    --------
    >>> selection_failure("exponential_mechanism", 1.0, 0.0, 4).estimate
    0.75
    """
    return _law(algorithm, k, m, delta)(noise, real("gap", gap, 0, closed=True), False)


@within(MOST_POINTS, "valid: `selection_failure` at the gaps of interest")
def required_gap(
    algorithm: str, noise: Noise | float, k: float, failure: float, m: int = 1, *, delta: float | None = None
) -> Bounds:
    """Return the smallest gap at which the true top m are selected with probability at least 1 - failure.

    The gap is found by root finding on the exact law.

    Source: Bun et al. (2018), Algorithms 21 and 22 [BDRS18].

    Parameters
    ----------
    algorithm : str
        An algorithm of `selection_probability`.
    noise : Noise or float
        A noise or an epsilon, by the algorithm.
    k : float
        The number of candidates, a whole number from 2 to 1e300.
    failure : float
        The probability of failure, in (0, 1).
    m : int
        The number of candidates to select, 1 <= m < k and m <= 10^6. Methods without top-m take 1.
    delta : float, optional
        delta of "stability", in (0, 1).

    Returns
    -------
    Bounds
        The gap in units of the sensitivity. At the ends the failure probability is certainly above and certainly at
        most failure. The upper end is infinite if no float is certain to be enough, as at failure below the 1e-300 that
        quadrature leaves out.

    Raises
    ------
    ValueError
        If an argument is not valid, or the search needs more evaluations than its budget.

    Examples
    --------
    >>> required_gap("exponential_mechanism", 1.0, 4, 0.75).estimate
    0.0
    """
    law, failure = _law(algorithm, k, m, delta), real("failure", failure, 0, 1)

    def fails(gap: float) -> Bounds:
        return law(noise, gap, False)

    if fails(0.0).upper <= failure:
        return Bounds(0.0, 0.0, 0.0)
    low, high = _doubled(fails, failure)
    if np.isinf(high):
        return Bounds(low, np.inf, np.inf)

    def excess(gap: float) -> float:
        return np.log(max(fails(gap).estimate, TINY) / failure)

    root = brentq(excess, 0.0, high, xtol=1e-300, rtol=1e-13) if excess(0.0) > 0 else 0.0
    ends = root * (1 - _SLACKS), root + _SLACKS * max(root, high)
    below = (gap for gap in ends[0] if fails(gap).lower >= failure)
    above = (gap for gap in ends[1] if gap <= high and fails(gap).upper <= failure)
    return Bounds(float(next(below, 0.0)), float(root), float(next(above, high)))


def _doubled(fails: Callable[[float], Bounds], failure: float) -> tuple[float, float]:
    """Return gaps that are certainly too small and certainly enough.

    The latter is a power of 2, or inf if there is none.
    """
    first = 0
    while fails(2.0 ** (first - 10)).upper <= failure:
        first -= 10
    last = int(np.log2(MOST))
    enough = _first(lambda i: fails(2.0**i).upper <= failure, first, last)
    if enough > last:
        unsure = _first(lambda i: fails(2.0**i).lower < failure, first, last)
        return (2.0 ** (unsure - 1) if unsure > first else 0.0), np.inf
    return 0.0, 2.0**enough


def _first(holds: Callable[[int], bool], first: int, last: int) -> int:
    """Return the first whole number from `first` to `last` from which on it holds, or last + 1 if there is none.

    The steps of the search grow.
    """
    step = 1
    below, above = first - 1, first
    while not holds(above):
        if above == last:
            return last + 1
        below, above, step = above, min(above + step, last), 2 * step
    while above - below > 1:
        middle = (above + below) // 2
        below, above = (below, middle) if holds(middle) else (middle, above)
    return above


def _law(algorithm: str, k: float, m: int, delta: float | None) -> Law:
    """Return the function (noise, gap, success) -> Bounds after checking the arguments."""
    choice("algorithm", algorithm, (*WITH_NOISE, *WITH_EPSILON))
    checked_delta(delta)
    k = real("k", k, 2, MOST, closed=True, finite=False)
    if k != np.floor(k):
        raise ValueError(f"k = {k:g} is not valid; valid: a whole number of candidates")
    most = min(k - 1, MOST_SELECTED) if algorithm in WITH_TOP_M else 1
    if not isinstance(m, int | np.integer) or isinstance(m, bool) or not 1 <= m <= most:
        valid = f"1 <= m < k and m <= {MOST_SELECTED:,}, or 1 without top-m"
        raise ValueError(f"m = {m!r} is not valid for {algorithm} at k = {k:g}; valid: {valid}")
    if algorithm in ("generalized_histogram", "noisy_max"):
        return lambda noise, gap, success: _noisy_max(noise, gap, k, m, success)
    if algorithm == "exponential_mechanism":
        return lambda epsilon, gap, success: _exponential_mechanism(epsilon, gap, k, m, success)
    if algorithm == "permute_and_flip":
        return lambda epsilon, gap, success: _permute_and_flip(epsilon, gap, k, success)
    if algorithm == "sparse_vector":
        return lambda epsilon, gap, success: _sparse_vector(epsilon, gap, k, success)
    tail = 1 / k if algorithm == "obvious_answer" else real("delta", np.nan if delta is None else delta, 0, 1)
    return lambda noise, gap, success: _lead_passes(noise, gap, tail, success)


def checked_delta(delta: float | None) -> None:
    """Raise ValueError unless delta is None or in (0, 1), also for algorithms that have none."""
    if delta is not None:
        scalar("delta", delta, 0, 1)


def _lead_passes(noise: Noise, gap: float, tail: float, success: bool) -> Bounds:
    """Return P[max(gap / 2 - 1, 0) + Z > t] with P[Z > t] = tail, for Algorithm 22 and stability."""
    lead = max(gap / 2 - 1, 0.0)
    if lead == 0:
        return _probability(tail if success else 1 - tail, 1e-15)
    distance = noise.isf(tail) - lead
    # Far out the rounding of the distance dominates. Two more evaluations bound its effect.
    ends = distance + np.array([-1, 1]) * 4e-15 * (abs(distance) + lead)
    with np.errstate(over="ignore"):
        low, middle, high = np.sort((noise.sf if success else noise.cdf)(np.array([ends[0], distance, ends[1]])))
    return Bounds(low * (1 - 1e-11) - TINY, middle, high * (1 + 1e-11) + TINY).clipped(0.0, 1.0)


def _exponential_mechanism(epsilon: float, gap: float, k: float, m: int, success: bool) -> Bounds:
    """Return the probability that the m leaders are drawn one after the other.

    The i-th is drawn with probability (m - i) / (m - i + (k - m) e^(-epsilon gap / 2)).
    """
    exponent = np.log(k - m) - _half(epsilon, gap)
    fails = np.logaddexp(0, exponent - np.log(np.arange(1, m + 1))).sum()  # minus log P[success]
    single = m == 1
    error = 1e-13 * (1 + abs(exponent))
    if success:
        return _probability(expit(-exponent) if single else np.exp(-fails), error)
    return _probability(expit(exponent) if single else -np.expm1(-fails), error)


def _permute_and_flip(epsilon: float, gap: float, k: float, success: bool) -> Bounds:
    """Return the integral over u in (0, 1) of (1 - q u)^(k-1) with q = e^(-epsilon gap / 2).

    q may lie far below the floats while k q does not, so k q is taken from its log.
    """
    fall, log_k = _half(epsilon, gap), np.log(k)
    q = np.exp(-fall)
    if q == 1:
        return _probability(1 / k if success else 1 - 1 / k, 1e-15)

    def times_q(n: float) -> float:
        return n * q if fall < 700 else n / k * np.exp(log_k - fall)

    rounding = 1e-12 + 4e-16 * (fall + log_k)
    if times_q(k) > 0.05 or (success and fall < 700):
        with np.errstate(over="ignore"):
            direct = -np.expm1(k * np.log1p(-q) if fall < 700 else -times_q(k)) / times_q(k)
        return _probability(direct if success else 1 - direct, rounding)
    term, total = 1.0, 0.0  # sum over i >= 1 of (-1)^(i+1) C(k-1, i) q^i / (i + 1), alternating and falling fast
    for i in range(1, 12):
        term *= -times_q(k - i) / i
        total -= term / (i + 1)
    return _probability(1 - total if success else total, rounding)


def _half(epsilon: float, gap: float) -> float:
    """Return epsilon gap / 2, capped so that it stays finite."""
    return min(real("epsilon", epsilon, 0) * gap / 2, MOST)


def _noisy_max(noise: Noise, gap: float, k: float, m: int, success: bool) -> Bounds:
    """Return the integral of `_leaders_win`.

    For bounded noise the bounds include the rounding of z + gap near the end of its support.
    """
    if gap == 0:
        value = np.exp(np.sum(np.log(np.arange(1, m + 1)) - np.log(k - np.arange(m))))
        return _probability(value if success else 1 - value, 1e-13)
    bounds = _leaders_win(noise, gap, k, m, success)
    if np.isinf(noise.isf(0.0)):
        return bounds
    shift = 1e-15 * (noise.isf(0.0) + gap)
    ends = [_leaders_win(noise, max(g, 0.0), k, m, success) for g in (gap - shift, gap + shift)]
    low, high = ends if success else reversed(ends)  # the probability is monotone in the gap
    return Bounds(min(low.lower, bounds.lower), bounds.estimate, max(high.upper, bounds.upper))


def _leaders_win(noise: Noise, gap: float, k: float, m: int, success: bool) -> Bounds:
    """Return the integral over the lowest noise z of m leaders, at which all k - m others stay below z + gap.

    z has the density m f (1 - F)^(m-1).
    """

    def integrand(z: Floats) -> Floats:
        spend(z.size * noise.tail_cost)
        lowest = np.log(m) + noise.logpdf(z) + ((m - 1) * noise.logsf(z) if m > 1 else 0.0)
        below = log_all_below(noise, z + gap, k - m)
        return np.exp(lowest + below) if success else np.exp(lowest) * -np.expm1(below)

    edges = _panels(noise, k)
    return _integral(integrand, edges, edges - gap, 2 * m * max(TAILS[0], float(noise.sf(edges.max()))))


@lru_cache(maxsize=16)
def _panels(noise: Noise, k: float) -> Floats:
    """Return panel edges for the maximum of k draws. They are cached, since a search for a gap repeats them."""
    levels = noise.isf(TAILS)
    top = noise.isf(np.clip(_AROUND / k, TAILS[0], 0.5))
    return resolved(noise, np.concatenate([-levels, [0.0], levels, -top, top]))


def _sparse_vector(epsilon: float, gap: float, k: float, success: bool) -> Bounds:
    """Return the integral over the noise z of the threshold T.

    k - 1 candidates at zero stay below T + z, and the best one passes.
    """
    epsilon = real("epsilon", epsilon, 0)
    threshold = Laplace((1 + 2 ** (2 / 3)) / epsilon)
    score = Laplace(2 * (1 + 2 ** (-2 / 3)) / epsilon)
    at = 0.5 * (gap + score.scale * np.log(k))

    def integrand(z: Floats) -> Floats:
        right = log_all_below(score, at + z, k - 1) + score.logcdf(gap - at - z)
        return np.exp(threshold.logpdf(z) + right) if success else np.exp(threshold.logpdf(z)) * -np.expm1(right)

    levels, top = threshold.isf(TAILS), score.isf(np.clip(_AROUND / k, TAILS[0], 0.5))
    best = score.isf(TAILS)
    inside = np.concatenate([top - at, -top - at, best - at, -best - at, gap - at + best, gap - at - best, [gap - at]])
    return _integral(integrand, np.concatenate([-levels, [0.0], levels]), inside, 2 * TAILS[0])


def _probability(value: float, relative: float) -> Bounds:
    low, value, high = closed_form(float(value), relative)
    return Bounds(low - TINY, value, high + TINY).clipped(0.0, 1.0)


def _integral(integrand: RealFunction, edges: Floats, inside: Floats, left_out: float) -> Bounds:
    inside = inside[(inside > edges.min()) & (inside < edges.max())]
    with np.errstate(invalid="ignore", under="ignore", over="ignore"):
        low, middle, high = integrate(integrand, np.concatenate([edges, inside]), relative=1e-9)
    rounding = 1e-11 * middle  # of the integrand
    return Bounds(low - rounding, middle, high + rounding + left_out).clipped(0.0, 1.0)
