"""The exact law of two-sided geometric noise whose sum with a count is clamped to 0..n."""

import numpy as np


def probabilities(count: int, n: int, k: int) -> np.ndarray:
    """P(output = 0), ..., P(output = n) for noise z with probability proportional to alpha^|z|; shape (n + 1,).

    alpha = 2^k / (2^k + 1), so that one more in the count moves every probability by a factor of at most 1 + 2^-k.
    What noise would push beyond an end counts there.
    """
    alpha = 1 / (1 + 2.0**-k)
    inner = (1 - alpha) / (1 + alpha) * alpha ** np.abs(np.arange(n + 1) - count)
    inner[0], inner[-1] = alpha**count / (1 + alpha), alpha ** (n - count) / (1 + alpha)
    return inner
