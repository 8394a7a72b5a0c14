"""Steps with Gaussian noise, of which a record takes part in a few, chosen at random."""

from dataclasses import dataclass

from tcdp_sim.accounting.releases.additive import additive_loss
from tcdp_sim.accounting.releases.release import Case, Laws, Release, need_relation
from tcdp_sim.core.errors import scalar, whole
from tcdp_sim.exact.allocation import pairs
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy.relation import ABSENT

MOST_STEPS, MOST_PARTICIPATIONS = 10**5, 100
LEAST_SIGMA, MOST_SIGMA = 0.7, 100.0


@dataclass(frozen=True)
class Allocated(Release):
    """An epoch of steps with Gaussian noise, in which a record takes part in k steps of t, chosen at random.

    Each step releases a sum of vectors of length 1 at most, and may depend on the outputs of earlier ones. Nobody
    learns the choice of steps. Several epochs are several releases: each chooses anew.

    For k = 1 the two ends differ by the error of a grid alone. For k > 1 the upper end assumes one random step in each
    of k blocks. The lower end is the privacy loss of a sum over all steps. Renyi divergences are not known.

    Source: Chua et al. (2024) [Chu24], for the worst pair; Feldman and Shenfeld (2025) [FS25], for k participations as
    k allocations of one. The numerical method is ours (`tcdp_sim.exact.allocation.pairs`).

    Parameters
    ----------
    sigma : float
        The standard deviation of the noise, over the largest length of a record's vector, from 0.7 to 100.
    steps : int
        The number t of steps, from 1 to 10^5.
    participations : int
        The number k of steps in which the record takes part, from 1 to 100 and at most t.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the ledger's relation is substitution.

    Examples
    --------
    >>> from tcdp_sim.accounting import Allocated, Ledger
    >>> epochs = Ledger([(Allocated(1.0, 100), 10)], relation="add_remove")
    >>> round(epochs.epsilon(1e-6).upper, 2)
    1.96
    """

    sigma: float
    steps: int
    participations: int = 1

    def __post_init__(self) -> None:
        sigma = scalar("sigma", self.sigma, LEAST_SIGMA, MOST_SIGMA, closed=True, finite=False)
        object.__setattr__(self, "sigma", sigma)
        object.__setattr__(self, "steps", whole("steps", self.steps, 1, MOST_STEPS))
        most = min(self.steps, MOST_PARTICIPATIONS)
        object.__setattr__(self, "participations", whole("participations", self.participations, 1, most))

    def cases(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return the pair of k blocks of steps, in each of which the record takes part once."""
        need_relation(self, relation, ABSENT)
        length, longer = divmod(self.steps, self.participations)
        blocks = ((length, self.participations - longer), (length + 1, longer))
        ways = [self._blocks(size, count * times) for size, count in blocks if count]
        forward, backward = (tuple(law for way in ways for law in way[end]) for end in (0, 1))
        return (Case(forward, backward),)

    def attained(self, relation: str | None, times: int) -> tuple[Case, ...] | None:
        """Return the pair of the sums of cells of all likelihood ratios, or None if the record is in all steps."""
        if self.participations == self.steps:
            return None
        both = pairs.attained(self.sigma, self.steps, self.participations)
        return (Case(((both.adding, times),), ((both.removing, times),)),)

    def _blocks(self, size: int, count: int) -> tuple[Laws, Laws]:
        if size == 1:
            law = additive_loss(Gaussian(self.sigma), 1.0)
            return ((law, count),), ((law, count),)
        both = pairs.dominating(self.sigma, size)
        return ((both.adding, count),), ((both.removing, count),)
