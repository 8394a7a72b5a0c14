"""The choice of a node of a level by the noisy weights of all its nodes, including empty ones.

For trials at levels of one run, each rule returns the index of the winner among the occupied nodes, -1 for an empty
node, or NOBODY. Noise is drawn one by one for occupied nodes of different weights. Nodes of equal weight share one draw
of their maximum, and so do all empty nodes.
"""

from collections.abc import Callable

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.noise import Noise
from tcdp_sim.ordered.interior.level_profile import Segments
from tcdp_sim.samplers import sample_max
from tcdp_sim.samplers.log_extremes import isf_log, sample_max_log

TILE = 2**16  # numbers drawn at a time

NOBODY = -2  # no node at all

Select = Callable[[Segments, Floats, float, Noise, np.random.Generator], Ints]


def histogram(segments: Segments, log_empty: Floats, floor: float, noise: Noise, rng: np.random.Generator) -> Ints:
    """Return the node with the largest noisy weight (report noisy max of a histogram)."""
    return _tiled(segments, segments.counts, log_empty, noise, rng)[0]


def algorithm_21(segments: Segments, log_empty: Floats, floor: float, noise: Noise, rng: np.random.Generator) -> Ints:
    """Return the winner of Algorithm 21: the largest noisy max(weight - second largest weight, 0), of sensitivity 2."""
    return _top_or_any(segments, log_empty, _gap(segments, log_empty), noise, rng)


def surrogate(segments: Segments, log_empty: Floats, floor: float, noise: Noise, rng: np.random.Generator) -> Ints:
    """Return the node with the largest noisy excess max(weight - floor, 0)."""
    excess = np.maximum(segments.counts - floor, 0.0)
    if segments.multiplicity[excess > 0].sum() > 1:
        return _tiled(segments, excess, log_empty, noise, rng)[0]
    return _top_or_any(segments, log_empty, np.full(len(log_empty), excess[-1]), noise, rng)


def stability(segments: Segments, log_empty: Floats, floor: float, noise: Noise, rng: np.random.Generator) -> Ints:
    """Return the occupied node with the largest noisy weight if it exceeds `floor`, else NOBODY."""
    winner, blurred = _tiled(segments, segments.counts, np.full(len(log_empty), -np.inf), noise, rng)
    return np.where(blurred > floor, winner, NOBODY)


def algorithm_22(segments: Segments, log_empty: Floats, floor: float, noise: Noise, rng: np.random.Generator) -> Ints:
    """Return the winner of Algorithm 22.

    It is the heaviest node if max(gap / 2 - 1, 0) + noise exceeds the 1/N tail of the noise, else any other node.
    """
    log_nodes = _log_others(segments, log_empty, 0)
    blurred = np.maximum(0.5 * _gap(segments, log_empty) - 1, 0) + noise.sample(size=len(log_empty), rng=rng)
    some = np.maximum(log_nodes, np.log(2))
    wins = (blurred > isf_log(noise, -some)) | (log_nodes == 0)
    return np.where(wins, segments.order[-1], _any_other(segments, log_empty, rng))


SELECTIONS: dict[str, Select] = {
    "histogram": histogram,
    "algorithm_21": algorithm_21,
    "algorithm_22": algorithm_22,
    "surrogate": surrogate,
    "stability": stability,
}


def _tiled(
    segments: Segments, weights: Floats, log_empty: Floats, noise: Noise, rng: np.random.Generator
) -> tuple[Ints, Floats]:
    """Return the winner of every trial and its noisy weight. The noise is drawn in tiles to bound the memory."""
    rows = max(1, TILE // (len(weights) + 1))
    tiles = (log_empty[start : start + rows] for start in range(0, len(log_empty), rows))
    winners, noisy = zip(*(_histogram(segments, weights, tile, noise, rng) for tile in tiles))
    return np.concatenate(winners), np.concatenate(noisy)


def _histogram(
    segments: Segments, weights: Floats, log_empty: Floats, noise: Noise, rng: np.random.Generator
) -> tuple[Ints, Floats]:
    trials, many = len(log_empty), segments.multiplicity
    blurred = np.empty((trials, len(many)))
    alone = many == 1
    blurred[:, alone] = noise.sample(size=(trials, int(alone.sum())), rng=rng)
    if not alone.all():
        blurred[:, ~alone] = sample_max(noise, many[~alone], (trials, int((~alone).sum())), rng=rng)
    blurred += weights
    group = blurred.argmax(axis=1)
    member = segments.order[segments.start[group] + rng.integers(0, many[group])]
    most = blurred[np.arange(trials), group]
    if np.isneginf(log_empty).all():
        return member, most
    empty = sample_max_log(noise, log_empty, trials, rng=rng)
    return np.where(empty > most, -1, member), np.maximum(empty, most)


def _gap(segments: Segments, log_empty: Floats) -> Floats:
    """Return the heaviest node's lead over the runner-up, which may be an empty node."""
    heaviest = segments.counts[-1]
    if segments.multiplicity[-1] > 1:
        return np.zeros(len(log_empty))
    second = segments.counts[-2] if len(segments.counts) > 1 else 0
    return np.full(len(log_empty), float(heaviest - second))


def _log_others(segments: Segments, log_empty: Floats, left_out: int) -> Floats:
    with np.errstate(divide="ignore"):
        return np.logaddexp(log_empty, np.log(float(len(segments.order) - left_out)))


def _top_or_any(segments: Segments, log_empty: Floats, lead: Floats, noise: Noise, rng: np.random.Generator) -> Ints:
    """Return the winner between the heaviest node with its lead and all others at zero: one draw and one maximum."""
    trials = len(log_empty)
    top = lead + noise.sample(size=trials, rng=rng)
    others = sample_max_log(noise, _log_others(segments, log_empty, 1), trials, rng=rng)
    return np.where(top > others, segments.order[-1], _any_other(segments, log_empty, rng))


def _any_other(segments: Segments, log_empty: Floats, rng: np.random.Generator) -> Ints:
    """Return a uniformly chosen node other than the heaviest; -1 for an empty one."""
    occupied = len(segments.order) - 1
    if not occupied:
        return np.full(len(log_empty), -1)
    is_empty = rng.random(len(log_empty)) < np.exp(log_empty - _log_others(segments, log_empty, 1))
    return np.where(is_empty, -1, segments.order[rng.integers(0, occupied, len(log_empty))])
