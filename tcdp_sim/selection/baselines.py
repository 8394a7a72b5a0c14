"""What else a user would weigh: report-noisy-max in its variants, distance-based stability, sparse vector.

Neighbours as in `selection`: every score may change by up to one unit of sensitivity. The exponential mechanism,
permute-and-flip and report-noisy-max with Laplace or Gaussian noise are `NoisyMax` with the noise given here.
"""

from dataclasses import dataclass

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.errors import real
from tcdp_sim.noise import Laplace
from tcdp_sim.noise.one_sided import Exponential, Gumbel
from tcdp_sim.samplers import sample_max
from tcdp_sim.selection.algorithms import NO_ANSWER, NoisyMax, ObviousAnswer, Selection
from tcdp_sim.selection.scores import Scores


def exponential_mechanism(epsilon: float) -> NoisyMax:
    """P[j] proportional to exp(epsilon score_j / 2), drawn as the largest of score + Gumbel(2 / epsilon) noise.

    epsilon-DP with bounded range epsilon: log P[j](x) / P[j](x') lies in an interval of length epsilon, whatever j.
    So it is epsilon^2/8-zCDP: K(a) = log E_Q (P/Q)^a vanishes at 0 and 1 and has K'' <= epsilon^2 / 4 (Hoeffding),
    hence D_a = K(a) / (a - 1) <= a epsilon^2 / 8. The m largest are m such selections, one after the other, each
    among what the earlier ones left: m epsilon-DP and m epsilon^2/8-zCDP.
    Source: McSherry-Talwar 2007; Durfee-Rogers 2019.
    """
    return NoisyMax(Gumbel(2 / real("epsilon", epsilon, 0)))


def permute_and_flip(epsilon: float) -> NoisyMax:
    """epsilon-DP: in random order, accept candidate j with probability exp(epsilon (score_j - best) / 2).

    Drawn as the largest of score + Exponential(2 / epsilon) noise, which has the same law (McKenna-Sheldon 2020;
    Ding et al. 2021).
    """
    return NoisyMax(Exponential(2 / real("epsilon", epsilon, 0)))


@dataclass(frozen=True)
class Stability(ObviousAnswer):
    """Propose-test-release by distance to instability: the best candidate if its noisy lead passes, else no answer.

    Lead g as in Algorithm 22; threshold t with P[Z > t] = delta. If the best candidate changes between neighbours,
    both leads are zero and either answers with probability at most delta; if not, the output is post-processing of
    g + Z. So Laplace(1 / epsilon) noise gives (epsilon, delta)-DP. Source: Dwork-Lei 2009, Thakurta-Smith 2013.
    """

    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", real("delta", self.delta, 0, 1))

    def threshold(self, k: float) -> float:
        return float(self.noise.isf(self.delta))

    def _otherwise(self, best: int, scores: Scores, rng: np.random.Generator, trials: int) -> Ints:
        return np.full(trials, NO_ANSWER)


@dataclass(frozen=True)
class SparseVector(Selection):
    """AboveThreshold: the first candidate whose noisy score exceeds one noisy threshold; none: no answer. epsilon-DP.

    It applies where a threshold between the best score and the others is public, so it is told more than the other
    methods. The candidates that are not listed come first, then those listed, in order: with the best one last this
    is the order in which it most often errs. threshold: in counts; None is for `needed_gap` alone, which takes
    the balanced one of `balanced_threshold`. epsilon is split 1 : 2^(2/3) between threshold and scores.
    Source: Dwork-Roth 2014, Section 3.6; the split: Lyu-Su-Li 2017.
    """

    epsilon: float
    at: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", real("epsilon", self.epsilon, 0))

    @property
    def threshold_noise(self) -> Laplace:
        """The noise of the threshold: it pays for all the scores that stay below."""
        return Laplace((1 + 2 ** (2 / 3)) / self.epsilon)

    @property
    def score_noise(self) -> Laplace:
        """The noise of a score: the one that passes and the threshold may move apart by two."""
        return Laplace(2 * (1 + 2 ** (-2 / 3)) / self.epsilon)

    def balanced_threshold(self, gap: float, k: float) -> float:
        """Half way between the best score, which leads by `gap`, and the typical largest noise of k - 1 at zero."""
        return 0.5 * (gap + self.score_noise.scale * np.log(k))

    def select(self, scores: Scores, rng: np.random.Generator, trials: int, m: int = 1) -> Ints:
        self._allowed(m, scores.k)
        if self.at is None:
            raise ValueError("at is missing; give the public threshold in counts")
        n = len(scores.listed)
        bar = (self.at + self.threshold_noise.sample(rng, trials))[:, None]
        passes = scores.listed / scores.unit + self.score_noise.sample(rng, (trials, n)) > bar
        chosen = np.where(passes.any(axis=1), passes.argmax(axis=1), NO_ANSWER)
        if scores.others:
            highest = scores.level / scores.unit + sample_max(self.score_noise, rng, scores.others, trials)
            chosen = np.where(highest > bar[:, 0], n, chosen)
        return chosen[:, None]

    def needed_gap(self, k: float, rng: np.random.Generator, trials: int, m: int = 1) -> Floats:
        k, _ = self._checked(k, m)
        typical = self.score_noise.scale * np.log(k)
        bar, best = self.threshold_noise.sample(rng, trials), self.score_noise.sample(rng, trials)
        losers = sample_max(self.score_noise, rng, k - 1, trials)
        return np.maximum(np.maximum(2 * (losers - bar) - typical, 2 * (bar - best) + typical), 0.0)
