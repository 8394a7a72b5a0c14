"""Steps with Gaussian noise, of which a record takes part in a few, chosen at random."""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from tcdp_sim.accounting.releases.additive import Additive, additive_loss
from tcdp_sim.accounting.releases.release import Case, Laws, Release, need_relation
from tcdp_sim.accounting.releases.sampled import Sampled
from tcdp_sim.core.errors import UserError, choice, scalar, whole
from tcdp_sim.core.estimates import Estimate
from tcdp_sim.exact.allocation import pairs
from tcdp_sim.exact.allocation.ratio_sums import dominated, dominating
from tcdp_sim.exact.training import bins, simulation
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy.relation import ABSENT

MOST_STEPS, MOST_PARTICIPATIONS, MOST_EPOCHS = 10**5, 100, 10**5
LEAST_SIGMA, MOST_SIGMA = 0.1, 100.0
MOST_EPSILON = 500.0
BINS = ("each_epoch", "same")


@dataclass(frozen=True)
class Allocated(Release):
    """An epoch of steps with Gaussian noise, in which a record takes part in k steps of t, chosen at random.

    Each step releases a sum of vectors of length 1 at most, and may depend on the outputs of earlier ones. Nobody
    learns the choice of steps. Each epoch chooses anew, or all epochs keep the choice of the first one, as data loaders
    with a fixed partition do. Then the outputs of a step's epochs can be added, and the run is one epoch with less
    noise: sigma over the root of the number of epochs.

    For k = 1 the two ends differ by the error of a grid alone, about 1e-4 of epsilon. For k > 1 the upper end assumes
    one random step in each of k blocks. The lower end is the privacy loss of a sum over all steps. Renyi divergences
    are not known.

    Source: Chua et al. (2024) [Chu24], for the worst pair; Feldman and Shenfeld (2025) [FS25], for k participations as
    k allocations of one. The numerical method is ours (`tcdp_sim.exact.allocation.ratio_sums`).

    Parameters
    ----------
    sigma : float
        The standard deviation of the noise, over the largest length of a record's vector, up to 100. With the same
        bins sigma / sqrt(epochs) is at least 0.1, otherwise sigma.
    steps : int
        The number t of steps of one epoch, from 1 to 10^5.
    participations : int
        The number k of steps of an epoch in which the record takes part, from 1 to 100 and at most t.
    bins : {"each_epoch", "same"}
        Whether each epoch chooses anew, or all have the same choice.
    epochs : int
        The number of epochs, from 1 to 10^5.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the ledger's relation is substitution.

    Examples
    --------
    >>> from tcdp_sim.accounting import Allocated, Ledger
    >>> epochs = Ledger([(Allocated(1.0, 100), 10)], relation="add_remove")
    >>> round(epochs.epsilon(1e-6).upper, 2)
    1.97
    >>> import numpy as np
    >>> found = Allocated(0.5, 100).simulate(6.5, 10_000, rng=np.random.default_rng(1), method="largest")
    >>> round(found.estimate * 1e7, 2), found.level
    (7.72, 0.95)
    """

    sigma: float
    steps: int
    participations: int = 1
    bins: str = "each_epoch"
    epochs: int = 1

    def __post_init__(self) -> None:
        choice("bins", self.bins, BINS)
        object.__setattr__(self, "epochs", whole("epochs", self.epochs, 1, MOST_EPOCHS))
        least = LEAST_SIGMA * (sqrt(self.epochs) if self.bins == "same" else 1.0)
        sigma = scalar("sigma", self.sigma, least, MOST_SIGMA, closed=True, finite=False)
        object.__setattr__(self, "sigma", sigma)
        object.__setattr__(self, "steps", whole("steps", self.steps, 1, MOST_STEPS))
        most = min(self.steps, MOST_PARTICIPATIONS)
        object.__setattr__(self, "participations", whole("participations", self.participations, 1, most))

    def counted_as(self) -> tuple[Release, int]:
        step = Sampled(Additive(Gaussian(self.sigma)), self.participations / self.steps)
        return step, self.steps * self.epochs

    @property
    def has_scale(self) -> bool:
        return True

    def scaled(self, factor: float) -> "Allocated":
        return replace(self, sigma=self.sigma * factor)

    def less_noise_spends_more(self, in_rho: bool) -> bool:
        return not in_rho

    @property
    def _noise(self) -> float:
        """The noise of one epoch that reveals as much as all that share their bins."""
        return self.sigma / sqrt(self.epochs) if self.bins == "same" else self.sigma

    def _count(self, times: int) -> int:
        return times if self.bins == "same" else times * self.epochs

    def cases(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return the pair of k blocks of steps, in each of which the record takes part once."""
        need_relation(self, relation, ABSENT)
        length, longer = divmod(self.steps, self.participations)
        blocks = ((length, self.participations - longer), (length + 1, longer))
        ways = [self._blocks(size, count * self._count(times)) for size, count in blocks if count]
        forward, backward = (tuple(law for way in ways for law in way[end]) for end in (0, 1))
        return (Case(forward, backward),)

    def attained(self, relation: str | None, times: int) -> tuple[Case, ...] | None:
        """Return the pair of the sums of cells of all likelihood ratios, or None if the record is in all steps."""
        if self.participations == self.steps:
            return None
        few = self.participations == 1
        both = (
            dominated(self._noise, self.steps) if few else pairs.attained(self._noise, self.steps, self.participations)
        )
        count = self._count(times)
        return (Case(((both.adding, count),), ((both.removing, count),)),)

    def simulate(
        self,
        epsilon: float,
        trials: int | None = None,
        *,
        target: float | None = None,
        most: int = 4_000_000,
        rng: np.random.Generator,
        level: float = 0.95,
        direction: str = "forward",
        method: str = "stretched",
    ) -> Estimate:
        """Return an estimate of delta at epsilon by simulation, for k = 1, with its confidence interval.

        It shares no code with the brackets of a ledger. `epsilon`: at least 0, in nats. Either `trials`, the number of
        draws, or `target`, half the width of the interval over the mean, from above 0 to 0.2. A pilot then chooses the
        number of draws, and none of its draws is in the estimate, so the interval keeps its level. An interval that
        needs more than `most` draws is wider than its target. `direction`: "forward" for the outputs with the record
        against those without it, or "backward".

        `method`: "stretched" for stretched means, whose interval holds for every number of draws (Maurer and Pontil
        2009 [MP09]); "tilted" for backward delta, with an interval of the same kind, and better for much noise;
        "largest" for forward delta with the largest output integrated. The last one needs few draws for little noise,
        and its interval holds by the normal law, for many draws only.

        Raises ValueError if an argument is not valid, or if the draws of "largest" show that they are too few.
        """
        if self.participations > 1:
            raise UserError(f"participations = {self.participations} has no simulation; valid: 1")
        epsilon = scalar("epsilon", epsilon, 0, MOST_EPSILON, closed=True)
        epochs = 1 if self.bins == "same" else self.epochs
        way = bins.simulation(self._noise, self.steps, epochs, epsilon, direction, method)
        return simulation.estimated(way, trials, target, most, level, rng)

    def _blocks(self, size: int, count: int) -> tuple[Laws, Laws]:
        if size == 1:
            law = additive_loss(Gaussian(self._noise), 1.0)
            return ((law, count),), ((law, count),)
        both = dominating(self._noise, size)
        return ((both.adding, count),), ((both.removing, count),)
