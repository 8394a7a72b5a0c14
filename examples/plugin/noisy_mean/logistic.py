"""Logistic noise: smooth in the middle, with the tails of Laplace noise."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit, logit

from tcdp_sim.noise import Noise


@dataclass(frozen=True, eq=False)
class Logistic(Noise):
    """Logistic noise: P[Z <= x] = 1 / (1 + exp(-x / scale)), scale > 0 in counts, for shifts below 70 scales."""

    scale: float
    family = "logistic"
    log_concave = True

    def logpdf(self, x):
        return log_expit(np.divide(x, self.scale)) + self.logsf(x) - np.log(self.scale)

    def sf(self, x):
        return expit(-np.divide(x, self.scale))

    def logsf(self, x):
        return log_expit(-np.divide(x, self.scale))

    def isf(self, p):
        return -self.scale * logit(p)

    def var(self):
        return (np.pi * self.scale) ** 2 / 3

    def sample(self, size=None, *, rng):
        return rng.logistic(0.0, self.scale, size)

    def privacy_loss(self, y, shift):  # 2 log(cosh(m - h) / cosh(m + h)) would cancel
        h = np.divide(shift, 4 * self.scale)
        m = np.divide(y, 2 * self.scale) - h
        return -4 * np.arctanh(np.tanh(m) * np.tanh(h))

    def largest_loss(self, shift):
        return shift / self.scale
