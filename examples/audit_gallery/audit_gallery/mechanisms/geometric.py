"""Geometric noise in whole numbers (Balcer and Vadhan, "Differential privacy on finite computers", GeoSample)."""

from dataclasses import dataclass

import numpy as np

from audit_gallery import draws
from audit_gallery.laws import geometric
from audit_gallery.mechanisms.base import Discrete


@dataclass(frozen=True)
class TruncatedGeometric(Discrete):
    """A count in 0..n with two-sided geometric noise, clamped to 0..n.

    Every probability is a fraction of integers, and n k < 60. The true epsilon is log(1 + 2^-k). The paper takes k =
    ceil(log2(2 / epsilon)), which makes it less than epsilon: k = 5 for epsilon = 0.1. The mechanism is broken if log
    is read as the natural logarithm: then k = 3, and the true epsilon is 0.1178.
    """

    n: int
    k: int

    def __call__(self, data, rng, trials):
        cumulated = self._cumulated(int(data[0]))
        outputs = np.empty(trials, dtype=np.int8)
        for part in draws.blocks(trials):
            drawn = rng.integers(1, cumulated[-1], len(outputs[part]), endpoint=True)
            outputs[part] = np.searchsorted(cumulated, drawn)  # the first that is not below
        return outputs

    def _cumulated(self, count: int) -> np.ndarray:
        """Return the paper's F: the numbers of outcomes of one draw that give at most 0, 1, ..., n; shape (n + 1,)."""
        power, n = 2**self.k, self.n
        total = (2 * power + 1) * (power + 1) ** (n - 1)
        below = [power ** (count - z) * (power + 1) ** (n - count + z) for z in range(count)]
        above = [total - power ** (z - count + 1) * (power + 1) ** (n - 1 - z + count) for z in range(count, n)]
        return np.array([*below, *above, total], dtype=np.int64)

    def numbers(self, outputs, d):
        return outputs

    def probabilities(self, data):
        return geometric.probabilities(int(data[0]), self.n, self.k)
