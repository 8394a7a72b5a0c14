"""The whole output distribution of a selection from a dense score vector, and divergences between two of them.

Scores are in units of the sensitivity, so neighbours may change each of them by up to one.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats, Real
from tcdp_sim.core.errors import real, scalar
from tcdp_sim.core.numerics import ArrayBounds, Bounds, gauss_panels, integrate
from tcdp_sim.exact.resolution import resolved
from tcdp_sim.exact.selection.success import (
    MOST_POINTS,
    TAILS,
    WITH_EPSILON,
    WITH_NOISE,
    checked_delta,
    selection_failure,
    selection_probability,
)
from tcdp_sim.exact.work import spend, within
from tcdp_sim.noise import Noise

DISTRIBUTIONS = (*WITH_NOISE, *WITH_EPSILON[:2])


@within(MOST_POINTS, "valid: fewer candidates")
def selection_distribution(
    algorithm: str, noise: Noise | float, scores: ArrayLike, *, delta: float | None = None
) -> ArrayBounds:
    """Return P[j is selected] for every candidate j.

    Source: Bun et al. (2018), Algorithms 21 and 22 [BDRS18]; McKenna and Sheldon (2020) [MS20].

    Parameters
    ----------
    algorithm : str
        An algorithm of `selection_probability` other than "sparse_vector".
    noise : Noise or float
        The noise, or the epsilon of "exponential_mechanism" and "permute_and_flip".
    scores : array
        The scores in units of the sensitivity, shape (k,) with k >= 2, finite, in any order. If scores tie, the first
        one counts as the higher.
    delta : float, optional
        delta of "stability", in (0, 1).

    Returns
    -------
    Bounds
        Arrays of shape (k,). For "stability" the shape is (k + 1,) with no answer last. The cost of "noisy_max" grows
        with k^2.

    Examples
    --------
    >>> selection_distribution("exponential_mechanism", 2.0, [0.0, 0.0]).estimate.tolist()
    [0.5, 0.5]
    """
    values = np.asarray(real("score", scores, -np.inf))
    if values.ndim != 1 or len(values) < 2:
        raise ValueError(f"scores have shape {values.shape}, which is not valid; valid: (k,) with k >= 2")
    checked_delta(delta)
    if algorithm not in DISTRIBUTIONS:
        raise ValueError(f"algorithm = {algorithm!r} is not known; valid: {', '.join(DISTRIBUTIONS)}")
    if algorithm == "noisy_max":
        return _stacked([_wins(noise, values[j] - np.delete(values, j)) for j in range(len(values))])
    if algorithm == "exponential_mechanism":
        weights = np.exp(scalar("epsilon", noise, 0) / 2 * (values - values.max()))
        return _around(weights / weights.sum(), 1e-13)
    if algorithm == "permute_and_flip":
        return _around(_permute_and_flip(scalar("epsilon", noise, 0), values), 1e-12)
    return _from_the_gap(algorithm, noise, values, delta)


def divergence_of_outputs(p: ArrayBounds, q: ArrayBounds, order: float, times: Real = 1.0) -> Bounds[Any]:
    """Return D_order(P || Q) in nats of two distributions on the same outcomes.

    Source: Mironov (2017) [Mir17].

    Parameters
    ----------
    p, q : Bounds
        Bounds of arrays of probabilities, with outcomes along the last axis, which is summed over.
    order : float
        The order, > 1 or inf.
    times : float or array
        The number of outcomes that share each probability, at least 0. It broadcasts.

    Returns
    -------
    Bounds
        The divergence in nats, infinite if Q misses an outcome of P. The distance of the ends is about the relative
        error of the probabilities times order / (order - 1).

    Examples
    --------
    >>> import numpy as np
    >>> p, q = (Bounds(*(np.array(law) for _ in range(3))) for law in ([0.5, 0.5], [0.25, 0.75]))
    >>> round(float(divergence_of_outputs(p, q, np.inf).estimate), 6)  # log(2)
    0.693147
    """
    order, times = real("order", order, 1, finite=False), real("times", times, 0, closed=True)
    p, q = p.log(), q.log()
    ends = ((p.lower, q.upper), (p.estimate, q.estimate), (p.upper, q.lower))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return Bounds(*(_renyi(a, b, order, np.log(times)) for a, b in ends)).clipped(0.0)


def delta_of_outputs(p: ArrayBounds, q: ArrayBounds, epsilon: float, times: Real = 1.0) -> Bounds[Any]:
    """Return the hockey-stick divergence of two distributions, the sum of (P - e^epsilon Q)_+ over all outcomes.

    Source: Balle et al. (2018) [BBG18].

    Parameters
    ----------
    p, q : Bounds
        Bounds of arrays of probabilities, with outcomes along the last axis, which is summed over.
    epsilon : float
        epsilon in nats, finite.
    times : float or array
        The number of outcomes that share each probability, at least 0. It broadcasts.

    Returns
    -------
    Bounds
        The divergence, in [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> p, q = (Bounds(*(np.array(law) for _ in range(3))) for law in ([0.5, 0.5], [0.25, 0.75]))
    >>> float(delta_of_outputs(p, q, 0.0).estimate)
    0.25
    """
    epsilon, times = real("epsilon", epsilon, -np.inf), real("times", times, 0, closed=True)
    ends = ((p.lower, q.upper), (p.estimate, q.estimate), (p.upper, q.lower))
    with np.errstate(over="ignore", invalid="ignore"):
        terms = (np.sum(np.maximum(a - np.exp(epsilon) * b, 0.0) * times, axis=-1) for a, b in ends)
        return Bounds(*terms).clipped(0.0, 1.0)


def _renyi(log_p: Floats, log_q: Floats, order: float, log_times: Real) -> Any:
    ratio = np.where(log_p > -np.inf, log_p - log_q, -np.inf)  # outcomes without probability do not count
    if np.isinf(order):
        return np.max(np.where(log_times > -np.inf, ratio, -np.inf), axis=-1)
    terms = np.where(log_p > -np.inf, log_times + log_p + (order - 1) * ratio, -np.inf)
    return np.logaddexp.reduce(terms, axis=-1) / (order - 1)


def _from_the_gap(algorithm: str, noise: Noise | float, scores: Floats, delta: float | None) -> ArrayBounds:
    """Return the output law of Algorithms 21 and 22 and stability: the best candidate by its gap, all others alike."""
    best, k = int(np.argmax(scores)), len(scores)
    gap = scores[best] - np.delete(scores, best).max()
    right, wrong = (law(algorithm, noise, gap, k, delta=delta) for law in (selection_probability, selection_failure))
    silent = algorithm == "stability"
    parts = []
    for one, rest in zip(right, wrong):
        out = np.zeros(k + 1) if silent else np.full(k, rest / (k - 1))
        out[-1] = rest if silent else out[-1]
        out[best] = one
        parts.append(out)
    return Bounds(*parts)


def _wins(noise: Any, leads: Floats) -> Bounds:
    """Return P[Z_j + lead over i > Z_i for all i], by quadrature over Z_j."""

    def integrand(z: Floats) -> Floats:
        spend(z.size * len(leads) * noise.tail_cost)
        return np.exp(noise.logpdf(z) + noise.logcdf(z + leads[:, None]).sum(axis=0))

    levels = noise.isf(TAILS)
    edges = resolved(noise, np.concatenate([-levels, [0.0], levels]))
    shifted = (edges - leads[:, None]).ravel()
    shifted = shifted[np.abs(shifted) < levels[0]]
    with np.errstate(invalid="ignore", under="ignore"):
        low, middle, high = integrate(integrand, np.concatenate([edges, shifted]), relative=1e-9)
    left_out = 2 * max(TAILS[0], float(noise.sf(edges.max())))
    return Bounds(low * (1 - 1e-11), middle, high * (1 + 1e-11) + left_out).clipped(0.0, 1.0)


def _permute_and_flip(epsilon: float, scores: Floats) -> Floats:
    """Return the output law as the law of the largest of score + exponential noise.

    It is an integral of polynomials, for which Gauss-Legendre is exact.
    """
    weights = np.exp(epsilon / 2 * (scores - scores.max()))
    out = np.empty(len(scores))
    for j in range(len(scores)):
        u, du = gauss_panels(np.array([0.0, weights[j]]), len(scores) // 2 + 1)
        out[j] = np.prod(1 - np.multiply.outer(np.delete(weights, j) / weights[j], u), axis=0) @ du
    return out


def _stacked(numbers: list[Bounds]) -> ArrayBounds:
    return Bounds(*(np.array(part) for part in zip(*numbers)))


def _around(values: Floats, relative: float) -> ArrayBounds:
    return Bounds(values * (1 - relative), values, values * (1 + relative)).clipped(0.0, 1.0)
