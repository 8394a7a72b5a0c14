"""Exact laws of private selection from candidates, and exact divergences of the best of a random number of runs."""

from math import log
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr

from tcdp_sim.candidates import Tries
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import real, scalar

STEP = 1 / 32  # standard deviations; the trapezoidal rule on a Gaussian density is exact to rounding from 1/2 on
REACH = 10.0  # standard deviations
TILE = 2**20  # numbers held at a time


def best_of_tries(probabilities: Floats, tries: Tries) -> Floats:
    """Return the law of the best of a random number of runs with finitely many outputs.

    Parameters
    ----------
    probabilities : array_like of float
        The law of a run's output, best output first, shape (n,), with sum 1.
    tries : Tries
        The law of the number of runs.

    Returns
    -------
    ndarray of float
        The probabilities of the outputs and, last, of no run, shape (n + 1,).

    Examples
    --------
    >>> from tcdp_sim.candidates import tries_of
    >>> best_of_tries([0.5, 0.5], tries_of("geometric", 2.0)).round(4).tolist()
    [0.6667, 0.3333, 0.0]
    """
    own = np.asarray(real("probability", probabilities, 0, 1, closed=True, finite=False))
    if own.ndim != 1 or not abs(own.sum() - 1) < 1e-9:
        raise ValueError(f"probabilities add up to {own.sum():g}, which is not valid; valid: 1, in one dimension")
    better = np.concatenate([[0.0], np.cumsum(own)[:-1]])
    return np.append(tries.mass(better, own), tries.none)


def divergence_of_best(order: float, first: Floats, second: Floats, tries: Tries) -> float:
    """Return the Renyi divergence of the best of a random number of runs with finitely many outputs.

    Parameters
    ----------
    order : float
        The order, above 1 and finite.
    first, second : array_like of float
        The laws of a run's output on two neighbours, best output first, shape (n,). All of `second` are positive.
    tries : Tries
        The law of the number of runs.

    Returns
    -------
    float
        The divergence in nats, of `first` against `second`.

    Examples
    --------
    >>> from tcdp_sim.candidates import tries_of
    >>> round(divergence_of_best(2.0, [0.5, 0.5], [0.4, 0.6], tries_of("geometric", 10.0)), 5)
    0.01368
    """
    order = scalar("order", order, 1)
    p, q = best_of_tries(first, tries), best_of_tries(second, tries)
    held = q > 0
    loss = np.log(np.maximum(p[held], 1e-300)) - np.log(q[held])
    # q (r^a - 1 - a (r - 1)), without cancellation for losses near 0
    with np.errstate(over="ignore"):
        terms = q[held] * (np.expm1(order * loss) - order * np.expm1(loss))
    return float(np.log1p(terms.sum())) / (order - 1)


def divergence_in_worst_order(order: float, first: Floats, second: Floats, tries: Tries) -> float:
    """Return the largest Renyi divergence of the best of a random number of runs over the orders of many small outputs.

    The outputs are put in the order that is the worst for a Poisson number of runs and outputs of vanishing
    probability. So it is close to the largest one for many outputs, and a lower bound on it for any.

    Parameters
    ----------
    order : float
        The order a, above 1 and finite.
    first, second : array_like of float
        The laws of a run's output on two neighbours in any order, shape (n,). All are positive.
    tries : Tries
        The law of the number of runs.

    Returns
    -------
    float
        The divergence in nats.

    Examples
    --------
    >>> from tcdp_sim.candidates import tries_of
    >>> round(divergence_in_worst_order(2.0, [0.5, 0.5], [0.6, 0.4], tries_of("geometric", 10.0)), 5)
    0.01368
    """
    order = scalar("order", order, 1)
    p, q = (np.asarray(real("probability", each, 0, 1, closed=True, finite=False)) for each in (first, second))
    loss = np.log(p) - np.log(q)
    cost = (order - 1) * np.expm1(-order * loss) - order * np.expm1(-(order - 1) * loss)
    ranked = np.argsort(-cost, kind="stable")
    return divergence_of_best(order, p[ranked], q[ranked], tries)


def best_candidate_probabilities(scores: Floats, scale: float, tries: Tries) -> Floats:
    """Return the probability that each candidate is the best of a random number of runs with Gaussian noise.

    A run takes one of the candidates, each with equal probability, and adds noise to its score. If there is no run, a
    candidate is drawn.

    Parameters
    ----------
    scores : array_like of float
        The scores, shape (k,).
    scale : float
        The standard deviation of the noise, in the unit of the scores, above 0.
    tries : Tries
        The law of the number of runs.

    Returns
    -------
    ndarray of float
        The probabilities, shape (k,), to about 1e-12.

    Examples
    --------
    >>> from tcdp_sim.candidates import tries_of
    >>> best_candidate_probabilities([1.0, 0.0], 1e-3, tries_of("geometric", 2.0)).round(4).tolist()
    [0.6667, 0.3333]
    """
    u = _listed(scores) / scalar("scale", scale, 0)
    places = _places(u)
    found = np.zeros(len(u))
    for y in _tiles(places, len(u)):
        weights = tries.slope(ndtr(u - y[:, None]).mean(axis=1))
        found += STEP * (weights @ _density(y[:, None] - u))
    return np.asarray((found + tries.none) / len(u))


