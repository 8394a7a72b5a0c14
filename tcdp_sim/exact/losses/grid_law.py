"""A privacy loss on a grid, made of a law that it dominates.

Every loss l between two grid points g and g + h is spread to both of them, so that P and Q keep their masses. The
result L' = L + N has E[e^-N | L] = 1, so it reveals more than L (Jensen's inequality), and N lies in an interval of
length h. `convolved.py` turns these two facts into both ends of a bracket.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.special import logsumexp

from tcdp_sim.core.arrays import Bools, Floats, Ints
from tcdp_sim.core.numerics import TINY, Bounds
from tcdp_sim.exact.losses.atoms import Atoms

SNAPPED = 1e-12  # relative distance from a grid point below which an atom counts as lying on it
_HIGHEST = 1e100  # order of a divergence that is computed
MOST_POINTS = 2**24  # of one law on a grid


class TooFine(Exception):
    """A grid on which one law would have more points than memory can hold."""


@dataclass(frozen=True)
class GridLaw:
    """The P-masses of a privacy loss at offset + step * (first + 0, 1, 2, ...).

    `lost`: the probability of an infinite loss, from below, and from above with every loss that was made infinite.
    `moved`: pairs (loss, mass) of the mass that was raised to a point further away than the next one. `slack`: the
    largest change of a loss by rounding. `length`: the length of the interval over which a loss was spread: the step,
    or 0 if every loss lies on the grid.
    """

    first: int
    mass: Floats
    offset: float
    step: float
    lost: tuple[float, float]
    moved: tuple[tuple[float, float], ...]
    slack: float
    length: float
    relative: float

    @cached_property
    def loss(self) -> Floats:
        """The losses at the points, ascending."""
        return self.offset + self.step * (self.first + np.arange(len(self.mass), dtype=np.float64))

    @cached_property
    def _log_mass(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(self.mass)

    def log_moment(self, theta: float) -> float:
        """Return the log of the sum of mass e^(theta loss)."""
        logs = self._log_mass + theta * self.loss
        top = logs.max(initial=-np.inf)
        return float(top + np.log(np.exp(logs - top).sum())) if np.isfinite(top) else -np.inf

    def tilted(self, theta: float, log_moment: float) -> Floats:
        """Return the masses times e^(theta loss - log_moment)."""
        return np.exp(self._log_mass + (theta * self.loss - log_moment))


class LossLaw(Protocol):
    """The law of the privacy loss of one release, in one direction."""

    def crude(self) -> Atoms:
        """Return atoms near the law, on neither side of it. They choose the tilt, the window and the step."""

    def lost(self) -> tuple[float, float]:
        """Return the probability of an infinite loss, from below and from above."""

    def largest(self) -> tuple[float, float]:
        """Return the supremum of the finite losses, from below and from above."""

    def peak(self) -> tuple[float, float]:
        """Return a loss near the largest one, and a lower bound on the probability of finite losses of at least that.

        The bound is 0 if nothing is known.
        """

    def lattice(self) -> tuple[float, float] | None:
        """Return (offset, spacing) if all losses lie in offset + spacing Z, else None. The spacing 0 means one loss."""

    def renyi(self, order: float) -> Bounds:
        """Return the Renyi divergence of an order >= 1, which may be inf."""

    def on_grid(self, step: float, offset: float, rare: float, floor: float, top: float = np.inf) -> GridLaw:
        """Return the law on the grid.

        Losses above `top` become infinite, and the largest ones as long as their mass is at most `rare`. Losses below
        `floor` are raised.
        """


@dataclass(frozen=True)
class AtomicLoss:
    """Finitely many losses, ascending, with their P-masses, and the probability of an infinite loss.

    - `spacing`: a number with all losses in loss[0] + spacing Z, 0 for a single loss, None if unknown.
    - `relative`, `slack`: bounds on the relative error of a mass, and on the error of a loss.
    - `cut_below`: mass, at most, of lower losses that were left out. It is raised to the lowest loss.
    - `infinite`: the probability of an infinite loss from below and above.
    - `unbounded`: True if there are finite losses beyond any bound, which floats do not hold. They count as infinite
      ones above.
    - `raised`: pairs (loss, mass) of mass, at most, that counts at a loss although its own loss may be lower.
    - `beyond`: mass, at most, of finite losses that were left out, and an upper bound of these losses. They count as
      infinite ones above on a grid, where the bound may be too far off for a tilted law.
    """

    loss: Floats
    mass: Floats
    infinite: tuple[float, float] = (0.0, 0.0)
    spacing: float | None = None
    relative: float = 4e-15
    slack: float = 0.0
    cut_below: float = 0.0
    unbounded: bool = False
    raised: tuple[tuple[float, float], ...] = ()
    beyond: tuple[float, float] = (0.0, -np.inf)

    def crude(self) -> Atoms:
        """Return the atoms."""
        return Atoms(self.loss, self.mass, self.infinite[0])

    def lost(self) -> tuple[float, float]:
        """Return the probability of an infinite loss."""
        return self.infinite

    def largest(self) -> tuple[float, float]:
        """Return the largest finite loss."""
        if self.unbounded:
            return np.inf, np.inf
        top = float(self.loss.max(initial=-np.inf))
        return top - self.slack, max(top, self.beyond[1]) + self.slack

    def peak(self) -> tuple[float, float]:
        """Return the largest finite loss and its probability."""
        mass = float(self.mass[-1]) * (1 - self.relative) if len(self.mass) else 0.0
        return float(self.loss[-1]) - self.slack if mass else 0.0, mass

    def lattice(self) -> tuple[float, float] | None:
        """Return (offset, spacing) if the spacing is known."""
        return None if self.spacing is None or not len(self.loss) else (float(self.loss[0]), self.spacing)

    def renyi(self, order: float) -> Bounds:
        """Return log(sum of mass e^((order - 1) loss)) / (order - 1), or its limits at 1 and inf."""
        if self.infinite[0] > 0 or order == np.inf:
            low, top = self.largest() if self.infinite[0] == 0 else (np.inf, np.inf)
            return Bounds(low, top, top)
        if order > _HIGHEST:  # it rises with the order
            return Bounds(self.renyi(_HIGHEST).lower, *[self.largest()[1] if self.infinite[1] == 0 else np.inf] * 2)
        if order == 1:
            value = float((self.mass * self.loss).sum())
            error = self.relative * float((self.mass * np.abs(self.loss)).sum()) + self.slack + 1e-15 * abs(value)
        elif (order - 1) * float(np.abs(self.loss).max()) < 1:  # the masses sum to 1, so their errors do not count here
            rise = self.mass * np.expm1((order - 1) * self.loss)
            value = float(np.log1p(rise.sum())) / (order - 1)
            error = 2 * (self.relative + 1e-15) * float(np.abs(rise).sum()) / (order - 1) + 2 * self.slack
        else:
            value = float(logsumexp((order - 1) * self.loss, b=self.mass)) / (order - 1)
            error = (self.relative + 4e-16 * (1 + abs(value) * order)) / (order - 1) + self.slack
        high = np.inf if self.infinite[1] + self.beyond[0] > TINY * len(self.loss) * 4 else value + error
        return Bounds(max(value - error, 0.0), max(value, 0.0), max(high, 0.0))

    def on_grid(self, step: float, offset: float, rare: float, floor: float, top: float = np.inf) -> GridLaw:
        """Return the law on the grid."""
        above = np.append(np.cumsum(self.mass[::-1])[::-1][1:], 0.0) + self.mass
        gone, low = (above <= rare) | (self.loss > top + SNAPPED * (1 + abs(top))), self.loss < floor
        kept = ~gone & ~low
        if not kept.any():
            kept = ~gone
            low = np.zeros_like(gone)
        index, share, near = placed(self.loss[kept], step, offset)
        moved = np.abs(offset + step * index - self.loss[kept])[near].max(initial=0.0)
        upper = self.mass[kept] * share
        first, mass = gathered([index, index + 1], [self.mass[kept] - upper, upper])
        raised = float(self.mass[low].sum()) + self.cut_below
        if raised:
            mass[0] += raised
        lowest = offset + step * first
        at_most = self.infinite[1] + self.beyond[0] + float(self.mass[gone].sum()) * (1 + self.relative)
        slack = self.slack + float(moved) + 1e-15 * float(np.abs(self.loss[kept]).max())
        changed = [(loss + step, least) for loss, least in self.raised] + ([(lowest, raised)] if raised else [])
        return GridLaw(
            *(first, mass, offset, step, (self.infinite[0], at_most), tuple(changed)),
            *(slack, 0.0 if near.all() else step, self.relative),
        )


def placed(loss: Floats, step: float, offset: float) -> tuple[Ints, Floats, Bools]:
    """Return the grid point below each loss, the share of the point above, and True for losses on the grid."""
    place = (loss - offset) / step
    nearest = np.rint(place)
    # (loss - offset) / step has a rounding error of its own, relative to its size
    near = np.abs(place - nearest) <= SNAPPED + 4e-16 * np.abs(place)
    index = np.where(near, nearest, np.floor(place))
    share = np.where(near, 0.0, np.clip(np.expm1(offset + step * index - loss) / np.expm1(-step), 0.0, 1.0))
    return index.astype(np.int64), share, near


def gathered(indices: list[Ints], masses: list[Floats]) -> tuple[int, Floats]:
    """Return the least index, and the total mass of each index from it on."""
    first = min(int(index.min()) for index in indices)
    size = max(int(index.max()) for index in indices) - first + 1
    if size > MOST_POINTS:
        raise TooFine
    total = sum(np.bincount(index - first, mass, size) for index, mass in zip(indices, masses))
    return first, np.asarray(total, dtype=np.float64)


def ever(probabilities: list[tuple[tuple[float, float], int]]) -> tuple[float, float]:
    """Return the probability that one of several independent events happens, from below and above.

    `probabilities`: the ends of the probability of each event, and how often it is tried. A single event keeps its
    ends.
    """
    tried = [(ends, times) for ends, times in probabilities if ends[1] > 0]
    if not tried or (len(tried) == 1 and tried[0][1] == 1):
        return tried[0][0] if tried else (0.0, 0.0)
    with np.errstate(divide="ignore"):
        low, high = (
            float(-np.expm1(sum(times * np.log1p(-min(ends[end], 1.0)) for ends, times in tried))) for end in (0, 1)
        )
    return low * (1 - 1e-15) + 0.0, min(high * (1 + 1e-15), 1.0)  # 0.0 and not -0.0
