"""The probabilities of a selection's outputs on two neighbours, and the privacy losses of sparse vector."""

from typing import Any

import numpy as np
from scipy.special import logsumexp

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import gauss_panels
from tcdp_sim.mechanisms.base import Draws
from tcdp_sim.mechanisms.losses import LOSS, NEIGHBOUR
from tcdp_sim.noise import Noise
from tcdp_sim.selection.baselines import SparseVector

DEEPEST = 690.0  # nats: the noise of the leader is integrated down to tails of e^-690
NODES, WIDTH = 10, 0.25  # of the Gauss rule in a panel of the integral, and the width of a panel in nats
FAR, SPARSE_NODES, SPARSE_WIDTH = 40.0, 10, 0.5  # the same for the noise of a threshold, in scales of it
TILE = 256  # outputs whose probabilities are computed at a time


def leader_of_noisy_max(noise: Noise, gap: float, k: float) -> tuple[float, float]:
    """Return the probabilities that the leader has the largest noisy score, and that it has not.

    The others trail by `gap`, and they all tie. The integral is over t on both sides of 0, where e^-t is the
    probability of noise beyond the leader's noise. Panels end where t or the tail of the others' noise is a multiple of
    a width, and at kinks. Probabilities of the leader below 1e-18 may be wrong, which no run sees: tails beyond e^-690
    are left out, and noise of bounded support is rounded near its bound.
    """
    tail = np.exp(-np.arange(np.log(2), DEEPEST, WIDTH))
    own = np.concatenate([np.asarray(noise.isf(tail)), noise.kinks])
    ends = np.unique(np.concatenate([[0.0], own, -own, own - gap, -own - gap]))
    leads = fails = 0.0
    for side in (1.0, -1.0):
        with np.errstate(divide="ignore"):
            edges = -np.asarray(noise.logsf(np.abs(ends[side * ends >= 0])))
        t, weight = gauss_panels(np.unique(np.append(edges[edges < DEEPEST], DEEPEST)), NODES)
        log_leads = (k - 1) * np.asarray(noise.logcdf(side * np.asarray(noise.isf(np.exp(-t))) + gap))
        weight = weight * np.exp(-t)
        leads += float(np.exp(log_leads) @ weight)
        fails -= float(np.expm1(log_leads) @ weight)
    return leads, fails


def sparse_vector(vector: SparseVector, gap: float, neighbour_gap: float, k: float, n: int, rng: Any) -> Draws:
    """Return n privacy losses of sparse vector in both worlds.

    The leader comes last. The leader makes half of the change of the gap, all others make the other half, and the
    public threshold stays. The output is the number of the first score that passes, or none.
    """
    at, rise = vector.balanced_threshold(gap, k), (gap - neighbour_gap) / 2
    worlds = (gap, 0.0), (gap - rise, rise)
    laws = [_SparseOutputs(vector, at, *scores, k) for scores in worlds]
    drawn = [law.draw(n, rng) for law in laws]
    return {name: laws[0].log_chance(each) - laws[1].log_chance(each) for name, each in zip((LOSS, NEIGHBOUR), drawn)}


class _SparseOutputs:
    """The law of the outputs of sparse vector: the number of the others before the one that passes, k - 1, or k."""

    def __init__(self, vector: SparseVector, at: float, leader: float, others: float, k: float) -> None:
        self._vector, self._at, self._leader, self._others, self._k = vector, at, leader, others, k
        own = vector.threshold_noise
        end = max(0.0, vector.score_noise.scale * np.log(k) - at + others)
        kinks = np.array([0.0, others - at, leader - at])
        edges = np.arange(-FAR * own.scale, end + FAR * own.scale, SPARSE_WIDTH * own.scale)
        t, weight = gauss_panels(np.unique(np.append(edges, kinks)), SPARSE_NODES)
        self._below, self._above = (law(at + t - others) for law in self._score)
        self._leads, self._fails = (law(at + t - leader) for law in reversed(self._score))
        self._weight = np.log(weight) + np.asarray(own.logpdf(t))

    @property
    def _score(self) -> tuple[Any, Any]:
        return self._vector.score_noise.logcdf, self._vector.score_noise.logsf

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Return outputs of independent runs, shape (n,)."""
        bar = self._at + np.asarray(self._vector.threshold_noise.sample(size=n, rng=rng))
        log_below = np.asarray(self._vector.score_noise.logcdf(bar - self._others))
        with np.errstate(divide="ignore"):
            first = np.floor(-rng.standard_exponential(n) / log_below)
        passes = self._leader + np.asarray(self._vector.score_noise.sample(size=n, rng=rng)) > bar
        return np.where(first < self._k - 1, first, np.where(passes, self._k - 1, self._k))

    def log_chance(self, outputs: Floats) -> Floats:
        """Return the logs of the probabilities of outputs."""
        values, which = np.unique(outputs, return_inverse=True)  # ascending
        parts = (self._logs(values[start : start + TILE, None]) for start in range(0, len(values), TILE))
        return np.concatenate(list(parts))[which]

    def _logs(self, outputs: Floats) -> Floats:
        """Return the logs of the probabilities of some outputs, which ascend, from the nodes that matter to them."""
        ends = self._given(outputs[[0, -1]], slice(None))
        matters = np.flatnonzero((ends > ends.max(axis=1, keepdims=True) - FAR).any(axis=0))
        part = slice(None) if outputs[-1] >= self._k - 1 else slice(matters[0], matters[-1] + 1)
        return np.asarray(logsumexp(self._given(outputs, part), axis=1))

    def _given(self, outputs: Floats, nodes: slice) -> Floats:
        """Return the logs of the integrand, shape (outputs, nodes)."""
        last = np.where(outputs == self._k - 1, self._leads[nodes], self._fails[nodes])
        ends = np.where(outputs < self._k - 1, self._above[nodes], last)
        return self._weight[nodes] + np.minimum(outputs, self._k - 1) * self._below[nodes] + ends