def noisy_best_probabilities(scores: Floats, scale: float) -> Floats:
    """Return the probability that each candidate has the largest of all scores with Gaussian noise.

    Parameters
    ----------
    scores : array_like of float
        The scores, shape (k,).
    scale : float
        The standard deviation of the noise, in the unit of the scores, above 0.

    Returns
    -------
    ndarray of float
        The probabilities, shape (k,), to about 1e-12.

    Examples
    --------
    >>> noisy_best_probabilities([1.0, 1.0, -9.0], 1.0).round(4).tolist()
    [0.5, 0.5, 0.0]
    """
    u = _listed(scores) / scalar("scale", scale, 0)
    found = np.zeros(len(u))
    for y in _tiles(_places(u), len(u)):
        below = log_ndtr(y[:, None] - u)
        found += STEP * (_density(y[:, None] - u) * np.exp(below.sum(axis=1)[:, None] - below)).sum(axis=0)
    return found


def permute_and_flip_probabilities(scores: Floats, epsilon: float) -> Floats:
    """Return the law of the permute-and-flip mechanism, for scores in units of the sensitivity.

    Candidates arrive at uniform times, and one that trails by d is accepted with probability x = e^(-epsilon d / 2). So
    j is selected with probability x_j times the integral of the product of 1 - t x_i over the others, over t in [0, 1].
    A Gauss rule is exact for this polynomial.

    Parameters
    ----------
    scores : array_like of float
        The scores, shape (k,).
    epsilon : float
        Epsilon of the mechanism in nats, above 0.

    Returns
    -------
    ndarray of float
        The probabilities, shape (k,).

    Examples
    --------
    >>> permute_and_flip_probabilities([0.0, 0.0], 1.0).round(6).tolist()
    [0.5, 0.5]
    """
    u = _listed(scores)
    accepted = np.exp(0.5 * scalar("epsilon", epsilon, 0) * (u - u.max()))
    nodes, weights = np.polynomial.legendre.leggauss(len(u) // 2 + 1)
    times = 0.5 * (nodes + 1)
    missed = np.log1p(-times[:, None] * accepted)
    others = np.exp(missed.sum(axis=1)[:, None] - missed)
    return np.asarray(accepted * (0.5 * weights @ others))


def divergence_of_candidates(order: float, scores: Floats, others: Floats, scale: float, tries: Tries) -> float:
    """Return the Renyi divergence of the released candidate and its noisy score between two data sets.

    Parameters
    ----------
    order : float
        The order, above 1 and finite.
    scores, others : array_like of float
        The candidates' scores on the two data sets, shape (k,).
    scale : float
        The standard deviation of the noise, in the unit of the scores, above 0.
    tries : Tries
        The law of the number of runs.

    Returns
    -------
    float
        The divergence in nats.

    Examples
    --------
    >>> from tcdp_sim.candidates import tries_of
    >>> round(divergence_of_candidates(2.0, [0.0, 0.0], [0.1, -0.1], 1.0, tries_of("geometric", 10.0)), 5)
    0.02357
    """
    order, scale = scalar("order", order, 1), scalar("scale", scale, 0)
    u, v = _listed(scores) / scale, _listed(others) / scale
    moments = 0.0
    for y in _tiles(_places(np.concatenate([u, v, order * u - (order - 1) * v])), len(u)):
        slopes = [np.log(tries.slope(ndtr(w - y[:, None]).mean(axis=1)))[:, None] for w in (u, v)]
        second = _density(y[:, None] - v) * np.exp(slopes[1])
        loss = 0.5 * ((y[:, None] - v) ** 2 - (y[:, None] - u) ** 2) + slopes[0] - slopes[1]
        moments += STEP * float((second * (np.expm1(order * loss) - order * np.expm1(loss))).sum()) / len(u)
    return float(np.log1p(moments)) / (order - 1)


def _density(z: Floats) -> Floats:
    return np.exp(-0.5 * np.square(z) - 0.5 * log(2 * np.pi))


def _listed(scores: Any) -> Floats:
    """Return scores as an array of shape (k,). Raises ValueError."""
    return np.atleast_1d(real("score", scores, -np.inf))


def _places(u: Floats) -> Floats:
    """Return the points of the trapezoidal rule that lie within reach of some centre."""
    centres = np.unique(np.round(np.asarray(u) / STEP)).astype(np.int64)
    reach = int(REACH / STEP)
    starts, ends = centres - reach, centres + reach
    merged = starts[1:] > ends[:-1]
    first, last = starts[np.append(True, merged)], ends[np.append(merged, True)]
    return np.concatenate([STEP * np.arange(low, high + 1) for low, high in zip(first, last)])


def _tiles(places: Floats, k: int) -> list[Floats]:
    return np.array_split(places, max(1, len(places) * k // TILE))
