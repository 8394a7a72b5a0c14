"""The choice of a node of a level: who wins when every node's weight is blurred, empty ones included.

Each rule gives, for trials at levels of one run, the index of the winner among the occupied nodes, or -1 for an empty
one. Only the occupied nodes are drawn one by one (those of equal weight together); all others are one maximum.
"""

from collections.abc import Callable

import numpy as np

from tcdp_sim.interior.maxima import isf_log, sample_max_log
from tcdp_sim.interior.profile import Segments
from tcdp_sim.noise import Noise
from tcdp_sim.samplers import sample_max

TILE = 2**16  # numbers drawn at a time

Select = Callable[[Segments, np.ndarray, float, Noise, np.random.Generator], np.ndarray]


def histogram(segments: Segments, log_empty, total, noise, rng) -> np.ndarray:
    """The largest noisy weight among all nodes (report noisy max of a histogram)."""
    rows = max(1, TILE // (len(segments.counts) + 1))
    parts = [_histogram(segments, part, noise, rng) for part in _tiles(log_empty, rows)]
    return np.concatenate(parts)


def algorithm_21(segments: Segments, log_empty, total, noise, rng) -> np.ndarray:
    """Algorithm 21: noise on max(weight - the second largest weight, 0), whose noise has twice the sensitivity."""
    return _top_or_any(segments, log_empty, _gap(segments, log_empty), noise, rng)


def surrogate(segments: Segments, log_empty, total, noise, rng) -> np.ndarray:
    """Noise on max(weight - total / 2, 0), which at most one node has: for lower thresholds of total / 2 or more."""
    excess = np.full(len(log_empty), max(segments.counts[-1] - total / 2, 0.0))
    return _top_or_any(segments, log_empty, excess, noise, rng)


def algorithm_22(segments: Segments, log_empty, total, noise, rng) -> np.ndarray:
    """Algorithm 22: the heaviest node if max(gap / 2 - 1, 0) + noise exceeds its 1/N tail, else any other node."""
    log_nodes = _log_others(segments, log_empty, 0)
    blurred = np.maximum(0.5 * _gap(segments, log_empty) - 1, 0) + noise.sample(rng, len(log_empty))
    some = np.maximum(log_nodes, np.log(2))
    wins = (blurred > isf_log(noise, -some)) | (log_nodes == 0)
    return np.where(wins, segments.order[-1], _any_other(segments, log_empty, rng))


SELECTIONS: dict[str, Select] = {
    "histogram": histogram,
    "algorithm_21": algorithm_21,
    "algorithm_22": algorithm_22,
    "surrogate": surrogate,
}


def _tiles(column, rows):
    return (column[start : start + rows] for start in range(0, len(column), rows))


def _histogram(segments, log_empty, noise, rng):
    trials, many = len(log_empty), segments.multiplicity
    blurred = np.empty((trials, len(many)))
    alone = many == 1
    blurred[:, alone] = noise.sample(rng, (trials, int(alone.sum())))
    if not alone.all():
        blurred[:, ~alone] = sample_max(noise, rng, many[~alone], (trials, int((~alone).sum())))
    blurred += segments.counts
    group = blurred.argmax(axis=1)
    member = segments.order[segments.start[group] + rng.integers(0, many[group])]
    if np.isneginf(log_empty).all():
        return member
    empty = sample_max_log(noise, rng, log_empty, trials)
    return np.where(empty > blurred[np.arange(trials), group], -1, member)


def _gap(segments, log_empty):
    """The heaviest node's lead over the runner-up, which may be an empty node."""
    heaviest = segments.counts[-1]
    if segments.multiplicity[-1] > 1:
        return np.zeros(len(log_empty))
    second = segments.counts[-2] if len(segments.counts) > 1 else 0
    return np.full(len(log_empty), float(heaviest - second))


def _log_others(segments, log_empty, left_out):
    with np.errstate(divide="ignore"):
        return np.logaddexp(log_empty, np.log(float(len(segments.order) - left_out)))


def _top_or_any(segments, log_empty, lead, noise, rng):
    """The heaviest node with its lead against all others at zero: one draw and one maximum."""
    trials = len(log_empty)
    top = lead + noise.sample(rng, trials)
    others = sample_max_log(noise, rng, _log_others(segments, log_empty, 1), trials)
    return np.where(top > others, segments.order[-1], _any_other(segments, log_empty, rng))


def _any_other(segments, log_empty, rng):
    """A node other than the heaviest, uniformly; -1 for an empty one."""
    occupied = len(segments.order) - 1
    if not occupied:
        return np.full(len(log_empty), -1)
    is_empty = rng.random(len(log_empty)) < np.exp(log_empty - _log_others(segments, log_empty, 1))
    return np.where(is_empty, -1, segments.order[rng.integers(0, occupied, len(log_empty))])
