"""Private selection of the best of k candidates under a gap assumption: the paper's two reductions.

Problem 19 of Bun-Dwork-Rothblum-Steinke 2018. Neighbours substitute one record, upon which every score may change by
up to one unit of sensitivity, so the gap between the best and the second best may change by two. The cost of a trial
depends on how many scores are listed, not on k.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.errors import real
from tcdp_sim.noise import Noise
from tcdp_sim.samplers import sample_max, sample_top
from tcdp_sim.samplers.extremes import Drawable
from tcdp_sim.selection.scores import MOST, Scores

TILE = 2**16  # noisy scores held at a time
NO_ANSWER = -1


class Selection(ABC):
    """A randomised choice among the candidates of a score vector."""

    top_m: bool = False  # whether it can select more than one

    @abstractmethod
    def select(self, scores: Scores, rng: np.random.Generator, trials: int, m: int = 1) -> Ints:
        """Independent selections: int64 array of shape (trials, m), best first.

        An entry is the index of a listed candidate, len(scores.listed) for one of the others (all of them are
        equally likely), or -1 for a refusal to answer. ValueError for an m that is not valid.
        """

    @abstractmethod
    def needed_gap(self, k: float, rng: np.random.Generator, trials: int, m: int = 1) -> Floats:
        """For each trial the gap beyond which it selects the right candidates, in counts; 0 if any gap does.

        The right ones are m candidates that tie at the top and lead the k - m others, which tie as well, by the gap
        (for a given gap nothing is harder); the noise of a trial does not depend on the gap. So P[success at a gap]
        is the distribution function of this number, and the smallest gap that succeeds with probability 1 - beta
        its quantile. Raises ValueError unless k is whole and 1 <= m < k <= 1e300.
        """

    def _checked(self, k: float, m: int) -> tuple[float, int]:
        k = real("k", k, 2, MOST, closed=True, finite=False)
        if k != np.floor(k):
            raise ValueError(f"k = {k:g} is not valid; valid: a whole number of candidates")
        return k, self._allowed(m, k)

    def _allowed(self, m: int, k: float) -> int:
        most = k - 1 if self.top_m else 1
        if not isinstance(m, int | np.integer) or isinstance(m, bool) or not 1 <= m <= most:
            name = type(self).__name__
            valid = "a whole number >= 1 and below k" if self.top_m else "m = 1"
            raise ValueError(f"m = {m!r} is not valid for {name} at k = {k:g}; valid: {valid}")
        return m


@dataclass(frozen=True)
class NoisyMax(Selection):
    """The m largest of score + noise, independent noise of one law for every candidate.

    Whether and how private that is depends on the noise: see `selection.calibration`.
    """

    noise: Drawable
    top_m = True

    def select(self, scores: Scores, rng: np.random.Generator, trials: int, m: int = 1) -> Ints:
        self._allowed(m, scores.k)
        scores.top(m)
        unit = scores.unit
        return noisy_top(self.noise, scores.listed / unit, scores.others, scores.level / unit, rng, trials, m)

    def needed_gap(self, k: float, rng: np.random.Generator, trials: int, m: int = 1) -> Floats:
        k, m = self._checked(k, m)
        leaders = np.empty((trials, m))
        self.noise.fill(rng, leaders)
        return np.maximum(sample_max(self.noise, rng, k - m, trials) - leaders.min(axis=1), 0.0)


@dataclass(frozen=True)
class GeneralizedHistogram(NoisyMax):
    """Algorithm 21: noisy maximum of the sparse scores f_j = max(score_j - (m+1)-th highest score, 0).

    Between neighbours the vector v of changes of f has at most 2m entries that are not zero, each at most 2, and
    ||v||_1 <= 2m: of the candidates that are among the top m of both inputs each changes by at most 2; the others
    pair up, one that leaves with one that enters, and for such a pair the two values of f add up to at most 2
    (the claim in the proof of Lemma 23, with the (m+1)-th score in place of the second). The paper's accounting is
    2m queries of sensitivity 2; for log-concave noise every divergence of a shift is a convex function of the shift
    (log integral of exp of functions convex in it), zero at zero, so the cost is that of m queries of sensitivity 2.
    """

    def select(self, scores: Scores, rng: np.random.Generator, trials: int, m: int = 1) -> Ints:
        self._allowed(m, scores.k)
        return noisy_top(self.noise, scores.leads(m), scores.others, 0.0, rng, trials, m)


@dataclass(frozen=True)
class ObviousAnswer(Selection):
    """Algorithm 22: the best candidate if noise lifts half its lead over a threshold, else one of the others.

    With lead g = max(gap / 2 - 1, 0), which changes by at most 1 between neighbours, and P[Z > t_k] = 1/k exactly:
    g + Z > t_k selects the best, anything else one of the k - 1 others, uniformly. If the best candidate changes
    between neighbours, both leads are zero and both outputs uniform; if not, the output is post-processing of g + Z.
    So the guarantee is that of the noise for one query of sensitivity 1 (Lemma 23).
    """

    noise: Noise

    def threshold(self, k: float) -> float:
        """t_k, in counts."""
        return float(self.noise.isf(1 / k))

    def lead(self, gap: float) -> float:
        """g, in counts."""
        return max(gap / 2 - 1, 0.0)

    def select(self, scores: Scores, rng: np.random.Generator, trials: int, m: int = 1) -> Ints:
        self._allowed(m, scores.k)
        best = scores.top()[0]
        obvious = self.lead(scores.gap()) + self.noise.sample(rng, trials) > self.threshold(scores.k)
        return np.where(obvious, best, self._otherwise(best, scores, rng, trials))[:, None]

    def needed_gap(self, k: float, rng: np.random.Generator, trials: int, m: int = 1) -> Floats:
        k, _ = self._checked(k, m)
        missing = self.threshold(k) - self.noise.sample(rng, trials)
        return np.where(missing < 0, 0.0, 2 * missing + 2)

    def _otherwise(self, best: int, scores: Scores, rng: np.random.Generator, trials: int) -> Ints:
        n = len(scores.listed)
        place = np.minimum(np.floor(rng.random(trials) * (scores.k - 1)), n).astype(np.int64)
        return np.minimum(place + (place >= best), n)


def noisy_top(
    noise: Drawable,
    listed: Floats,
    others: float,
    level: float,
    rng: np.random.Generator,
    trials: int,
    m: int,
) -> Ints:
    """The places of the m largest of value + noise, as `Selection.select` returns them; values in counts."""
    n, more = len(listed), int(min(m, others))
    out = np.empty((trials, m), dtype=np.int64)
    rows = max(1, TILE // (n + more))
    for start in range(0, trials, rows):
        noisy = np.empty((min(rows, trials - start), n + more))
        own = np.empty((len(noisy), n))
        noise.fill(rng, own)
        np.add(own, listed, out=noisy[:, :n])
        if more:
            noisy[:, n:] = level + sample_top(noise, rng, others, more, len(noisy))
        places = noisy.argmax(axis=1)[:, None] if m == 1 else np.argsort(-noisy, axis=1)[:, :m]
        out[start : start + len(noisy)] = np.minimum(places, n)
    return out
