"""Laplace noise in floating point, and its repair (both from Mironov, CCS 2012)."""

from dataclasses import dataclass

import numpy as np

from audit_gallery import draws
from audit_gallery.laws import laplace
from audit_gallery.laws.best_event import log_ratio
from audit_gallery.mechanisms.base import Discrete

CANDIDATES = 4  # uniform numbers tried on either side of the one that an output suggests


@dataclass(frozen=True)
class InvertedLaplace:
    """The textbook's sampler of Laplace noise, which is broken: answer -+ scale log(u).

    u is uniform on the multiples of 2^-bits in (0, 1], with 1 <= bits <= 53. The logarithm leaves holes between the
    doubles that it can reach, and the answer shifts these holes. So most outputs on one input cannot occur on its
    neighbour. In real arithmetic the mechanism would be sound for epsilon = 1 / scale.
    """

    scale: float
    bits: int = 53

    def __call__(self, data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        outputs = np.empty(trials)
        for part in draws.blocks(trials):
            size = len(outputs[part])
            numerator = rng.integers(1, 2**self.bits, size, endpoint=True)
            outputs[part] = self._output(data[0], draws.coins(rng, size), numerator)
        return outputs

    def _output(self, answer, coin, numerator):
        return answer + (1 - 2 * coin) * (self.scale * -np.log(numerator * 2.0**-self.bits))

    def log_likelihood_ratio(self, outputs: np.ndarray, data: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Return the log ratio of the numbers of (sign, u) that give the output on both inputs; +-inf for none."""
        ratio = np.empty(len(outputs))
        for part in draws.blocks(len(outputs)):
            ratio[part] = log_ratio(*(self.origins(outputs[part], float(x[0])) for x in (data, other)))
        return ratio

    def origins(self, outputs: np.ndarray, answer: float) -> np.ndarray:
        """Return the number of pairs (sign, uniform number) that give exactly this output, shape (trials,).

        After the logarithm, neighbouring uniform numbers are further apart than outputs. So few of them come into
        question.
        """
        noise = outputs - answer
        nearest = np.rint(np.exp(-np.abs(noise) / self.scale) * 2.0**self.bits)
        count = np.zeros(len(outputs), dtype=np.int64)
        coin = (noise < 0).astype(np.int8)
        for offset in range(-CANDIDATES, CANDIDATES + 1):
            numerator = nearest + offset
            valid = (numerator >= 1) & (numerator <= 2.0**self.bits)
            numerator = np.where(valid, numerator, 1.0)
            count += valid & (self._output(answer, coin, numerator) == outputs)
            count += valid & (noise == 0) & (self._output(answer, 1 - coin, numerator) == outputs)
        return count


@dataclass(frozen=True)
class SnappedLaplace(Discrete):
    """The repaired sampler, which is sound for epsilon: it clamps the answer and rounds the output to a coarse grid.

    The answer is clamped to -+bound, with 1 / epsilon < bound < 2^46 / epsilon. The noise has scale (1 + 2^-49 bound) /
    epsilon, and the grid is the least power of two that is not smaller. The uniform number has all its 53 bits at every
    size. The proof needs a correctly rounded logarithm. numpy's errs by at most an ulp, which moves an output in fewer
    than one of 10^12 trials.
    """

    target: float
    bound: float

    @property
    def scale(self) -> float:
        """The scale of the noise."""
        return (1 + 2.0**-49 * self.bound) / self.target

    @property
    def grid(self) -> float:
        """The distance of neighbouring outputs."""
        return 2.0 ** np.ceil(np.log2(self.scale))

    def __call__(self, data, rng, trials):
        outputs = np.empty(trials)
        answer = np.clip(data[0], -self.bound, self.bound)
        for part in draws.blocks(trials):
            size = len(outputs[part])
            mantissa = rng.integers(2**52, 2**53, size)
            uniform = np.ldexp(mantissa.astype(np.float64), -52 - rng.geometric(0.5, size))
            noisy = answer + (1 - 2 * draws.coins(rng, size)) * (self.scale * np.log(uniform))
            outputs[part] = np.clip(np.rint(noisy / self.grid) * self.grid, -self.bound, self.bound)
        return outputs

    def values(self) -> np.ndarray:
        """Return all possible outputs, ascending."""
        inner = np.arange(-np.floor(self.bound / self.grid), np.floor(self.bound / self.grid) + 1) * self.grid
        return np.unique(np.concatenate([[-self.bound], inner, [self.bound]]))

    def numbers(self, outputs, d):
        return np.searchsorted(self.values(), outputs)

    def probabilities(self, data):
        """Return the probability of every value: Laplace noise on its interval, and the tails at the ends."""
        answer, values = np.clip(data[0], -self.bound, self.bound), self.values()
        ends = np.arange(np.floor(values[0] / self.grid), np.ceil(values[-1] / self.grid) + 1) * self.grid
        edges = np.concatenate([[-np.inf], ends[:-1] + self.grid / 2, [np.inf]]) - answer
        rounded = laplace.interval(edges[:-1], edges[1:], self.scale)
        table = np.zeros(len(values))
        np.add.at(table, self.numbers(np.clip(ends, values[0], values[-1]), 1), rounded)
        return table
