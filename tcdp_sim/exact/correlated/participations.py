"""In which steps of a run a record takes part: chosen at random, or known to the adversary up to their distance."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from tcdp_sim.core.errors import scalar, whole

MOST_BINS, MOST_SEPARATION = 2000, 10**5


class Participation(ABC):
    """A law of the steps of a record, or a set of possible steps."""

    @property
    @abstractmethod
    def rate(self) -> float:
        """The share of the records in a batch, on average. Mechanisms are compared at equal shares."""


@dataclass(frozen=True)
class SameBin(Participation):
    """Each record is put into one of b bins at random, and takes part in the steps i, i + b, i + 2b, ... of its bin i.

    This is "balls in bins" for correlated noise. All epochs have the same bins: epochs whose bins are drawn anew do not
    compose, because their noise is correlated.

    Source: Choquette-Choo et al. (2024) [Cho24].

    Parameters
    ----------
    bins : int
        The number b of bins, which is the number of steps of an epoch, from 1 to 2000.

    Examples
    --------
    >>> SameBin(100).rate
    0.01
    """

    bins: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "bins", whole("bins", self.bins, 1, MOST_BINS))

    @property
    def rate(self) -> float:
        """The share of the records in a batch, on average."""
        return 1 / self.bins


@dataclass(frozen=True)
class Cyclic(Participation):
    """Records are in b fixed groups. In the steps i, i + b, ... each record of group i is sampled with probability q.

    Source: Choquette-Choo et al. (2023) [Cho23].

    Parameters
    ----------
    groups : int
        The number b of groups, from 1 to 2000.
    sampling_probability : float
        The probability q of a record of the group, in (0, 1].

    Examples
    --------
    >>> Cyclic(10, 0.5).rate
    0.05
    """

    groups: int
    sampling_probability: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", whole("groups", self.groups, 1, MOST_BINS))
        q = scalar("sampling_probability", self.sampling_probability, 0, 1, finite=False)
        object.__setattr__(self, "sampling_probability", q)

    @property
    def rate(self) -> float:
        """The share of the records in a batch, on average."""
        return self.sampling_probability / self.groups


@dataclass(frozen=True)
class MinSeparation(Participation):
    """After each participation a record pauses for b - 1 steps. In every other step it takes part with probability p.

    Source: Dong and Ganesh (2026) [DG26] (only the abstract was read). The recursion for the loss is derived in
    `tcdp_sim.exact.correlated.draws`.

    Parameters
    ----------
    separation : int
        The least distance b of two participations, in steps, from 1 to 10^5.
    probability : float
        The probability p, in (0, 1].
    warm : bool
        True if the run begins in the middle: a record may be in its pause at the first step, so that all batches have
        the same expected size. False if all records are free at the first step.

    Examples
    --------
    >>> MinSeparation(10, 1.0).rate
    0.1
    """

    separation: int
    probability: float
    warm: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "separation", whole("separation", self.separation, 1, MOST_SEPARATION))
        object.__setattr__(self, "probability", scalar("probability", self.probability, 0, 1, finite=False))
        if not isinstance(self.warm, bool):
            raise ValueError(f"warm = {self.warm!r} is not valid; valid: True or False")

    @property
    def rate(self) -> float:
        """The share of the records in a batch, on average; of later batches, if the start is not warm."""
        return self.probability / (1 + (self.separation - 1) * self.probability)


@dataclass(frozen=True)
class Fixed(Participation):
    """A record takes part in at most k steps, any two of them at least b apart, and the adversary knows which.

    Parameters
    ----------
    separation : int
        The least distance b of two participations, in steps, from 1 to 10^5.
    participations : int
        The largest number k of participations, at least 1.

    Examples
    --------
    >>> Fixed(10, 3).rate
    0.1
    """

    separation: int
    participations: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "separation", whole("separation", self.separation, 1, MOST_SEPARATION))
        object.__setattr__(self, "participations", whole("participations", self.participations, 1, 2**53))

    @property
    def rate(self) -> float:
        """The share of the records in a batch, if each takes part once in b steps."""
        return 1 / self.separation
