"""The best of a random number of private runs, at its guarantee, and at the guarantee of one run as a planted bug."""

from dataclasses import dataclass
from math import exp
from typing import ClassVar

import numpy as np
from scipy.special import ndtr

from tcdp_sim.candidates import Tries, largest_loss, least_rho, tries_of
from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.mechanisms.audited.method import AuditedMethod, rounded_up
from tcdp_sim.privacy import TCDP, Guarantee, PureDP


@dataclass(frozen=True, kw_only=True)
class BestAnswer(AuditedMethod):
    """Runs that answer good, fair or bad. A trial yields the best answer: 0, 1 or 2.

    All ratios of a run's probabilities are e^epsilon or e^-epsilon. A rare answer between the two others makes the
    loss of the best one nearly as large as it can be.

    `fair`: the probability of the answer fair on the second neighbour.
    """

    epsilon: float
    fair: float
    tries: Tries
    labels: ClassVar[bool] = True

    def claim(self, planted: bool) -> Guarantee:
        return PureDP(self.epsilon if planted else rounded_up(largest_loss(self.epsilon, self.tries)))

    def answers(self, first: bool) -> tuple[float, float]:
        """Return the probabilities of the answers good and fair of a run."""
        factor = exp(self.epsilon)
        return (1 / (1 + factor), factor * self.fair) if first else (factor / (1 + factor), self.fair)

    def draw(self, planted: bool, first: bool, trials: int, *, rng: np.random.Generator) -> Floats:
        runs = self.tries.sample(trials, rng=rng)
        answers = np.searchsorted(np.cumsum(self.answers(first)), rng.random(runs.sum()), side="right")
        return np.minimum.reduceat(answers, _starts(runs)).astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class BestScore(AuditedMethod):
    """Runs that release a score with Gaussian noise. A trial yields the privacy loss of the best score.

    A trial without any run has no loss, because its probability is the same on both neighbours.

    `shift`: the change of the score, in standard deviations of the noise.
    """

    shift: float
    tries: Tries
    omega: float

    def claim(self, planted: bool) -> Guarantee:
        rho = 0.5 * self.shift**2 if planted else least_rho(self.shift, self.tries, self.omega)
        return TCDP(rounded_up(rho), self.omega)

    def loss(self, best: Floats) -> Floats:
        """Return the privacy losses of best scores."""
        slopes = (self.tries.slope(ndtr(mean - best)) for mean in (self.shift, 0.0))
        one, two = (np.log(slope) for slope in slopes)
        return np.asarray(one - two + self.shift * (best - 0.5 * self.shift))

    def draw(self, planted: bool, first: bool, trials: int, *, rng: np.random.Generator) -> Floats:
        runs = self.tries.sample(trials, rng=rng)
        scores = rng.standard_normal(runs.sum()) + (self.shift if first else 0.0)
        loss = np.zeros(trials)
        loss[runs > 0] = self.loss(np.maximum.reduceat(scores, _starts(runs[runs > 0])))
        return loss


def _starts(runs: Ints) -> Ints:
    """Return the place of each trial's first run among the runs of all trials."""
    return np.cumsum(runs) - runs


CANDIDATES: dict[str, AuditedMethod] = {
    "candidates_answers": BestAnswer(
        epsilon=1.0,
        fair=0.05,
        tries=tries_of("geometric", 5.0),
        bug="the claim is that of one run",
    ),
    "candidates_scores": BestScore(
        shift=0.5,
        tries=tries_of("poisson", 10.0),
        omega=4.0,
        bug="the claim is that of one run",
    ),
}
