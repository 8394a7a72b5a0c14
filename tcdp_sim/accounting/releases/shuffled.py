"""Steps with Gaussian noise on the batches of a shuffled data set."""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import sqrt

from tcdp_sim.accounting.releases.additive import LARGEST_SHIFT, Additive, additive_loss
from tcdp_sim.accounting.releases.allocated import LEAST_SIGMA, MOST_SIGMA
from tcdp_sim.accounting.releases.release import NOTHING, Case, Release, both_ways, need_relation
from tcdp_sim.accounting.releases.sampled import Sampled
from tcdp_sim.core.errors import choice, scalar, whole
from tcdp_sim.exact.allocation.ratio_sums import dominated
from tcdp_sim.exact.shuffling import largest_output
from tcdp_sim.noise import Gaussian

ORDERS = ("each_epoch", "once", "fixed")
MOST_STEPS, MOST_EPOCHS = 10**7, 10**4
_MOST_NOISE = 1e9  # over the shift: rounding hides the losses of more noise


@dataclass(frozen=True)
class Shuffled(Release):
    """Epochs of steps with Gaussian noise, each on the next batch of a shuffled data set.

    Each step releases the sum of vectors of length 1 at most over its batch, and may depend on earlier outputs. Nobody
    learns the order. This is how data loaders feed training; Poisson sampling (`Sampled`) is another mechanism, and its
    epsilon is smaller.

    The bracket is wide for "each_epoch", because no better bounds are proved. Its upper end holds for an adversary who
    knows the order. Its lower end is of data whose other records are all opposite. Under zero_out it is what the
    largest output of each epoch reveals. Under substitution by an opposite record such data are `Allocated` with
    sigma / 2, of which the whole output counts.

    Source: Chua et al. (2024) for the data of the lower end [CGK24], and for several epochs [CGKS24]. The cells of the
    largest output, and the ends under substitution, are ours (`tcdp_sim.exact.shuffling`, `exact.allocation`).

    Parameters
    ----------
    sigma : float
        The noise multiplier: the standard deviation of the noise over the largest length of a record's vector, above
        1e-100.
    steps : int
        The number of steps of one epoch, which is the number of batches, from 1 to 10^7. The last batch may be short.
    epochs : int
        The number of epochs, from 1 to 10^4.
    order : {"each_epoch", "once", "fixed"}
        "each_epoch" shuffles anew in each epoch, "once" before the first one, and "fixed" takes the records in an order
        that does not depend on them and that the adversary knows.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the ledger's relation is add/remove: a record that is added shifts later
        records into other batches.

    Examples
    --------
    >>> from tcdp_sim.accounting import Ledger, Shuffled
    >>> low, _, high = Ledger([Shuffled(0.8, 1000, 5, "once")], relation="zero_out").epsilon(1e-6)
    >>> round(low, 2), round(high, 2)
    (16.61, 16.61)
    """

    sigma: float
    steps: int
    epochs: int = 1
    order: str = "each_epoch"

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", scalar("sigma", self.sigma, 1 / LARGEST_SHIFT))
        object.__setattr__(self, "steps", whole("steps", self.steps, 1, MOST_STEPS))
        object.__setattr__(self, "epochs", whole("epochs", self.epochs, 1, MOST_EPOCHS))
        choice("order", self.order, ORDERS)

    def counted_as(self) -> tuple[Release, int]:
        return Sampled(Additive(Gaussian(self.sigma)), 1 / self.steps), self.steps * self.epochs

    @property
    def has_scale(self) -> bool:
        return True

    def scaled(self, factor: float) -> "Shuffled":
        return replace(self, sigma=self.sigma * factor)

    def less_noise_spends_more(self, in_rho: bool) -> bool:
        return not in_rho

    def cases(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return the pair of an adversary who knows the order. Less noise reveals more, so noise may be cut."""
        need_relation(self, relation, ("zero_out", "substitute"))
        length = _move(relation) * sqrt(self.epochs)
        return (both_ways((additive_loss(Gaussian(min(self.sigma, _MOST_NOISE * length)), length), times)),)

    def attained(self, relation: str | None, times: int) -> tuple[Case, ...] | None:
        """Return the pair of the largest output of an epoch, or of all epochs together; None for a known order."""
        if self.sigma > _MOST_NOISE:
            return (NOTHING,)
        if self.steps == 1 or self.order == "fixed":
            return None
        once = self.order == "once" or self.epochs == 1
        sigma = self.sigma / sqrt(self.epochs) if once else self.sigma
        count = times if once else times * self.epochs
        if (
            relation == "substitute" and 2 * LEAST_SIGMA <= sigma <= MOST_SIGMA
        ):  # a record of length 2 in a random step, or nowhere
            forward, backward = dominated(0.5 * sigma, self.steps)
        else:
            forward, backward = _cells(sigma, self.steps, 2.0, 2.0 - _move(relation))
        return (Case(((forward, count),), ((backward, count),)),)


@lru_cache(maxsize=64)
def _cells(sigma: float, steps: int, record: float, other: float):
    return largest_output(sigma, steps, record, other)


def _move(relation: str | None) -> float:
    """Return how far a record moves the sum of its batch."""
    return 2.0 if relation == "substitute" else 1.0
