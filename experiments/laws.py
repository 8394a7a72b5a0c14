"""What the exact values of several experiments share: laws with atoms, and reasons why a value is not known."""

import numpy as np
from scipy.special import gammaln

from tcdp_sim.core.arrays import Floats
from tcdp_sim.store import columns

NEGLIGIBLE = 1e-20  # a probability at the ends of a law
ROUNDING = 1e-12  # of cumulated probabilities, by which they may miss a level that they reach
WEIGHTS = (
    "a trial is a weight of the importance sampling, and the quantiles of weights depend on how they were chosen, "
    "not on the mechanism alone"
)


def binomial(n: float, probability: float) -> tuple[Floats, Floats]:
    """Return the numbers of successes and their probabilities, all but about 1e-18 of them; n is whole."""
    if not 0 < probability < 1:
        return np.array([float(n) if probability >= 1 else 0.0], dtype=np.float64), np.ones(1)
    half = 10 * np.sqrt(n * probability * (1 - probability)) + 50
    low, high = max(np.floor(n * probability - half), 0.0), min(np.ceil(n * probability + half), n)
    values: Floats = np.arange(float(low), float(high) + 1)
    ways = gammaln(n + 1) - gammaln(values + 1) - gammaln(n - values + 1)
    probabilities = np.exp(ways + values * np.log(probability) + (n - values) * np.log1p(-probability))
    return values, probabilities / probabilities.sum()


def sum_of_binomials(times: Floats, probabilities: Floats) -> tuple[Floats, Floats]:
    """Return the values of a sum of independent binomials with these numbers and probabilities."""
    start, law = 0.0, np.ones(1)
    for n, probability in zip(times.tolist(), probabilities.tolist()):
        values, own = binomial(n, probability)
        start, law = start + values[0], np.convolve(law, own)
        kept = np.flatnonzero(law > NEGLIGIBLE)
        start, law = start + kept[0], law[kept[0] : kept[-1] + 1]
    return np.asarray(start + np.arange(len(law)), dtype=np.float64), law


def quantiles_of_atoms(values: Floats, probabilities: Floats) -> Floats:
    """Return the quantiles at `columns.QUANTILES` of a law with these values, in any order, and their `probabilities`.

    A quantile is the least value that the law exceeds with at most 1 minus the level. The probabilities may sum to less
    or more than 1 by rounding.
    """
    order = np.argsort(values, kind="stable")
    below = np.cumsum(probabilities[order])
    place = np.searchsorted(below / below[-1], columns.QUANTILES * (1 - ROUNDING))
    return np.asarray(values[order][np.minimum(place, len(values) - 1)], dtype=float)
