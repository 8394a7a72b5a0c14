"""The exact epsilon of released counts, and the exact laws of their errors."""

import numpy as np

from tcdp_sim.accounting import CountReleases
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.mechanisms.census import Census
from tcdp_sim.store import columns

TOLERANCE = 1e-6  # relative, of the bracket of epsilon
LARGEST, SQUARE = columns.quantile("largest_error"), columns.mean("mean_square_error")
LOW, HIGH = "epsilon_from_below", "epsilon_from_above"


def releases(mechanism: Census) -> CountReleases:
    """Return all releases, with the noise that is used."""
    rows = mechanism.releases
    return CountReleases(mechanism.sigma_squared, rows.relation, rows.shift, rows.times)


def published(mechanism: Census) -> CountReleases:
    """Return all releases with the noise of the list itself."""
    rows = mechanism.releases
    return CountReleases(rows.sigma_squared, rows.relation, rows.shift, rows.times)


def _epsilon(mechanism: Census) -> Bounds:
    return releases(mechanism).ledger().epsilon(mechanism.delta, TOLERANCE)


def _below(mechanism: Census) -> float:
    """Lower end of the exact epsilon at the cell's delta."""
    return _epsilon(mechanism).lower


def _above(mechanism: Census) -> float:
    """Upper end of the exact epsilon at the cell's delta."""
    return _epsilon(mechanism).upper


def mean_square(mechanism: Census) -> float:
    """Mean of the variances of the shown counts."""
    return float(np.mean([_moment(variance) for variance in _shown(mechanism)]))


def largest_quantiles(mechanism: Census) -> np.ndarray:
    """Quantiles of the largest error: the least m with the product of P[|Z| <= m] at least the level."""
    below = _largest_below(mechanism)
    return np.searchsorted(below, columns.QUANTILES * (1 - 1e-12)).astype(float)


def mean_largest(mechanism: Census) -> float:
    """Mean of the largest error: the sum of P[error > m] over m = 0, 1, ..."""
    return float((1 - _largest_below(mechanism)).sum())


def _largest_below(mechanism: Census) -> np.ndarray:
    """Return P[largest error <= m] for m = 0, 1, ..., up to the m that is next to never exceeded."""
    most = int(np.ceil(7 + 9 * np.sqrt(max(_shown(mechanism)))))
    total = np.ones(most + 1)
    for variance in _shown(mechanism):
        mass = _masses(variance, most)
        total *= np.cumsum(mass + np.append(0.0, mass[1:]))
    return total


def _shown(mechanism: Census) -> list[float]:
    return [mechanism.sigma_squared[place] for place in mechanism.shown]


def _masses(variance: float, most: int) -> np.ndarray:
    """Return P[Z = 0], ..., P[Z = most] from the definition."""
    reach = max(most, int(np.ceil(7 + 12 * np.sqrt(variance))))
    terms = np.exp(-(np.arange(reach + 1.0) ** 2) / (2 * variance))
    return terms[: most + 1] / (2 * terms.sum() - 1)


def _moment(variance: float) -> float:
    """Return the variance of a discrete Gaussian from the definition."""
    mass = _masses(variance, int(np.ceil(7 + 12 * np.sqrt(variance))))
    return float(2 * (np.arange(len(mass)) ** 2 * mass).sum())


EXACT = {
    LARGEST: largest_quantiles,
    columns.mean("largest_error"): mean_largest,
    SQUARE: mean_square,
    LOW: _below,
    HIGH: _above,
}
UNITS = {LOW: "nats", HIGH: "nats"}
UNKNOWN = {
    columns.quantile("mean_square_error"): "the sum of squares of discrete Gaussian errors with several scales has no "
    "closed law"
}
