"""The exact law of reported bits of which each is kept, or not, on its own."""

import numpy as np
from scipy.stats import binom


def set_probabilities(f: float, p: float, q: float) -> tuple[float, float]:
    """P(reported bit is set) where the true bit is 0, and where it is 1.

    The lasting answer is 1 with probability f / 2, 0 with f / 2, and else the truth; it is reported as set with
    probability q if it is 1, and p if it is 0.
    """
    return q * f / 2 + p * (1 - f / 2), q * (1 - f / 2) + p * f / 2


def cells(true: np.ndarray, other: np.ndarray, if_zero: float, if_one: float) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of how many reported bits are set among those that only one input has set; shapes (cells,).

    true, other: bits of the two inputs as booleans. All other bits have the same law under both.
    """
    first, second = np.count_nonzero(true & ~other), np.count_nonzero(other & ~true)

    def probabilities(own: float, foreign: float) -> np.ndarray:
        counts = (binom.pmf(np.arange(n + 1), n, p) for n, p in ((first, own), (second, foreign)))
        return np.multiply.outer(*counts).ravel()

    return probabilities(if_one, if_zero), probabilities(if_zero, if_one)
