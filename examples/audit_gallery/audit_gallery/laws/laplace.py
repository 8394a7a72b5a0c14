"""Exact laws of vectors to which Laplace noise is added."""

import numpy as np

STEPS = 400  # from one end of a coordinate's loss to the other


def cdf(x: np.ndarray, scale: float) -> np.ndarray:
    """Return P(noise <= x) of Laplace noise of a scale > 0."""
    tail = 0.5 * np.exp(-np.abs(x) / scale)
    return np.where(x < 0, tail, 1 - tail)


def density(x: np.ndarray, scale: float) -> np.ndarray:
    """Return the density of Laplace noise of a scale > 0."""
    return np.exp(-np.abs(x) / scale) / (2 * scale)


def interval(low: np.ndarray, high: np.ndarray, scale: float) -> np.ndarray:
    """Return P(low < noise <= high), to full relative precision in both tails."""
    mirrored = low > 0
    below = cdf(np.where(mirrored, -high, low), scale)
    return cdf(np.where(mirrored, -low, high), scale) - below


def loss_cells(data: np.ndarray, other: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities of each sum of rounded losses under both inputs, each of shape (cells,).

    Output i is data[i] plus independent Laplace noise of a scale > 0. All coordinates that differ, differ by the same
    amount. Each coordinate's loss is rounded to one of STEPS + 1 values. The cells are still true events, and their
    probabilities are exact.
    """
    p = q = np.ones(1)
    for a, b in zip(data, other):
        if a != b:
            one, two = _coordinate(a, b, scale)
            p, q = np.convolve(p, one), np.convolve(q, two)
    return p, q


def _coordinate(a: float, b: float, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities of a coordinate's cells under both inputs, the largest loss first (the side of a)."""
    distance = abs(b - a)
    edges = np.concatenate([[-np.inf], np.arange(STEPS) / STEPS * distance, [np.inf]])
    return interval(edges[:-1], edges[1:], scale), interval(edges[:-1] - distance, edges[1:] - distance, scale)
