"""The law of the privacy loss of one of several pairs, where the output shows which of them it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, fsum, inf, log

import numpy as np
from scipy.special import logsumexp

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.losses.atoms import Atoms
from tcdp_sim.exact.losses.grid_law import GridLaw, LossLaw, gathered

_SUM = 1e-14  # relative error of weights and of their products with masses


@dataclass(frozen=True)
class MixedLoss:
    """The law of a loss that has one of several laws, whose probabilities do not depend on the record.

    `laws`: the laws with their probabilities, which are above 0 and sum to 1, or slightly more by
    rounding, for upper ends only.
    """

    laws: tuple[tuple[float, LossLaw], ...]

    def crude(self) -> Atoms:
        """Return the atoms of all laws."""
        pieces = [(weight, law.crude()) for weight, law in self.laws]
        loss = np.concatenate([atoms.loss for _, atoms in pieces])
        mass = np.concatenate([weight * atoms.mass for weight, atoms in pieces])
        order = np.argsort(loss, kind="stable")
        return Atoms(loss[order], mass[order], fsum(weight * atoms.lost for weight, atoms in pieces))

    def lost(self) -> tuple[float, float]:
        """Return the probability of an infinite loss."""
        low, high = (fsum(weight * law.lost()[end] for weight, law in self.laws) for end in (0, 1))
        return low * (1 - _SUM), min(high * (1 + _SUM), 1.0)

    def largest(self) -> tuple[float, float]:
        """Return the supremum of the finite losses."""
        ends = [law.largest() for _, law in self.laws]
        return max(low for low, _ in ends), max(high for _, high in ends)

    def peak(self) -> tuple[float, float]:
        """Return the peak of the law with the largest losses, with its share of the mass."""
        weight, law = max(self.laws, key=lambda each: each[1].peak()[0])
        loss, mass = law.peak()
        return loss, weight * mass * (1 - _SUM)

    def lattice(self) -> None:
        """Return None, because the laws need not share a lattice."""

    def renyi(self, order: float) -> Bounds:
        """Return the Renyi divergence: the label has one law for both neighbours."""
        found = [(weight, law.renyi(order)) for weight, law in self.laws]
        return Bounds(*(_joined([(weight, bounds[end]) for weight, bounds in found], order) for end in (0, 1, 2)))

    def on_grid(self, step: float, offset: float, rare: float, floor: float, top: float = inf) -> GridLaw:
        """Return the law on the grid."""
        found = [(weight, law.on_grid(step, offset, rare, floor, top)) for weight, law in self.laws]
        indices = [law.first + np.arange(len(law.mass)) for _, law in found]
        first, mass = gathered(indices, [weight * law.mass for weight, law in found])
        low, high = (fsum(weight * law.lost[end] for weight, law in found) for end in (0, 1))
        moved = tuple((loss, weight * gone) for weight, law in found for loss, gone in law.moved)
        slack, length, relative = (
            max(getattr(law, name) for _, law in found) for name in ("slack", "length", "relative")
        )
        lost = (low * (1 - _SUM), min(high * (1 + _SUM), 1.0))
        return GridLaw(first, mass, offset, step, lost, moved, slack, length, relative + _SUM)


def _joined(parts: Sequence[tuple[float, float]], order: float) -> float:
    """Return the divergence of a labelled pair from those of its parts."""
    if order == inf:
        return max(value for _, value in parts)
    if order == 1 or any(value == inf for _, value in parts):
        return fsum(weight * value for weight, value in parts)
    small = [(order - 1) * value for _, value in parts]
    if max(small) < 1:
        return log(1 + fsum(weight * (exp(x) - 1) for (weight, _), x in zip(parts, small))) / (order - 1)
    return float(logsumexp(small, b=[weight for weight, _ in parts])) / (order - 1)
