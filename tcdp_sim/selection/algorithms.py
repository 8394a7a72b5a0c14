"""Private selection of the best of k candidates under a gap assumption: the two reductions of the tCDP paper.

This is Problem 19 of Bun, Dwork, Rothblum, Steinke (2018) [BDRS18]. Neighbours substitute one record, which may change
every score by up to one unit of sensitivity. The gap between the best and the second best score may thus change by two.
The cost of a trial depends on the number of listed scores, not on k.
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
    """A randomised choice among the candidates of a score vector.

    Source: Bun et al. (2018), Problem 19 [BDRS18].

    Attributes
    ----------
    top_m : bool
        True if the algorithm can select more than one candidate.

    Examples
    --------
    >>> import numpy as np
    >>> from tcdp_sim.selection import Scores, permute_and_flip
    >>> algorithm = permute_and_flip(1.0)
    >>> algorithm.select(Scores([100.0, 3.0, 0.0], sensitivity=1.0), 4, rng=np.random.default_rng(0)).tolist()
    [[0], [0], [0], [0]]
    """

    top_m: bool = False

    @abstractmethod
    def select(self, scores: Scores, trials: int, m: int = 1, *, rng: np.random.Generator) -> Ints:
        """Return independent selections.

        Parameters
        ----------
        scores : Scores
            The scores of the candidates.
        trials : int
            The number of selections.
        m : int
            The number of candidates to select; 1 unless `top_m` is true.
        rng : numpy.random.Generator
            The source of randomness.

        Returns
        -------
        ndarray of int64
            The selected candidates of each trial, best first, shape (trials, m). An entry is the index of a listed
            candidate; or len(scores.listed) for one of the others, which are equally likely; or -1 for no answer.
        """

    @abstractmethod
    def needed_gap(self, k: float, trials: int, m: int = 1, *, rng: np.random.Generator) -> Floats:
        """Return for each trial the gap beyond which it selects the right candidates; 0 if it does so at every gap.

        The right candidates are m that tie at the top. They lead the k - m others, which tie as well, by the gap. This
        is the hardest case for a given gap. The noise of a trial does not depend on the gap. So P[success at a gap] is
        the distribution function of this number, and the smallest gap that succeeds with probability 1 - beta is its
        quantile.

        Parameters
        ----------
        k : float
            The number of candidates, whole, up to 1e300.
        trials : int
            The number of trials.
        m : int
            The number of candidates to select, 1 <= m < k.
        rng : numpy.random.Generator
            The source of randomness.

        Returns
        -------
        ndarray of float
            The gaps in counts, shape (trials,).
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
    """The m largest of score + noise, with independent noise from one law for every candidate.

    The guarantee depends on the noise: see `selection.calibration`.

    Source: Bun et al. (2018), Section 5 [BDRS18].

    Parameters
    ----------
    noise : Noise, or one-sided noise
        The noise of a score, in counts.

    Examples
    --------
    >>> import numpy as np
    >>> from tcdp_sim.noise import Laplace
    >>> scores = Scores([100.0, 90.0], others=1e6, sensitivity=1.0)
    >>> NoisyMax(Laplace(1.0)).select(scores, 1, m=2, rng=np.random.default_rng(0)).tolist()
    [[0, 1]]
    """

    noise: Drawable
    top_m = True

    def select(self, scores: Scores, trials: int, m: int = 1, *, rng: np.random.Generator) -> Ints:
        self._allowed(m, scores.k)
        scores.top(m)
        unit = scores.unit
        return noisy_top(self.noise, scores.listed / unit, scores.others, scores.level / unit, trials, m, rng)

    def needed_gap(self, k: float, trials: int, m: int = 1, *, rng: np.random.Generator) -> Floats:
        k, m = self._checked(k, m)
        leaders = np.empty((trials, m))
        self.noise.fill(out=leaders, rng=rng)
        return np.maximum(sample_max(self.noise, k - m, trials, rng=rng) - leaders.min(axis=1), 0.0)


