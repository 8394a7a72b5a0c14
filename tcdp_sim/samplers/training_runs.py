"""Privacy losses of training runs, drawn by their samplers: in both worlds as they run, and with the rare ones raised.

A run is T steps in each of E epochs, each with Gaussian noise sigma on the sum of a batch, in units of the clipping
length. P is the law of all outputs with the record, Q the law without it, and L = log(P / Q). Forward losses compare P
with Q, and backward losses Q with P.

- `PlacedRun`: the record is in one random step of each epoch, and has the mean `record` there under P and `other` under
  Q; all other outputs have mean 0. Balls in bins have the means 1 and 0. Shuffled batches of which all other records
  are -1 have the means 2 and 1, and 2 and 0 if the record is replaced by its opposite. A known order has T = 1.
  Rare forward losses come from a large output in one, some or all epochs, or from many outputs that are a little
  larger. So some runs have the mean of the record's output stretched in 1, 2, 4, ... epochs, and some have all means
  moved. Each draw is weighted by the mixture of all.
- `SampledRun`: all steps are alike and independent. A step reveals a label and an output, whose mean is 0 under Q and a
  random shift under P, given the label.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Protocol

import numpy as np
from scipy.special import bdtrc, logsumexp

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.search import brentq, minimize_scalar
from tcdp_sim.noise import Gaussian
from tcdp_sim.samplers.importance_sampling import ImportanceSampler, fit_importance_sampler
from tcdp_sim.samplers.losses import noise_nodes
from tcdp_sim.samplers.tilted_ratios import TiltedRatios

DIRECTIONS = ("forward", "backward")
_STRETCHED = 0.8  # the largest share of epochs in which the record's mean is stretched, of a run that is not moved
_TILTS = (1e-3, 100.0)
_TILE = 2**20  # outputs drawn at a time
_STEEPEST = 60.0  # of the tilt e^(-power y)
_FARTHEST = 200.0  # of a stretched mean, in standard deviations


class Run(Protocol):
    """A training run whose privacy losses can be drawn."""

    def losses(self, forward: bool, first: bool, size: int, rng: np.random.Generator) -> Floats:
        """Return losses in nats of runs with the record if `forward` is `first`, else of runs without it."""

    def rare(self, forward: bool, tilt: float, size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return losses, and logs of weights with which they stand for losses of the first world."""

    def tilt_at(self, forward: bool, epsilon: float) -> float:
        """Return a tilt for `rare` that raises the losses near epsilon."""


