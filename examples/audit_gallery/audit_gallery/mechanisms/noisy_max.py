"""Report noisy max (Dwork and Roth 2014, section 3.3), and a version that releases the value as well."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from audit_gallery import draws
from audit_gallery.laws import noisy_max
from audit_gallery.laws.best_event import log_ratio
from audit_gallery.mechanisms.base import Discrete, Known

DRAWS = {"laplace": draws.laplace, "exponential": draws.exponential}
LAWS = {"laplace": noisy_max.LAPLACE, "exponential": noisy_max.EXPONENTIAL}


@dataclass(frozen=True)
class NoisyMaxIndex(Discrete):
    """The index (from 0) of the largest answer after noise of a scale > 0.

    It is sound for epsilon at scale 2 / epsilon, though all answers may change by one. Exponential noise uses epsilon
    exactly. Laplace noise on few answers uses less.
    """

    noise: Literal["laplace", "exponential"]
    scale: float

    def __call__(self, data, rng, trials):
        outputs = np.zeros(trials, dtype=np.int8)
        for part in draws.blocks(trials):
            index = outputs[part]
            largest = data[0] + DRAWS[self.noise](rng, index.size, self.scale)
            for i in range(1, len(data)):
                noisy = data[i] + DRAWS[self.noise](rng, index.size, self.scale)
                np.copyto(index, i, where=noisy > largest)
                np.maximum(largest, noisy, out=largest)
        return outputs

    def numbers(self, outputs, d):
        return outputs

    def probabilities(self, data):
        return noisy_max.index_probabilities(data, LAWS[self.noise], self.scale)


@dataclass(frozen=True)
class NoisyMaxValue(Known):
    """The largest noisy answer itself, which is broken, because only its index is private.

    The noise is exponential of a scale > 0 and never negative. So the output is never below the largest answer, and
    every output between the largest answers of two neighbours tells them apart for certain. There is no finite epsilon.
    """

    scale: float

    def __call__(self, data, rng, trials):
        outputs = np.empty(trials)
        for part in draws.blocks(trials):
            largest = outputs[part]
            largest[:] = data[0] + draws.exponential(rng, largest.size, self.scale)
            for answer in data[1:]:
                np.maximum(largest, answer + draws.exponential(rng, largest.size, self.scale), out=largest)
        return outputs

    def log_likelihood_ratio(self, outputs, data, other):
        one, two = (noisy_max.value_log_density(outputs, x, self.scale) for x in (data, other))
        with np.errstate(invalid="ignore"):
            return np.where(one == two, 0.0, one - two)

    def cells(self, data, other):
        return noisy_max.value_cells(data, other, self.scale)

    def epsilon(self, data, other):
        if data.max() < other.max():
            return np.inf
        return float(log_ratio(*self.cells(data, other)).max())