@dataclass(frozen=True)
class GeneralizedHistogram(NoisyMax):
    """Algorithm 21: the noisy maximum of the sparse scores f_j = max(score_j - (m+1)-th highest score, 0).

    Let v be the vector of changes of f between neighbours. It has at most 2m nonzero entries, each at most 2, and
    ||v||_1 <= 2m. The reason is the following. A candidate among the top m of both inputs changes by at most 2. The
    others pair up, one that leaves the top with one that enters it. The two values of f of such a pair add up to at
    most 2. This is the claim in the proof of Lemma 23, with the (m+1)-th score in place of the second.

    The paper accounts for 2m queries of sensitivity 2. For log-concave noise every divergence of a shift is a convex
    function of the shift that vanishes at zero. So it costs as much as m queries of sensitivity 2.

    Source: Bun et al. (2018), Algorithm 21 and Lemma 23 [BDRS18].

    Parameters
    ----------
    noise : Noise
        The noise of a score, in counts.

    Examples
    --------
    >>> import numpy as np
    >>> from tcdp_sim.noise import Gaussian
    >>> scores = Scores([100.0, 3.0], others=1e6, sensitivity=1.0)
    >>> GeneralizedHistogram(Gaussian(1.0)).select(scores, 1, rng=np.random.default_rng(0)).tolist()
    [[0]]
    """

    def select(self, scores: Scores, trials: int, m: int = 1, *, rng: np.random.Generator) -> Ints:
        self._allowed(m, scores.k)
        return noisy_top(self.noise, scores.leads(m), scores.others, 0.0, trials, m, rng)


@dataclass(frozen=True)
class ObviousAnswer(Selection):
    """Algorithm 22: the best candidate if half its lead plus noise exceeds a threshold, else one of the others.

    The lead is g = max(gap / 2 - 1, 0), which changes by at most 1 between neighbours. The threshold t_k has P[Z > t_k]
    = 1/k exactly. If g + Z > t_k, the best candidate is selected. Otherwise one of the k - 1 others is selected
    uniformly. If the best candidate differs between neighbours, both leads are zero and both outputs are uniform.
    Otherwise the output is a function of g + Z. So it has the guarantee of the noise for one query of sensitivity 1
    (Lemma 23).

    Source: Bun et al. (2018), Algorithm 22 and Lemma 23 [BDRS18].

    Parameters
    ----------
    noise : Noise
        The noise of the lead, in counts.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> round(ObviousAnswer(Gaussian(1.0)).threshold(1000), 3)
    3.09
    """

    noise: Noise

    def threshold(self, k: float) -> float:
        """Return the threshold t_k for k candidates, in counts."""
        return float(self.noise.isf(1 / k))

    def lead(self, gap: float) -> float:
        """Return the lead g of the best candidate at this gap, in counts."""
        return max(gap / 2 - 1, 0.0)

    def select(self, scores: Scores, trials: int, m: int = 1, *, rng: np.random.Generator) -> Ints:
        self._allowed(m, scores.k)
        best = scores.top()[0]
        obvious = self.lead(scores.gap()) + self.noise.sample(size=trials, rng=rng) > self.threshold(scores.k)
        return np.where(obvious, best, self._otherwise(best, scores, trials, rng))[:, None]

    def needed_gap(self, k: float, trials: int, m: int = 1, *, rng: np.random.Generator) -> Floats:
        k, _ = self._checked(k, m)
        missing = self.threshold(k) - self.noise.sample(size=trials, rng=rng)
        return np.where(missing < 0, 0.0, 2 * missing + 2)

    def _otherwise(self, best: int, scores: Scores, trials: int, rng: np.random.Generator) -> Ints:
        n = len(scores.listed)
        place = np.minimum(np.floor(rng.random(trials) * (scores.k - 1)), n).astype(np.int64)
        return np.minimum(place + (place >= best), n)


def noisy_top(
    noise: Drawable,
    listed: Floats,
    others: float,
    level: float,
    trials: int,
    m: int,
    rng: np.random.Generator,
) -> Ints:
    """Return the places of the m largest of value + noise, in the form of `Selection.select`.

    The values `listed` and `level` are in counts.
    """
    n, more = len(listed), int(min(m, others))
    out = np.empty((trials, m), dtype=np.int64)
    rows = max(1, TILE // (n + more))
    for start in range(0, trials, rows):
        noisy = np.empty((min(rows, trials - start), n + more))
        own = np.empty((len(noisy), n))
        noise.fill(out=own, rng=rng)
        np.add(own, listed, out=noisy[:, :n])
        if more:
            noisy[:, n:] = level + sample_top(noise, others, more, len(noisy), rng=rng)
        places = noisy.argmax(axis=1)[:, None] if m == 1 else np.argsort(-noisy, axis=1)[:, :m]
        out[start : start + len(noisy)] = np.minimum(places, n)
    return out