@dataclass(frozen=True)
class PlacedRun:
    """A run whose record is in one random step of each epoch."""

    sigma: float
    steps: int
    epochs: int
    record: float
    other: float

    def losses(self, forward: bool, first: bool, size: int, rng: np.random.Generator) -> Floats:
        """Return losses in nats of runs with the record if `forward` is `first`, else of runs without it."""
        rows = max(_TILE // self.steps, 1)
        parts = [self._losses(forward, first, min(rows, size - at), rng) for at in range(0, size, rows)]
        return np.concatenate(parts)

    def _losses(self, forward: bool, first: bool, size: int, rng: np.random.Generator) -> Floats:
        mean = self.record if forward == first else self.other
        total = np.zeros(size)
        for _ in range(self.epochs):
            x = self.sigma * rng.standard_normal((size, self.steps))
            x[np.arange(size), rng.integers(self.steps, size=size)] += mean
            total += self._log_mean(x, self.record) - self._log_mean(x, self.other)
        return total if forward else -total

    def _log_mean(self, x: Floats, mean: float) -> Floats:
        """Return the log of the density of one random step with this mean over that of none."""
        if mean == 0:
            return np.zeros(len(x))
        return np.asarray(logsumexp((mean * x - 0.5 * mean**2) / self.sigma**2, axis=1)) - log(self.steps)

    def tilt_at(self, forward: bool, epsilon: float) -> float:
        """Return the loss epsilon / E of an epoch, at which forward draws aim.

        Backward it is the exponent theta of a tilt e^(-theta y) of all likelihood ratios, for balls in bins alone, and
        0 for draws without one.
        """
        each = epsilon / self.epochs
        if forward:
            return each
        return self._lowered(each) if self.other == 0 and self.record == 1 and self.steps > 1 else 0.0

    def _stretched(self, each: float) -> float:
        """Return the mean of the record's output at which it alone gives an epoch this loss."""
        rest = log(self.steps - 1) if self.steps > 1 else -np.inf

        def excess(x: float) -> float:
            found, base = (np.logaddexp(self._exponent(x, mean), rest) for mean in (self.record, self.other))
            return float(found - base) - each

        high = self.record + _FARTHEST * self.sigma
        return float(brentq(excess, self.record, high)) if excess(self.record) < 0 < excess(high) else self.record

    def _moved(self, each: float) -> float:
        """Return the shift of all outputs at which they together give an epoch this loss."""
        usual, base = (
            np.logaddexp(log(self.steps - 1) if self.steps > 1 else -np.inf, self.record * mean / self.sigma**2)
            for mean in (self.record, self.other)
        )
        return max(float(each - usual + base), 0.0) * self.sigma**2 / (self.record - self.other)

    def _exponent(self, x: float, mean: float) -> float:
        return (mean * x - 0.5 * mean**2) / self.sigma**2

    def _lowered(self, each: float) -> float:
        """Return theta such that the mean of a tilted ratio is e^-each."""
        goal = np.exp(-each)
        if self._tilted(_STEEPEST).mean_ratio >= goal:
            return _STEEPEST
        return float(brentq(lambda theta: self._tilted(theta).mean_ratio - goal, -1e-9, _STEEPEST, rtol=1e-3))

    def _tilted(self, theta: float) -> TiltedRatios:
        return TiltedRatios(1 / self.sigma, 0.0, lambda y: -theta * y)

    def rare(self, forward: bool, tilt: float, size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return losses, and logs of weights with which they stand for losses of the first world."""
        rows, draw = max(_TILE // self.steps, 1), self._rare_forward if forward else self._rare_backward
        parts = [draw(tilt, min(rows, size - at), rng) for at in range(0, size, rows)]
        loss, log_weight = (np.concatenate(part) for part in zip(*parts))
        return loss, log_weight

    def _rare_forward(self, tilt: float, size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        ways, shift = self._ways(tilt), self._moved(tilt)
        loss, logs, chosen = np.zeros(size), np.zeros((len(ways) + 1, size)), rng.integers(len(ways) + 1, size=size)
        moved, shares, aims = chosen == len(ways), *(np.array([*each, self.record])[chosen] for each in zip(*ways))
        for _ in range(self.epochs):
            x = self.sigma * rng.standard_normal((size, self.steps))  # by symmetry the record is in the first step
            x += np.where(moved, shift, 0.0)[:, None]
            x[:, 0] += np.where(~moved & (rng.random(size) < shares), aims, self.record)
            first = self._log_mean(x, self.record)
            loss += first - self._log_mean(x, self.other)
            for each, (share, aim) in zip(logs, ways):
                each += np.logaddexp(log(share) + self._log_mean(x, aim) - first, np.log1p(-share))
            logs[-1] += shift * (x.sum(axis=1) - 0.5 * self.steps * shift - self.record) / self.sigma**2
        return loss, log(len(logs)) - np.logaddexp.reduce(logs, axis=0)

    def _ways(self, each: float) -> list[tuple[float, float]]:
        """Return the shares of stretched epochs and their means, for losses that come from 1, 2, 4, ... epochs."""
        numbers = [*(2**i for i in range(self.epochs.bit_length()) if 2**i < self.epochs), self.epochs]
        return [(min(k / self.epochs, _STRETCHED), self._stretched(each * self.epochs / k)) for k in numbers]

    def _rare_backward(self, tilt: float, size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        if tilt <= 0:
            return self._losses(False, True, size, rng), np.zeros(size)
        loss, log_weight, law = np.zeros(size), np.zeros(size), self._tilted(tilt)
        for _ in range(self.epochs):
            y, log_ratio = law.draw((size, self.steps), rng)
            loss -= np.log(y.mean(axis=1))
            log_weight += log_ratio.sum(axis=1)
        return loss, log_weight


Join = Callable[[tuple[int, int], np.random.Generator], tuple[Ints, Floats]]


@dataclass(frozen=True, eq=False)
class SampledRun:
    """A run of steps that sample alike.

    `join(shape, rng)` runs the sampler: it returns labels and the shifts of the outputs with the record. `labels`: the
    probability of each label. `shifts`, `weights`: for each label the shifts and their probabilities.
    """

    sigma: float
    times: int
    join: Join
    labels: tuple[float, ...]
    shifts: tuple[Floats, ...]
    weights: tuple[Floats, ...]

    def losses(self, forward: bool, first: bool, size: int, rng: np.random.Generator) -> Floats:
        """Return losses in nats of runs with the record if `forward` is `first`, else of runs without it."""
        total = np.zeros(size)
        for _ in range(self.times):
            label, shift = self.join((size, 1), rng)
            x = self.sigma * rng.standard_normal(size)
            if forward == first:
                x += shift[:, 0]
            total += self._ratio(label[:, 0], x)
        return total if forward else -total

    def _ratio(self, label: Ints, x: Floats) -> Floats:
        """Return log(P / Q) of outputs with these labels."""
        found = self._ratio_of(0, x)
        for each in range(1, len(self.labels)):
            found = np.where(label == each, self._ratio_of(each, x), found)
        return found

    def _ratio_of(self, label: int, x: Floats) -> Floats:
        shift = self.shifts[label]
        exponents = (np.multiply.outer(np.asarray(x), shift) - 0.5 * shift**2) / self.sigma**2
        return np.asarray(logsumexp(exponents, axis=-1, b=self.weights[label]))

    def _tilted(self, forward: bool, label: int, tilt: float) -> ImportanceSampler:
        """Return a sampler of a label's outputs near P e^(tilt L), or near Q e^(tilt L) backward."""
        noise, sign = Gaussian(self.sigma), 1.0 if forward else -1.0

        def log_f(x: Floats) -> Floats:
            ratio = self._ratio_of(label, x)
            return np.asarray(noise.logpdf(x)) + (ratio if forward else 0.0) + tilt * sign * ratio

        return fit_importance_sampler(log_f, noise_nodes(noise, float(self.shifts[label].max()) or 1.0))

    def tilt_at(self, forward: bool, epsilon: float) -> float:
        """Return epsilon, near which draws are made."""
        return epsilon

    def _exponent(self, forward: bool, epsilon: float, labels: int) -> float:
        """Return the exponent t at which the sum under P e^(t L) has about the mean epsilon, with so many labels."""

        def excess(u: float) -> float:
            areas = [self._tilted(forward, label, float(np.exp(u))).area for label in range(labels)]
            total = float(np.dot(self.labels[:labels], areas))
            return self.times * log(total) - np.exp(u) * epsilon if 0 < total < np.inf else np.inf

        found = minimize_scalar(excess, bounds=tuple(np.log(_TILTS)), method="bounded", options={"xatol": 0.02})
        return float(f"{np.exp(found.x):.2g}")

    def _proposals(self, forward: bool, epsilon: float) -> list[list[tuple[float, ImportanceSampler]]]:
        """Return laws of a step, each as the log of P's chance over its own and the sampler, for each label.

        A rare label with large losses has a law of its own, beside the law in which only the first label is tilted.
        """
        if (forward, epsilon) not in self._kept:
            numbers = sorted({1, len(self.labels)})
            tilts = [(self._exponent(forward, epsilon, number), number) for number in numbers]
            self._kept[forward, epsilon] = [self._proposal(forward, *each) for each in tilts]
        return self._kept[forward, epsilon]

    def _proposal(self, forward: bool, tilt: float, labels: int) -> list[tuple[float, ImportanceSampler]]:
        """Return the law of a step in which so many labels are tilted."""
        samplers = [self._tilted(forward, i, tilt if i < labels else 0.0) for i in range(len(self.labels))]
        total = float(np.dot(self.labels, [each.area for each in samplers]))
        return [(each.area / total, each) for each in samplers]

    @cached_property
    def _kept(self) -> dict[tuple[bool, float], list[list[tuple[float, ImportanceSampler]]]]:
        return {}

    def rare(self, forward: bool, tilt: float, size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return losses, and logs of weights with which they stand for losses of the first world."""
        laws = self._proposals(forward, tilt)
        chosen = rng.integers(len(laws), size=size)
        loss, logs = np.zeros(size), np.zeros((len(laws), size))
        for _ in range(self.times):
            label, x = self._step(laws, chosen, rng)
            ratio = self._ratio(label, x)
            density = np.asarray(Gaussian(self.sigma).logpdf(x)) + (ratio if forward else 0.0)
            loss += ratio if forward else -ratio
            for each, law in zip(logs, laws):
                each += _log_density(law, label, x) - density
        return loss, log(len(laws)) - np.logaddexp.reduce(logs, axis=0)

    def _step(
        self, laws: list[list[tuple[float, ImportanceSampler]]], chosen: Ints, rng: np.random.Generator
    ) -> tuple[Ints, Floats]:
        """Return a label and an output for each run, from the law that was chosen for it."""
        size = len(chosen)
        label, x, uniform = np.zeros(size, np.int64), np.zeros(size), rng.random(size)
        for k, law in enumerate(laws):
            shares = np.array(self.labels) * [share for share, _ in law]
            own = chosen == k
            drawn = np.searchsorted(np.cumsum(shares[:-1]), uniform, side="right")
            label = np.where(own, drawn, label)
            for i, (_, sampler) in enumerate(law):
                x = np.where(own & (drawn == i), sampler.points(size, rng=rng)[0], x)
        return label, x


def _log_density(law: list[tuple[float, ImportanceSampler]], label: Ints, x: Floats) -> Floats:
    """Return the log of a law's density of labels and outputs over the probability of the label."""
    found = np.zeros(len(x))
    for i, (share, sampler) in enumerate(law):
        step = np.clip(np.searchsorted(sampler.edges, x, side="right") - 1, 0, len(sampler.heights) - 1)
        inside = (x >= sampler.edges[0]) & (x <= sampler.edges[-1])
        height = np.where(inside, sampler.heights[step], -np.inf)
        found = np.where(label == i, log(share) - log(sampler.area) + height, found)
    return found


def poisson_run(sigma: float, times: int, rate: float, group: int = 1) -> SampledRun:
    """Return a run with Poisson samples, in which each record of a group is by itself with the sampling probability."""

    def join(shape: tuple[int, int], rng: np.random.Generator) -> tuple[Ints, Floats]:
        return np.zeros(shape, np.int64), rng.binomial(group, rate, shape).astype(np.float64)

    numbers = np.arange(group + 1.0)
    weights = [1.0]
    for each in range(group):
        weights.append(weights[-1] * (group - each) / (each + 1))
    chances = np.array(weights) * rate**numbers * (1 - rate) ** (group - numbers)
    return SampledRun(sigma, times, join, (1.0,), (numbers,), (chances,))


def fixed_size_run(sigma: float, times: int, rate: float) -> SampledRun:
    """Return a run with batches of fixed size without replacement, whose record is replaced by its opposite."""

    def join(shape: tuple[int, int], rng: np.random.Generator) -> tuple[Ints, Floats]:
        return np.zeros(shape, np.int64), np.where(rng.random(shape) < rate, 2.0, 0.0)

    return SampledRun(sigma, times, join, (1.0,), (np.array([0.0, 2.0]),), (np.array([1 - rate, rate]),))


def cut_run(sigma: float, times: int, rate: float, records: int, most: int) -> SampledRun:
    """Return a run with Poisson samples of which a random part of `most` records is used.

    The label says whether at least `most` others are in the sample. Then the record takes the place of another one, so
    the output moves by 2.
    """

    def join(shape: tuple[int, int], rng: np.random.Generator) -> tuple[Ints, Floats]:
        others = rng.binomial(records - 1, rate, shape)
        used = (rng.random(shape) < rate) & (rng.random(shape) * (others + 1) < most)
        full = others >= most
        return full.astype(np.int64), np.where(used, np.where(full, 2.0, 1.0), 0.0)

    full = float(bdtrc(most - 1, records - 1, rate)) if most < records else 0.0
    plain = (np.array([0.0, 1.0]), np.array([1 - rate, rate]))
    if not full:
        return SampledRun(sigma, times, join, (1.0,), (plain[0],), (plain[1],))
    chosen = float(bdtrc(most, records, rate)) * most / records / full
    cut = (np.array([0.0, 2.0]), np.array([1 - chosen, chosen]))
    return SampledRun(sigma, times, join, (1 - full, full), (plain[0], cut[0]), (plain[1], cut[1]))
