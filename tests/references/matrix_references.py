"""Oracles of matrix mechanisms that share no code with them: enumerated patterns, and sums over grids of outputs."""

from itertools import product
from math import exp, log, sqrt

import numpy as np
from scipy import stats
from scipy.integrate import quad


def grid_delta(means, weights, sigma, epsilon, points=None):
    """delta of a mixture of N(m_i, sigma^2) against N(0, sigma^2), (remove, add), by the sum over a grid in their span.

    `means`: shape (dimensions, i). At most three dimensions.
    """
    left, singular, _ = np.linalg.svd(np.asarray(means, float))
    coordinates = left[:, : int((singular > 1e-9 * singular[0]).sum())].T @ means / sigma
    dimensions = len(coordinates)
    points = points or {1: 20_001, 2: 1601, 3: 161}[dimensions]
    low, high = min(coordinates.min(), 0.0) - 8, max(coordinates.max(), 0.0) + 8
    x = np.linspace(low, high, points)
    axes = np.stack(np.meshgrid(*[x] * dimensions, indexing="ij")).reshape(dimensions, -1)
    q = np.exp(-0.5 * (axes**2).sum(axis=0)) * ((x[1] - x[0]) / np.sqrt(2 * np.pi)) ** dimensions
    ratio = np.zeros(axes.shape[1])
    for mean, weight in zip(coordinates.T, weights):
        ratio += weight * np.exp(mean @ axes - 0.5 * mean @ mean)
    return float((q * np.maximum(ratio - exp(epsilon), 0)).sum()), float(
        (q * np.maximum(1 - exp(epsilon) * ratio, 0)).sum()
    )


def two_bins_delta(means, sigma, epsilon):
    """delta of two bins, (remove, add), by quadrature over the difference of the two scores; their mean has a root."""
    gram = means.T @ means / sigma**2
    turned = np.array([[0.5, 0.5], [1, -1]])
    spread = turned @ gram @ turned.T
    slope, width = spread[0, 1] / spread[1, 1], sqrt(spread[1, 1])
    rest = sqrt(spread[0, 0] - slope * spread[0, 1])

    def probability(mean, sign):
        middle, gap = turned @ mean

        def density(d):
            log_mean = np.logaddexp((d - gram[0, 0]) / 2, (-d - gram[1, 1]) / 2) - log(2)
            z = (epsilon * sign - log_mean - middle - slope * (d - gap)) / rest
            return stats.norm.pdf(d, gap, width) * stats.norm.cdf(-sign * z)

        return quad(density, gap - 12 * width, gap + 12 * width, epsabs=1e-13, epsrel=1e-12, limit=500)[0]

    record = {sign: (probability(gram[0], sign) + probability(gram[1], sign)) / 2 for sign in (1, -1)}
    nobody = {sign: probability(np.zeros(2), sign) for sign in (1, -1)}
    return record[1] - exp(epsilon) * nobody[1], nobody[-1] - exp(epsilon) * record[-1]


def gaussian_delta(mu, epsilon):
    """delta of N(mu, 1) against N(0, 1)."""
    return stats.norm.cdf(mu / 2 - epsilon / mu) - exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)


def patterns(steps):
    """All sets of steps, as rows of 0 and 1."""
    return np.array(list(product((0, 1), repeat=steps)))


def separated_weights(steps, separation, probability, warm):
    """The probability of each pattern, from the rule step by step.

    A warm start is a start long ago, 3,000 or up to 3,000 + b - 1 steps earlier: for p = 1 the law is periodic.
    """
    states, total = np.zeros(separation), np.zeros(separation)  # of the number of steps until a record is free
    states[0] = 1.0
    for step in range(3000 + separation if warm else 0):
        moved = np.zeros(separation)
        moved[: separation - 1] += states[1:]
        moved[0] += states[0] * (1 - probability)
        moved[separation - 1] += states[0] * probability
        states = moved
        total += states * (step >= 3000)
    states = total / separation if warm else states
    found = []
    for pattern in patterns(steps):
        total = 0.0
        for pause, chance in enumerate(states):
            free = pause
            for step, taken in enumerate(pattern):
                chance *= (probability if taken else 1 - probability) if step >= free else 1 - taken
                free = step + separation if taken else free
            total += chance
        found.append(total)
    return np.array(found)


def toeplitz(column):
    """The lower-triangular Toeplitz matrix of a column."""
    n = len(column)
    return np.array([[column[i - j] if i >= j else 0.0 for j in range(n)] for i in range(n)])


def bin_means(matrix, bins):
    """The move of a record in each bin."""
    return np.stack([matrix[:, i::bins].sum(axis=1) for i in range(bins)], axis=1)
