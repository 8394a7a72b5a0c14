"""The best bound that an audit can reach: that of the most telling event of an exact law."""

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

EVENTS = 2000


class BestEvent(NamedTuple):
    """An event: its lower confidence bound on epsilon (nats), and its probability under both inputs."""

    epsilon: float
    likely: float
    rare: float


def best_event(p: np.ndarray, q: np.ndarray, samples: float, level: float) -> BestEvent:
    """Return the event with the largest bound log(low(p) / high(q)), where low and high are Clopper-Pearson ends.

    - p, q: probabilities of the same cells under the two inputs, shapes (cells,)
    - samples: outputs of each input
    - level: the confidence level of the bound, in (0, 1); each end has half of the doubt

    The counts are the expected ones. The bound grows with p(event) and falls with q(event), so by Neyman and Pearson
    the best events consist of the cells with the largest p / q. All such events are tried, or EVENTS of them.
    """
    order = np.argsort(-log_ratio(p, q), kind="stable")
    likely, rare = np.cumsum(p[order]), np.cumsum(q[order])
    if len(p) > EVENTS:
        spread = np.searchsorted(likely, np.geomspace(likely[likely > 0][0], likely[-1], EVENTS))
        likely, rare = likely[spread], rare[spread]
    bounds = bound(samples * likely, samples * rare, samples, level)
    best = int(np.argmax(bounds))
    return BestEvent(max(0.0, float(bounds[best])), float(likely[best]), float(rare[best]))


def bound(hits: np.ndarray, other_hits: np.ndarray, samples: float, level: float) -> np.ndarray:
    """Return log(low / high) of the Clopper-Pearson ends for hits of `samples` under both inputs; -inf for no hits."""
    doubt = (1 - level) / 2
    hits, other_hits = np.minimum(hits, samples), np.minimum(other_hits, samples)
    with np.errstate(divide="ignore"):
        low = np.where(hits > 0, betaincinv(np.maximum(hits, 1e-300), samples - hits + 1, doubt), 0.0)
        inside = np.minimum(other_hits, samples * (1 - 1e-15))
        high = np.where(other_hits < samples, betaincinv(inside + 1, samples - inside, 1 - doubt), 1.0)
        return np.log(low) - np.log(high)


def largest_loss(p: np.ndarray, q: np.ndarray) -> float:
    """Return the largest log(p / q) over the cells with p > 0: the exact epsilon of discrete outputs, in nats."""
    return float(log_ratio(p, q)[p > 0].max())


def log_ratio(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return log(p / q) for arrays of one shape: +-inf where one of them is 0, and 0 where both are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((p == 0) & (q == 0), 0.0, np.log(p) - np.log(q))
