"""The exact law of two-sided geometric noise whose sum with a count is clamped to 0..n."""

import numpy as np


def probabilities(count: int, n: int, k: int) -> np.ndarray:
    """Return P(output = 0), ..., P(output = n), shape (n + 1,), for noise z with probability proportional to alpha^|z|.

    alpha = 2^k / (2^k + 1), so a count larger by one moves every probability by a factor of at most 1 + 2^-k. The
    probability of outputs beyond an end belongs to that end.
    """
    alpha = 1 / (1 + 2.0**-k)
    inner = (1 - alpha) / (1 + alpha) * alpha ** np.abs(np.arange(n + 1) - count)
    inner[0], inner[-1] = alpha**count / (1 + alpha), alpha ** (n - count) / (1 + alpha)
    return inner
