"""The interface of a factorisation L R of the matrix of prefix sums, which releases L (R counts + noise)."""

from abc import ABC, abstractmethod
from typing import ClassVar

from tcdp_sim.core.arrays import Floats
from tcdp_sim.privacy.relation import known_relation

MOST_BINS = 4_000_000


class Factorisation(ABC):
    """A factorisation L R of the k x k matrix of prefix sums, all ones on and below the diagonal.

    The release L (R counts + z), with independent noise z, is the vector of prefix sums with the error L z. It has the
    privacy of R counts + z.

    Attributes
    ----------
    k : int
        The number of bins.
    relation : {"add_remove", "substitute"}
        The neighbouring relation. Under substitution the number of records is public.
    noises : int
        The number of rows of R.
    unit_shifts : int or None
        If neighbours move some rows of R by exactly one and no other row, the largest number of these rows; else None.

    Examples
    --------
    >>> from tcdp_sim.ordered.prefix_sums import SquareRoot
    >>> issubclass(SquareRoot, Factorisation)
    True
    """

    k: int
    relation: str
    unit_shifts: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        """Raise ValueError unless the relation is one."""
        known_relation(self.relation)

    @property
    @abstractmethod
    def noises(self) -> int: ...

    @property
    @abstractmethod
    def sensitivity(self) -> float:
        """The largest Euclidean distance of R counts between neighbours, rounded up, in counts."""

    @property
    @abstractmethod
    def largest_move(self) -> float:
        """The largest change of a single row of R counts between neighbours, rounded up, in counts."""

    @abstractmethod
    def variances(self) -> Floats:
        """Return the variance of each prefix sum for noise of variance 1, shape (k,)."""

    @abstractmethod
    def errors(self, z: Floats) -> Floats:
        """Return L z for each row z, from shape (trials, noises) to (trials, k)."""
