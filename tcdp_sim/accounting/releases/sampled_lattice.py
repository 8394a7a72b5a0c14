"""Laws of the privacy loss of noise on a lattice that is added to a sample of the records.

They are sums over the points of the lattice. With labels (the number of draws of the record) the loss has the law of
each label's pair, with the label's probability.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np

from tcdp_sim.accounting.releases.atoms import atomic, of_mixtures
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import ULP, Bounds
from tcdp_sim.exact.losses.grid_law import AtomicLoss
from tcdp_sim.exact.renyi.mixture_divergences import hockey_stick_between
from tcdp_sim.exact.subsampling import LabelledPair

_SUM = 64 * ULP  # relative error of a sum of positive numbers, which numpy adds pairwise


@dataclass(frozen=True)
class LabelledLoss(AtomicLoss):
    """A law whose Renyi divergences are no less than those of the release, but may differ."""

    def renyi(self, order: float) -> Bounds:
        """Raise ValueError."""
        raise ValueError("Renyi divergences of sampling with fixed size are not known; valid: Poisson sampling")


def of_labelled(pair: LabelledPair) -> AtomicLoss:
    """Return the law of the privacy loss of a pair with labels. Labels that are left out may reveal everything."""
    laws = [(weight, of_mixtures(p, q)) for weight, p, q in pair.parts]
    if len(laws) == 1 and not pair.symmetric:
        return laws[0][1]
    loss = np.concatenate([law.loss for _, law in laws])
    mass = np.concatenate([weight * law.mass for weight, law in laws])
    low, high = (fsum(weight * law.infinite[end] for weight, law in laws) for end in (0, 1))
    relative = max(law.relative for _, law in laws) + _SUM
    high = min(high + (pair.rest or 0.0), 1.0)
    beyond = fsum(weight * law.beyond[0] for weight, law in laws), max(law.beyond[1] for _, law in laws)
    raised: tuple[tuple[float, float], ...] = ()
    if pair.symmetric:
        loss, mass, rounding = _mirrored(loss, mass, relative, low)
        raised = ((0.0, 2 * rounding),)
    slack, unbounded = max(law.slack for _, law in laws), any(law.unbounded for _, law in laws)
    law = atomic(loss[mass > 0], mass[mass > 0], (low, high), relative, slack)
    ends = law.infinite, law.spacing, relative, law.slack
    return LabelledLoss(law.loss, law.mass, *ends, unbounded=unbounded, raised=raised, beyond=beyond)


def _mirrored(loss: Floats, mass: Floats, relative: float, lost: float) -> tuple[Floats, Floats, float]:
    """Return the losses above 0 with their mirror images and the rest of the mass at 0, and the error of this mass.

    A loss l with P-mass m has Q-mass m e^-l, which is the P-mass of -l. The rest is not below its true value. Losses
    that were left out count at 0, and may: l and -l together have equal masses, as if their outputs were merged.
    """
    loss, mass = loss[loss > 0], mass[loss > 0]
    image = mass * np.exp(-loss)
    error = 2 * relative + _SUM
    rest = max(1 - lost - float(mass.sum()) - float(image.sum()), 0.0) + error
    return np.concatenate([-loss, [0.0], loss]), np.concatenate([image, [rest], mass]), error


def largest_profile(pairs: Sequence[LabelledPair], epsilon: float) -> Bounds:
    """Return delta(epsilon) of one release, epsilon >= 0, the larger one of its directions."""
    return Bounds(*(max(ends) for ends in zip(*(_profile(pair, epsilon) for pair in pairs))))


def _profile(pair: LabelledPair, epsilon: float) -> Bounds:
    """Return delta(epsilon) in one direction. Labels that are left out reveal nothing, or everything."""
    found = [(weight, hockey_stick_between(p, q, epsilon)) for weight, p, q in pair.parts]
    low, middle, high = (fsum(weight * bounds[end] for weight, bounds in found) for end in (0, 1, 2))
    return Bounds(low * (1 - _SUM), middle, high * (1 + _SUM) + (pair.rest or 0.0)).clipped(0.0, 1.0)
