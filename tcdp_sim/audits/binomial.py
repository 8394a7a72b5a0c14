"""Exact bounds on the probability of an event from its hits, and quick forecasts of these bounds."""

import numpy as np
from scipy.special import betaincinv, ndtri

from tcdp_sim.core.arrays import Floats

SPLITS = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5)  # shares of the failure probability that the likelier input may get


def lower_probability(hits, trials, failure) -> Floats:
    """Return the Clopper-Pearson lower end, which exceeds the truth with probability at most `failure`.

    The arguments broadcast.
    """
    hits = np.asarray(hits, dtype=np.float64)
    safe = np.maximum(hits, 1)
    return np.where(hits > 0, betaincinv(safe, trials - safe + 1, failure), 0.0)


def upper_probability(hits, trials, failure) -> Floats:
    """Return the Clopper-Pearson upper end, which is below the truth with probability at most `failure`.

    The arguments broadcast.
    """
    hits = np.asarray(hits, dtype=np.float64)
    safe = np.minimum(hits, np.asarray(trials) - 1)
    return np.where(hits < trials, betaincinv(safe + 1, trials - safe, 1 - np.asarray(failure)), 1.0)


def forecast_lower(hits, trials, failure) -> Floats:
    """Return an approximation of `lower_probability` for real-valued hits.

    It is Wilson and Hilferty's cube-root approximation with the binomial variance.
    """
    hits = np.maximum(np.asarray(hits, dtype=np.float64), 1e-9)
    z = -ndtri(failure) * np.sqrt(np.clip(1 - hits / trials, 0, 1))
    return np.maximum(hits * np.maximum(1 - 1 / (9 * hits) - z / (3 * np.sqrt(hits)), 0) ** 3 / trials, 1e-300)


def forecast_upper(hits, trials, failure) -> Floats:
    """Return an approximation of `upper_probability` for real-valued hits, found as in `forecast_lower`."""
    more = np.asarray(hits, dtype=np.float64) + 1
    z = -ndtri(failure) * np.sqrt(np.clip(1 - more / trials, 0, 1))
    return np.minimum(more * (1 - 1 / (9 * more) + z / (3 * np.sqrt(more))) ** 3 / trials, 1.0)
