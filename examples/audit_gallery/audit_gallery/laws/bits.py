"""The exact law of reported bits that are randomised independently of each other."""

import numpy as np
from scipy.stats import binom


def set_probabilities(f: float, p: float, q: float) -> tuple[float, float]:
    """Return P(reported bit is set) for a true bit of 0, and for a true bit of 1.

    The lasting answer is 1 with probability f / 2, 0 with probability f / 2, and otherwise the truth. It is reported as
    set with probability q if it is 1, and with probability p if it is 0.
    """
    return q * f / 2 + p * (1 - f / 2), q * (1 - f / 2) + p * f / 2


def cells(true: np.ndarray, other: np.ndarray, if_zero: float, if_one: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the law of the number of reported bits that are set, under both inputs: shapes (cells,).

    `true` and `other` are the bits of the two inputs as booleans. Only bits in which the inputs differ count, because
    all other bits have the same law under both.
    """
    first, second = np.count_nonzero(true & ~other), np.count_nonzero(other & ~true)

    def probabilities(own: float, foreign: float) -> np.ndarray:
        counts = (binom.pmf(np.arange(n + 1), n, p) for n, p in ((first, own), (second, foreign)))
        return np.multiply.outer(*counts).ravel()

    return probabilities(if_one, if_zero), probabilities(if_zero, if_one)
