"""Laws of the privacy loss with finitely many values, from probability vectors and from noise on a lattice."""

from dataclasses import dataclass
from fractions import Fraction
from math import fsum, inf

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import TINY, Bounds
from tcdp_sim.exact.losses.atoms import DENSITY
from tcdp_sim.exact.losses.grid_law import AtomicLoss
from tcdp_sim.exact.mixtures import Mixture
from tcdp_sim.exact.renyi.lattice_mixtures import LatticePair
from tcdp_sim.exact.resolution import ROUNDING
from tcdp_sim.noise import Noise

MOST_POINTS = 2**22  # of a lattice
_EVEN = 1e-12  # relative distance from an even spacing, up to rounding
_HEAVY = 1e-280
_RARE = -690.0  # log of a probability: with less, a mass would lose its digits
_LOSS_ERROR = 4e-15  # relative to 1 + its size


def atomic(
    loss: Floats, mass: Floats, lost: tuple[float, float] = (0.0, 0.0), relative: float = 4e-15, slack: float = 0.0
) -> AtomicLoss:
    """Return the law of finite losses with their masses, in any order, and the spacing of the losses if it is even."""
    order = np.argsort(loss, kind="stable")
    loss, mass = loss[order], mass[order]
    starts = np.flatnonzero(np.diff(loss, prepend=-np.inf) > 2 * slack)  # equal losses have rounding errors
    merged, total = loss[starts], np.add.reduceat(mass, starts) if len(loss) else mass
    spacing, error = _spacing(merged)
    return AtomicLoss(merged, total, lost, spacing, relative, slack + (error if spacing is not None else 0.0))


def _spacing(loss: Floats) -> tuple[float | None, float]:
    """Return the spacing of losses that lie on a lattice (0 for a single loss), or None, and their distance from it.

    Lattices are recognised if neighbours differ by one step, or by a few.
    """
    if len(loss) < 2:
        return 0.0, 0.0
    least = float(np.diff(loss).min())
    if least <= 0:
        return None, 0.0
    steps = np.rint((loss - loss[0]) / least)
    spacing = float((loss[-1] - loss[0]) / steps[-1])
    error = float(np.abs(loss - (loss[0] + spacing * steps)).max())
    return (spacing, error) if error <= _EVEN * (1 + float(np.abs(loss).max())) * min(spacing, 1.0) else (None, 0.0)


def of_vectors(p: Floats, q: Floats) -> AtomicLoss:
    """Return the law of log(p / q) under p."""
    both = (p > 0) & (q > 0)
    loss = np.log(p[both]) - np.log(q[both])
    slack = _LOSS_ERROR * (1 + float(np.abs(np.log(p[both])).max(initial=0.0) + np.abs(np.log(q[both])).max(initial=0)))
    return atomic(loss, p[both], _sum(p[(p > 0) & (q == 0)]), slack=slack)


def _sum(values: Floats) -> tuple[float, float]:
    """Return the nearest floats below and above a sum, or the sum itself twice if it is a float."""
    total = fsum(values)
    gap = sum(map(Fraction, values.tolist()), -Fraction(total))
    return (float(np.nextafter(total, 0.0)) if gap < 0 else total), (
        float(np.nextafter(total, 2.0)) if gap > 0 else total
    )


@dataclass(frozen=True, kw_only=True)
class LatticeLoss(AtomicLoss):
    """The law of log(p / q) under p of two mixtures of one noise on a lattice."""

    pair: LatticePair

    def renyi(self, order: float) -> Bounds:
        """Return the Renyi divergence."""
        return Bounds(*self.pair.renyi(order))


def of_mixtures(p: Mixture, q: Mixture) -> LatticeLoss:
    """Return the law of log(p / q) under p, of two mixtures of one noise on a lattice.

    Points that are too rare for floats lie beyond the law if losses are bounded, and have infinite losses otherwise.
    """
    pair = LatticePair(p, q)
    points, most = pair.points(_RARE), pair.renyi(inf)[2]
    frequent, alone = points.log_p > _RARE, points.loss == inf
    seen = frequent & np.isfinite(points.loss)
    loss, mass, slack = points.loss[seen], np.exp(points.log_p[seen]), float(points.error[seen].max(initial=0.0))
    lost, relative = fsum(np.exp(points.log_p[frequent & alone])), DENSITY + ROUNDING * abs(_RARE)
    rare = float(np.exp(_RARE)) * (len(points.loss) + 2)
    ends = (lost * (1 - relative), min(lost * (1 + relative) + rare, 1.0))
    order = np.argsort(loss, kind="stable")
    loss, mass = loss[order], mass[order]
    if most == inf:
        return LatticeLoss(loss, mass, ends, None, relative, slack, unbounded=True, pair=pair)
    return LatticeLoss(loss, mass, (0.0, 0.0), None, relative, slack, beyond=(rare, most), pair=pair)


def of_lattice(noise: Noise, shift: float) -> AtomicLoss:
    """Return the law of the privacy loss of a noise on a lattice, against itself moved by `shift`.

    Raises ValueError unless the shift is a multiple of the lattice's step and the noise is log-concave on its points.
    Then a smaller shift reveals no more.
    """
    step = float(noise.step_length or 0.0)
    steps = shift / step
    if abs(steps - np.rint(steps)) > 1e-9 * max(steps, 1.0):
        raise ValueError(f"sensitivity = {shift:g} is not valid for {noise!r}; valid: multiples of its step {step:g}")
    end = float(noise.isf(1e-305))
    offset = float(getattr(noise, "offset", 0.0))
    count = int(np.ceil(end / step))
    if not 2 * count + 1 <= MOST_POINTS:
        raise ValueError(f"{noise!r} has {2 * count + 1:,} points; valid: at most {MOST_POINTS:,}, or continuous noise")
    points = step * (np.arange(-count - 1, count + 1) + offset) if offset else step * np.arange(-count, count + 1)
    log_mass = np.asarray(noise.logpdf(points))
    _need_log_concave(noise, log_mass)
    loss = np.asarray(noise.privacy_loss(points, float(np.rint(steps)) * step))
    mass = np.exp(log_mass)
    known = np.isfinite(loss) & (mass > 0)
    size = np.abs(loss[known]).max() if noise.gives_loss else 1 + 2 * np.abs(log_mass[known]).max()
    law = atomic(loss[known], mass[known], (0.0, 0.0), DENSITY, _LOSS_ERROR * float(size))
    lost = float(mass[loss == np.inf].sum())
    infinite = (lost * (1 - DENSITY), lost * (1 + DENSITY) + 2 * max(float(noise.sf(end)), TINY))
    if lost == 0 and noise.largest_loss(shift) <= law.loss[-1] + law.slack and law.mass[-1] > _HEAVY:
        infinite = (0.0, 0.0)  # outputs beyond the end have the largest loss, and are rounding beside its mass
    unbounded = lost == 0 and noise.largest_loss(shift) == np.inf
    return AtomicLoss(law.loss, law.mass, infinite, law.spacing, DENSITY, law.slack, unbounded=unbounded)


def _need_log_concave(noise: Noise, log_mass: Floats) -> None:
    if not noise.log_concave:
        bend = np.diff(log_mass[np.isfinite(log_mass)], 2)
        if (bend > 1e-13 * (1 + np.abs(log_mass[np.isfinite(log_mass)][1:-1]))).any():
            raise ValueError(f"{noise!r} is not log-concave, so that a smaller shift may reveal more")
