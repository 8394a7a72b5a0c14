"""Five more mechanisms, on which the audit was never tuned. Their epsilon is known."""

from dataclasses import dataclass
from math import log

import numpy as np

from audit_gallery.laws import laplace, panels
from audit_gallery.laws.best_event import largest_loss
from audit_gallery.mechanisms.base import Exact
from audit_gallery.rows import Row
from tcdp_sim.audits import answer_pairs
from tcdp_sim.privacy import PureDP

TRIALS = 1_000_000


@dataclass(frozen=True)
class UnclippedMean(Exact):
    """The noisy mean of records in [0, 1] that are clipped to [0, 2]: one record moves the mean twice as far."""

    scale: float

    def __call__(self, data, rng, trials):
        return np.clip(data, 0, 2).mean() + rng.laplace(0, self.scale, trials)

    def epsilon(self, data, other):
        return abs(np.clip(data, 0, 2).mean() - np.clip(other, 0, 2).mean()) / self.scale


@dataclass(frozen=True)
class MaximumWithGap(Exact):
    """The index of the largest of several answers with Laplace noise, and its distance to the second largest.

    It is 2 / scale-DP for answers that change by 1 each (Ding, Wang, Xiao, Zhang, Kifer 2019; from memory).
    """

    scale: float

    def __call__(self, data, rng, trials):
        noisy = data + rng.laplace(0, self.scale, (trials, len(data)))
        ordered = np.sort(noisy, axis=1)
        return np.stack([noisy.argmax(axis=1), ordered[:, -1] - ordered[:, -2]], axis=1)

    def epsilon(self, data, other):
        """Return the largest loss over every index and a grid of gaps, with the limit of large ones."""
        gaps = self.scale * np.append(np.linspace(0, 4, 21), 30)
        one, two = ([self._density(side, index, gaps) for index in range(len(data))] for side in (data, other))
        return float(np.log(np.divide(one, two)).max())

    def _density(self, data: np.ndarray, index: int, gaps: np.ndarray) -> np.ndarray:
        """Return the density of an index and each gap: the integral over the second largest noisy answer."""
        rest, found = np.delete(data, index), []
        for gap in gaps:
            m, weight = panels.nodes(np.append(rest, data[index] - gap), self.scale)
            away = m - rest[:, None]
            below = laplace.cdf(away, self.scale)
            second = (laplace.density(away, self.scale) / below).sum(axis=0) * below.prod(axis=0)
            found.append(weight @ (laplace.density(m + gap - data[index], self.scale) * second))
        return np.array(found)


@dataclass(frozen=True)
class ClampedCount(Exact):
    """A count with two-sided geometric noise, clamped to a range that ends at 4 + the count itself."""

    ratio: float

    def __call__(self, data, rng, trials):
        noise = rng.geometric(1 - self.ratio, trials) - rng.geometric(1 - self.ratio, trials)
        return np.clip(int(data[0]) + noise, 0, 4 + int(data[0]))

    def epsilon(self, data, other):
        size = 5 + int(max(data[0], other[0]))
        return largest_loss(*(self._table(int(side[0]), size) for side in (data, other)))

    def _table(self, count: int, size: int) -> np.ndarray:
        """Return the probabilities of the outputs 0, 1, ... size - 1: the ends of the range get the tails."""
        places, top = np.arange(size), 4 + count
        away = np.abs(places - count)
        inside = (1 - self.ratio) / (1 + self.ratio) * self.ratio**away
        tail = self.ratio**away / (1 + self.ratio)
        table = np.where((places == 0) | (places == top), tail, inside)
        return np.where(places <= top, table, 0.0)


@dataclass(frozen=True)
class FirstAboveWithValue(Exact):
    """The index of the first answer above a noisy threshold of 0, and this answer with fresh noise.

    The output is (number of answers, 0) if there is none.
    """

    threshold_scale: float
    query_scale: float
    value_scale: float

    def __call__(self, data, rng, trials):
        outputs = np.zeros((trials, 2))
        outputs[:, 0] = len(data)
        threshold, running = rng.laplace(0, self.threshold_scale, trials), np.arange(trials)
        for index, answer in enumerate(data):
            above = answer + rng.laplace(0, self.query_scale, running.size) >= threshold[running]
            found = running[above]
            outputs[found, 0], outputs[found, 1] = index, answer + rng.laplace(0, self.value_scale, found.size)
            running = running[~above]
        return outputs

    def epsilon(self, data, other):
        """Return the largest loss: that of the index, plus that of the value where there is one."""
        values = [*np.abs(data - other) / self.value_scale, 0.0]
        one, two = (self._indices(side) for side in (data, other))
        return max(log(p / q) + value for p, q, value in zip(one, two, values))

    def _indices(self, data: np.ndarray) -> list[float]:
        """Return the probability of each index, and of none."""
        t, weight = panels.nodes(np.append(data, 0.0), self.threshold_scale)
        weight = weight * laplace.density(t, self.threshold_scale)
        chances = []
        for answer in data:
            below = laplace.cdf(t - answer, self.query_scale)
            chances.append(float(weight @ (1 - below)))
            weight = weight * below
        return [*chances, float(weight.sum())]


@dataclass(frozen=True)
class SixLabels(Exact):
    """Randomised response on 6 labels that tells the truth with probability `truth`."""

    truth: float

    def __call__(self, data, rng, trials):
        label = int(data[0])
        others = (label + rng.integers(1, 6, trials)) % 6
        return np.where(rng.random(trials) < self.truth, label, others)

    def epsilon(self, data, other):
        return log(self.truth / ((1 - self.truth) / 5))


def held_out_rows() -> list[Row]:
    """Return the rows of these mechanisms."""
    coin, outlier = [(np.zeros(1), np.ones(1))], [(np.zeros(10), np.append(np.zeros(9), 5.0))]
    return [
        Row("held_mean", UnclippedMean(0.2), PureDP(0.5), outlier, False,
            "the mean of 10 records in [0, 1], clipped to [0, 2] by mistake", trials=TRIALS),
        Row("held_gap", MaximumWithGap(5.0), PureDP(0.4), answer_pairs(4), True,
            "the index of the largest of 4 answers with Laplace noise, and the gap to the next", trials=TRIALS),
        Row("held_clamped", ClampedCount(0.8), PureDP(-log(0.8)), coin, False,
            "a count with two-sided geometric noise, clamped to a range that depends on the count", trials=TRIALS),
        Row("held_first_value", FirstAboveWithValue(2.0, 4.0, 2.0), PureDP(1.0), answer_pairs(4), False,
            "the index and value of the first of 4 answers above a noisy threshold; the value's noise is not paid for",
            trials=TRIALS),
        Row("held_labels", SixLabels(0.4), PureDP(0.5), coin, False,
            "randomised response on 6 labels that tells the truth with probability 0.4, too often", trials=TRIALS),
    ]  # fmt: skip
