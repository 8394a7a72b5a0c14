"""Bugs of SmartNoise (SDK and core), written anew from their threads."""

import numpy as np

from museum.exhibit import Exhibit, pair
from tcdp_sim.privacy import ApproxDP, PureDP

# Covariance: the clipped data are computed, and the raw ones are used.

ROWS, LIMIT = 10, 1.0
ROW = pair([0.5] * ROWS, [5.0] + [0.5] * (ROWS - 1), "one record replaced (the bounds are 0 and 1)")
SENSITIVITY = 2 / ROWS * LIMIT**2  # as in the library: 2/n times the product of the ranges


def variance(values: list[float], rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return the noisy variance of the raw values."""
    return np.cov(values) + rng.laplace(0, SENSITIVITY, trials)


def clipped_variance(values: list[float], rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return the noisy variance of the clipped values."""
    return variance(np.clip(values, 0, LIMIT).tolist(), rng, trials)


# Rare groups of a SQL query: the threshold is that of Laplace noise, but the noise is normal.

DELTA = 1e-3
GROUP = pair(1, 0, "one record added or removed")
SIGMA = float(np.sqrt(2 * np.log(1.25 / DELTA)))  # the textbook's normal noise at epsilon = 1
LAPLACE_CUT = 1 - float(np.log(2 * DELTA))
NORMAL_CUT = 1 + 3.09024 * SIGMA  # the standard normal law exceeds 3.09024 with probability below DELTA


def _shown(count: int, cut: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return True where a group is shown. A group without records never is."""
    return np.full(trials, count > 0) & (count + rng.normal(0, SIGMA, trials) > cut)


def laplace_threshold(count: int, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return whether a group is shown above the threshold for Laplace noise."""
    return _shown(count, LAPLACE_CUT, rng, trials)


def normal_threshold(count: int, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return whether a group is shown above the threshold for normal noise."""
    return _shown(count, NORMAL_CUT, rng, trials)


# A quantile whose weights are exponentials without a shift: all may underflow.

ZEROS = pair([0.0] * 1491 + [1.0], [0.0] * 1492 + [1.0], "one record added or removed")


def _log_weights(values: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges of the intervals between values, and their log weights at epsilon = 1 for the median."""
    edges = np.sort(values)
    ranks = np.arange(1, len(edges))
    with np.errstate(divide="ignore"):
        return edges, np.log(np.diff(edges)) - abs(ranks - len(edges) / 2)


def _drawn(edges: np.ndarray, weights: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        chosen = rng.choice(len(weights), trials, p=weights / weights.sum())
    return edges[chosen] + rng.random(trials) * (edges[chosen + 1] - edges[chosen])


def quantile(values: list[float], rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return medians, from weights that may all be zero."""
    edges, logs = _log_weights(values)
    with np.errstate(under="ignore"):
        return _drawn(edges, np.exp(logs), rng, trials)


def shifted_quantile(values: list[float], rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return medians, from weights whose largest is one."""
    edges, logs = _log_weights(values)
    return _drawn(edges, np.exp(logs - logs.max()), rng, trials)


# The geometric mechanism draws as many bits as its bounds are apart, and does not clamp the count to them.

LOW = HIGH = 10
COUNTED = pair(12, 13, "one record added or removed (the bounds are 10 and 10)")


def censored_geometric(count: int, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return counts with noise that is cut off at the distance of the bounds."""
    noise = rng.geometric(1 - np.exp(-1), trials) - rng.geometric(1 - np.exp(-1), trials)
    return count + np.clip(noise, LOW - HIGH, HIGH - LOW)


def clamped_geometric(count: int, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return counts clamped to the bounds before the noise."""
    return censored_geometric(min(max(count, LOW), HIGH), rng, trials)


EXHIBITS = [
    Exhibit(
        "smartnoise_covariance", ("opendp/smartnoise-sdk/issues/622", "opendp/smartnoise-sdk/pull/624"),
        "before February 2026", True,
        "Covariances are computed from the raw data. The clipped data are computed before, and not used.",
        "the clipped data used", variance, clipped_variance, PureDP(1.0), ROW,
    ),
    Exhibit(
        "smartnoise_tau", ("opendp/smartnoise-sdk/issues/204",), "before May 2020", True,
        "A SQL query shows a group above a threshold for Laplace noise, but the noise is normal. The formulas"
        " are the usual ones, because we could not read the old code.",
        "a threshold for normal noise", laplace_threshold, normal_threshold, ApproxDP(1.0, DELTA), GROUP,
    ),
    Exhibit(
        "smartnoise_quantile", ("opendp/smartnoise-sdk/issues/572",), "before October 2023", True,
        "A quantile raises an exception for 1,492 zeros and a one, but not for 1,491, because all weights "
        "underflow. Nothing else in the library called it. The weights are ours, such that they underflow at "
        "this number.",
        "weights shifted by their largest", quantile, shifted_quantile, PureDP(2.0), ZEROS, trials=5000,
    ),
    Exhibit(
        "smartnoise_geometric", ("opendp/smartnoise-core/pull/318", "opendp/smartnoise-core/issues/319"),
        "before November 2020", True,
        "The noise of the geometric mechanism is as wide as the user's bounds of the count, but the count is "
        "not clamped to them. Equal bounds give no noise.",
        "the count clamped", censored_geometric, clamped_geometric, PureDP(1.0), COUNTED, trials=5000,
    ),
]  # fmt: skip
