"""Exact laws of the versions of the sparse vector technique, as integrals over the noise of the threshold."""

from functools import cache
from itertools import product

import numpy as np

from audit_gallery.laws import laplace, panels

UNANSWERED = -1


@cache
def answers(d: int, positives: int) -> np.ndarray:
    """Return every list of d answers of a search that stops after a number of positives, shape (lists, d).

    An answer is 1 (above), 0 (below) or -1 (unanswered). The lists are in lexicographic order. A search with
    positives >= d never stops.
    """
    stopped = {_stopped(bits, positives) for bits in product((0, 1), repeat=d)}
    return np.array(sorted(stopped), dtype=np.int8)


def _stopped(bits: tuple[int, ...], positives: int) -> tuple[int, ...]:
    total, out = 0, []
    for bit in bits:
        out.append(bit if total < positives else UNANSWERED)
        total += bit
    return tuple(out)


def probabilities(
    data: np.ndarray, threshold: float, threshold_scale: float, query_scale: float, positives: int, redraws: bool
) -> np.ndarray:
    """Return P(each list of `answers`), shape (lists,), with the threshold's noise integrated out stretch by stretch.

    A stretch is the part of a list that one threshold answers: the whole list, or with `redraws` the part between two
    positives.
    """
    z, weight = panels.nodes(np.append(data - threshold, 0.0), threshold_scale)
    weight = weight * laplace.density(z, threshold_scale)
    below = laplace.cdf(threshold + z - data[:, None], query_scale)
    factors = {0: below, 1: 1 - below}

    def stretch(start: int, given: np.ndarray) -> float:
        rows = [factors[int(answer)][start + i] for i, answer in enumerate(given)]
        return float(weight @ np.prod(rows, axis=0)) if rows else 1.0

    lists = answers(len(data), positives)
    return np.array([np.prod([stretch(start, part) for start, part in _stretches(row, redraws)]) for row in lists])


def _stretches(row: np.ndarray, redraws: bool) -> list[tuple[int, np.ndarray]]:
    """Return the start and the answers of every stretch."""
    row = row[row != UNANSWERED]
    ends = np.flatnonzero(row == 1) + 1 if redraws else np.array([], dtype=int)
    starts = [0, *(end for end in ends if end < len(row))]
    return [(start, part) for start, part in zip(starts, np.split(row, starts[1:]))]


def noiseless_probabilities(data: np.ndarray, threshold: float, threshold_scale: float) -> np.ndarray:
    """Return P(each list) for a search without noise on queries that never stops: an interval of the threshold each."""
    lists = answers(len(data), len(data))
    room = data - threshold  # answer i is positive if the threshold's noise is at most room[i]
    high = np.where(lists == 1, room, np.inf).min(axis=1)
    low = np.where(lists == 0, room, -np.inf).max(axis=1)
    return laplace.interval(low, np.maximum(low, high), threshold_scale)
