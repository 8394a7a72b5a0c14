"""Baselines for private selection: variants of report-noisy-max, distance-based stability and sparse vector.

Neighbours are defined as in `selection`: every score may change by up to one unit of sensitivity. The exponential
mechanism, permute-and-flip and report-noisy-max with Laplace or Gaussian noise are `NoisyMax` with different noise.
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
    """Return the exponential mechanism, which selects j with probability proportional to exp(epsilon score_j / 2).

    It is drawn as the largest of score + Gumbel(2 / epsilon) noise. It is epsilon-DP with bounded range epsilon: the
    values of log P[j](x) / P[j](x') for all j lie in an interval of length epsilon. So it is rho-zCDP with the rho of
    `privacy.least_rho.bounded_range_rho`, a little below epsilon^2/8. The m largest are m selections in turn, each
    among the remaining candidates. They are m epsilon-DP and m rho-zCDP.

    Source: McSherry and Talwar (2007) [MT07]; Durfee and Rogers (2019) [DR19].

    Parameters
    ----------
    epsilon : float
        The privacy parameter of one selection, in nats, above 0.

    Returns
    -------
    NoisyMax
        The mechanism.

    Examples
    --------
    >>> exponential_mechanism(0.5)
    NoisyMax(noise=Gumbel(scale=4.0))
    """
    return NoisyMax(Gumbel(2 / real("epsilon", epsilon, 0)))


def permute_and_flip(epsilon: float) -> NoisyMax:
    """Return the permute-and-flip mechanism, which is epsilon-DP.

    It visits the candidates in random order and accepts j with probability exp(epsilon (score_j - best) / 2). It is
    drawn as the largest of score + Exponential(2 / epsilon) noise, which has the same law.

    Source: McKenna and Sheldon (2020) [MS20]; Ding et al. (2021) [DKR21].

    Parameters
    ----------
    epsilon : float
        The privacy parameter, in nats, above 0.

    Returns
    -------
    NoisyMax
        The mechanism.

    Examples
    --------
    >>> permute_and_flip(0.5)
    NoisyMax(noise=Exponential(scale=4.0))
    """
    return NoisyMax(Exponential(2 / real("epsilon", epsilon, 0)))


@dataclass(frozen=True)
class Stability(ObviousAnswer):
    """Propose-test-release by distance to instability: the best candidate if its noisy lead is large, else no answer.

    The lead g is defined as in Algorithm 22, and the threshold t has P[Z > t] = delta. If the best candidate differs
    between neighbours, both leads are zero, so each input gives an answer with probability at most delta. Otherwise the
    output is a function of g + Z. So Laplace(1 / epsilon) noise gives (epsilon, delta)-DP.

    Source: Dwork and Lei (2009) [DL09]; Thakurta and Smith (2013) [TS13].

    Parameters
    ----------
    noise : Noise
        The noise of the lead, in counts.
    delta : float
        The probability of an answer with no lead, in (0, 1).

    Examples
    --------
    >>> from tcdp_sim.noise import Laplace
    >>> round(Stability(Laplace(1.0), 0.5e-3).threshold(10), 3)
    6.908
    """

    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", real("delta", self.delta, 0, 1))

    def threshold(self, k: float) -> float:
        """Return the threshold t, in counts; it does not depend on k."""
        return float(self.noise.isf(self.delta))

    def _otherwise(self, best: int, scores: Scores, trials: int, rng: np.random.Generator) -> Ints:
        return np.full(trials, NO_ANSWER)


@dataclass(frozen=True)
class SparseVector(Selection):
    """AboveThreshold: the first candidate whose noisy score exceeds one noisy threshold, or no answer.

    It is epsilon-DP. It needs a public threshold between the best score and the others, so it knows more than the other
    algorithms. The candidates that are not listed come first, then the listed ones in order. If the best one is last,
    errors are most frequent. The privacy budget epsilon is split 1 : 2^(2/3) between the threshold and the scores.

    Source: Dwork and Roth (2014), Section 3.6 [DR14]; Lyu et al. (2017) [LSL17], for the split.

    Parameters
    ----------
    epsilon : float
        The privacy parameter, in nats, above 0.
    at : float or None
        The public threshold, in counts. None is valid for `needed_gap` only, which uses `balanced_threshold`.

    Examples
    --------
    >>> import numpy as np
    >>> vector = SparseVector(epsilon=1.0, at=50.0)
    >>> vector.select(Scores([0.0, 100.0], sensitivity=1.0), 2, rng=np.random.default_rng(0)).tolist()
    [[1], [1]]
    """

    epsilon: float
    at: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", real("epsilon", self.epsilon, 0))

    @property
    def threshold_noise(self) -> Laplace:
        """The noise of the threshold. It pays for all scores that stay below."""
        return Laplace((1 + 2 ** (2 / 3)) / self.epsilon)

    @property
    def score_noise(self) -> Laplace:
        """The noise of a score. The score that passes and the threshold may move apart by two."""
        return Laplace(2 * (1 + 2 ** (-2 / 3)) / self.epsilon)

    def balanced_threshold(self, gap: float, k: float) -> float:
        """Return the threshold that is half way between the best score and the typical largest noise, in counts.

        The best score leads by `gap`, and the other k - 1 scores are zero.
        """
        return 0.5 * (gap + self.score_noise.scale * np.log(k))

    def select(self, scores: Scores, trials: int, m: int = 1, *, rng: np.random.Generator) -> Ints:
        self._allowed(m, scores.k)
        if self.at is None:
            raise ValueError("at is missing; give the public threshold in counts")
        n = len(scores.listed)
        bar = (self.at + self.threshold_noise.sample(size=trials, rng=rng))[:, None]
        passes = scores.listed / scores.unit + self.score_noise.sample(size=(trials, n), rng=rng) > bar
        chosen = np.where(passes.any(axis=1), passes.argmax(axis=1), NO_ANSWER)
        if scores.others:
            highest = scores.level / scores.unit + sample_max(self.score_noise, scores.others, trials, rng=rng)
            chosen = np.where(highest > bar[:, 0], n, chosen)
        return chosen[:, None]

    def needed_gap(self, k: float, trials: int, m: int = 1, *, rng: np.random.Generator) -> Floats:
        k, _ = self._checked(k, m)
        typical = self.score_noise.scale * np.log(k)
        bar, best = self.threshold_noise.sample(size=trials, rng=rng), self.score_noise.sample(size=trials, rng=rng)
        losers = sample_max(self.score_noise, k - 1, trials, rng=rng)
        return np.maximum(np.maximum(2 * (losers - bar) - typical, 2 * (bar - best) + typical), 0.0)
