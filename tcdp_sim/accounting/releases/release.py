"""The interface of a release: dominating pairs of laws of its privacy loss, for each neighbouring relation."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.losses.grid_law import AtomicLoss, LossLaw
from tcdp_sim.privacy.relation import Relation

Laws = tuple[tuple[LossLaw, int], ...]  # each law with the number of its independent copies


class Case(NamedTuple):
    """One dominating pair of a release in both directions, as laws of the privacy loss.

    Under add/remove, `forward` is the direction in which P has the record and `backward` the one in which Q has it.
    """

    forward: Laws
    backward: Laws


class Release(ABC):
    """A release of one or several answers, of which a dominating pair is known.

    A release is a frozen dataclass. Equal releases have equal laws.

    Examples
    --------
    >>> from tcdp_sim.accounting import RandomisedResponse, Release
    >>> isinstance(RandomisedResponse(1.0), Release)
    True
    """

    @abstractmethod
    def cases(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return the pairs of `times` releases. The adversary has the choice among them.

        Each pair dominates the release for the neighbours of its case, and together they cover all neighbours.

        Parameters
        ----------
        relation : {"add_remove", "substitute", "zero_out", None}
            The neighbouring relation.
        times : int
            The number of releases, at least 1.

        Raises
        ------
        ValueError
            If the release has no pair for this relation.
        """

    def attained(self, relation: str | None, times: int) -> tuple[Case, ...] | None:
        """Return pairs that the release attains, for lower ends, or None if it attains the pairs of `cases`."""
        return None

    def attained_last(self, relation: str | None, times: int) -> tuple[Case, ...] | None:
        """Return pairs that are attained if the adversary chooses this release after all others, or None.

        At every outcome of the others the adversary may choose another release of the class. So the profile of the
        class is attained, although no single release has it. This holds for one entry of a list.
        """
        return self.attained(relation, times)

    def class_pairs(self, times: int) -> int:
        """Return the number of pairs that dominate a class, but are not attained together if there are several."""
        return 0

    def least_rho(self, omega: float) -> float | None:
        """Return the least rho in nats with D_a <= rho a at every order 1 < a < omega, or None if it is unknown.

        The relative error is at most 1e-12. Such releases have a rho in `tight_rho`, filters and calibrations.
        """
        return None

    @property
    def has_profile(self) -> bool:
        """True if `profile` is narrower than what follows from the laws."""
        return False

    @property
    def profile_is_best(self) -> bool:
        """True if the ends of `profile` are of different pairs, so that nothing else narrows them."""
        return False

    def profile(self, epsilon: float) -> Bounds:
        """Return delta at an epsilon >= 0 of one release with `has_profile`, in the worse direction."""
        raise TypeError(f"{type(self).__name__} has no profile of its own")

    @property
    def largest_loss(self) -> float | None:
        """The largest privacy loss in nats, if it has a closed form; otherwise None."""
        return None

    def counted_as(self) -> "tuple[Release, int] | None":
        """Return the Poisson samples that training libraries count in place of these batches, with their number.

        None stands for releases that no library counts as another one.
        """
        return None

    def drawn_pair(self) -> Any:
        """Return an object that draws outputs, for audits, or None if audits cannot draw the release.

        Its method `draw(first, size, rng=rng)` returns outputs of the first or the second data set, shape (size,). Its
        method `loss(outputs)` returns their privacy losses from the first data set to the second one, in nats.
        """
        return None

    @property
    def has_scale(self) -> bool:
        """True if `scaled` can multiply the noise by a factor, and more noise always protects more."""
        return False

    def scaled(self, factor: float) -> "Release":
        """Return the release with its noise multiplied by a factor > 0.

        Raises ValueError for a release without `has_scale`.
        """
        raise ValueError(f"{self!r} has no scale; valid: Additive or Sampled with noise that has a scale")

    def less_noise_spends_more(self, in_rho: bool) -> bool:
        """Return True if it is proved that less noise never protects more: in rho, or in delta and epsilon."""
        return False


def both_ways(*laws: tuple[LossLaw, int]) -> Case:
    """Return the case of a pair whose two directions have the same law."""
    return Case(laws, laws)


def in_orders(forward: LossLaw, backward: LossLaw, times: int) -> tuple[Case, ...]:
    """Return the pair of several releases of which none, a quarter or half have the reverse order."""

    def laws(one: LossLaw, other: LossLaw, turned: int) -> Laws:
        return tuple((law, count) for law, count in ((one, times - turned), (other, turned)) if count)

    reversed_ones = sorted({0, times // 4, times // 2})
    return tuple(Case(laws(forward, backward, each), laws(backward, forward, each)) for each in reversed_ones)


NOTHING = both_ways((AtomicLoss(np.zeros(1), np.ones(1), spacing=0.0), 1))  # what no record can change


def need_relation(release: Release, relation: str | None, valid: tuple[str, ...] = tuple(Relation)) -> None:
    """Raise ValueError unless the relation is one for which the release has a pair."""
    if relation not in valid:
        wanted = " or ".join(repr(str(each)) for each in valid)
        raise ValueError(f"{release!r} has no pair for relation = {relation!r}; valid: relation = {wanted}")
