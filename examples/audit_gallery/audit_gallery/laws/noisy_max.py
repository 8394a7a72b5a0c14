"""Exact laws of the largest noisy answer: of its index, by quadrature, and of its value, in closed form."""

from collections.abc import Callable

import numpy as np

from audit_gallery.laws import laplace, panels

Function = Callable[[np.ndarray, float], np.ndarray]


def exponential_density(x: np.ndarray, scale: float) -> np.ndarray:
    """Return the density of exponential noise of a scale > 0, which is 0 below 0."""
    return np.where(x < 0, 0.0, np.exp(-np.maximum(x, 0) / scale) / scale)


def exponential_cdf(x: np.ndarray, scale: float) -> np.ndarray:
    """Return P(noise <= x) of exponential noise of a scale > 0, to full relative precision near 0."""
    return -np.expm1(-np.maximum(x, 0) / scale)


LAPLACE: tuple[Function, Function] = (laplace.density, laplace.cdf)
EXPONENTIAL: tuple[Function, Function] = (exponential_density, exponential_cdf)


def index_probabilities(data: np.ndarray, noise: tuple[Function, Function], scale: float) -> np.ndarray:
    """Return P(answer i is the largest), shape (d,): the integral of f(x - a_i) times all F(x - a_j) with j != i."""
    density, cdf = noise
    x, weight = panels.nodes(data, scale)
    below = cdf(x - data[:, None], scale)
    own = density(x - data[:, None], scale)
    return np.array([(weight * own[i] * np.delete(below, i, axis=0).prod(axis=0)).sum() for i in range(len(data))])


def value_log_density(x: np.ndarray, data: np.ndarray, scale: float) -> np.ndarray:
    """Return the log density at x of the largest data[i] + exponential noise; -inf below the largest answer.

    It is log of sum_i f(x - a_i) / F(x - a_i), plus sum_i log F(x - a_i). Equal answers are taken together.
    """
    inside = x > data.max()
    x = np.where(inside, x, data.max() + scale)
    hazard, log_below = np.zeros(x.shape), np.zeros(x.shape)
    for answer, times in zip(*np.unique(data, return_counts=True)):
        tail = np.exp((answer - x) / scale)
        below = exponential_cdf(x - answer, scale)
        hazard += times * tail / (scale * below)
        log_below += times * np.log(below)
    return np.where(inside, np.log(hazard) + log_below, -np.inf)


def value_cells(data: np.ndarray, other: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities, under both inputs, of intervals of the largest value, finest where it is rarest."""
    starts = sorted({data.max(), other.max()})
    away = scale * np.concatenate([np.geomspace(1e-6, 1, 4000), np.linspace(1.01, 40, 2000)])
    edges = np.unique(np.concatenate([*(start + away for start in starts), starts, [np.inf]]))

    def probabilities(answers: np.ndarray) -> np.ndarray:
        return np.diff(exponential_cdf(edges[:, None] - answers, scale).prod(axis=1))

    return probabilities(data), probabilities(other)
