"""Noise in every bin, and noise in every prefix sum: the two trivial factorisations."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.ordered.prefix_sums.factorisation import Factorisation


@dataclass(frozen=True)
class EachBin(Factorisation):
    """Noise in every bin: R is the identity, and errors add up along the bins.

    Parameters
    ----------
    k : int
        The number of bins, at least 2.
    relation : {"add_remove", "substitute"}
        The neighbouring relation.

    Examples
    --------
    >>> EachBin(3, "add_remove").variances()
    array([1., 2., 3.])
    """

    k: int
    relation: str

    @property
    def noises(self) -> int:
        return self.k

    @property
    def unit_shifts(self) -> int:  # type: ignore[override]
        """One bin, or two under substitution."""
        return 1 if self.relation == "add_remove" else 2

    @property
    def sensitivity(self) -> float:
        return sqrt(self.unit_shifts)

    @property
    def largest_move(self) -> float:
        return 1.0

    def variances(self) -> Floats:
        return np.arange(1.0, self.k + 1)

    def errors(self, z: Floats) -> Floats:
        return np.cumsum(z, axis=1)


@dataclass(frozen=True)
class EachPrefix(Factorisation):
    """Noise in every prefix sum: L is the identity. One record moves up to k sums.

    Parameters
    ----------
    k : int
        The number of bins, at least 2.
    relation : {"add_remove", "substitute"}
        The neighbouring relation. Under substitution the last sum, the number of records, is public and has no noise.

    Examples
    --------
    >>> EachPrefix(4, "add_remove").sensitivity
    2.0
    """

    k: int
    relation: str

    @property
    def noises(self) -> int:
        return self.k

    @property
    def unit_shifts(self) -> int:  # type: ignore[override]
        """The number of sums that a record can move."""
        return self.k if self.relation == "add_remove" else self.k - 1

    @property
    def sensitivity(self) -> float:
        return sqrt(self.unit_shifts)

    @property
    def largest_move(self) -> float:
        return 1.0

    def variances(self) -> Floats:
        variances = np.ones(self.k)
        variances[-1] = float(self.relation == "add_remove")
        return variances

    def errors(self, z: Floats) -> Floats:
        errors = z.copy()
        errors[:, -1] *= float(self.relation == "add_remove")
        return errors
