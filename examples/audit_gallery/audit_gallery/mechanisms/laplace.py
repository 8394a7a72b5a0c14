"""Laplace noise on every answer (Dwork, McSherry, Nissim, Smith 2006)."""

from dataclasses import dataclass

import numpy as np

from audit_gallery import draws
from audit_gallery.laws import laplace
from audit_gallery.mechanisms.base import Known


@dataclass(frozen=True)
class LaplaceVector(Known):
    """A histogram, or one number, with Laplace noise of a scale > 0 on every answer.

    It is sound for epsilon if scale >= 1 / epsilon and one answer changes by one. It is broken if the scale is epsilon
    in place of its inverse: the true epsilon is then 1 / epsilon. Nothing looks wrong, because the outputs are even
    more accurate.
    """

    scale: float

    def __call__(self, data, rng, trials):
        outputs = np.empty((trials, len(data)))
        centres = np.tile(data, max(draws.BLOCK // len(data), 1))
        for part in draws.blocks(trials, len(data)):
            numbers = outputs[part].reshape(-1)
            np.add(draws.laplace(rng, numbers.size, self.scale), centres[: numbers.size], out=numbers)
        return outputs

    def log_likelihood_ratio(self, outputs, data, other):
        ratio, changed = np.zeros(len(outputs)), data != other
        middle, half = (data + other)[changed] / 2, (other - data)[changed] / 2
        for part in draws.blocks(len(outputs), len(data)):
            towards = np.sign(half) * (middle - outputs[part][:, changed])
            ratio[part] = np.clip(towards, -np.abs(half), np.abs(half)).sum(axis=1)
        return ratio * (2 / self.scale)

    def cells(self, data, other):
        return laplace.loss_cells(data, other, self.scale)

    def epsilon(self, data, other):
        return float(np.abs(data - other).sum() / self.scale)


@dataclass(frozen=True)
class RepeatedLaplace(Known):
    """One number released again and again, each time with fresh Laplace noise of a scale > 0.

    It is sound for epsilon = times / scale. It is hard to audit, because the losses of all releases are rarely near
    their largest value together. So the evidence lies in sums of many small parts.
    """

    scale: float
    times: int

    def __call__(self, data, rng, trials):
        return LaplaceVector(self.scale)(np.repeat(data, self.times), rng, trials)

    def log_likelihood_ratio(self, outputs, data, other):
        ratio, ones = np.empty(len(outputs)), np.ones(self.times)
        middle, half = (data[0] + other[0]) / 2, (other[0] - data[0]) / 2
        for part in draws.blocks(len(outputs), self.times):
            ratio[part] = np.clip(middle - outputs[part], -abs(half), abs(half)) @ ones
        return ratio * (2 * np.sign(half) / self.scale)

    def cells(self, data, other):
        return laplace.loss_cells(np.repeat(data, self.times), np.repeat(other, self.times), self.scale)

    def epsilon(self, data, other):
        return float(self.times * np.abs(data - other).sum() / self.scale)
